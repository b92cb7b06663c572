"""`duologue agreement`: how far labels can be trusted."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import DataError, SettingError
from .options import completions
from .options.shared import LabelsDir, option
from .output.sources import say_notes
from .output.tables import PRINTED, TableOutput, read_whole

if TYPE_CHECKING:
    from ..analysis.labels.agreement import Agreement, Confusion
    from ..analysis.tables import Table


def agreement_command(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="Conversations with labels: a data set or a run.")],
    second: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SRC2]",
            help="The same conversations with the labels to compare, matched by path or id. Default: SRC itself.",
        ),
    ] = None,
    between: Annotated[
        list[str] | None,
        option(
            "Compare two labels, the reference (such as people's) first, part by part. A dot names one part: "
            '"rating.Detail Level,satisfaction.detail". A single name: agreement among its votes. May be repeated.',
            metavar="A,B",
            autocompletion=completions.label_names,
        ),
    ] = None,
    scale: Annotated[
        list[str] | None,
        option("Order these values of a label, for weighted kappas. May be repeated.", metavar="LOW,...,HIGH"),
    ] = None,
    labels_dir: LabelsDir = None,
    confusion: Annotated[bool, option("Add how often each value of A meets each value of B.", "--confusion")] = False,
    calibrate: Annotated[
        bool,
        option(
            "Add calibrated estimates: rates and means of B over all conversations, corrected by A (prediction-powered inference).",
            "--calibrate",
        ),
    ] = False,
    precision: Annotated[
        float | None,
        option("Add the labels of B to keep so that this share of them is right, and their number.", metavar="SHARE"),
    ] = None,
    confidence: Annotated[
        str | None,
        option("Rank the labels of --precision by this label, a number. Default: B's votes.", metavar="NAME"),
    ] = None,
    output: TableOutput = PRINTED,
) -> int:
    """Measure the agreement of two labels, or of votes.

    Agreement by role and part, with intervals over users.
    """
    from ..analysis.labels import agreement as of_labels
    from ..analysis.labels.agreement.report import ALL_TIES, NO_VOTES
    from ..prompts.label_pages import scales_of
    from ..runs.labels.origins import disputed_first, rule_keys

    output.check()
    pairs = _pairs(between)
    if confidence is not None and precision is None:
        raise SettingError("--confidence is for --precision: give that too, such as --precision 0.9")
    if precision is not None and not 0 < precision < 1:
        raise SettingError(f"--precision {precision}: is a share between 0 and 1, such as 0.9")
    if (calibrate or confusion or precision is not None) and not any(len(names) == 2 for names in pairs):
        raise SettingError("--confusion, --calibrate and --precision compare two labels: give --between A,B")
    scales = scales_of(labels_dir)
    orders = [_words(text, "--scale", 2) for text in scale or ()]
    loaded = [read_whole(path) for path in (source, *([second] if second is not None else []))]
    say_notes(*loaded)
    talks = [source_loaded.conversations for source_loaded in loaded]
    names = () if second is None else _source_names(source, second)
    report = of_labels.agreement(*talks, between=pairs, ordered=orders, scales=scales, sources=names)
    if not report.rows:
        why = next((note.removesuffix(".") for note in report.notes if NO_VOTES in note or ALL_TIES in note), "")
        raise DataError(
            f"{source}: {why or 'nothing has both labels: --between names two labels of the same conversations'}"
        )
    report = _of_rules(report, {key for path in (source, second) if path is not None for key in rule_keys(path)})
    report = _of_disputed(report, [disputed_first(path) for path in (source, second) if path is not None])
    crossed = of_labels.confusion(*talks, between=pairs, ordered=orders, scales=scales, sources=names)
    report = _unordered(report, crossed, labels_dir)
    value: dict[str, Any] = {"agreement": report.to_json()}
    tables: list[Table] = [report.table()] if output.form == "csv" else report.tables()
    if confusion:
        value["confusion"] = crossed.to_json()
        tables += [crossed.table()] if output.form == "csv" else crossed.tables()
    if calibrate:
        worths = of_labels.worth(*talks, between=pairs, ordered=orders, scales=scales, sources=names)
        value["worth"] = worths.to_json()
        tables += [worths.table()] if output.form == "csv" else worths.tables()
    if precision is not None:
        abstention = of_labels.abstention(
            *talks, between=pairs, precision=precision, confidence=confidence, sources=names
        )
        value["precision"] = abstention.to_json()
        tables += [abstention.table()] if output.form == "csv" else abstention.tables()
    output.give(value["agreement"] if len(value) == 1 else value, tables)
    return 1 if any(source_loaded.broken for source_loaded in loaded) else 0


OF_RULES = (
    "the votes are one rule's at three thresholds: their agreement shows how far it is from these, not how sure it is"
)


def _of_rules(report: "Agreement", keys: set[str]) -> "Agreement":
    """The rows with a note where votes are those of the offline annotator, which is no opinion of several."""
    rows = []
    for row in report.rows:
        voted = row.label if row.against == "votes" else row.against
        ruled = row.votes > 1 and voted.split(".")[0] in keys
        rows.append(row.model_copy(update={"note": "; ".join(filter(None, (OF_RULES, row.note)))}) if ruled else row)
    return report.model_copy(update={"rows": tuple(rows)})


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
    from ..prompts.label_pages import labels_in, shipped_labels

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


def _pairs(between: list[str] | None) -> list[list[str]]:
    if not between:
        raise SettingError(
            "--between: give two labels, such as --between strategy_human_V1,strategy_V1, or one with votes"
        )
    pairs = [_words(text, "--between", 1) for text in between]
    for text, names in zip(between, pairs, strict=True):
        if len(names) > 2:
            raise SettingError(f"--between {text}: compares two labels: repeat the option for more")
    return pairs


def _source_names(*paths: Path) -> tuple[str, ...]:
    """The last parts of the paths by which they differ: what the sources are called."""
    parts = [path.resolve().parts for path in paths]
    for number in range(1, max(map(len, parts)) + 1):
        names = [Path(*path_parts[-number:]).as_posix() for path_parts in parts]
        if len({*names}) == len(names):
            return tuple(names)
    return tuple(str(path) for path in paths)


def _words(text: str, option: str, fewest: int) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    if len(words) > 1 and not all(words):
        raise SettingError(f"{option} {text!r}: a name is missing beside a comma")
    if len(words) < fewest or not all(words):
        raise SettingError(f"{option} {text!r}: is not a list of words with commas between them")
    return words
