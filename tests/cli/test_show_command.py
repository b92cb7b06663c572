"""`duologue show`: pages of runs, data sets and pairs of them; one line for what cannot be shown."""

import json
from pathlib import Path

import pytest

import duologue as package
from duologue import data
from duologue.data import Conversation, Message


@pytest.fixture
def source(tmp_path):
    conversations = [
        Conversation(
            id=f"{n}abc", scenario={"kind": "x", "title": f"Talk {n}"}, messages=(Message(role="user", text="hi"),)
        )
        for n in range(3)
    ]
    data.record_lines.write(conversations, tmp_path / "talks.jsonl")
    return "talks.jsonl"


def test_a_run_becomes_a_page_with_its_graph_and_models(duologue, tmp_path):
    duologue("simulate", "simquac", "--limit", 1, "--max-turns", 1, "--out", "r")
    assert duologue("show", "r")[:2] == (0, "r.html\n")
    page = (tmp_path / "r.html").read_text()
    assert "The graph that ran" in page
    assert '<dd dir="auto">offline</dd>' in page


def test_the_command_writes_the_page_of_the_function(duologue, source, tmp_path):
    assert duologue("show", source, "--limit", 2) == (0, "talks.html\n", "")
    package.show(tmp_path / source, limit=2, out=tmp_path / "own.html")
    assert (tmp_path / "own.html").read_text() == (tmp_path / "talks.html").read_text()
    assert duologue("show", source, "--limit", 2)[0] == 0  # its own page is written anew
    code, out, _ = duologue("show", source, "--id", "1", "--out", "one.html", "--json")
    assert (code, json.loads(out)) == (0, {"source": source, "target": "one.html", "conversations": 1, "notes": []})
    assert "Talk 1" in (tmp_path / "one.html").read_text()
    assert str(tmp_path) not in (tmp_path / "talks.html").read_text()


def test_two_files_of_messages_are_paired_by_the_topics_that_they_name(duologue, tmp_path):
    for name, topics in (("one", ["tea", "rice", None]), ("two", ["rice", "tea", "soup"])):
        messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]
        lines = [{"topic": topic, "messages": messages} for topic in topics]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert duologue("show", "one.jsonl", "--beside", "two.jsonl")[:2] == (0, "one-two.html\n")
    page = (tmp_path / "one-two.html").read_text()
    assert "2 pairs about the same topic" in page
    assert page.count("1 without a counterpart") == 2


def test_the_id_of_a_conversation_is_no_path(duologue, tmp_path):
    (tmp_path / "in").mkdir()
    data.record_lines.write([Conversation(id="../../x y", scenario={"kind": "x"})], "in/r.jsonl")
    assert duologue("show", "in/r.jsonl", "--id", "..")[:2] == (0, "r-.._.._x_y.html\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("talks.jsonl", "--id", "z"), "has no conversation 'z'"),
        (("nothing",), "nothing: cannot be read"),
        (("empty.jsonl",), "empty.jsonl: is empty"),
        (("talks.jsonl", "--beside", "nothing"), "nothing: cannot be read"),
        (("talks.jsonl", "--out", "talks.jsonl/x.html"), "cannot be written"),
        (("talks.jsonl", "--out", "talks.jsonl"), "exists and is not a page of Duologue"),
        (("talks.jsonl", "--out", "mine.html"), "exists and is not a page of Duologue"),
    ],
)
def test_what_cannot_be_shown_is_one_line_and_exit_code_two(duologue, source, tmp_path, arguments, message):
    (tmp_path / "empty.jsonl").write_text("")
    Path("mine.html").write_text("<html>mine</html>")
    before = (tmp_path / source).read_bytes()
    code, out, err = duologue("show", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert (tmp_path / source).read_bytes() == before
    assert Path("mine.html").read_text() == "<html>mine</html>"
