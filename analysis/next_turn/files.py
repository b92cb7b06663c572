"""The benchmark on disk: the report, every turn with its scores, and users' turns in the form of TREC's track.

The form is that of the user simulation track of TREC 2026, task 1 (next utterance). A run of the track is not a file: a client
sends each utterance to the track's server, which answers with the next history. Each line here is the body of such a
request. Its fields are those that the organisers' baseline client sends (github.com/TREC-UserSim/trec-usersim-baseline,
simulator/src/api_client.py, read in November 2026). The guidelines were a draft of 2026-04-30. The server's scenarios
are not read.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...data.files.folders import make_folder
from ...data.files.json_files import dumps, write_lines, write_text
from .judging import JudgedRow
from .report import NextTurnReport

REPORT, TURNS, TREC = FILES = ("next_turn.json", "turns.jsonl", "trec.jsonl")


def write(report: NextTurnReport, rows: Sequence[JudgedRow], folder: Path) -> list[Path]:
    """Write `next_turn.json`, the report, `turns.jsonl` (a line for each row and moment) and `trec.jsonl`; gives their paths."""
    make_folder(folder)
    write_text(folder / REPORT, dumps(report.model_dump(mode="json"), indent=2) + "\n")
    write_lines(folder / TURNS, (line for row in rows for line in row.lines()))
    write_lines(folder / TREC, (line for row in rows if row.kind == "user" for line in requests(row)))
    return [folder / name for name in FILES]


def requests(row: JudgedRow) -> Iterator[dict[str, Any]]:
    """One request of the track for each moment at which the row's user was asked.

    It holds the user's utterance, and is final if the user leaves. `timestamp` is empty: nothing here depends on a
    clock.
    """
    for turn in row.turns:
        if turn.next_turn.failure is None:
            yield {
                "run_id": row.name,
                "user_utterance": {
                    "conversation_id": f"{turn.moment.conversation.id}:{turn.moment.turn}",
                    "participant_name": "user",
                    "text": turn.next_turn.text,
                    "sources": [],
                    "annotations": {},
                    "timestamp": "",
                    "is_final": turn.next_turn.stopped,
                },
            }
