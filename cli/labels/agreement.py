"""`duologue agreement`: how far labels can be trusted."""

from pathlib import Path
from typing import Annotated

import typer

from ...errors import DataError, SettingError
from ..options import completions
from ..options.shared import LabelsDir, option
from ..output.sources import say_notes
from ..output.tables import PRINTED, TableOutput, read_source


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
    confusion: Annotated[
        bool, option("Add a table of how often each value of A occurs with each value of B.", "--confusion")
    ] = False,
    rectify: Annotated[
        bool,
        option(
            "Add the rates or mean of B over all conversations, rectified by A where both are (prediction-powered).",
            "--rectify",
        ),
    ] = False,
    output: TableOutput = PRINTED,
) -> int:
    """Measure the agreement of two labels, or of votes.

    Agreement by role and part, with intervals over users.
    """
    from ...studies.label_agreement import agreement

    output.check()
    pairs = [_words(text, "--between", 1, 2) for text in between or ()]
    if not pairs:
        raise SettingError("--between: give two labels, such as --between style_human,style, or one with votes")
    if (rectify or confusion) and not any(len(names) == 2 for names in pairs):
        raise SettingError("--confusion and --rectify compare two labels: give --between A,B")
    orders = [_words(text, "--scale", 2, 100) for text in scale or ()]
    loaded = [read_source(path) for path in (source, second) if path is not None]
    say_notes(*loaded)
    report = agreement(
        loaded[0],
        loaded[1] if second is not None else None,
        between=pairs,
        ordered=orders,
        labels_dir=labels_dir,
        confusion=confusion,
        rectify=rectify,
    )
    if not report.rows:
        raise DataError(f"{source}: nothing has both labels, or a vote beside another: --between names two labels of the "
                        "same conversations, or one with votes")  # fmt: skip
    output.show(report)
    return 1 if any(source_loaded.broken for source_loaded in loaded) else 0


def _words(text: str, option: str, least: int, most: int) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    if not all(words) or not least <= len(words) <= most:
        raise SettingError(f"{option} {text!r}: give {least} to {most} names with commas between them")
    return words
