"""`duologue agreement`: how far labels can be trusted."""

from pathlib import Path
from typing import Annotated

from ..data.loading import load
from ..errors import DataError, SettingError
from . import options
from .options import argument, option
from .printing import give, say


def agreement_command(
    source: Annotated[Path, argument("SRC", "Conversations with labels: a data set or a run.")],
    second: Annotated[
        Path | None, argument("[SRC2]", "The same with the labels to compare, by path or id. Default: SRC itself.")
    ] = None,
    between: Annotated[
        list[str] | None, option("Two labels, people's first, or one with votes.", metavar="A,B")
    ] = None,
    ordered: Annotated[
        list[str] | None, option("Order of values, for weighted kappas.", metavar="LOW,...,HIGH")
    ] = None,
    labels_dir: options.LabelsDir = None,
    confusion: Annotated[bool, option("Count how often values meet.", "--confusion")] = False,
    rectify: Annotated[bool, option("Rates of B over all, rectified by A.", "--rectify")] = False,
    form: options.Form = "text",
    out: options.File = None,
    as_json: options.Json = False,
) -> int:
    """Measure the agreement of two labels, or of votes.

    Agreement by role and part, with intervals over users. A dot names one part of a label: --between "rating.Detail
    Level,satisfaction.detail"; --between and --ordered may be repeated.
    """
    from ..studies.labels import agreement

    pairs = [_words(text, "--between", 1, 2) for text in between or ()]
    if not pairs:
        raise SettingError("--between: give two labels, such as --between style_human,style, or one with votes")
    if (rectify or confusion) and not any(len(names) == 2 for names in pairs):
        raise SettingError("--confusion and --rectify compare two labels: give --between A,B")
    loaded = [load(path) for path in (source, second) if path is not None]
    say(*(f"{one.path}: {note}" if second else note for one in loaded for note in one.notes))
    report = agreement(
        loaded[0],
        loaded[1] if second is not None else None,
        between=pairs,
        ordered=[_words(text, "--ordered", 2, 100) for text in ordered or ()],
        labels_dir=labels_dir,
        confusion=confusion,
        rectify=rectify,
    )
    if not report.rows:
        raise DataError(
            f"{source}: nothing has both labels, or a vote beside another: --between names two labels of the same "
            "conversations, or one with votes"
        )
    give(report, form, out, as_json)
    return int(any(one.broken for one in loaded))


def _words(text: str, option: str, least: int, most: int) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    if not all(words) or not least <= len(words) <= most:
        raise SettingError(f"{option} {text!r}: give {least} to {most} names with commas between them")
    return words
