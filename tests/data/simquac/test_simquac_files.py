"""SimQuAC and QuAC files: read and written again."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.data import Span, record_lines, simquac
from duologue.data.checks import check
from duologue.data.grounding import NO_ANSWER
from duologue.data.simquac.reading import references_of
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


@pytest.mark.parametrize(("name", "misplaced"), [("quac_subset.json", 0), ("sim_quac.json", 6)])
def test_an_open_file_comes_out_byte_for_byte_as_it_went_in(open_data: Path, name: str, misplaced: int) -> None:
    path = open_data / "simquac" / name
    conversations = simquac.read(path)
    assert simquac.write(conversations, "again.json") == []
    assert Path("again.json").read_bytes() == path.read_bytes()
    assert len(conversations) == 77
    assert len({conversation.id for conversation in conversations}) == 77
    assert len(check(conversations, ["span-not-slice", "span-case"])) == misplaced


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


@pytest.mark.parametrize("section", ["He joined NATO", "She studied at MIT", "A", "WE CANNOT ANSWER", "TORCAN"])
def test_the_marker_is_taken_off_as_a_word_and_not_letter_by_letter(section: str) -> None:
    (conversation,) = simquac.read(saved(data_set(paragraph(section))))
    assert conversation.scenario["section"] == section
    assert again([conversation])["data"][0]["paragraphs"][0]["context"] == f"{section} CANNOTANSWER"


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
    assert references_of(first.messages[1:2]) == several
    assert simquac.references(first) == (several, (NO_ANSWER, NO_ANSWER))
    assert simquac.references(talk(("How?", answered(("slowly", 9))))) == (("slowly",),)
    assert simquac.references(talk().model_copy(update={"messages": first.messages[:1]})) == ((NO_ANSWER,),)


def test_a_paragraph_that_has_a_title_of_its_own_keeps_it() -> None:
    value = original_quac()
    value["data"][0]["paragraphs"][0] |= {"title": "Toast", "section_title": "", "background": "Old."}
    scenario = simquac.read(saved(value))[0].scenario
    assert (scenario["title"], scenario["header"], scenario["background"]) == ("Toast", "", "Old.")
    assert exactly(again(simquac.read(saved(value)))) == exactly(value)
