"""How far simulated users are from people, as a function for notebooks and scripts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .sources import StudySource, conversations_of, file_name

if TYPE_CHECKING:
    from ..analysis.realism import RealismReport


def compare(
    sim: "StudySource",
    human: "StudySource",
    published: "StudySource | None" = None,
    *,
    references: "Mapping[str, StudySource] | Sequence[str | Path] | Path" = (),
    made: "StudySource | None" = None,
    out: str | Path | None = None,
    **settings: Any,
) -> "RealismReport":
    """How far simulated users are from people: a report, which a notebook shows as HTML.

    `sim`, `human`: a path that `load` reads, or conversations; so is `published`, simulated users of an earlier study.
    `references`: other people, by name, or paths, which are called by their files: how far they are from `human`
    stands beside the floor. `made`: users made from people, as a baseline (`runs.people.retrieval`). `out`: a folder for the
    report and its card, as pages and JSON. `settings`: `language`, `part`, `seed` and `adversary`, as for `analysis.realism.compare`.
    Needs the extras `stats` and `ml`, for Chinese also `zh`.

    Example::

        >>> report = duologue.compare("LLM_agent_user", "human_exp_V2", out="realism")  # doctest: +SKIP
    """
    from ..analysis import realism
    from ..data.loading import names_of
    from ..views.realism import report as pages

    named: Mapping[str, StudySource]
    if isinstance(references, Mapping):
        named = references
    else:
        paths: list[Any] = [references] if isinstance(references, str | Path) else list(references)
        if wrong := [type(path).__name__ for path in paths if not isinstance(path, str | Path)]:
            raise TypeError(f"references: give paths, or conversations by name as in {{'people': ...}}, not {wrong[0]}")
        named = dict(zip(names_of(paths), paths, strict=True))
    report = realism.compare(
        conversations_of(sim),
        conversations_of(human),
        conversations_of(published) if published is not None else None,
        references={name: conversations_of(source) for name, source in named.items()},
        made=conversations_of(made) if made is not None else None,
        **{"adversary": True, **settings},
    )
    if out is not None:
        pages.write(report, Path(out), name=file_name(sim, "sim"), against=file_name(human, "human"))
    return report
