"""How far simulated users are from people, as a function for notebooks and scripts."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SettingError, at
from .sources import MOST_DRAWN, Notify, StudySource, conversations_of, file_name, logged, of_drawn_users, path_of

if TYPE_CHECKING:
    from ..analysis.realism import RealismReport
    from ..analysis.realism.report import UserPartName
    from ..data import Conversation


FEW = 8
"""Conversations of each side that an interval needs."""


def compare(
    sim: "StudySource",
    human: "StudySource",
    published: "StudySource | None" = None,
    *,
    references: "Mapping[str, StudySource] | Sequence[str | Path] | Path" = (),
    made: "StudySource | None" = None,
    baseline: bool = True,
    part: "UserPartName" = "all",
    seed: int = 0,
    sample: int = MOST_DRAWN,
    out: str | Path | None = None,
    notify: Notify = logged,
    on_baseline: Callable[[int], None] | None = None,
    **settings: Any,
) -> "RealismReport":
    """Measure how far simulated users are from people; `duologue compare` as a function.

    Needs the extra `stats`, for Chinese also `zh`.

    Args:
        sim: The simulated conversations, or a path that `load` reads.
        human: People's conversations, or such a path.
        published: Simulated users of an earlier study, in further columns.
        references: Other people, by name, or paths that are named by their files. Their distance from `human` stands
            beside the human-human baseline.
        made: Retrieval-based users, as a baseline.
        baseline: Whether to simulate retrieval-based users (`runs.people.retrieval.from_people`) where `made` is
            missing.
        part: Take only users of this split of the people: `tune`, `test` or `all`.
        seed: Seed of all random draws.
        sample: Maximum number of conversations of a group. From a larger group users are drawn with the seed, which the
            report notes.
        out: A folder for the report, as a page and JSON.
        notify: Called with each warning about a source; default: log it.
        on_baseline: Called with the number of retrieval-based conversations before they are simulated.
        settings: Further parameters of `analysis.realism.compare`, such as `language`.

    Returns:
        The report, which a notebook shows as HTML.

    Raises:
        SettingError: `sample` is below 1.
        TypeError: `references` is a list with something else than paths.
        MissingExtraError: An extra is not installed.

    Example::

        >>> report = duologue.compare("LLM_agent_user", "human_exp_V2", out="realism")  # doctest: +SKIP
    """
    from ..analysis import realism
    from ..analysis.attempts import assistant_of
    from ..data.files.paths import names_of
    from ..views.realism import report as pages

    named: Mapping[str, StudySource]
    if isinstance(references, Mapping):
        named = references
    else:
        paths: list[Any] = [references] if isinstance(references, str | Path) else list(references)
        if wrong := [type(path).__name__ for path in paths if not isinstance(path, str | Path)]:
            raise TypeError(f"references: give paths, or conversations by name as in {{'people': ...}}, not {wrong[0]}")
        named = dict(zip(names_of(paths), paths, strict=True))
    if sample < 1:
        raise SettingError(f"sample is {sample}: give a positive number of conversations")
    drawn_remarks: list[str] = []

    def group(name: str, source: "StudySource | None") -> "Sequence[Conversation] | None":
        """The conversations of a group that are compared; None without a source."""
        if source is None:
            return None
        drawn, remark = of_drawn_users(conversations_of(source, notify), sample, seed, notify)
        drawn_remarks.extend([f"{name}: {remark}"] if remark else [])
        return drawn

    simulated, people = group("Simulated", sim) or (), group("People", human) or ()
    for name, conversations, source in (("sim", simulated, sim), ("human", people, human)):
        if len(conversations) < FEW:
            place = at(path) if (path := path_of(source)) is not None else name
            notify(f"{place}: has only {len(conversations)} of the {FEW} conversations or more that an interval needs")
    notes: tuple[str, ...] = ()
    retrieval_based = group("Retrieval-based users", made)
    if made is None and baseline:
        from ..runs.people.retrieval import from_people  # with all that simulates, which nothing else here needs

        baseline_users = from_people(people, part, seed=seed, answered=assistant_of, tell=on_baseline)
        retrieval_based, notes = baseline_users.conversations, baseline_users.notes
    report = realism.compare(
        simulated,
        people,
        group("Published", published),
        references={name: group(f"Reference {name!r}", source) or () for name, source in named.items()},
        made=retrieval_based,
        part=part,
        seed=seed,
        **settings,
    )
    report = report.model_copy(update={"notes": (*drawn_remarks, *report.notes, *notes)})
    if out is not None:
        pages.write(report, Path(out), name=file_name(sim, "sim"), against=file_name(human, "human"))
    return report
