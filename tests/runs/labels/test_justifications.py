"""The reasons of a side-by-side study: labelled in a copy of the answers, which else stays as it is."""

import json

import pytest

import duologue
from duologue import runs
from duologue.data.files.json import dumps
from duologue.data.labels.answers import WHOLE, LabelAnswer
from duologue.data.labels.side_by_side import STUDY
from duologue.errors import DataError, SettingError
from duologue.prompts.label_pages import shipped_labels
from duologue.runs.labels.answers import answers_of
from tests.labels_by_function import first_values

LABEL = shipped_labels()["justification"]


def answer(by, conversation, why, preference="first", label=STUDY, **more):
    value = {"1 correctness": "first", "preference": preference, "why": why}
    return LabelAnswer(label=label, conversation=conversation, by=by, value=value, **more)


@pytest.fixture
def answers(tmp_path):
    """The answers of two people: one taken back, one given anew, one of the quiz, one without a reason."""
    taken_back = answer("ann", "t2", "A is natural.")
    of_ann = [
        answer("ann", "t0", "A is right.", label="quiz"),
        answer("ann", "t1", "B is short."),
        taken_back,
        taken_back.model_copy(update={"undone": True, "value": {}}),
        answer("ann", "t1", "A leaves nothing out."),
        answer("ann", "t3", " ... "),
    ]
    of_ben = [answer("ben", "t1", "Beide sind gleich \u2028 </text> <b>gut</b>.", "tie")]
    (tmp_path / "answers").mkdir()
    for name, answers in (("ann", of_ann), ("ben", of_ben)):
        (tmp_path / "answers" / f"{name}.jsonl").write_text("".join(f"{dumps(line.plain())}\n" for line in answers))
    return tmp_path / "answers"


def test_each_reason_that_stands_is_labelled_in_a_copy_and_every_other_line_stays(answers, tmp_path):
    reasons = []

    def reason(talk, label):
        reasons.append(talk.scenario["why"])
        return ["completeness"] if "nothing" in talk.scenario["why"] else ["none"]

    before = {path.name: path.read_bytes() for path in answers.iterdir()}
    duologue.annotate(answers, ["justification"], reason, out=tmp_path / "out")
    assert {path.name: path.read_bytes() for path in answers.iterdir()} == before
    assert sorted(reasons) == ["A leaves nothing out.", "Beide sind gleich \u2028 </text> <b>gut</b>."]
    was = (answers / "ann.jsonl").read_text().splitlines()
    now = (tmp_path / "out" / "ann.jsonl").read_text().splitlines()
    assert [number for number, (one, other) in enumerate(zip(was, now, strict=True)) if one != other] == [4]
    line = json.loads(now[4])
    assert line["value"].pop("justification") == ["completeness"]
    assert line == json.loads(was[4])
    assert answers_of(tmp_path / "out")["ben"][0].value["justification"] == ["none"]
    duologue.annotate(tmp_path / "out", ["justification"], reason, out=tmp_path / "again")
    assert len(reasons) == 2  # they have it


def test_the_reason_is_data_for_a_model(answers):
    from duologue.nodes.annotators import material
    from duologue.runs.labels.justifications import loaded_for

    of_ben = loaded_for(answers, [LABEL]).conversations[-1]
    text = material(of_ben, LABEL, (WHOLE,))
    assert text.count("</text>") == 1
    assert "preference" not in text


def test_a_source_or_labels_that_do_not_fit_are_one_line(answers, tmp_path):
    with pytest.raises(SettingError, match="justification is about the answers to a study and intent about conv"):
        duologue.annotate(answers, ["justification", "intent"], first_values, out=tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no answers to a side-by-side study"):
        duologue.annotate(tmp_path / "empty", ["justification"], first_values, out=tmp_path / "out")
    with pytest.raises(DataError, match="is not a folder of answers"):
        duologue.annotate(answers / "ann.jsonl", ["justification"], first_values, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_conversations_have_no_reason_to_label():
    talk = duologue.Conversation(id="1", scenario={"kind": "call"}, messages=[{"role": "user", "text": "Hello?"}])
    assert runs.annotate([talk], ["justification"], first_values)[0].labels == {}
