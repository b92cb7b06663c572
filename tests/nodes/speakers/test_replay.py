"""Published conversations through the real graph."""

import json

import pytest

import duologue
from duologue import data
from duologue.graphs import simquac


def dataset(tmp_path, *articles):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"data": [{"paragraphs": list(articles)}]}), encoding="utf-8")
    return path


def paragraph(*qas, section="Three keepers lived there. The last one left in 1968.", title="The lighthouse"):
    pairs = []
    for number, (question, answer) in enumerate(qas, start=1):
        missing = answer == "CANNOTANSWER"
        start = len(section) + 1 if missing else section.lower().index(answer.lower())
        pairs.append(
            {
                "question": question,
                "id": number,
                "answers": [{"text": answer, "answer_start": start}],
                "is_impossible": missing,
            }
        )
    context = f"{section} CANNOTANSWER"
    return {"context": context, "title": title, "section_title": "Keepers", "background": "b", "qas": pairs}


def play(path, user=True, assistant=True, **changes):
    spec = f"replay:{path}"
    cast = simquac.cast(spec if user else "offline", spec if assistant else "offline", **changes)
    return duologue.simulate(cast, simquac.scenarios(data.simquac.read_topics(path)))


@pytest.mark.parametrize("name", ["quac_subset.json", pytest.param("sim_quac.json", marks=pytest.mark.heavy)])
def test_the_published_conversations_come_out_as_they_went_in(open_data, tmp_path, name):
    path = open_data / "simquac" / name
    data.simquac.write(play(path), tmp_path / "out.json")
    assert (tmp_path / "out.json").read_bytes() == path.read_bytes()


def test_validators_observe_what_is_replayed(tmp_path):
    path = dataset(tmp_path, paragraph(("1. Who?\n2. When?", "THREE keepers"), ("What?", "CANNOTANSWER")))
    (conversation,) = play(path)
    assert conversation.stop == "user_ended"
    assert conversation.messages[0].text == "1. Who?\n2. When?"
    assert (conversation.messages[0].attempts[0].verdict, conversation.messages[0].attempts[0].reason) == (
        "observed",
        "enumeration",
    )
    assert conversation.messages[1].spans[0].text == "THREE keepers"  # not the section's case: it stands as published
    counts = data.count([conversation])
    assert counts.sides[0].reasons == {"enumeration": 1}
    assert counts.sides[1].refused == 1


def test_a_teacher_on_peoples_questions_is_validated_and_gives_a_data_set(tmp_path):
    path = dataset(tmp_path, paragraph(("Who lived there?", "Three keepers"), ("When did the last one leave?", "1968")))
    (conversation,) = play(path, assistant=False)
    assert [m.text for m in conversation.messages if m.role == "user"] == [
        "Who lived there?",
        "When did the last one leave?",
    ]
    assert conversation.messages[0].prompt is None  # nothing was sent to a replayed side
    assert conversation.messages[1].prompt.name == "assistant/reminder"
    assert all(m.attempts[-1].verdict == "accepted" for m in conversation.messages)
    value, left_out = data.simquac.to_object([conversation])
    assert left_out == []
    (qa, _) = value["data"][0]["paragraphs"][0]["qas"]
    assert qa["id"] == 1
    assert list(qa) == ["question", "id", "answers", "is_impossible"]
