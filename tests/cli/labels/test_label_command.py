"""`duologue label`: one line for what cannot be labelled, and copies with labels. Its page: test_label_page."""

import json
import sys

import pytest

from duologue import data
from duologue.data import Conversation
from duologue.data.labels.answers import Item, items_of
from duologue.prompts.label_pages import labels_named, shipped_labels
from duologue.runs.labels.answers import AnswerFiles
from tests.cli.labels.labelling import PAGE, VALUE


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--as: name who labels"),
        (["--as", "a b"], "--as 'a b': a name has"),
        (["--as", "ann", "--show-language", "fr"], "--show-language fr: give one of as stored, en, zh, both"),
        (["--write", "x.xml"], "holds no answers"),
        (["--write", "x.jsonl", "--read", "y.jsonl"], "exclude each other"),
        (["--as", "ann", "--port", "0"], "--port"),
    ],
)
def test_options_that_cannot_be_are_one_line(monkeypatch, duologue, source, options, message):
    monkeypatch.setattr("duologue.cli.labels.label.of_extra", lambda *extra: None)  # the page itself is not reached
    code, _, err = duologue("label", *source, *options)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_a_refused_command_leaves_no_folder_of_answers_behind(duologue, source, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "streamlit", None)
    code, _, err = duologue("label", *source, "--as", "ann")
    assert (code, err.count("\n")) == (2, 1)
    assert "streamlit is not installed" in err
    assert not (tmp_path / "answers").exists()


def test_a_label_that_nobody_knows_names_those_that_are_known(duologue, source):
    code, _, err = duologue("label", source[0], "--labels", "mood", "--as", "ann")
    assert code == 2
    assert "there is no label 'mood'; there are advice" in err


def test_what_is_there_is_replaced_only_if_that_is_asked_for(duologue, labelled):
    for words in (("--write", "all.jsonl"), ("--out", "copy")):
        assert duologue("label", *labelled, *words)[0] == 0
        code, _, err = duologue("label", *labelled, *words)
        assert (code, err.count("\n")) == (2, 1)
        assert "exists: give --force" in err
        assert duologue("label", *labelled, *words, "--force")[0] == 0


KILLED = """
import os, signal
from duologue.cli import main
from duologue.runs.labels import copies

copies.record_lines.write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
main()
"""


def test_a_copy_that_is_killed_is_not_there_and_the_next_one_removes_what_it_left(forks, labelled, tmp_path):
    killed = forks.run("-c", KILLED, "label", *labelled, "--out", "copy", cwd=tmp_path)
    assert killed.returncode == -9, killed.stderr
    (left,) = tmp_path.glob(".copy.*.partial")
    assert list(left.rglob("*.jsonl"))
    assert not (tmp_path / "copy").exists()
    assert forks.run("label", *labelled, "--out", "copy", cwd=tmp_path).returncode == 0
    assert not left.exists()
    whole = {path.name: path.read_bytes() for path in (tmp_path / "copy").rglob("*.jsonl")}
    assert whole.keys() == {"conversations.jsonl", "ann.jsonl", "ben.jsonl"}
    (tmp_path / "copy" / "annotation" / "votes.jsonl").write_text("paid for")
    assert forks.run("-c", KILLED, "label", *labelled, "--out", "copy", "--force", cwd=tmp_path).returncode == -9
    assert forks.run("label", *labelled, "--out", "copy", "--force", cwd=tmp_path).returncode == 0
    assert (tmp_path / "copy" / "annotation" / "votes.jsonl").read_text() == "paid for"


def test_a_copy_for_which_the_disk_has_no_room_is_one_line_and_not_there(forks, labelled, tmp_path):
    fork = forks(["label", *labelled, "--out", "copy"], tmp_path, file=100)
    assert fork.wait() == 2
    assert fork.stderr == "duologue: copy: cannot be written (File too large): choose another place\n"
    assert not [path for path in tmp_path.iterdir() if "copy" in path.name]


def test_a_study_is_told_in_a_table_and_answers_to_something_else_are_one_line(duologue, labelled):
    code, _, err = duologue("papers", "recllmsim", "preference", "answers")
    assert (code, "holds no answers to a side-by-side study" in err) == (2, True)
    code, _, err = duologue("papers", "recllmsim", "preference", "nope")
    assert (code, "nope: there is no such folder" in err) == (2, True)
    for person, preferred in (("ann", "first"), ("ben", "first"), ("cem", "second")):
        with AnswerFiles("study", person) as answers:
            item = Item(label="side_by_side", conversation="1")
            answers.put(item.answered({"1 correctness": preferred, "preference": preferred, "why": "x"}, person))
    code, out, _ = duologue("papers", "recllmsim", "preference", "study", "--json")
    assert code == 0
    rows = {row["aspect"]: row for row in json.loads(out)["wins"]}
    assert rows["preference"]["first"] == 1.0
    assert rows["preference"]["labellers"] == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--study", "none.yaml", "--as", "ann"], "none.yaml"),
        (["talks.jsonl", "--study", "x.yaml", "--as", "ann"], "leave SRC and --labels out"),
        (["--labels", "tone", "--as", "ann"], "SRC is missing"),
    ],
)
def test_a_study_that_is_not_there_or_has_another_source_is_one_line(monkeypatch, duologue, source, words, message):
    monkeypatch.setattr("duologue.cli.labels.label.of_extra", lambda *extra: None)  # the page itself is not reached
    code, _, err = duologue("label", *words)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_peoples_labels_stand_beside_those_of_the_data_in_a_copy_that_agreement_reads(duologue, open_data, tmp_path):
    source = open_data / "recllmsim_human_vs_agent" / "real_human_user"
    labels = shipped_labels()
    conversations = data.load(source).conversations
    for person in ("ann", "ben"):
        with AnswerFiles("answers", person) as answers:
            for one in conversations:
                value = labels["solving"].value_in(one.labels)
                answers.put(Item(label="solving", conversation=one.id).answered(value, person))
    code, out, _ = duologue("label", source, "--labels", "solving", "--out", "copy")
    assert (code, out) == (0, "35 things labelled by people, from answers, in copy\n")
    again = {one.id: one for one in data.load("copy").conversations}
    first = again[conversations[0].id]
    assert first.labels["solving_human"]["2"] == first.labels["solving"]["final"]
    assert list(first.labels["solving_human"]) == ["final", "1", "2"]
    changed = (json.loads(path.read_text()) for path in (tmp_path / "copy").rglob("[0-9]*.json"))
    assert sum("1" in conversation.get("strategy_human_V1", {}) for conversation in changed) == 35
    code, out, _ = duologue("agreement", "copy", "--between", "strategy_human_V1,strategy_V1", "--json")
    assert code == 0
    assert {row["accuracy"]["value"] for row in json.loads(out)["rows"]} == {1.0}


def test_a_copy_of_records_says_nothing_of_formats_without_labels(duologue, labelled, tmp_path):
    assert duologue("label", *labelled, "--out", "copy")[2] == ""
    assert duologue("label", "copy", *labelled[1:], "--out", "again", "--force")[2].count("hold no labels") == 0
    talk = '{"id": "0abc", "messages": [{"role": "user", "content": "<b>hi</b>"}, {"role": "assistant", "content": "hello"}]}'
    (tmp_path / "logs.jsonl").write_text(talk)
    assert (
        "files of the source's format hold no labels" in duologue("label", "logs.jsonl", *labelled[1:], "--out", "b")[2]
    )


def test_people_who_do_not_agree_leave_a_tie_and_answers_to_other_data_are_one_line(duologue, labelled, tmp_path):
    with AnswerFiles("answers", "ben") as answers:
        answers.put(Item(label="tone", conversation="0abc", message=0).answered({**VALUE, "tone": "warm"}, "ben"))
    assert duologue("label", *labelled, "--out", "copy")[:2] == (
        0,
        "2 things labelled by people, from answers, in copy\n",
    )
    first = data.load("copy").conversations[0].messages[0].labels
    assert first["tone_human"] == {"final": None, "1": "cold", "2": "warm"}
    assert first["points_human"] == {"final": 3, "1": 3, "2": 3}
    data.record_lines.write([Conversation(id="z", scenario={"kind": "x"})], tmp_path / "other.jsonl")
    code, _, err = duologue("label", "other.jsonl", *labelled[1:], "--out", "other")
    assert (code, "no answer is about one of its 1 conversations" in err) == (2, True)
    assert "give the data that people labelled, the answers are about 0abc, 1abc" in " ".join(err.split())


def test_answers_about_texts_that_have_changed_since_are_left_out_of_a_copy(duologue, labelled, tmp_path):
    tone = labels_named(["tone"], tmp_path / "pages")
    (first, _) = items_of(data.load("talks.jsonl").conversations, tone)
    for message, seen in ((0, "other"), (1, ""), (7, "")):  # another text, another role, none at all
        with AnswerFiles("answers", "cem") as answers:
            item = first.model_copy(update={"message": message, "seen": seen})
            answers.put(item.answered(VALUE, "cem"))
    with AnswerFiles("answers", "dan") as answers:
        answers.put(first.answered({"tone": "hot"}, "dan"))
    code, out, err = duologue("label", *labelled, "--out", "copy")
    assert (code, out) == (0, "2 things labelled by people, from answers, in copy\n")
    assert "answers about texts that have changed since: 3, left out" in err
    assert "answers that are not values of their label's definition: 1, left out" in err
    assert list(data.load("copy").conversations[0].messages[0].labels["tone_human"]) == ["final", "1", "2"]


def test_labels_in_one_place_are_not_written_over_each_other(duologue, labelled, tmp_path):
    (tmp_path / "pages" / "other.md").write_text(PAGE)
    code, _, err = duologue("label", labelled[0], "--labels", "tone,other", "--labels-dir", "pages", "--out", "copy")
    assert (code, err.count("\n")) == (2, 1)
    assert "stored under the same key" in err
    assert duologue("label", *labelled, "--out", "copy")[0] == 0
    code, _, err = duologue("label", "copy", *labelled[1:], "--out", "again")
    assert (code, "labels of people that 2 of them had already" in err) == (0, True)
