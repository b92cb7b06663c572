"""A measure and a log format that are not installed, through the commands: `--measure` and `--log-format`."""

import json
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("own_registry", "own_measures")

TILL = """
from duologue import data

def recognises(source):
    return source.text.startswith("== ")

def read(path):
    for block in path.read_text(encoding="utf-8").split("== ")[1:]:
        name, *lines = block.strip().splitlines()
        roles = {"C": "user", "A": "assistant"}
        parts = [line.split(": ", 1) for line in lines]
        messages = tuple(data.Message(role=roles[role], text=text) for role, text in parts)
        yield data.Conversation(id=name, scenario={"user": name}, messages=messages)

FORMAT = data.Format("till", "logs of a till", recognises, read)
"""
MEASURE = """
from duologue.analysis.realism import Measure

def asks(user, number):
    return user.texts[number].endswith(("?", "？"))

SHIPPED = Measure(name="thanks", definition="As shipped.", unit="share", of_text=asks)
MARKS = Measure(name="question marks", definition="Share with a final mark.", unit="share", of_text=asks)
NOTHING = Measure(name="nothing", definition="No value.", unit="share", of_conversation=lambda user: None)
FAILS = Measure(name="fails", definition="Fails.", unit="share", of_conversation=lambda user: user.text)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    Path("till_of_mine.py").write_text(TILL)
    Path("marks_of_mine.py").write_text(MEASURE)
    blocks = (f"== u{number}\nC: {'有空房吗？' if number % 2 else 'A room.'}\nA: Yes.\n" for number in range(10))
    Path("monday.log").write_text("".join(blocks), encoding="utf-8")
    Path("bare_of_mine.py").write_text(
        "from duologue.analysis.realism import Measure\n\nBARE = Measure(name='n', definition='d', unit='u')\n"
    )
    yield
    for name in ("till_of_mine", "marks_of_mine"):
        sys.modules.pop(name, None)


OWN = ("--log-format", "till_of_mine:FORMAT")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("show", "monday.log", "--out", "page.html"), ""),
        (("check", "monday.log"), "role-slip"),
        (("convert", "monday.log", "monday.jsonl", "--to", "messages"), "10 conversations written"),
        (("compare", "monday.log", "monday.log", "--no-baseline", "--language", "en"), "message length"),
    ],
)
def test_every_command_of_logs_reads_the_format(duologue, command, words):
    code, out, err = duologue(*OWN, *command)
    assert (code, words in out + err) == (0, True), err
    if command[0] == "show":
        assert "有空房吗？" in Path("page.html").read_text(encoding="utf-8")


def test_a_bad_file_is_one_line(duologue):
    Path("monday.log").write_text("== u1\nno side\n")
    code, _, err = duologue("--log-format", "till_of_mine:FORMAT", "check", "monday.log")
    assert (code, err.count("\n")) == (2, 1)


def test_a_measure_without_a_value_is_not_among_those_that_count(duologue):
    options = ("--measure", "marks_of_mine:MARKS", "--measure", "marks_of_mine:NOTHING")
    code, out, err = duologue(*OWN, *options, "compare", "monday.log", "monday.log", "--no-baseline", "--json")
    assert code == 0, err
    notes = [note for note in json.loads(out)["notes"] if note.startswith("Measures of your own")]
    assert notes == [
        "Measures of your own: question marks. They count in adjusted p, AUC and mean distance.",
        "Measures of your own that count nowhere: nothing. They have no effect.",
    ]


def test_compare_shows_the_measure_in_json(duologue):
    code, out, err = duologue(
        *OWN, "--measure", "marks_of_mine:MARKS", "compare", "monday.log", "monday.log", "--no-baseline", "--json"
    )
    assert code == 0, err
    assert "question marks" in {row["name"] for row in json.loads(out)["measures"]}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--measure", "marks_of_mine:SHIPPED"),
            "--measure marks_of_mine:SHIPPED: there is a shipped measure 'thanks'",
        ),
        (("--measure", "marks_of_mine:asks"), "is not a measure: give realism.Measure"),
        (("--measure", "marks_of_mine:FAILS"), "the measure 'fails' failed in conversation u1: AttributeError"),
        (("--measure", "nowhere_at_all:X"), "No module named 'nowhere_at_all'"),
        (("--measure", "marks_of_mine.py:MARKS"), "No module named 'marks_of_mine.py'"),
        (("--measure", "bare_of_mine:BARE"), "(bare_of_mine.py, line 3)"),
        (("--log-format", "till_of_mine:read"), "--log-format till_of_mine:read: <function read"),
        (("--log-format", "till_of_mine:NONE"), "has no attribute 'NONE'"),
    ],
)
def test_what_cannot_be_used_is_one_line(duologue, options, words):
    code, _, err = duologue(*OWN, *options, "compare", "monday.log", "monday.log", "--no-baseline")
    line = err.strip().splitlines()[-1]
    assert code == 2
    assert words in line
