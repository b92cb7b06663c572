"""`duologue agreement`: how far labels can be trusted."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import DataError, SettingError
from .output import say
from .tables import AsJson, Force, Form, Out, check_given, give, read_whole

if TYPE_CHECKING:
    from ..analysis.agreement import Agreement, Confusion
    from ..analysis.tables import Table


def agreement(
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
        typer.Option(
            metavar="A,B",
            help="Two labels, the reference (such as people's) first: every part that both have is a row. A dot names one "
            'part: "rating.Detail Level,satisfaction.detail". One name alone: agreement among its votes. May be repeated.',
        ),
    ] = None,
    ordered: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LOW,...,HIGH",
            help="Words in their order, for weighted kappas of labels that have these alone. May be repeated.",
        ),
    ] = None,
    labels_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Pages of labels of your own: the order of their values, as of the shipped ones."
        ),
    ] = None,
    confusion: Annotated[
        bool, typer.Option("--confusion", help="Also: how often each value of one meets each of the other.")
    ] = False,
    worth: Annotated[
        bool,
        typer.Option(
            "--worth",
            help="Also: rates and means of B over all conversations, put right by A where there is one (prediction-powered).",
        ),
    ] = False,
    precision: Annotated[
        float | None,
        typer.Option(
            help="Also: which labels of B to keep so that those kept are right so often, and how many are left."
        ),
    ] = None,
    confidence: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="With --precision: a label that is a number, how sure B is. Default: B's votes."
        ),
    ] = None,
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    force: Force = False,
) -> int:
    """How far two labels agree, or the votes on one, by side and part, with intervals over users."""
    from ..analysis import agreement as of_labels
    from ..analysis.agreement.report import NO_VOTES
    from ..prompts.label_pages import scales_of
    from ..runs.label_origins import rule_keys

    check_given(out, as_json=as_json, form=form, force=force)
    pairs = _pairs(between)
    if confidence is not None and precision is None:
        raise SettingError("--confidence is for --precision: give that too, such as --precision 0.9")
    if precision is not None and not 0 < precision < 1:
        raise SettingError(f"--precision {precision}: is a share between 0 and 1, such as 0.9")
    if (worth or confusion or precision is not None) and not any(len(names) == 2 for names in pairs):
        raise SettingError("--confusion, --worth and --precision compare two labels: give --between A,B")
    scales = scales_of(labels_dir)
    orders = [_words(text, "--ordered", 2) for text in ordered or ()]
    loaded = [read_whole(path) for path in (source, *([second] if second is not None else []))]
    for each in loaded:
        for note in each.notes:
            say(f"{each.path}: {note}" if len(loaded) > 1 else note)
    talks = [each.conversations for each in loaded]
    names = () if second is None else _called(source, second)
    found = of_labels.agreement(*talks, between=pairs, ordered=orders, scales=scales, sources=names)
    if not found.rows:
        why = next((note.removesuffix(".") for note in found.notes if NO_VOTES in note), "")
        raise DataError(
            f"{source}: {why or 'nothing has both labels: --between names two labels of the same conversations'}"
        )
    found = _of_rules(found, {key for path in (source, second) if path is not None for key in rule_keys(path)})
    crossed = of_labels.confusion(*talks, between=pairs, ordered=orders, scales=scales, sources=names)
    found = _unordered(found, crossed, labels_dir)
    value: dict[str, Any] = {"agreement": found.to_json()}
    tables: list[Table] = [found.table()] if form == "csv" else found.tables()
    if confusion:
        value["confusion"] = crossed.to_json()
        tables += [crossed.table()] if form == "csv" else crossed.tables()
    if worth:
        worths = of_labels.worth(*talks, between=pairs, ordered=orders, scales=scales, sources=names)
        value["worth"] = worths.to_json()
        tables += [worths.table()] if form == "csv" else worths.tables()
    if precision is not None:
        kept = of_labels.abstention(*talks, between=pairs, precision=precision, confidence=confidence, sources=names)
        value["precision"] = kept.to_json()
        tables += [kept.table()] if form == "csv" else kept.tables()
    give(value["agreement"] if len(value) == 1 else value, tables, as_json=as_json, form=form, out=out, force=force)
    return 1 if any(each.broken for each in loaded) else 0


OF_RULES = (
    "the votes are one rule's at three thresholds: that they agree says how far it is from these, not how sure it is"
)


def _of_rules(found: "Agreement", keys: set[str]) -> "Agreement":
    """The rows with a note where votes are those of the offline annotator, which is no opinion of several."""
    rows = []
    for row in found.rows:
        voted = row.label if row.against == "votes" else row.against
        ruled = row.votes > 1 and voted.split(".")[0] in keys
        rows.append(row.model_copy(update={"note": "; ".join(filter(None, (OF_RULES, row.note)))}) if ruled else row)
    return found.model_copy(update={"rows": tuple(rows)})


def _unordered(found: "Agreement", crossed: "Confusion", labels_dir: Path | None) -> "Agreement":
    """With a note about labels of three words or more whose order no page that is at hand tells, or that they have none."""
    from ..prompts.label_pages import labels_in, shipped_labels

    own = labels_in(labels_dir) if labels_dir is not None else {}
    known = {key for page in (*shipped_labels().values(), *own.values()) for key in page.keys}
    values: dict[tuple[str, str], set[str]] = {}
    for one in crossed.rows:
        values.setdefault((one.label, one.against), set()).update((one.value, one.judged))
    lacking = dict.fromkeys(
        row.against
        for row in found.rows
        if row.kappa is not None
        and row.weighted_kappa is None
        and len(values.get((row.label, row.against), ())) > 2
        and row.against.split(".")[0] not in known
    )
    if not lacking:
        return found
    note = (
        f"{', '.join(lacking)}: no page at hand tells the order of the values, so there is no weighted kappa: if they have one, "
        "give the page's folder (--labels-dir DIR) or --ordered LOW,...,HIGH."
    )
    return found.model_copy(update={"notes": (*found.notes, note)})


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


def _called(*paths: Path) -> tuple[str, ...]:
    """The last parts of the paths by which they differ: what the sources are called."""
    parts = [path.resolve().parts for path in paths]
    for number in range(1, max(map(len, parts)) + 1):
        names = [Path(*each[-number:]).as_posix() for each in parts]
        if len({*names}) == len(names):
            return tuple(names)
    return tuple(str(path) for path in paths)


def _words(text: str, option: str, fewest: int) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    if len(words) > 1 and not all(words):
        raise SettingError(f"{option} {text!r}: a name is missing beside a comma")
    if len(words) < fewest or not all(words):
        raise SettingError(f"{option} {text!r}: is no list of words with commas between them")
    return words
