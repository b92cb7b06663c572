"""A log format that is not installed, through the commands: `--log-format`."""

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("own_registry")

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


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    Path("till_of_mine.py").write_text(TILL)
    blocks = (f"== u{number}\nC: {'有空房吗？' if number % 2 else 'A room.'}\nA: Yes.\n" for number in range(10))
    Path("monday.log").write_text("".join(blocks), encoding="utf-8")
    yield
    sys.modules.pop("till_of_mine", None)


OWN = ("--log-format", "till_of_mine:FORMAT")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("show", "monday.log", "--out", "page.html"), ""),
        (("check", "monday.log"), "role-slip"),
        (("convert", "monday.log", "monday.jsonl", "--to", "messages"), "10 conversations written"),
        (("compare", "monday.log", "monday.log", "--language", "en"), "message length"),
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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--log-format", "till_of_mine:read"), "--log-format till_of_mine:read: <function read"),
        (("--log-format", "till_of_mine:NONE"), "has no attribute 'NONE'"),
    ],
)
def test_what_cannot_be_used_is_one_line(duologue, options, words):
    code, _, err = duologue(*OWN, *options, "compare", "monday.log", "monday.log")
    line = err.strip().splitlines()[-1]
    assert code == 2
    assert words in line
