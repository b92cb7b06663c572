"""`duologue label --read` and `--write`: people's answers in and out."""

import json

import pytest

from duologue.data.labels.answers import Item
from duologue.runs.labels.answers import AnswerFiles, answers_of


def test_answers_that_are_written_and_read_again_are_the_same(duologue, labelled):
    name = "all.jsonl"
    code, out, _ = duologue("label", *labelled, "--write", name)
    assert (code, out) == (0, f"4 answers written to {name}\n")
    code, out, _ = duologue("label", *labelled, "--answers", "again", "--read", name)
    assert (code, out) == (0, f"4 answers read from {name}, 4 of them new\n")
    assert answers_of("again") == answers_of("answers")


ODD = """---
unit: user turn
parts:
  path: {text: true}
  marks: {values: [a, b, "1"], several: [1, 2]}
  "=why": {text: true}
  value.x: {text: true}
  points: {scale: [-1, 5]}
---
Names and values that other programs take for something else.
"""


@pytest.mark.parametrize("text", ["12", "true", "a | b", "'=1", "-1", '中文, "x"', "a\r\nb"])
def test_a_text_that_looks_like_something_else_stays_a_text(duologue, source, tmp_path, text):
    name = "all.jsonl"
    (tmp_path / "pages" / "odd.md").write_text(ODD)
    value = {"path": text, "marks": ["1"], "=why": text, "value.x": text, "points": -1}
    with AnswerFiles("answers", "ann") as answers:
        item = Item(label="odd", conversation="0abc", message=0, seen="0123")
        answers.put(item.answered(value, "ann", model_shown=True))
    words = (source[0], "--labels", "odd", "--labels-dir", "pages")
    assert duologue("label", *words, "--write", name)[0] == 0
    assert duologue("label", *words, "--answers", "again", "--read", name)[0] == 0
    assert answers_of("again") == answers_of("answers")


STUDIED = {"1 correctness": "first", "preference": "tie", "switched": True}


@pytest.mark.parametrize("why", ["12", "true", "a | b", "=1", "＝1", "很好，\n更清楚", "x"])
def test_a_studys_answers_and_reasons_come_back_as_they_were(duologue, source, tmp_path, why):
    name = "all.jsonl"
    (tmp_path / "s.yaml").write_text("first: {name: a, source: talks.jsonl}\nsecond: {name: b, source: talks.jsonl}\n")
    for person in ("ann", "ben"):
        with AnswerFiles("answers", person) as answers:
            answers.put(
                Item(label="batch", conversation="batch 0").answered({"batch": 0, "conversations": ["1"]}, person)
            )
            for label in ("quiz", "side_by_side"):
                answers.put(Item(label=label, conversation="1").answered({**STUDIED, "why": why}, person))
            answers.undo()
    assert duologue("label", "--study", "s.yaml", "--write", name)[:2] == (0, f"2 answers written to {name}\n")
    assert duologue("label", "--study", "s.yaml", "--answers", "again", "--read", name)[0] == 0
    assert answers_of("again") == {
        person: [answer for answer in answers if answer.label == "quiz"]
        for person, answers in answers_of("answers").items()
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"label": "side_by_side", "value": {"preference": "A"}}, "preference is 'A', none of first, second, tie"),
        ({"label": "side_by_side", "value": {"1 correctness": "tie"}}, "1 correctness is 'tie', none of"),
        ({"label": "tone", "value": {"tone": "warm"}}, "is about 'tone', no study"),
    ],
)
def test_what_is_no_answer_to_a_study_is_one_line(duologue, source, tmp_path, line, message):
    (tmp_path / "s.yaml").write_text("first: {name: a, source: talks.jsonl}\nsecond: {name: b, source: talks.jsonl}\n")
    (tmp_path / "x.jsonl").write_text(json.dumps({"conversation": "1", "by": "ann", **line}) + "\n")
    code, _, err = duologue("label", "--study", "s.yaml", "--read", "x.jsonl")
    assert (code, err.count("\n")) == (2, 1)
    assert message in err


def test_one_label_needs_no_name_and_answers_about_other_conversations_are_told(duologue, source, tmp_path):
    value = {"tone": "warm", "why": "x", "marks": ["a"], "sure": True, "points": 3}
    (tmp_path / "t.jsonl").write_text(json.dumps({"conversation": "c9", "message": 0, "value": value}))
    code, out, err = duologue("label", *source, "--read", "t.jsonl", "--as", "ann")
    assert (code, out) == (0, "1 answer read from t.jsonl, 1 of them new\n")
    assert "'c9' and so on, in all 1, are not in talks.jsonl" in err
    assert answers_of("answers")["ann"][0].label == "tone"


def test_answers_that_are_read_twice_are_kept_once(duologue, labelled):
    duologue("label", *labelled, "--write", "all.jsonl")
    for new in (4, 0):
        code, out, _ = duologue("label", *labelled, "--answers", "again", "--read", "all.jsonl", "--json")
        assert (code, json.loads(out)["new"]) == (0, new)
    with open("again/ann.jsonl") as file:
        assert len(file.readlines()) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"label": "tone", "conversation": "0abc", "message": 0, "value": {"tone": "hot"}}',
            "answer 1: tone is 'hot'",
        ),
        ('{"label": "mood", "conversation": "0abc", "value": {}}', "is about 'mood'"),
        ('{"label": "tone"}', "line 1: conversation"),
        ("[1]", "line 1: is not an object"),
        ("{", "line 1"),
    ],
)
def test_a_file_that_holds_no_answers_is_one_line(duologue, source, tmp_path, text, message):
    (tmp_path / "bad.jsonl").write_text(text + "\n")
    code, out, err = duologue("label", *source, "--read", "bad.jsonl", "--as", "ann")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "answers").exists()
