"""SimQuAC and QuAC files: read and written again."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.data import Span, grounding, load, record_lines, simquac
from duologue.data.grounding import NO_ANSWER
from tests.data.simquac.small_files import (
    again,
    answered,
    data_set,
    exactly,
    paragraph,
    qa,
    saved,
    talk,
)

texts = st.text(st.characters(), max_size=8) | st.sampled_from(
    ["", "\n", "\r\n", "\u2028", "\x85", "\ud800", "CANNOTANSWER", "a CANNOTANSWER", "a CANNOTANSWER CANNOTANSWER", "İ"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
OURS = {
    *("data", "paragraphs", "context", "title", "section_title", "background", "qas", "question", "id"),
    *("answers", "orig_answer", "text", "answer_start", "is_impossible"),
}
unknown = st.dictionaries(
    st.sampled_from(["followup", "yesno", "version", "values", "order", "index", "kind"])
    | texts.filter(lambda key: key not in OURS),
    values,
    max_size=2,
)


def objects(required: dict[str, Any], **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with these keys and unknown ones, in any order."""
    ours = st.fixed_dictionaries(required, optional=optional)
    merged = st.tuples(ours, unknown).map(lambda both: both[1] | both[0])
    return merged.flatmap(lambda value: st.permutations(list(value.items())).map(dict))


answers = objects({"text": texts, "answer_start": st.integers()})
questions = objects(
    {"question": texts, "answers": st.lists(answers, max_size=3)},
    id=values,
    is_impossible=values,
    orig_answer=answers,
)
names = {"title": texts, "section_title": texts, "background": texts}
paragraphs = objects(
    {"context": texts | texts.map(lambda text: f"{text} CANNOTANSWER"), "qas": st.lists(questions, max_size=3)}, **names
)
articles = objects({"paragraphs": st.lists(paragraphs, min_size=1, max_size=3)}, **names)
data_sets = objects({"data": st.lists(articles, min_size=1, max_size=3)})


@pytest.mark.heavy
@given(data_sets)
def test_what_is_read_and_written_again_is_equal_with_every_unknown_key(value: dict[str, Any]) -> None:
    assert exactly(again(simquac.read(saved(value)))) == exactly(value)


@pytest.mark.heavy
@settings(max_examples=30)
@given(data_sets)
def test_nothing_is_lost_when_it_is_kept_as_records_in_between(value: dict[str, Any]) -> None:
    conversations = simquac.read(saved(value))
    record_lines.write(conversations, "records.jsonl")
    records = record_lines.read("records.jsonl")
    assert records == conversations
    assert exactly(again(records)) == exactly(value)


@pytest.mark.heavy
@settings(max_examples=20)
@given(data_sets)
def test_every_conversation_of_a_file_has_an_id_of_its_own(value: dict[str, Any]) -> None:
    conversations = simquac.read(saved(value))
    assert len({conversation.id for conversation in conversations}) == len(conversations)


@pytest.mark.parametrize(("name", "misplaced"), [("quac_subset.json", 0), ("sim_quac.json", 6)])
def test_an_open_file_comes_out_byte_for_byte_as_it_went_in(open_data: Path, name: str, misplaced: int) -> None:
    path = open_data / "simquac" / name
    conversations = simquac.read(path)
    assert simquac.write(conversations, "again.json") == []
    assert Path("again.json").read_bytes() == path.read_bytes()
    assert len(conversations) == 77
    assert len({conversation.id for conversation in conversations}) == 77
    assert len(simquac.misplaced(conversations)) == misplaced


def test_published_spans_in_the_wrong_case_are_kept_and_reported(open_data: Path) -> None:
    loaded = load(open_data / "simquac" / "sim_quac.json")
    assert loaded.notes == ("6 spans differ from the text at the offset (kept as read)",)
    for name, number, span in simquac.misplaced(loaded):
        (conversation,) = (one for one in loaded if one.id == name)
        section = str(conversation.scenario["section"])
        assert span in conversation.messages[number].spans
        assert section[span.start : span.end] != span.text
        assert section[span.start : span.end].casefold() == span.text.casefold()


def test_every_other_open_span_is_what_grounding_gives_back(open_data: Path) -> None:
    for conversation in simquac.read(open_data / "simquac" / "sim_quac.json"):
        section = str(conversation.scenario["section"])
        for message in conversation.messages:
            for span in message.spans:
                outcome = grounding.ground(span.text, section)
                assert outcome.valid
                assert all(section[part.start : part.end] == part.text for part in outcome.spans)


def test_questions_and_answers_alternate_and_refusals_have_no_span() -> None:
    value = data_set(paragraph("It rises slowly.", qa("How?", ("slowly", 9)), qa("Why?", ("CANNOTANSWER", 17))))
    (conversation,) = simquac.read(saved(value))
    assert [message.role for message in conversation.messages] == ["user", "assistant", "user", "assistant"]
    assert [message.text for message in conversation.messages] == ["How?", "slowly", "Why?", NO_ANSWER]
    assert conversation.messages[1].spans == (Span(text="slowly", start=9),)
    assert conversation.messages[3].spans == ()
    assert conversation.scenario == {
        "kind": "simquac",
        "title": "Bread",
        "background": "Food.",
        "header": "Sourdough",
        "section": "It rises slowly.",
    }


def test_several_answers_are_spans_of_one_message() -> None:
    value = data_set(paragraph("It rises slowly.", qa("How?", ("slowly", 9), ("rises", 3))))
    (conversation,) = simquac.read(saved(value))
    assert conversation.messages[1].text == "slowly\nrises"
    assert [span.start for span in conversation.messages[1].spans] == [9, 3]


@pytest.mark.parametrize("section", ["He joined NATO", "She studied at MIT", "A", "WE CANNOT ANSWER", "TORCAN"])
def test_the_marker_is_taken_off_as_a_word_and_not_letter_by_letter(section: str) -> None:
    (conversation,) = simquac.read(saved(data_set(paragraph(section))))
    assert conversation.scenario["section"] == section
    assert again([conversation])["data"][0]["paragraphs"][0]["context"] == f"{section} CANNOTANSWER"


@pytest.mark.parametrize("context", ["He joined NATO", "She studied at MIT", "It rises. ", "NATOCANNOTANSWER", ""])
def test_a_context_without_the_marker_is_the_section_as_it_stands(context: str) -> None:
    (conversation,) = simquac.read(saved(data_set(paragraph() | {"context": context})))
    assert conversation.scenario["section"] == context


def test_a_section_that_ends_with_the_marker_itself_loses_it_once() -> None:
    (conversation,) = simquac.read(saved(data_set(paragraph("We CANNOTANSWER"))))
    assert conversation.scenario["section"] == "We CANNOTANSWER"


def test_equal_topics_are_two_conversations() -> None:
    first, second, other = simquac.read(saved(data_set(paragraph(), paragraph(), paragraph("Else."))))
    assert [first.ordinal, second.ordinal, other.ordinal] == [0, 1, 0]
    assert len({first.id, second.id, other.id}) == 3


def test_an_id_does_not_depend_on_what_else_the_file_holds() -> None:
    alone = simquac.read(saved(data_set(paragraph("Else.", note=1))))[0].id
    assert simquac.read(saved(data_set(paragraph(), paragraph("Else."))))[1].id == alone


def original_quac() -> dict[str, Any]:
    """Two articles as QuAC's own files have them."""
    question = {
        "followup": "y",
        "yesno": "x",
        "question": "What did it do?",
        "answers": [{"text": "rises", "answer_start": 3}, {"text": "It rises slowly", "answer_start": 0}],
        "id": "C_1_q#0",
        "orig_answer": {"text": "rises slowly", "answer_start": 3},
    }
    refused = question | {
        "question": "Why?",
        "id": "C_1_q#1",
        "answers": [{"text": "CANNOTANSWER", "answer_start": 17}] * 2,
        "orig_answer": {"text": "CANNOTANSWER", "answer_start": 17},
    }
    place = {"context": "It rises slowly. CANNOTANSWER", "qas": [question, refused], "id": "C_1"}
    head = {"title": "Bread", "background": "Food.", "section_title": "Sourdough"}
    return {
        "data": [{"paragraphs": [place], **head}, {"paragraphs": [place | {"id": "C_2"}], **head | {"title": "Rye"}}]
    }


def test_references_are_had_of_a_message_or_of_each_exchange() -> None:
    (first, _) = simquac.read(saved(original_quac()))
    several = ("rises slowly", "rises", "It rises slowly")
    assert simquac.references(first.messages[1]) == several
    assert simquac.references(first) == (several, (NO_ANSWER, NO_ANSWER))
    assert simquac.references(talk(("How?", answered(("slowly", 9))))) == (("slowly",),)
    assert simquac.references(talk().model_copy(update={"messages": first.messages[:1]})) == ((NO_ANSWER,),)


def test_the_spans_of_one_answer_are_no_references_of_each_other() -> None:
    spans = [{"text": "It", "answer_start": 0, "note": 1}, {"text": "slowly", "answer_start": 9}]
    qa = {"question": "What?", "id": "1", "answers": spans, "is_impossible": False}
    value = data_set(paragraph(qas=[qa], context="It rises slowly. CANNOTANSWER"))
    assert simquac.references(simquac.read(saved(value))[0]) == (("It\nslowly",),)


def test_a_files_layout_tells_whether_people_answered(open_data: Path) -> None:
    assert all(map(simquac.by_people, simquac.read(saved(original_quac()))))
    assert all(map(simquac.by_people, simquac.read(open_data / "simquac/quac_subset.json")))
    assert not any(map(simquac.by_people, simquac.read(open_data / "simquac/sim_quac.json")))
    assert not simquac.by_people(talk(("How?", answered(("slowly", 9)))))


def test_quacs_own_layout_is_read_with_the_articles_title_and_the_original_answer() -> None:
    first, second = simquac.read(saved(original_quac()))
    assert (first.scenario["title"], second.scenario["title"]) == ("Bread", "Rye")
    assert first.scenario["header"] == "Sourdough"
    assert first.scenario["background"] == "Food."
    assert first.messages[1].spans == (Span(text="rises slowly", start=3),)
    assert first.messages[3].text == NO_ANSWER
    assert first.messages[3].spans == ()


def test_a_paragraph_that_has_a_title_of_its_own_keeps_it() -> None:
    value = original_quac()
    value["data"][0]["paragraphs"][0] |= {"title": "Toast", "section_title": "", "background": "Old."}
    scenario = simquac.read(saved(value))[0].scenario
    assert (scenario["title"], scenario["header"], scenario["background"]) == ("Toast", "", "Old.")
    assert exactly(again(simquac.read(saved(value)))) == exactly(value)


def test_quacs_own_layout_comes_out_as_it_went_in() -> None:
    value = original_quac() | {"version": "0.2"}
    assert exactly(again(simquac.read(saved(value)))) == exactly(value)
    assert exactly(again(simquac.read(saved(value))[1:])["data"]) == exactly(value["data"][1:])


def test_a_byte_order_mark_is_no_part_of_the_data() -> None:
    Path("set.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(data_set(paragraph())).encode())
    assert simquac.read("set.json")[0].scenario["title"] == "Bread"


def test_numbers_of_questions_run_through_the_file() -> None:
    value = again(
        [talk(("How?", answered(("slowly", 9))), ("Why?", answered(("It", 0)))), talk(("Who?", answered(("It", 0))))]
    )
    ids = [question["id"] for place in value["data"][0]["paragraphs"] for question in place["qas"]]
    assert ids == ["1", "2", "3"]
