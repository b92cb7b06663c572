"""Logs whose lines share an id, through the commands."""

import json
import random
from pathlib import Path

import pytest
from tests.data.logs.test_shared_ids import SHARED, line, texts, written

from duologue.data import load


def test_an_id_that_several_share_is_answered_with_those_that_there_are(duologue):
    written([*SHARED, line("80", "And on Sundays?")])
    code, _, err = duologue("show", "log.jsonl", "--id", "7", "--out", "one.txt")
    first, second = sorted(name for name in texts(load("log.jsonl")) if name.startswith("7"))
    assert (code, f"2 conversations begin with '7': give one of {first}, {second}" in " ".join(err.split())) == (
        2,
        True,
    )
    assert duologue("show", "log.jsonl", "--id", second, "--out", "one.txt")[0] == 0
    assert duologue("show", "log.jsonl", "--id", "8", "--out", "eight.txt")[0] == 0, (
        "a whole id goes before a beginning"
    )
    assert "Are you open?" in Path("eight.txt").read_text()


@pytest.mark.heavy
def test_reports_do_not_depend_on_the_order_of_lines(duologue):
    breads = ("rye bread", "a cake", "rolls for ten", "a tart", "white bread", "pretzels")
    openings = ("do you have {}", "Hello! I would like {}.", "how much is {}")
    sides = [
        [
            line(
                f"{number % 5}",
                openings[(number + side) % 3].format(breads[number % 6]) + "?" * (number % 2),
                rating=number % 3,
            )
            for number in range(18)
        ]
        for side in (0, 1)
    ]
    outputs = []
    for seed in (0, 1):
        for side, values in enumerate(sides):
            if seed:
                random.Random(seed).shuffle(values)
            written(values, f"{side}.jsonl")
        code, _, err = duologue("compare", "0.jsonl", "1.jsonl", "--out", f"report{seed}")
        assert code == 0, err
        report = Path(f"report{seed}/report.json").read_text()
        found = json.loads(duologue("check", "0.jsonl", "--json")[1])
        found["findings"].sort(key=json.dumps)
        outputs.append((report, found))
    assert outputs[0] == outputs[1]


def test_findings_over_a_folder_name_the_file_and_copies_are_counted(duologue):
    Path("logs").mkdir()
    silent = {"id": "9", "messages": [{"role": "user", "content": " "}]}
    written([SHARED[0], {**SHARED[0], "id": "other"}, silent], "logs/a.jsonl")
    written([silent], "logs/b.jsonl")
    _, out, err = duologue("check", "logs")
    assert "a.jsonl 9 user 0: empty: " in out
    assert "b.jsonl 9 user 0: empty: " in out
    assert "of 4 conversations 2 are copies: the same messages as an earlier one" in err
    document = json.loads(duologue("check", "logs", "--json")[1])
    assert ([finding["path"] for finding in document["findings"]], document["copies"]) == (["a.jsonl", "b.jsonl"], 2)
