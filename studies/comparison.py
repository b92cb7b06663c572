"""How far simulated users are from people, as a function for notebooks and scripts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.people import MOST_DRAWN
from ..errors import SettingError
from .sources import StudySource, conversations_of, file_name, of_drawn_users

if TYPE_CHECKING:
    from ..analysis.realism import Measure, RealismReport
    from ..data.people import UserPart
    from ..data.text.languages import Language


def compare(
    sim: "StudySource",
    people: "StudySource",
    *,
    references: "Mapping[str, StudySource] | None" = None,
    language: "Language | None" = None,
    part: "UserPart" = "all",
    measures: "Sequence[Measure]" = (),
    examples: int = 0,
    sample: int = MOST_DRAWN,
    out: str | Path | None = None,
) -> "RealismReport":
    """Measure how far simulated users are from people; `duologue compare` as a function.

    Needs the extra `stats`, for Chinese also `zh`.

    Args:
        sim: The simulated conversations, or a path that `load` reads.
        people: People's conversations, or such a path.
        references: People of other studies, by name. How far they are from `people` stands beside.
        language: Language in which the sides are compared, `en` or `zh`; default: one that both have.
        part: Take only users of this split of the people: `tune`, `test` or `all`.
        measures: Measures of your own, beside the shipped ones.
        examples: Messages of each side that show a measure that differs.
        sample: Maximum number of conversations of a side. From a larger one users are drawn, which the report notes.
        out: A folder for the report, as a page and JSON.

    Returns:
        The report, which a notebook shows as HTML.

    Raises:
        SettingError: `sample` is below 1, or a measure failed.
        MissingExtraError: An extra is not installed.

    Example::

        >>> report = duologue.compare("LLM_agent_user", "human_exp_V2", out="realism")  # doctest: +SKIP
    """
    from ..analysis import realism
    from ..views import realism as pages

    if sample < 1:
        raise SettingError(f"sample is {sample}: give a positive number of conversations")
    sides, remarks = {}, []
    for name, source in {"Simulated": sim, "People": people, **(references or {})}.items():
        sides[name], remark = of_drawn_users(conversations_of(source), sample, 0)
        remarks += [f"{name}: {remark}"] if remark else []
    report = realism.compare(
        sides.pop("Simulated"),
        sides.pop("People"),
        references=sides,
        language=language,
        part=part,
        measures=measures,
        examples=examples,
    )
    report = report.model_copy(update={"notes": (*remarks, *report.notes)})
    if out is not None:
        pages.write(report, Path(out), name=file_name(sim, "simulated"), against=file_name(people, "people"))
    return report
