"""Rows as `datasets` has them: SQuAD 2 and QuAC, written, and read where nothing that matters is lost."""

import json
from pathlib import Path

import pytest

from duologue.data import kind_of, load, simquac
from duologue.data.grounding import MARKER

SECTION = "\U0001f600 Three keepers. One left in 1968; a ship sank."
START = SECTION.index("in 1968")
WHOLE = f"{SECTION} {MARKER}"


def answer(text):
    return {"text": text, "answer_start": WHOLE.index(text)}


def written(path: Path, data) -> Path:
    path.write_text(json.dumps({"data": data}), encoding="utf-8")
    return path


@pytest.fixture
def simulated(tmp_path):
    """SimQuAC's layout: one answer of a span, one of two, a refusal; and a second talk about the same section."""
    qas = [
        {"question": "When?", "id": "1", "answers": [answer("in 1968")], "is_impossible": False},
        {"question": "Who, what?", "id": "2", "answers": [answer("Three keepers"), answer("a ship")], "is_impossible": False},
        {"question": "Why?", "id": "3", "answers": [answer(MARKER)], "is_impossible": True},
    ]  # fmt: skip
    head = {"context": WHOLE, "title": "Light", "section_title": "Keepers", "background": "A tower."}
    more = [{**qas[0], "question": "And when?", "id": "3"}]
    return written(tmp_path / "simulated.json", [{"paragraphs": [{**head, "qas": qas}, {**head, "qas": more}]}])


@pytest.fixture
def own(tmp_path):
    """QuAC's own layout, with several references and a teacher's labels."""
    first = {
        "followup": "y", "yesno": "x", "question": "When?",
        "answers": [answer("in 1968"), answer("One left in 1968"), answer(MARKER)],
        "id": "C_1_q#0", "orig_answer": answer("in 1968"),
    }  # fmt: skip
    second = {
        "followup": "n", "yesno": "n", "question": "Why?", "answers": [answer(MARKER), answer("a ship")],
        "id": "C_1_q#1", "orig_answer": answer("a ship"),
    }  # fmt: skip
    paragraph = {"context": WHOLE, "id": "C_1", "qas": [first, second]}
    article = {"background": "A tower.", "section_title": "Keepers", "title": "Light", "paragraphs": [paragraph]}
    return written(tmp_path / "own.json", [article])


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_of_squad_2_each_question_is_a_row_and_what_has_no_answer_has_an_empty_list(simulated, tmp_path):
    left_out = simquac.write_squad_v2(load(simulated), tmp_path / "rows.jsonl")
    when, both, why, again = rows(tmp_path / "rows.jsonl")
    assert when == {
        "id": "1", "title": "Light", "context": SECTION, "question": "When?",
        "answers": {"text": ["in 1968"], "answer_start": [START]},
    }  # fmt: skip
    assert both["answers"]["text"] == ["Three keepers", "a ship"]
    assert [SECTION[start:][:6] for start in both["answers"]["answer_start"]] == ["Three ", "a ship"]
    assert why["answers"] == {"text": [], "answer_start": []}
    assert again["id"] == "3-2"
    assert len(left_out) == 1


def test_of_quac_each_conversation_is_a_row_with_all_references(own, tmp_path):
    assert simquac.write_quac(load(own), tmp_path / "rows.jsonl") == []
    (row,) = rows(tmp_path / "rows.jsonl")
    assert (row["dialogue_id"], row["wikipedia_page_title"], row["context"]) == ("C_1", "Light", WHOLE)
    assert row["turn_ids"] == ["C_1_q#0", "C_1_q#1"]
    assert (row["followups"], row["yesnos"]) == (["y", "n"], ["x", "n"])
    assert row["answers"]["texts"] == [["in 1968", "One left in 1968", MARKER], [MARKER, "a ship"]]
    assert row["answers"]["answer_starts"][0] == [START, SECTION.index("One"), len(SECTION) + 1]
    assert row["orig_answers"]["texts"] == ["in 1968", "a ship"]


@pytest.mark.parametrize("which", ["own", "simulated"])
def test_rows_of_quac_are_read_as_the_conversations_that_they_were(which, request, tmp_path):
    source = load(request.getfixturevalue(which))
    path = tmp_path / "rows.jsonl"
    simquac.write_quac(source, path)
    again = load(path)
    assert again.kind == kind_of(path) == "quac"
    assert list(again) == list(source)
    assert simquac.questions_of(again) == simquac.questions_of(source)
    assert list(load(path)) == list(source)
    assert [topic.section for topic in simquac.read_topics(path)] == [SECTION] * len(source)


def test_labels_may_be_the_numbers_that_datasets_writes_and_rows_a_list(own, tmp_path):
    simquac.write_quac(load(own), tmp_path / "rows.jsonl")
    (row,) = rows(tmp_path / "rows.jsonl")
    exported = tmp_path / "exported.json"
    exported.write_text(json.dumps([row | {"followups": [0, 1], "yesnos": [2, 1]}]))
    assert list(load(exported)) == list(load(own))
    exported.write_text(json.dumps([row | {"followups": [-1, None], "yesnos": [-1, -1]}]))
    assert load(exported)[0].messages[0].extra == {"qa": {"values": {"id": "C_1_q#0"}}}
    in_a_list = [
        {key: row["answers"][key][number] for key in ("texts", "answer_starts")} for number in range(2)
    ]  # as `datasets` 4 has what was a sequence of objects
    exported.write_text(json.dumps([row | {"answers": in_a_list}]))
    assert list(load(exported)) == list(load(own))


def test_the_open_simulated_file_comes_back_byte_for_byte(open_data, tmp_path):
    source = open_data / "simquac/sim_quac.json"
    assert simquac.write_quac(load(source), tmp_path / "rows.jsonl") == []
    simquac.write(load(tmp_path / "rows.jsonl"), tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == source.read_bytes()
