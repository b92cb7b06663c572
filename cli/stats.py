"""`duologue stats`: counts of any conversations."""

from pathlib import Path
from typing import Annotated

import typer

from ..data.files.folders import names_of
from .output.sources import say_notes
from .output.tables import PRINTED, TableOutput, read_source

VALUES = 5
"""Values of a label that the terminal shows."""


def stats_command(
    sources: Annotated[
        list[Path], typer.Argument(metavar="SRC...", help="Conversations of any kind: logs, data sets, runs.")
    ],
    output: TableOutput = PRINTED,
) -> int:
    """Count messages, words, tokens and labels.

    Counts of any conversations: messages, words, questions, refusals, tool calls, tokens, ends, lengths, labels.
    """
    from ..analysis.labels.counts import LabelCounts, label_table
    from ..analysis.labels.reliability import Trusts
    from ..analysis.logs import log_statistics, log_tables

    loaded = [read_source(path, stream=True) for path in sources]
    say_notes(*loaded)
    statistics, labels, tables = [], [], []
    for name, source_loaded in zip(names_of(sources), loaded, strict=True):
        counts = LabelCounts(Trusts(annotated=source_loaded.annotated))
        statistics.append(log_statistics(name, counts.passing(source_loaded)))
        rows = counts.rows(Trusts.of(source_loaded)) if counts.values else []
        labels.append(rows)
        if rows or counts.texts:
            of = name if len(loaded) > 1 else ""
            tables.append(label_table(rows, counts.texts, of, short=VALUES if output.form == "text" else 0))
    output.give(
        [
            counts.model_dump(mode="json") | {"labels": [row.model_dump(mode="json") for row in rows]}
            for counts, rows in zip(statistics, labels, strict=True)
        ],
        [*log_tables(statistics), *tables],
    )
    return 1 if any(source_loaded.broken for source_loaded in loaded) else 0
