"""Readers of QuAC and SimQuAC: what they are given, who answers without a model, and the table of all."""

import json

import pytest

from duologue.analysis.simquac.readers import Results, Retriever, none, read, score_reader
from duologue.data import Conversation, DataError, Message, load
from duologue.data.grounding import NO_ANSWER
from duologue.data.simquac import questions_of
from tests.analysis.asked import SECTION, question, talk

# What a reader is given


def test_only_the_first_unanswerable_questions_of_a_conversation_are_asked():
    one = talk(*[(f"Why {number}?", NO_ANSWER) for number in range(5)], ("When?", "in 1968"))
    assert [item.text for item in questions_of([one])] == ["Why 0?", "Why 1?", "Why 2?", "When?"]
    assert [item.text for item in questions_of([one], unanswerable=0)] == ["When?"]
    assert len(questions_of([one], unanswerable=None)) == 6
    assert [item.id for item in questions_of([one])][-1] == "id of Light/5"


def test_earlier_exchanges_are_those_of_the_whole_conversation_the_nearest_last():
    one = talk(("Who?", "keepers"), ("Why?", NO_ANSWER), ("When?", "in 1968"))
    *_, last = questions_of([one], unanswerable=0, history=2)
    assert last.earlier == (("Who?", "keepers"), ("Why?", NO_ANSWER))
    assert questions_of([one])[0].earlier == questions_of([one], history=3)[0].earlier == ()
    assert questions_of([one])[2].earlier == ()


def test_a_question_without_an_answer_is_no_question_and_no_section_is_an_error():
    one = talk(("Who?", "keepers"))
    cut = one.model_copy(update={"messages": (*one.messages, Message(role="user", text="And?"))})
    assert len(questions_of([cut])) == 1
    other = Conversation(id="a", scenario={"kind": "chat"}, messages=one.messages)
    with pytest.raises(DataError, match="no question about a section"):
        questions_of([other])


def test_the_answer_that_is_seen_later_is_the_one_that_the_conversation_went_on_with(tmp_path):
    section = "Three keepers. One left."
    answers = [{"text": text, "answer_start": section.index(text)} for text in ("keepers", "Three keepers", "One left")]
    qas = [
        {"question": text, "id": text, "answers": answers[:2], "orig_answer": answers[number]}
        for text, number in (("Who?", 1), ("And?", 2))
    ]
    paragraph = {"context": f"{section} CANNOTANSWER", "id": "a", "qas": qas}
    path = tmp_path / "own.json"
    path.write_text(json.dumps({"data": [{"title": "T", "section_title": "S", "paragraphs": [paragraph]}]}))
    first, second = questions_of(load(path), history=1)
    assert first.references == ("keepers", "Three keepers")
    assert second.references == ("One left", "keepers", "Three keepers")
    assert second.earlier == (("Who?", "Three keepers"),)


def test_a_conversation_whose_id_occurs_twice_has_questions_of_its_own():
    one = talk(("Who?", "keepers"), ("When?", "in 1968"))
    questions = questions_of([one, one, talk(("Why?", "so"), title="Other")])
    assert [item.id for item in questions] == [
        "id of Light/0", "id of Light/1", "id of Light~2/0", "id of Light~2/1", "id of Other/0",
    ]  # fmt: skip
    assert len({item.conversation for item in questions}) == 3


# Readers


def test_the_retriever_answers_with_the_sentence_whose_rare_words_are_asked_for():
    questions = [question("Which ship sank?"), question("When was the last keeper there?")]
    assert Retriever()(questions) == [
        "A ship, the Mary Ann, sank near the light in 1970.", "The last keeper left in 1968.",
    ]  # fmt: skip
    assert Retriever()([question("Who?", section=" ")]) == [None]


def test_earlier_questions_are_words_of_the_question_for_the_retriever():
    follows = question("And then?", earlier=(("Which ship sank?", "the Mary Ann"),))
    assert Retriever()([follows]) == ["A ship, the Mary Ann, sank near the light in 1970."]


def test_the_rows_of_no_answer_and_of_people_are_always_there():
    sets = {"a": [question("When?", "in 1968", "1968"), question("Why?", NO_ANSWER, number=1)]}
    report = read({"near": Retriever()}, sets)
    assert [row.reader for row in report.rows] == ["no answer", "people", "near"]
    assert report.rows[0].f1 == 0.5
    assert none(sets["a"]) == [None, None]
    assert report.table().shown()[0][1] == "no answer"


def test_every_answer_is_kept_with_its_score():
    results = Results()
    results.read("near", Retriever(), {"a": [question("Which ship sank?", "the Mary Ann", number=4)]})
    (one,) = results.answered
    assert (one.id, one.reader, one.exact) == (f"{SECTION[:9]}/4", "near", False)
    assert 0 < one.f1 < 1


def test_a_reader_that_could_not_be_asked_once_has_a_line_and_no_row():
    results = Results()
    sets = {"a": [question(), question(number=1)]}
    results.baselines(sets)
    results.add("model", "a", sets["a"], [None, None], failures=["the endpoint is gone", "too"])
    report = results.report()
    assert [row.reader for row in report.rows] == ["no answer"]
    assert report.notes == ("model on a: none of 2 questions could be asked (the endpoint is gone).",)


def test_people_beside_readers_of_more_questions_are_told_apart():
    sets = {"a": [question("When?", "in 1968", "1968"), question("Why?", NO_ANSWER, number=1)]}
    table = read({"near": Retriever()}, sets).table()
    assert table.notes == ("people on a: only over what has several references (1).",)


def test_on_a_terminal_each_data_set_has_tables_of_few_columns():
    results = Results()
    sets = {"quac_subset.json": [question(), question("Why?", NO_ANSWER, number=1)], "b": [question(number=2)]}
    results.baselines(sets)
    results.add("features", "quac_subset.json", sets["quac_subset.json"], ["x", "y"], trained_on="quac_subset.json")
    results.add("model", "quac_subset.json", sets["quac_subset.json"], ["x", None], failures=[None, "gone"])
    report = results.report(["A note."])
    first, second, *_, last = report.narrow()
    assert first.title == "quac_subset.json: 2 questions, 1 without an answer"
    assert first.notes == ("model: 1 question.",)
    assert [row[0] for row in first.rows] == ["no answer", "features, trained on quac_subset.json", "model"]
    assert [column.name for column in second.columns] == [
        "reader", "f1 low", "f1 high", "refused right", "refused wrong", "answered wrong", "f1 answerable",
    ]  # fmt: skip
    assert last.notes == ("A note.", "model on quac_subset.json: 1 question could not be asked (gone).")
    assert len(report.narrow()) == 4


# The open data


@pytest.mark.heavy
def test_of_the_restricted_open_part_precision_goes_up_and_exact_match_down_as_in_print(open_data):
    from duologue.data import load

    f1_by_source = {}
    for name in ("quac_subset", "sim_quac"):
        questions = questions_of(load(open_data / f"simquac/{name}.json"))
        f1_by_source[name] = score_reader("near", questions, Retriever()(questions))
    assert (f1_by_source["sim_quac"].questions, f1_by_source["sim_quac"].unanswerable) == (778, 213)
    assert f1_by_source["sim_quac"].precision > f1_by_source["quac_subset"].precision
    assert f1_by_source["sim_quac"].exact < f1_by_source["quac_subset"].exact
