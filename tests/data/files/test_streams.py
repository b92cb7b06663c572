"""Data sets written while the conversations come: the same bytes as of one value, and no conversation held."""

import gc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.data import Attempt, Conversation, DataError, Message, Span, messages, recllmsim, record_lines, simquac
from duologue.data.files import json_files, json_stream
from duologue.data.formats import unsupported
from duologue.data.recllmsim import Situation
from duologue.data.simquac import Topic

ABOUT = Topic(title="Snails", background="", header="Movement", section="They move slowly. 蜗牛")


def talk(number: int = 0, question: str = "How?", **extra: Any) -> Conversation:
    messages = (
        Message(role="user", text=question),
        Message(role="assistant", text="slowly", spans=(Span(text="slowly", start=10),)),
    )
    return Conversation(id=f"{number}", scenario=ABOUT.scenario(), messages=messages, extra=extra)


def article(index: int, **values: Any) -> dict[str, Any]:
    return {"index": index, **({"values": values, "order": ["title", "paragraphs", "b"]} if values else {})}


SETS = {
    "nothing": [],
    "one": [talk()],
    "one article": [talk(number) for number in range(3)],
    "articles": [talk(n, article=article(n // 2, title="蜗牛", b={"c": [1, {"d": []}]})) for n in range(5)],
    "an article that comes again": [talk(n, article=article(n % 2)) for n in range(4)],
    "a file with further keys": [
        talk(n, file={"values": {"version": 1.0, "é": {"x": [{}]}}, "order": ["é", "data", "version"]}) for n in (1, 2)
    ],
    "further keys of a later file": [talk(), talk(1, file={"values": {"version": 2}, "order": ["version", "data"]})],
    "an odd paragraph": [talk(paragraph={"values": {"more": None}, "order": ["more", "qas", "context"]})],
    "half a surrogate pair": [talk(question="é \x7f 𝄞 ?"), talk(question="\ud800?"), talk(question="ü\n?")],
}


@pytest.mark.parametrize("name", SETS)
def test_a_simquac_file_has_the_bytes_of_its_object_written_at_once(name: str) -> None:
    value, left_out = simquac.to_object(SETS[name])
    json_files.write_json("whole.json", value)
    assert simquac.write(iter(SETS[name]), "stream.json") == left_out == []
    assert Path("stream.json").read_bytes() == Path("whole.json").read_bytes()
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["stream.json", "whole.json"]


def test_half_a_surrogate_pair_among_the_files_own_keys_escapes_the_whole() -> None:
    files: list[dict[str, Any]] = [{"values": {"a": "\ud800"}, "order": ["a", "data"]}, {"values": {"\udfff": "é"}}]
    for file in files:
        value, _ = simquac.to_object([talk(), talk(1, file=file)])
        json_files.write_json("whole.json", value)
        simquac.write(iter([talk(), talk(1, file=file)]), "stream.json")
        assert Path("stream.json").read_bytes() == Path("whole.json").read_bytes()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.heavy
@settings(max_examples=15)
@given(st.dictionaries(st.text(), JSON), st.text(), st.lists(JSON))
def test_an_object_in_pieces_is_the_object(holder: dict[str, Any], key: str, elements: list[Any]) -> None:
    before, behind = json_stream.around(holder | {key: []}, key, 0)
    body = json_stream.array(([json_stream.text_of(element, 2)] for element in elements), 1)
    assert before + "".join(body) + behind == json_files.dumps(holder | {key: elements}, indent=1).encode(
        "utf-8", "surrogatepass"
    ).decode("utf-8", "surrogatepass")


def test_what_fails_amid_the_writing_leaves_the_file_that_was_there() -> None:
    def broken() -> Iterator[Conversation]:
        yield talk()
        raise DataError("the second is broken")

    writers: list[Callable[[Iterable[Conversation], str], list[str]]] = [
        simquac.write,
        messages.write,
        record_lines.write,
    ]
    for write in writers:
        Path("set").write_text("before", encoding="utf-8")
        with pytest.raises(DataError, match="the second"):
            write(broken(), "set")
        assert Path("set").read_text(encoding="utf-8") == "before"
        assert [path.name for path in Path.cwd().iterdir()] == ["set"]


def test_a_place_that_cannot_be_written_is_named() -> None:
    Path("file").write_text("", encoding="utf-8")
    Path("folder").mkdir()
    for place in ("file/set.json", "folder"):
        with pytest.raises(DataError, match=r"cannot be written|is a folder"):
            simquac.write([talk()], place)


def alive() -> int:
    return sum(isinstance(thing, Conversation) for thing in gc.get_objects())


def situation(number: int) -> Conversation:
    about = Situation(
        language="en",
        task="shopping",
        task_context="A present.",
        task_context_id=number,
        preference_id=1,
        preference="x",
    )
    return talk(number).model_copy(update={"scenario": about.scenario()})


@pytest.mark.usefixtures("only_new_objects")
@pytest.mark.parametrize(
    ("write", "conversation_of"),
    [(simquac.write, talk), (messages.write, talk), (record_lines.write, talk), (recllmsim.write, situation)],
)
def test_conversations_are_written_as_they_come_and_none_is_held(
    write: Callable[[Iterable[Conversation], str], list[str]], conversation_of: Callable[[int], Conversation]
) -> None:
    gc.collect()
    before, most = alive(), 0

    def coming() -> Iterator[Conversation]:
        nonlocal most
        for number in range(30):
            conversation = conversation_of(number)
            most = max(most, alive() - before)
            yield conversation

    write(coming(), "set")
    assert most <= 4


@pytest.mark.parametrize("shape", [dict, str])
def test_values_and_pieces_are_let_go_when_they_are_written(shape: type) -> None:
    there, most = 0, 0

    class Counted(shape):  # type: ignore[misc]
        def __init__(self, *_: object) -> None:
            nonlocal there, most
            there += 1
            most = max(most, there)

        def __del__(self) -> None:
            nonlocal there
            there -= 1

    if shape is dict:
        json_files.write_lines("set", (Counted() for _ in range(30)))
    else:
        json_stream.write("set", "data", (Counted("[]" * 10_000) for _ in range(30)), lambda: {"data": []})
    assert (there, most <= 2) == (0, True)


def test_of_very_many_things_that_a_format_cannot_hold_the_others_are_counted() -> None:
    unanswered = talk().model_copy(update={"messages": (Message(role="user", text="How?"),)})
    few = simquac.write([unanswered] * 1_000, "set.json")
    assert (len(few), unsupported.total(few)) == (1_000, 1_000)
    assert "more" not in few[-1]
    many = simquac.write([unanswered] * 1_234, "set.json")
    assert many[:1_000] == few
    assert (many[1_000:], unsupported.total(many)) == (["and 234 more"], 1_234)


def test_lines_about_whole_kinds_stand_before_those_about_single_things() -> None:
    rejected = situation(1).messages[1].model_copy(update={"attempts": (Attempt(text="a", verdict="rejected"),)})
    outside = situation(1).model_copy(update={"extra": {"path": "../a.json"}, "messages": (rejected,)})
    left_out = recllmsim.write([outside], "set")
    assert "rejected drafts" in left_out[0]
    assert "../a.json" in left_out[-1]
    assert unsupported.total(left_out) == len(left_out) == 3
