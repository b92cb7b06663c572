"""Agreement of labels, with what their sources and definitions say of it, as a function for notebooks and scripts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data import Conversation
from ..prompts.label_pages import labels_in, scales_of, shipped_labels
from .sources import StudySource, conversations_of, path_of

if TYPE_CHECKING:  # they need the extra `stats`
    from ..analysis.labels.agreement import Agreement, CalibratedRates, Confusion


@dataclass(frozen=True)
class LabelComparison:
    """Labels that are compared: `analysis.labels.agreement`, with notes on how they came to be."""

    first: Sequence[Conversation]
    second: Sequence[Conversation] | None = None
    between: Sequence[Sequence[str]] = ()
    ordered: Sequence[Sequence[str]] = ()
    labels_dir: Path | None = None
    """A folder of label definitions of your own."""

    def agreement(self) -> "Agreement":
        """The agreement; notes name samples that are not random, and values without an order."""
        from ..analysis.labels import agreement as of_labels
        from ..runs.labels.origins import disputed_first

        report = of_labels.agreement(self.first, self.second, **self._settings, **self._orders)
        report = _of_disputed(report, [disputed_first(path) for path in self._paths])
        return _unordered(report, self.confusion, self.labels_dir)

    @cached_property
    def confusion(self) -> "Confusion":
        """How often each value of one label meets each value of the other."""
        from ..analysis.labels import agreement as of_labels

        return of_labels.confusion(self.first, self.second, **self._settings, **self._orders)

    def calibrated(self) -> "CalibratedRates":
        """Rates and means of the second label over all conversations, corrected by the first."""
        from ..analysis.labels import agreement as of_labels

        return of_labels.worth(self.first, self.second, **self._settings, **self._orders)

    @property
    def _paths(self) -> list[Path]:
        return [path for source in (self.first, self.second) if (path := path_of(source)) is not None]

    @property
    def _settings(self) -> dict[str, Any]:
        names = _source_names(*self._paths) if len(self._paths) == 2 else ()
        return {"between": self.between, "sources": names}

    @property
    def _orders(self) -> dict[str, Any]:
        return {"ordered": self.ordered, "scales": scales_of(self.labels_dir)}


def agreement(
    source: "StudySource",
    second: "StudySource | None" = None,
    *,
    between: Iterable[Sequence[str]],
    ordered: Iterable[Sequence[str]] = (),
    labels_dir: str | Path | None = None,
) -> "Agreement":
    """Measure the agreement of two labels, or of the votes of one; `duologue agreement` as a function.

    Needs the extra `stats`.

    Args:
        source: Conversations with labels, or a path that `load` reads.
        second: The same conversations with the labels to compare; None: both labels are in `source`.
        between: Pairs of names of labels, the reference first; a single name compares its votes.
        ordered: Values from low to high, in addition to those of the label definitions.
        labels_dir: A folder of label definitions of your own, in addition to the shipped ones.

    Returns:
        The agreement, with its `table()`.

    Raises:
        DataError: No conversation has a label of that name, or two labels have no part in common.
        SettingError: `between` has no usable names, or no label has all values of an order.

    Example::

        >>> import duologue
        >>> duologue.agreement("labelled", between=[("style_human", "style")]).table()  # doctest: +SKIP
    """
    return LabelComparison(
        conversations_of(source),
        None if second is None else conversations_of(second),
        [*between],
        [*ordered],
        None if labels_dir is None else Path(labels_dir),
    ).agreement()


def _of_disputed(report: "Agreement", chosen: Sequence[Mapping[str, Any]]) -> "Agreement":
    """The report with a note on labels of people who began with what is disputed and did not label everything."""
    compared = {name.split(".")[0] for row in report.rows for name in (row.label, row.against)}
    notes = [
        f"{key}: people labelled {counts['labelled']} of {counts['things']} things, {counts['disputed_first']} of them "
        "chosen because votes disagree on them: kappa of these is not kappa of all. Label a random share first "
        "(duologue label --order random)."
        for of_source in chosen
        for key, counts in of_source.items()
        if key in compared
    ]
    return report.model_copy(update={"notes": (*report.notes, *notes)}) if notes else report


def _unordered(report: "Agreement", crossed: "Confusion", labels_dir: Path | None) -> "Agreement":
    """The report with a note on labels of three values or more without a known order."""
    own = labels_in(labels_dir) if labels_dir is not None else {}
    defined_keys = {key for page in (*shipped_labels().values(), *own.values()) for key in page.keys}
    values: dict[tuple[str, str], set[str]] = {}
    for one in crossed.rows:
        values.setdefault((one.label, one.against), set()).update((one.value, one.judged))
    lacking = dict.fromkeys(
        row.against
        for row in report.rows
        if row.kappa is not None
        and row.weighted_kappa is None
        and len(values.get((row.label, row.against), ())) > 2
        and row.against.split(".")[0] not in defined_keys
    )
    if not lacking:
        return report
    note = (
        f"{', '.join(lacking)}: no label definition at hand orders the values, so there is no weighted kappa: if they have one, "
        "give the definition's folder (--labels-dir DIR) or --scale LOW,...,HIGH."
    )
    return report.model_copy(update={"notes": (*report.notes, note)})


def _source_names(*paths: Path) -> tuple[str, ...]:
    """The last parts of the paths by which they differ: what the sources are called."""
    parts = [path.resolve().parts for path in paths]
    for number in range(1, max(map(len, parts)) + 1):
        names = [Path(*path_parts[-number:]).as_posix() for path_parts in parts]
        if len({*names}) == len(names):
            return tuple(names)
    return tuple(str(path) for path in paths)
