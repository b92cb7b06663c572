"""The benchmark on disk: the report, and every turn with its scores."""

from collections.abc import Sequence
from pathlib import Path

from ...data.files.json import dumps, write_lines, write_text
from ...data.files.paths import make_folder
from .judging import JudgedRow
from .report import NextTurnReport

REPORT, TURNS = FILES = ("next_turn.json", "turns.jsonl")


def write(report: NextTurnReport, rows: Sequence[JudgedRow], folder: Path) -> list[Path]:
    """Write `next_turn.json`, the report, and `turns.jsonl`, a line for each row and moment; gives their paths."""
    make_folder(folder)
    write_text(folder / REPORT, dumps(report.model_dump(mode="json"), indent=2) + "\n")
    write_lines(folder / TURNS, (line for row in rows for line in row.lines()))
    return [folder / name for name in FILES]
