"""What a command writes where the user says replaces nothing, unless the user says that too."""

import pytest

from duologue import data
from duologue.data import Conversation, Message


@pytest.fixture
def talks(tmp_path):
    """A file of a few conversations."""
    said = (Message(role="user", text="Hello?"), Message(role="assistant", text="Yes, what is it?"))
    made = [Conversation(id=f"{n}", scenario={"kind": "x", "n": n}, messages=said) for n in range(9)]
    data.record_lines.write(made, tmp_path / "talks.jsonl")
    return "talks.jsonl"


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (("stats", "logs", "talks.jsonl", "--json", "--out", "t.json"), "t.json"),
        (("stats", "logs", "talks.jsonl", "--format", "markdown", "--out", "t.md"), "t.md"),
        (("compare", "talks.jsonl", "talks.jsonl", "--out", "c"), "c/report.json"),
    ],
)
@pytest.mark.usefixtures("talks")
def test_a_file_that_is_there_is_replaced_only_with_force(duologue, tmp_path, arguments, file):
    assert duologue(*arguments)[0] == 0
    (tmp_path / file).write_text("mine")
    code, out, err = duologue(*arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].endswith(": exists: give --force to replace it, or another place")
    assert (tmp_path / file).read_text() == "mine"
    assert duologue(*arguments, "--force")[0] == 0
    assert (tmp_path / file).read_text() != "mine"


def test_of_several_tables_none_is_written_if_one_is_there(duologue, talks, tmp_path):
    arguments = ("stats", "logs", talks, "--format", "csv", "--out", "tables")
    assert duologue(*arguments)[0] == 0
    first, *others = sorted((tmp_path / "tables").iterdir())
    for other in others:
        other.unlink()
    assert duologue(*arguments)[0] == 2
    assert list((tmp_path / "tables").iterdir()) == [first]
    assert duologue(*arguments, "--force")[0] == 0
    assert sorted((tmp_path / "tables").iterdir()) == [first, *others]
