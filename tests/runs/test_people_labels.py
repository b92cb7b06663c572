"""People's answers: on the disk at each answer, taken back, several people apart, and as labels beside the data."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import data
from duologue.data.labels.definition import LabelDefinition
from duologue.data.labels.side_by_side import STUDY
from duologue.data.labels.table import Item, LabelAnswer, items_of
from duologue.data.records import Conversation, Label, Message
from duologue.errors import DataError, SettingError
from duologue.prompts.label_pages import shipped_labels
from duologue.runs.people_labels import AnswerFiles, answers_of, next_batch, people_labels
from duologue.runs.store import BusyError
from duologue.studies.labels import study_preferences

TONE = LabelDefinition.of("tone", {"unit": "user turn", "values": ["warm", "cold"]}, "x", "p")
PAGE = "---\nunit: user turn\nvalues: [warm, cold]\n---\nHow the user sounds.\n"


def item(number: int = 1) -> Item:
    return Item(label="tone", conversation=f"{number}", message=0)


def put(folder: Path, by: str, *answers: LabelAnswer) -> None:
    with AnswerFiles(folder, by) as files:
        for one in answers:
            files.put(one)


def test_an_answer_is_on_the_disk_at_once_and_there_when_the_person_comes_back(tmp_path: Path) -> None:
    answers = AnswerFiles(tmp_path, "ann")
    answers.put(item().answered({"tone": "warm"}, "ann"))
    assert answers_of(tmp_path)["ann"][0].value == {"tone": "warm"}  # while it is open
    with pytest.raises(BusyError, match="ann has another page open"):
        AnswerFiles(tmp_path, "ann")
    answers.close()
    with (tmp_path / "ann.jsonl").open("a") as file:
        file.write('{"label": "tone", "conv')  # cut off by a kill
    with closing(AnswerFiles(tmp_path, "ann")) as again:
        assert list(again.standing) == [item().key]


def test_the_last_answer_is_taken_back_and_then_the_one_before(tmp_path: Path) -> None:
    every = {item(1).key, item(2).key}
    with AnswerFiles(tmp_path, "ann") as answers:
        for number in (1, 2):
            answers.put(item(number).answered({"tone": "warm"}, "ann"))
        assert [answers.undo(every) for _ in range(3)] == [item(2), item(1), None]
        answers.put(item(2).answered({"tone": "cold"}, "ann"))
        last = answers.last(every)
        assert last is not None
        assert last.value == {"tone": "cold"}
        assert answers.last(set()) is None
    assert [answer.value for answer in answers_of(tmp_path)["ann"]] == [{"tone": "cold"}]


def test_a_name_that_is_no_file_and_a_line_that_is_no_answer_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="--as 'a/b'"):
        AnswerFiles(tmp_path, "a/b")
    (tmp_path / "ann.jsonl").write_text('{"label": 1}\n')
    with pytest.raises(DataError, match=r"ann\.jsonl: line 1: is not an answer"):
        answers_of(tmp_path)


def test_everybody_finishes_what_is_begun_and_nobody_more_than_is_needed(tmp_path: Path) -> None:
    batches = [[item(2 * number), item(2 * number + 1)] for number in range(4)]
    first = {}
    for by in ("ann", "ben", "cem"):
        with AnswerFiles(tmp_path, by) as answers:
            first[by] = next_batch(batches, answers, 2)
            assert next_batch(batches, answers, 2) == first[by]
            assert next_batch(batches, answers, 2, 1) == first[by][:1]
    assert first["ann"] in batches
    put(tmp_path, "ann", first["ann"][0].answered({"tone": "warm"}, "ann"))
    with AnswerFiles(tmp_path, "ben") as ben:
        assert next_batch(batches, ben, 2) == first["ann"]
    while True:
        with AnswerFiles(tmp_path, "ann") as ann:
            if not (todo := next_batch(batches, ann, 1)):
                break
            ann.put(todo[0].answered({"tone": "warm"}, "ann"))
    with AnswerFiles(tmp_path, "dan") as dan:
        assert next_batch(batches, dan, 1) == []
        assert len(next_batch(batches, dan, 2)) == 2


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two conversations, and a page of the label."""
    monkeypatch.chdir(tmp_path)
    Path("pages").mkdir()
    Path("pages/tone.md").write_text(PAGE)
    messages = (Message(role="user", text="hi"), Message(role="assistant", text="hello"))
    talks = [Conversation(id=f"{n}", scenario={"kind": "x"}, messages=messages) for n in range(2)]
    data.record_lines.write(talks, tmp_path / "talks.jsonl")
    return tmp_path / "talks.jsonl"


LABELS: dict[str, Any] = {"labels": ["tone"], "labels_dir": "pages"}


def test_people_s_labels_stand_beside_those_of_the_data_with_a_tie_null(
    source: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = sorted(items_of(data.load(source), [TONE]), key=lambda one: one.conversation)
    put(tmp_path / "a", "ann", first.answered({"tone": "cold"}, "ann"), second.answered({"tone": "cold"}, "ann"))
    put(tmp_path / "a", "ben", first.answered({"tone": "warm"}, "ben"))
    changed = first.model_copy(update={"seen": "other"})
    put(tmp_path / "a", "cem", changed.answered({"tone": "cold"}, "cem"), second.answered({"tone": "hot"}, "cem"))
    table = people_labels(source, tmp_path / "a", tmp_path / "out", **LABELS)
    assert caplog.messages == [
        "answers about texts that have changed since: 1, left out",
        "answers that are not values of their label's definition: 1, left out",
    ]
    assert [row.by for row in table.rows] == [("ann", "ben"), ("ann",)]
    loaded = data.load(tmp_path / "out")
    assert loaded[0].messages[0].labels == {"tone_human": Label(votes=("cold", "warm"), by=("people",))}
    assert loaded[1].messages[0].labels["tone_human"].value == "cold"
    assert loaded.annotated == frozenset()
    model = duologue.annotate(tmp_path / "out", ["tone"], lambda talk, label: ["warm"], labels_dir="pages", redo=True)
    report = duologue.agreement(list(model.conversations), between=[("tone_human", "tone")])
    assert report.rows[0].n == 1
    data.record_lines.write([Conversation(id="z", scenario={"kind": "x"})], tmp_path / "other.jsonl")
    with pytest.raises(DataError, match="is about one of its 1 conversations"):
        people_labels(tmp_path / "other.jsonl", tmp_path / "a", **LABELS)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """The answers of two people to a study: one taken back, one given anew, one without a reason."""

    def answer(by: str, conversation: str, why: str, preference: str = "first") -> LabelAnswer:
        value = {"1 correctness": "first", "preference": preference, "why": why}
        return LabelAnswer(label=STUDY, conversation=conversation, by=by, value=value)

    gone = answer("ann", "t2", "A is natural.")
    undone = gone.model_copy(update={"undone": True, "value": {}})
    put(tmp_path / "study", "ann", answer("ann", "t1", "B is short."), gone, undone)
    put(tmp_path / "study", "ann", answer("ann", "t1", "A leaves nothing out."), answer("ann", "t3", " ... "))
    put(tmp_path / "study", "ben", answer("ben", "t1", "Beide sind <b>gut</b>.", "tie"))
    return tmp_path / "study"


def test_reasons_are_labelled_beside_the_answers_and_counted_with_the_preferences(study: Path, tmp_path: Path) -> None:
    reasons = []

    def reason(talk: Conversation, label: LabelDefinition) -> list[str]:
        reasons.append(talk.scenario["why"])
        return ["completeness"] if "nothing" in str(talk.scenario["why"]) else ["none"]

    duologue.annotate(study, ["justification"], reason, out=tmp_path / "reasons")
    assert sorted(map(str, reasons)) == ["A leaves nothing out.", "Beide sind <b>gut</b>."]
    report = study_preferences(tmp_path / "reasons").to_json()
    assert any("completeness" in str(row) for row in report["reasons"])
    assert study_preferences(study).to_json()["wins"] == report["wins"]
    with pytest.raises(SettingError, match="ask for them apart"):
        duologue.annotate(study, ["justification", "style"], reason)
    assert shipped_labels()["justification"].unit == "reason"
    with pytest.raises(DataError, match="holds no answers to a side-by-side study"):
        study_preferences(tmp_path / "nope")
