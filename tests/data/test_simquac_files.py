"""SimQuAC and QuAC files: read and written again."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.data import Conversation, DataError, Message, Span, grounding, load, record_lines, simquac
from duologue.data.grounding import NO_ANSWER
from duologue.data.simquac import Topic

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
    known = st.fixed_dictionaries(required, optional=optional)
    merged = st.tuples(known, unknown).map(lambda both: both[1] | both[0])
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


def saved(value: Any, name: str = "set.json") -> Path:
    """A file with this value."""
    path = Path(name)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def again(conversations: Iterable[Conversation]) -> Any:
    """What a file says that these conversations were written to."""
    path = Path("again.json")
    simquac.write(conversations, path)
    return json.loads(path.read_text(encoding="utf-8"))


def exactly(value: Any) -> str:
    """The value with the order of its keys, and 1, 1.0 and true told apart."""
    return json.dumps(value)


def qa(question: str = "How?", *given_answers: tuple[str, int], **more: Any) -> dict[str, Any]:
    return {"question": question, "answers": [{"text": t, "answer_start": s} for t, s in given_answers]} | more


def paragraph(section: str = "It rises slowly.", *qas: dict[str, Any], **more: Any) -> dict[str, Any]:
    head = {"title": "Bread", "section_title": "Sourdough", "background": "Food."}
    return {"context": f"{section} CANNOTANSWER"} | head | {"qas": list(qas)} | more


def data_set(*given_paragraphs: dict[str, Any]) -> dict[str, Any]:
    return {"data": [{"paragraphs": list(given_paragraphs)}]}


def talk(*pairs: tuple[str, Message], section: str = "It rises slowly.") -> Conversation:
    topic = Topic(title="Bread", background="Food.", header="Sourdough", section=section)
    messages = [message for question, answer in pairs for message in (Message(role="user", text=question), answer)]
    return Conversation(id="a", scenario=topic.scenario(), messages=tuple(messages))


def answered(*spans: tuple[str, int]) -> Message:
    return Message(
        role="assistant",
        text="\n".join(text for text, _ in spans),
        spans=tuple(Span(text=text, start=start) for text, start in spans),
    )


@given(data_sets)
def test_what_is_read_and_written_again_is_equal_with_every_unknown_key(value: dict[str, Any]) -> None:
    assert exactly(again(simquac.read(saved(value)))) == exactly(value)


@settings(max_examples=30)
@given(data_sets)
def test_nothing_is_lost_when_it_is_kept_as_records_in_between(value: dict[str, Any]) -> None:
    conversations = simquac.read(saved(value))
    record_lines.write(conversations, "records.jsonl")
    kept = record_lines.read("records.jsonl")
    assert kept == conversations
    assert exactly(again(kept)) == exactly(value)


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
        (conversation,) = (found for found in loaded if found.id == name)
        section = str(conversation.scenario["section"])
        assert span in conversation.messages[number].spans
        assert section[span.start : span.end] != span.text
        assert section[span.start : span.end].casefold() == span.text.casefold()


def test_every_other_open_span_is_what_grounding_gives_back(open_data: Path) -> None:
    for conversation in simquac.read(open_data / "simquac" / "sim_quac.json"):
        section = str(conversation.scenario["section"])
        for message in conversation.messages:
            for span in message.spans:
                found = grounding.ground(span.text, section)
                assert found.valid
                assert all(section[part.start : part.end] == part.text for part in found.spans)


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


def test_a_simulated_conversation_is_written_as_the_published_ones_are() -> None:
    refusal = Message(role="assistant", text=NO_ANSWER)
    value = again([talk(("How?", answered(("slowly", 9), ("It", 0))), ("Why?", refusal))])
    expected = paragraph(
        "It rises slowly.",
        qa("How?", ("slowly", 9), ("It", 0)),
        qa("Why?", ("CANNOTANSWER", 17)),
    )
    for number, question in enumerate(expected["qas"]):
        answers = question.pop("answers")
        question |= {"id": str(number + 1), "answers": answers, "is_impossible": number == 1}
    assert exactly(value) == exactly(data_set(expected))


def test_a_file_that_is_as_we_would_write_it_leaves_nothing_to_keep_besides() -> None:
    simquac.write([talk(("How?", answered(("slowly", 9)))), talk(("Why?", answered(("It", 0))))], "set.json")
    for conversation in simquac.read("set.json"):
        assert conversation.extra == {}
        assert [message.extra for message in conversation.messages] == [{}, {}]


def test_what_was_said_in_one_go_is_one_question_without_what_is_not_stored() -> None:
    question, answer = talk(("How?", answered(("slowly", 9)))).messages
    messages = (Message(role="user", text="Well."), Message(role="user", text="Hm.", stored=False), question, answer)
    value = again([talk().model_copy(update={"messages": messages})])
    assert [question["question"] for question in value["data"][0]["paragraphs"][0]["qas"]] == ["Well.\nHow?"]


def test_a_goodbye_that_is_not_stored_is_neither_written_nor_said_to_be_left_out() -> None:
    conversation = talk(("How?", answered(("slowly", 9))))
    goodbye = Message(role="user", text="Bye!", stored=False)
    ended = conversation.model_copy(update={"messages": (*conversation.messages, goodbye)})
    assert simquac.write([ended], "again.json") == []
    assert len(simquac.read("again.json")[0].messages) == 2


def test_what_the_format_cannot_hold_is_named_and_left_out() -> None:
    conversation = talk(("How?", answered(("slowly", 9))), ("Why?", Message(role="assistant", text="No idea.")))
    messages = (Message(role="assistant", text="Hello."), *conversation.messages, Message(role="user", text="Who?"))
    left_out = simquac.write([conversation.model_copy(update={"messages": messages})], "again.json")
    assert len(left_out) == 3
    assert "exchange 0: an exchange without a question" in left_out[0]
    assert "exchange 2: an answer that is no span" in left_out[1]
    assert "exchange 3: a question without an answer" in left_out[2]
    (kept,) = simquac.read("again.json")
    assert [message.text for message in kept.messages] == ["How?", "slowly"]


def test_no_conversation_at_all_is_a_file_in_the_format() -> None:
    assert again([]) == {"data": [{"paragraphs": []}]}
    assert simquac.read("again.json") == []


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_number_too_large_to_be_written_again_is_refused_in_one_line(number: str) -> None:
    text = json.dumps(data_set(paragraph(note=0))).replace('"note": 0', f'"note": {number}')
    Path("set.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError):
        again(simquac.read("set.json"))


@pytest.mark.parametrize("depth", [50, 190])
def test_nesting_that_can_be_read_can_be_written_again(depth: int) -> None:
    deep = json.loads("[" * depth + "]" * depth)
    value = data_set(paragraph("It rises.", qa("How?", ("It", 0), note=deep), note=deep))
    assert again(simquac.read(saved(value))) == value


@pytest.mark.parametrize("depth", [201, 500, 900, 100_000])
def test_nesting_that_would_end_somewhere_in_the_middle_is_refused_in_one_line(depth: int) -> None:
    Path("set.json").write_text(f'{{"data": {"[" * depth + "]" * depth}}}', encoding="utf-8")
    with pytest.raises(DataError, match=r"^set\.json: is nested too deeply to be a data set, more than 200 levels"):
        simquac.read("set.json")


def test_a_file_that_was_there_is_whole_whatever_happens_while_writing() -> None:
    simquac.write([talk(("How?", answered(("slowly", 9))))], "again.json")
    before = Path("again.json").read_bytes()
    broken = talk().model_copy(update={"extra": {"paragraph": {"values": {"a": float("nan")}, "order": ["a"]}}})
    with pytest.raises(ValueError, match="JSON"):
        simquac.write([broken], "again.json")
    assert Path("again.json").read_bytes() == before
    assert [file.name for file in Path().iterdir()] == ["again.json"]
