"""How far simulated users are from people, as a function for notebooks and scripts."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.files.json_files import write_json
from ..errors import SettingError, at
from .sources import MOST_DRAWN, Notify, StudySource, conversations_of, file_name, logged, of_drawn_users, path_of

if TYPE_CHECKING:
    from ..analysis.realism import RealismReport
    from ..analysis.realism.published.alignment import AlignmentReport
    from ..analysis.realism.published.reactions import ReactionReport
    from ..analysis.realism.report import UserPartName
    from ..data import Conversation
    from ..data.text.languages import Language


FEW = 8
"""Conversations of each side that an interval needs."""


FEATURES_FILE = "features.json"
REACTIONS_FILE = "reactions.json"


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
        out: A folder for the report and its card, as pages and JSON.
        notify: Called with each warning about a source; default: log it.
        on_baseline: Called with the number of retrieval-based conversations before they are simulated.
        settings: `language` and `adversary`, as for `analysis.realism.compare`.

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
    from ..data.files.folders import names_of
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
        drawn, remark = of_drawn_users(conversations_of(source, notify, stream=True), sample, seed, notify)
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
        **{"adversary": True, **settings},
    )
    report = report.model_copy(update={"notes": (*drawn_remarks, *report.notes, *notes)})
    if out is not None:
        pages.write(report, Path(out), name=file_name(sim, "sim"), against=file_name(human, "human"))
    return report


def aligned(
    sim: "StudySource",
    human: "StudySource",
    language: "Language | None" = None,
    part: "UserPartName" = "all",
    seed: int = 0,
    sample: int = MOST_DRAWN,
    out: Path | None = None,
) -> "AlignmentReport":
    """The alignment of simulated users with people by published features; `duologue compare --features` as a function.

    Parameters as for `compare`, `out` for `features.json`.
    """
    from ..analysis.realism.published.alignment import aligned as of_conversations

    drawn = [of_drawn_users(conversations_of(source, stream=True), sample, seed)[0] for source in (sim, human)]
    report = of_conversations(*drawn, language=language, part=part, seed=seed)
    if out is not None:
        write_json(out / FEATURES_FILE, report.model_dump(mode="json"), end="\n")
    return report


def reacted(
    sim: "tuple[StudySource, StudySource]",
    human: "tuple[StudySource, StudySource]",
    language: "Language | None" = None,
    seed: int = 0,
    sample: int = MOST_DRAWN,
    out: Path | None = None,
) -> "ReactionReport":
    """The reactions of simulated users and people to a worse assistant; `duologue compare --bad-sim --bad-human`.

    `sim`, `human`: conversations with the good and with the bad assistant. Other parameters as for `compare`, `out` for
    `reactions.json`.
    """
    from ..analysis.realism.published.reactions import reactions_of

    def drawn(sources: "tuple[StudySource, StudySource]") -> "tuple[Sequence[Conversation], Sequence[Conversation]]":
        good, bad = (of_drawn_users(conversations_of(source, stream=True), sample, seed)[0] for source in sources)
        return good, bad

    report = reactions_of(drawn(sim), drawn(human), language=language, seed=seed)
    if out is not None:
        write_json(out / REACTIONS_FILE, report.model_dump(mode="json"), end="\n")
    return report
