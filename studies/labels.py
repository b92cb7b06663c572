"""Labels as functions for notebooks and scripts: their agreement, and what people prefer."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.labels.side_by_side import STUDY, Study
from ..errors import DataError
from ..prompts.label_pages import labels_in, scales_of, shipped_labels
from ..runs.people_labels import with_reasons
from .sources import StudySource, conversations_of

if TYPE_CHECKING:  # they need the extra `stats`
    from ..analysis.labels.agreement import Agreement
    from ..analysis.tables import TablesReport


def agreement(
    source: "StudySource",
    second: "StudySource | None" = None,
    *,
    between: Iterable[Sequence[str]],
    ordered: Iterable[Sequence[str]] = (),
    labels_dir: str | Path | None = None,
    confusion: bool = False,
    rectify: bool = False,
) -> "Agreement":
    """Measure the agreement of two labels, or of the votes of one; `duologue agreement` as a function.

    Needs the extra `stats`.

    Args:
        source: Conversations with labels, or a path that `load` reads.
        second: The same conversations with the labels to compare; None: both labels are in `source`.
        between: Pairs of names of labels, the reference first; a single name compares its votes.
        ordered: Values from low to high, in addition to those of the label definitions.
        labels_dir: A folder of label definitions of your own, in addition to the shipped ones.
        confusion: Count how often a value of the one label meets each value of the other.
        rectify: Estimate the second label's rates or mean over all, rectified by the first where both are.

    Returns:
        The agreement, with its `table()`.

    Raises:
        DataError: No conversation has a label of that name, or two labels have no part in common.
        SettingError: `between` has no usable names, or no label has all values of an order.

    Example::

        >>> import duologue
        >>> duologue.agreement("labelled", between=[("style_human", "style")]).table()  # doctest: +SKIP
    """
    from ..analysis.labels import agreement as of_labels

    folder = None if labels_dir is None else Path(labels_dir)
    sources = [conversations_of(one) for one in (source, second) if one is not None]
    report = of_labels.agreement(
        sources[0],
        sources[1] if second is not None else None,
        between=between,
        ordered=ordered,
        scales=scales_of(folder),
        confusion=confusion,
        rectify=rectify,
    )
    notes = []
    own = labels_in(folder) if folder is not None else {}
    defined = {key for page in (*shipped_labels().values(), *own.values()) for key in page.keys}
    unordered = dict.fromkeys(
        row.against
        for row in report.rows
        if row.values > 2 and row.kappa.value is not None and row.weighted_kappa.value is None
        if row.against != of_labels.VOTES and row.against.split(".")[0] not in defined
    )
    if unordered:
        notes.append(
            f"{', '.join(unordered)}: no label definition at hand orders the values, so there is no weighted kappa: if they "
            "have one, give the definition's folder (--labels-dir DIR) or --ordered LOW,...,HIGH."
        )
    return report.model_copy(update={"notes": (*report.notes, *notes)})


def study_preferences(
    folder: str | Path, study: str | Path | None = None, *, without: Collection[str] = ()
) -> "TablesReport":
    """What people prefer in a side-by-side study, `duologue papers recllmsim preference` as a function.

    `folder`: their answers, or the labels of their reasons by `annotate`; `study`: its file, for the names of its two
    systems. `without`: preferences to leave out, such as `ann:t1`. DataError for a folder without such answers, or
    without one of these.
    """
    from ..analysis.labels.preference import SIDES, preferences

    by_person = with_reasons(Path(folder))
    if not any(answer.label == STUDY for of_person in by_person.values() for answer in of_person):
        raise DataError(f"{folder}: holds no answers to a side-by-side study: give the folder of --answers")
    side_by_side = None if study is None else Study.of(Path(study))
    names = SIDES if side_by_side is None else (side_by_side.first.name, side_by_side.second.name)
    return preferences(by_person, names, without=without)
