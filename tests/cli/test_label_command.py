"""`duologue label`: people's answers in and out, and one line for what cannot be labelled. Its page: test_label_page."""

import csv
import json
import sys

import pytest

from duologue import data
from duologue.data import Conversation, Message
from duologue.data.labelling import Item, items_of
from duologue.prompts.label_pages import labels_named, shipped_labels
from duologue.runs.answers import Answers, answers_of

PAGE = """---
unit: user turn
parts:
  tone: {values: [warm, cold]}
  why: {text: true}
  marks: {values: [a, b, c], several: [1, 2]}
  sure: {values: [true, false]}
  points: {scale: [1, 5]}
---
How the user sounds.
"""
VALUE = {"tone": "cold", "why": '=1+1, "quoted"\nand a line', "marks": ["b", "a"], "sure": False, "points": 3}


@pytest.fixture
def source(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "tone.md").write_text(PAGE)
    said = (Message(role="user", text="<b>hi</b>"), Message(role="assistant", text="hello"))
    made = [Conversation(id=f"{n}abc", scenario={"kind": "x"}, messages=said) for n in range(2)]
    data.record_lines.write(made, tmp_path / "talks.jsonl")
    return "talks.jsonl", "--labels", "tone", "--labels-dir", "pages"


@pytest.fixture
def labelled(source):
    for person in ("ann", "ben"):
        with Answers("answers", person) as answers:
            for number in range(2):
                item = Item(label="tone", conversation=f"{number}abc", message=0)
                answers.put(item.answered(VALUE, person))
    return source


@pytest.mark.parametrize("name", ["all.csv", "all.jsonl", "all.json"])
def test_answers_that_are_written_and_read_again_are_the_same(duologue, labelled, name):
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


@pytest.mark.parametrize("name", ["all.csv", "all.jsonl", "all.json"])
@pytest.mark.parametrize("text", ["12", "true", "a | b", "'=1", "-1", '中文, "x"', "a\r\nb"])
def test_a_text_that_looks_like_something_else_stays_a_text(duologue, source, tmp_path, name, text):
    (tmp_path / "pages" / "odd.md").write_text(ODD)
    value = {"path": text, "marks": ["1"], "=why": text, "value.x": text, "points": -1}
    with Answers("answers", "ann") as answers:
        item = Item(label="odd", conversation="0abc", message=0, seen="0123")
        answers.put(item.answered(value, "ann", model_shown=True))
    words = (source[0], "--labels", "odd", "--labels-dir", "pages")
    assert duologue("label", *words, "--write", name)[0] == 0
    assert duologue("label", *words, "--answers", "again", "--read", name)[0] == 0
    assert answers_of("again") == answers_of("answers")


STUDIED = {"1 correctness": "first", "preference": "tie", "switched": True}


@pytest.mark.parametrize("name", ["all.csv", "all.jsonl", "all.json"])
@pytest.mark.parametrize("why", ["12", "true", "a | b", "=1", "＝1", "很好，\n更清楚", "x"])
def test_a_studys_answers_and_reasons_come_back_as_they_were(duologue, source, tmp_path, name, why):
    (tmp_path / "s.yaml").write_text("first: {name: a, source: talks.jsonl}\nsecond: {name: b, source: talks.jsonl}\n")
    for person in ("ann", "ben"):
        with Answers("answers", person) as answers:
            answers.put(
                Item(label="batch", conversation="batch 0").answered({"batch": 0, "conversations": ["1"]}, person)
            )
            for label in ("onboarding", "side_by_side"):
                answers.put(Item(label=label, conversation="1").answered({**STUDIED, "why": why}, person))
            answers.undo()
    assert duologue("label", "--study", "s.yaml", "--write", name)[:2] == (0, f"2 answers written to {name}\n")
    assert duologue("label", "--study", "s.yaml", "--answers", "again", "--read", name)[0] == 0
    assert answers_of("again") == {
        person: [answer for answer in answers if answer.label == "onboarding"]
        for person, answers in answers_of("answers").items()
    }


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"label": "side_by_side", "value": {"preference": "A"}}, "preference is 'A', none of first, second, tie"),
        ({"label": "side_by_side", "value": {"1 correctness": "tie"}}, "1 correctness is 'tie', none of"),
        ({"label": "tone", "value": {"tone": "warm"}}, "is about 'tone', no study"),
    ],
)
def test_what_is_no_answer_to_a_study_is_one_line(duologue, source, tmp_path, line, told):
    (tmp_path / "s.yaml").write_text("first: {name: a, source: talks.jsonl}\nsecond: {name: b, source: talks.jsonl}\n")
    (tmp_path / "x.jsonl").write_text(json.dumps({"conversation": "1", "by": "ann", **line}) + "\n")
    code, _, err = duologue("label", "--study", "s.yaml", "--read", "x.jsonl")
    assert (code, err.count("\n")) == (2, 1)
    assert told in err


def test_a_table_that_a_spreadsheet_has_saved_is_read(duologue, labelled, tmp_path):
    duologue("label", *labelled, "--write", "all.csv")
    with open("all.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    with open("saved.csv", "w", newline="", encoding="utf-8-sig") as file:  # as one of another country saves it
        upper = [["FALSE" if cell == "false" else cell for cell in row] for row in rows]
        csv.writer(file, delimiter=";", lineterminator="\r\n").writerows(upper)
    assert duologue("label", *labelled, "--answers", "again", "--read", "saved.csv")[0] == 0
    assert answers_of("again") == answers_of("answers")


def exported(number, *annotations):
    """A task as Label Studio exports it."""
    data = {
        "label": "tone",
        "conversation": "0abc",
        "message": 0,
        "dialogue": [{"author": "user", "text": "<b>hi</b>"}],
    }
    rest = {"file_upload": "x.json", "drafts": [], "predictions": [], "meta": {}, "inner_id": 1, "project": 3}
    return {"id": number, "annotations": list(annotations), "data": data, "total_annotations": len(annotations), **rest}


def annotated(who, cancelled=False, **values):
    """An annotation as Label Studio exports it: its person, and a region for each control."""
    regions = [
        {
            "id": f"r{name}",
            "type": kind,
            "origin": "manual",
            "to_name": "dialogue",
            "from_name": name,
            "value": {kind_key: value},
        }
        for name, (kind, kind_key, value) in values.items()
    ]
    rest = {"ground_truth": False, "lead_time": 4.2, "task": 1, "unique_id": "u", "created_at": "2026-01-02T03:04:05Z"}
    return {"id": 7, "completed_by": who, "result": regions, "was_cancelled": cancelled, **rest}


def test_an_export_of_label_studio_itself_is_read(duologue, source, tmp_path):
    values = {
        "tone": ("choices", "choices", ["warm"]),
        "why": ("textarea", "text", ["first line\n第二行"]),
        "marks": ("choices", "choices", ["a", "c"]),
        "sure": ("choices", "choices", ["true"]),
        "points": ("rating", "rating", 4),
    }
    skipped = annotated(2, cancelled=True)
    other = annotated({"id": 5, "email": "", "username": "ben"}, **{**values, "points": ("number", "number", 2.0)})
    (tmp_path / "export.json").write_text(json.dumps([exported(1, annotated(10, **values), skipped, other)]))
    assert duologue("label", *source, "--read", "export.json")[:2] == (
        0,
        "2 answers read from export.json, 2 of them new\n",
    )
    kept = {by: [answer.value for answer in answers] for by, answers in answers_of("answers").items()}
    said = {"tone": "warm", "why": "first line\n第二行", "marks": ["a", "c"], "sure": True, "points": 4}
    assert kept == {"10": [said], "ben": [{**said, "points": 2}]}
    (tmp_path / "min.json").write_text(json.dumps([{"id": 1, "tone": "warm", "annotator": 1}]))
    code, _, err = duologue("label", *source, "--read", "min.json")
    assert (code, "task 1 has no 'data': export as JSON in Label Studio, not as JSON-MIN" in err) == (2, True)


def test_people_of_label_studio_are_kept_by_their_addresses(duologue, source, tmp_path):
    said = [{"from_name": "tone", "to_name": "d", "type": "choices", "value": {"choices": ["warm"]}}]
    said += [{"from_name": "why", "value": {"text": ["5"]}}, {"from_name": "marks", "value": {"choices": ["a"]}}]
    said += [
        {"from_name": "sure", "value": {"choices": ["true"]}},
        {"from_name": "points", "value": {"choices": ["4"]}},
    ]
    data = {"label": "tone", "conversation": "0abc", "message": 0}
    people = [{"completed_by": {"email": name}, "result": said} for name in ("ann.b@example.org", "ben@example.org")]
    (tmp_path / "export.json").write_text(json.dumps([{"data": data, "annotations": people}]))
    assert duologue("label", *source, "--read", "export.json")[0] == 0
    kept = answers_of("answers")
    assert list(kept) == ["ann-b-example-org", "ben-example-org"]
    assert kept["ben-example-org"][0].value == {"tone": "warm", "why": "5", "marks": ["a"], "sure": True, "points": 4}


def test_one_label_needs_no_column_and_answers_about_other_conversations_are_told(duologue, source, tmp_path):
    (tmp_path / "t.csv").write_text("conversation,message,tone,why,marks,sure,points\nc9,0,warm,x,a,true,3\n")
    code, out, err = duologue("label", *source, "--read", "t.csv", "--as", "ann")
    assert (code, out) == (0, "1 answer read from t.csv, 1 of them new\n")
    assert "'c9' and so on, in all 1, are not in talks.jsonl" in err
    assert answers_of("answers")["ann"][0].label == "tone"


def test_answers_that_are_read_twice_are_kept_once(duologue, labelled):
    duologue("label", *labelled, "--write", "all.jsonl")
    for new in (4, 0):
        code, out, _ = duologue("label", *labelled, "--answers", "again", "--read", "all.jsonl", "--json")
        assert (code, json.loads(out)["new"]) == (0, new)
    with open("again/ann.jsonl") as file:
        assert len(file.readlines()) == 2


def test_a_cell_that_a_spreadsheet_would_compute_is_written_as_a_text(duologue, labelled):
    duologue("label", *labelled, "--write", "all.csv")
    with open("all.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["why"].startswith("'=1+1")
    assert (rows[0]["marks"], rows[0]["sure"], rows[0]["points"]) == ("b | a", "false", "3")


def test_a_task_of_label_studio_has_the_dialogue_and_an_annotation_of_each_person(duologue, labelled):
    duologue("label", *labelled, "--write", "all.json")
    with open("all.json") as file:
        first = json.load(file)[0]
    assert first["data"]["dialogue"][0] == {"author": "user", "text": "<b>hi</b>"}
    assert [each["completed_by"]["email"] for each in first["annotations"]] == ["ann", "ben"]
    results = {each["from_name"]: (each["type"], each["value"]) for each in first["annotations"][0]["result"]}
    assert results["tone"] == ("choices", {"choices": ["cold"]})
    assert results["why"] == ("textarea", {"text": [VALUE["why"]]})
    assert results["points"] == ("rating", {"rating": 3})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '{"label": "tone", "conversation": "0abc", "message": 0, "value": {"tone": "hot"}}',
            "answer 1: tone is 'hot'",
        ),
        ('{"label": "mood", "conversation": "0abc", "value": {}}', "is about 'mood'"),
        ('{"label": "tone"}', "answer 1: conversation is missing"),
        ("[1]", "answer 1: is no object"),
        ("{", "cannot be read"),
    ],
)
def test_a_file_that_holds_no_answers_is_one_line(duologue, source, tmp_path, text, told):
    (tmp_path / "bad.jsonl").write_text(text + "\n")
    code, out, err = duologue("label", *source, "--read", "bad.jsonl", "--as", "ann")
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1
    assert not (tmp_path / "answers").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "--as: say who labels"),
        (["--as", "a b"], "--as 'a b': a name has"),
        (["--as", "ann", "--language", "fr"], "--language fr: give one of as stored, en, zh, both"),
        (["--write", "x.xml"], "holds no answers"),
        (["--write", "x.csv", "--read", "y.csv"], "exclude each other"),
        (["--as", "ann", "--port", "0"], "--port"),
    ],
)
def test_options_that_cannot_be_are_one_line(monkeypatch, duologue, source, options, told):
    monkeypatch.setattr("duologue.cli.label.of_extra", lambda *extra: None)  # the page itself is not reached
    code, _, err = duologue("label", *source, *options)
    assert code == 2
    assert told in err
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
    assert "there is no label 'mood'; there are behaviour" in err


def test_what_is_there_is_replaced_only_if_that_is_asked_for(duologue, labelled):
    for words in (("--write", "all.csv"), ("--into", "copy")):
        assert duologue("label", *labelled, *words)[0] == 0
        code, _, err = duologue("label", *labelled, *words)
        assert (code, err.count("\n")) == (2, 1)
        assert "exists: give --force" in err
        assert duologue("label", *labelled, *words, "--force")[0] == 0


def test_a_file_of_another_ending_is_refused_before_it_is_written(duologue, labelled, tmp_path):
    code, _, err = duologue("label", *labelled, "--write", "all.xml")
    assert (code, "ends with none of .csv, .jsonl, .json" in err) == (2, True)
    assert not (tmp_path / "all.xml").exists()


def test_a_study_is_told_in_a_table_and_answers_to_something_else_are_one_line(duologue, labelled):
    code, _, err = duologue("stats", "preference", "answers")
    assert (code, "holds no answers to a side-by-side study" in err) == (2, True)
    code, _, err = duologue("stats", "preference", "nope")
    assert (code, "nope: there is no such folder" in err) == (2, True)
    for person, preferred in (("ann", "first"), ("ben", "first"), ("cem", "second")):
        with Answers("study", person) as answers:
            item = Item(label="side_by_side", conversation="1")
            answers.put(item.answered({"1 correctness": preferred, "preference": preferred, "why": "x"}, person))
    code, out, _ = duologue("stats", "preference", "study", "--json")
    assert code == 0
    rows = {row["aspect"]: row for row in json.loads(out)["wins"]["rows"]}
    assert rows["preference"]["first"] == 1.0
    assert rows["preference"]["labellers"] == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--study", "none.yaml", "--as", "ann"], "none.yaml"),
        (["talks.jsonl", "--study", "x.yaml", "--as", "ann"], "leave SRC and --labels out"),
        (["--labels", "tone", "--as", "ann"], "SRC is missing"),
    ],
)
def test_a_study_that_is_not_there_or_has_another_source_is_one_line(monkeypatch, duologue, source, words, told):
    monkeypatch.setattr("duologue.cli.label.of_extra", lambda *extra: None)  # the page itself is not reached
    code, _, err = duologue("label", *words)
    assert code == 2
    assert told in err
    assert err.count("\n") == 1


def test_peoples_labels_stand_beside_those_of_the_data_in_a_copy_that_agreement_reads(duologue, open_data, tmp_path):
    source = open_data / "recllmsim_human_vs_agent" / "real_human_user"
    labels = shipped_labels()
    conversations = data.load(source).conversations
    for person in ("ann", "ben"):
        with Answers("answers", person) as answers:
            for one in conversations:
                value = labels["behaviour"].value_in(one.labels)
                answers.put(Item(label="behaviour", conversation=one.id).answered(value, person))
    code, out, _ = duologue("label", source, "--labels", "behaviour", "--into", "copy")
    assert (code, out) == (0, "35 things labelled by people, from answers, in copy\n")
    again = {one.id: one for one in data.load("copy").conversations}
    first = again[conversations[0].id]
    assert first.labels["strategy_human_V1"]["2"] == first.labels["strategy_V1"]["final"]
    assert list(first.labels["strategy_human_V1"]) == ["final", "1", "2"]
    changed = (json.loads(path.read_text()) for path in (tmp_path / "copy").rglob("[0-9]*.json"))
    assert sum("1" in told.get("strategy_human_V1", {}) for told in changed) == 35
    code, out, _ = duologue("agreement", "copy", "--between", "strategy_human_V1,strategy_V1", "--json")
    assert code == 0
    assert {row["accuracy"] for row in json.loads(out)} == {1.0}


def test_a_copy_of_records_says_nothing_of_formats_without_labels(duologue, labelled, tmp_path):
    assert duologue("label", *labelled, "--into", "copy")[2] == ""
    assert duologue("label", "copy", *labelled[1:], "--into", "again", "--force")[2].count("hold no labels") == 0
    talk = '{"id": "0abc", "messages": [{"role": "user", "content": "<b>hi</b>"}, {"role": "assistant", "content": "hello"}]}'
    (tmp_path / "logs.jsonl").write_text(talk)
    assert (
        "files of the source's format hold no labels"
        in duologue("label", "logs.jsonl", *labelled[1:], "--into", "b")[2]
    )


def test_a_column_of_no_part_is_told_with_those_that_are_expected(duologue, source, tmp_path):
    (tmp_path / "t.csv").write_text("conversation,message,value,by\n0abc,0,cold,ann\n")
    code, _, err = duologue("label", *source, "--read", "t.csv")
    assert code == 2
    assert "answer 1: 'value' is no part of it: mend it; beside by, conversation and message it has tone, why," in err


def test_people_who_do_not_agree_leave_a_tie_and_answers_to_other_data_are_one_line(duologue, labelled, tmp_path):
    with Answers("answers", "ben") as answers:
        answers.put(Item(label="tone", conversation="0abc", message=0).answered({**VALUE, "tone": "warm"}, "ben"))
    assert duologue("label", *labelled, "--into", "copy")[:2] == (
        0,
        "2 things labelled by people, from answers, in copy\n",
    )
    first = data.load("copy").conversations[0].messages[0].labels
    assert first["tone_human"] == {"final": None, "1": "cold", "2": "warm"}
    assert first["points_human"] == {"final": 3, "1": 3, "2": 3}
    data.record_lines.write([Conversation(id="z", scenario={"kind": "x"})], tmp_path / "other.jsonl")
    code, _, err = duologue("label", "other.jsonl", *labelled[1:], "--into", "other")
    assert (code, "no answer is about one of its 1 conversations" in err) == (2, True)
    assert "give the data that people labelled, the answers are about 0abc, 1abc" in " ".join(err.split())


def test_answers_about_texts_that_have_changed_since_are_left_out_of_a_copy(duologue, labelled, tmp_path):
    tone = labels_named(["tone"], tmp_path / "pages")
    (first, _) = items_of(data.load("talks.jsonl").conversations, tone)
    for message, seen in ((0, "other"), (1, ""), (7, "")):  # another text, another role, none at all
        with Answers("answers", "cem") as answers:
            item = first.model_copy(update={"message": message, "seen": seen})
            answers.put(item.answered(VALUE, "cem"))
    with Answers("answers", "dan") as answers:
        answers.put(first.answered({"tone": "hot"}, "dan"))
    code, out, err = duologue("label", *labelled, "--into", "copy")
    assert (code, out) == (0, "2 things labelled by people, from answers, in copy\n")
    assert "answers about texts that have changed since: 3, left out" in err
    assert "answers that are no values of their label's page: 1, left out" in err
    assert list(data.load("copy").conversations[0].messages[0].labels["tone_human"]) == ["final", "1", "2"]


def test_labels_in_one_place_are_not_written_over_each_other(duologue, labelled, tmp_path):
    (tmp_path / "pages" / "other.md").write_text(PAGE)
    code, _, err = duologue("label", labelled[0], "--labels", "tone,other", "--labels-dir", "pages", "--into", "copy")
    assert (code, err.count("\n")) == (2, 1)
    assert "stored under the same key" in err
    assert duologue("label", *labelled, "--into", "copy")[0] == 0
    code, _, err = duologue("label", "copy", *labelled[1:], "--into", "again")
    assert (code, "labels of people that 2 of them had already" in err) == (0, True)
