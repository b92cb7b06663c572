"""A stored conversation taken up at one of its messages, from its record alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

import duologue
from duologue import data, graphs
from duologue.data import Message, ToolCall
from duologue.data.records import Attempt, Usage
from duologue.errors import DataError, SettingError
from duologue.graphs.scenarios.forks import forked
from duologue.nodes import AgentSpeaker

GOAL = {"goal": "book a table", "success": {"text_contains": "booked"}}


def asks(messages: list[dict[str, Any]]) -> str:
    return f"For when? ({len(messages)})"


def books(messages: list[dict[str, Any]]) -> str:
    return "It is booked."


def fork(source: Any, *, at: Any, id: str = "", assistant: Any = None, **options: Any) -> list[duologue.Conversation]:
    """The futures of a conversation after its message number `at`."""
    source = [source] if isinstance(source, duologue.Conversation) else source
    return list(duologue.test(assistant, source, from_=f"{id}:{at}", **options).records)


@pytest.fixture
def talk() -> duologue.Conversation:
    (talk,) = duologue.test(asks, [GOAL], max_turns=3).records
    return talk


def plain(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    return [message.plain() for message in messages]


def test_each_message_is_a_place_to_take_a_conversation_up_and_what_came_before_stays_as_it_was(
    talk: duologue.Conversation,
) -> None:
    for at, message in enumerate(talk.messages[:-1]):
        futures = fork(talk, at=at, assistant=books, repeats=2)
        assert [future.repeat for future in futures] == [0, 1]
        for future in futures:
            assert json.dumps(plain(future.messages[: at + 1])) == json.dumps(plain(talk.messages[: at + 1]))
            assert future.messages[at + 1].role != message.role
            assert future.forks is not None
            assert (future.forks.id, future.forks.at) == (talk.id, at)
    assert len({future.id for future in futures}) == 2


def test_what_is_kept_is_not_paid_for(talk: duologue.Conversation) -> None:
    (future,) = fork(talk, at=3, assistant=books)
    assert future.new_messages == future.messages[4:]
    assert future.usage == sum((message.usage for message in future.messages[4:]), Usage.none())
    assert 0 < future.usage.tokens < talk.usage.tokens
    assert len(list(future.attempts(new_only=True))) == len(list(future.attempts())) - 4


def test_other_limits_and_settings_are_taken(talk: duologue.Conversation) -> None:
    (future,) = fork(talk, at=1, cast="agent_test", assistant=asks, max_turns=2, may_give_up=False)
    assert future.provenance is not None
    assert future.provenance.limits["max_turns"] == 2
    assert future.provenance.nodes["user_prompt_selector"].settings["may_give_up"] is False
    assert len(future.messages) == 4


def test_a_run_in_a_folder_is_forked_with_its_own_cast_and_resumed(tmp_path: Path) -> None:
    simquac = duologue.graphs.simquac
    topics = duologue.data.simquac.samples()[:2]
    runs = duologue.simulate(
        simquac.cast(),
        simquac.scenarios(topics),
        limits=duologue.Limits(max_turns=4, seed=3),
        out=tmp_path / "run",
    )
    for _ in range(2):
        futures = fork(tmp_path / "run", id=runs[1].id[:6], at=4, repeats=2, out=tmp_path / "fork")
    assert [future.provenance.limits for future in futures if future.provenance] == [
        {"max_turns": 4, "question_attempts": 4, "answer_attempts": 4, "seed": 3}
    ] * 2
    assert all(plain(future.messages[:5]) == plain(runs[1].messages[:5]) for future in futures)
    assert [future.forks.source for future in futures if future.forks] == ["run", "run"]
    (source,) = json.loads((tmp_path / "fork" / "manifest.json").read_text())["data"]
    assert source["forks"] == {"id": runs[1].id, "at": 4}


def test_a_conversation_with_rejected_drafts_before_the_fork_keeps_them() -> None:
    rejects = duologue.nodes.validator(lambda draft, state: None if duologue.nodes.rejected(state) else "rude")
    cast = duologue.graphs.agent_test.cast(assistant=asks).replace(answer_validator=rejects)
    (talk,) = duologue.simulate(cast, duologue.graphs.agent_test.scenarios([GOAL]), limits=duologue.Limits(max_turns=2))
    (future,) = fork(talk, at=1, cast=cast, assistant=books)
    assert [attempt.verdict for attempt in future.messages[1].attempts] == ["rejected", "accepted"]
    assert future.messages[1] == talk.messages[1]
    assert future.messages[3].text == "It is booked."


def counting(**options: Any) -> Any:
    class Counted(MessagesState):
        turns: int

    seen: list[Any] = []

    def answer(state: Counted) -> dict[str, Any]:
        seen.append([message.type for message in state["messages"]])
        turns = state.get("turns", 0) + 1
        return {"messages": [AIMessage(f"Shall I do turn {turns}?")], "turns": turns}

    graph = StateGraph(Counted).add_node("answer", answer).add_edge(START, "answer").compile(**options)
    return AgentSpeaker("assistant", graph), seen


@pytest.mark.parametrize("options", [{}, {"checkpointer": InMemorySaver()}])
def test_an_agent_goes_on_with_the_channels_that_are_recorded_with_or_without_a_checkpointer(
    options: dict[str, Any],
) -> None:
    agent, _ = counting(**options)
    (talk,) = duologue.test(agent, [GOAL], max_turns=3).records
    assert [message.kept for message in talk.messages[1::2]] == [{"turns": 1}, {"turns": 2}, {"turns": 3}]
    other, _ = counting(**options)
    (future,) = fork(talk, at=3, assistant=other, max_turns=4)
    assert [message.text for message in future.messages[5::2]] == ["Shall I do turn 3?", "Shall I do turn 4?"]
    assert future.forks is not None
    assert [("begins a new thread" in note) for note in future.forks.notes] == [True]


def test_an_agent_with_a_thread_begins_with_its_own_tool_calls(talk: duologue.Conversation) -> None:
    calls = tuple(ToolCall(name="seats", arguments={"day": day}, result=3) for day in ("Monday", "Tuesday"))
    said = talk.messages[1].model_copy(
        update={"attempts": (Attempt(text=talk.messages[1].text, verdict="accepted", tool_calls=calls),)}
    )
    talk = talk.model_copy(update={"messages": (talk.messages[0], said, *talk.messages[2:])})
    agent, seen = counting(checkpointer=InMemorySaver())
    (future,) = fork(talk, at=2, assistant=agent)
    assert seen[0] == ["human", "ai", "tool", "tool", "ai", "human"]
    assert future.forks is not None
    assert "no world is given" in future.forks.notes[-1]


def test_a_log_is_taken_up_by_a_user_made_from_its_words(tmp_path: Path) -> None:
    line = {
        "goal": "a cake for Sunday",
        "messages": [
            {"role": "user", "content": "I want a cake for Sunday."},
            {"role": "assistant", "content": "For how many people?"},
            {"role": "user", "content": "For eight."},
            {"role": "assistant", "content": "We have none."},
        ],
    }
    (tmp_path / "log.jsonl").write_text(json.dumps(line) + "\n")
    (future,) = fork(tmp_path / "log.jsonl", at=2, assistant=books)
    assert [message.text for message in future.messages[:4]] == [
        "I want a cake for Sunday.",
        "For how many people?",
        "For eight.",
        "It is booked.",
    ]
    assert future.scenario["goal"] == "a cake for Sunday"
    assert future.provenance is not None
    assert future.provenance.cast == "agent_test"


def test_a_persons_conversation_is_taken_up_by_the_cast_of_its_kind() -> None:
    (scenario, *_) = (state["scenario"] for state in graphs.simquac.scenarios(data.simquac.samples()))
    texts = ("What is it about?", "A rocket.", "Who built it?")
    messages = tuple(Message(role="assistant" if n % 2 else "user", text=text) for n, text in enumerate(texts))
    person = duologue.Conversation(id="a person", scenario=scenario, messages=messages)
    for at in range(3):
        (future,) = fork(person, at=at, max_turns=3)
        assert future.provenance is not None
        assert future.provenance.cast == "simquac"
        assert plain(future.messages[: at + 1]) == plain(messages[: at + 1])
        assert len(future.messages) > at + 1


def test_a_memory_is_there_where_the_record_has_it_and_else_a_note_says_so(talk: duologue.Conversation) -> None:
    remembers = talk.model_copy(update={"memory": {"user": {"seen": 3}}})
    last = len(talk.messages) - 1
    assert forked(remembers, last)["memories"] == {"user": {"seen": 3}}
    early = forked(remembers, 1)
    assert not early.get("memories")
    line = "the memory of the user at message #1 is not recorded, only the one at the end"
    assert line in early["forks"]["notes"]
    (future,) = fork(remembers, at=1, assistant=books)
    assert future.forks is not None
    assert line in future.forks.notes


def test_what_cannot_be_taken_up_is_one_line(talk: duologue.Conversation, tmp_path: Path) -> None:
    empty = talk.model_copy(update={"messages": ()})
    goodbye = Message(role="user", text="Bye.", stored=False)
    left = talk.model_copy(update={"messages": (*talk.messages[:2], goodbye)})
    cases: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (empty, {"at": 0}, DataError, "has no message that could be kept"),
        (talk, {"at": 6}, SettingError, f"at 6: {talk.id} has #0 to #5"),
        (talk, {"at": -1}, SettingError, "write ID:MESSAGE"),
        (talk, {"at": 5}, SettingError, "the kept messages have 3 turns, and max_turns is 3"),
        (left, {"at": 2}, SettingError, "is the user's goodbye, which gets no reply"),
        (talk, {"at": 1, "id": "zz"}, DataError, "has no conversation 'zz'"),
        (talk, {"at": 1, "nothing": 1}, SettingError, "there is no setting 'nothing'"),
        (talk, {"at": 1, "cast": "simquac"}, DataError, f"{talk.id}: the scenario names no kind"),
        (tmp_path / "away", {"at": 1}, DataError, "cannot be read"),
    ]
    for source, options, error, line in cases:
        with pytest.raises(error) as raised:
            fork(source, **options)
        assert line in str(raised.value)
        assert "\n" not in str(raised.value)
    with pytest.raises(DataError, match="has 2 conversations: give the id of one of them"):
        fork([talk, left.model_copy(update={"id": "2"})], at=1)


def test_a_run_whose_cast_is_a_live_object_needs_that_object_again(tmp_path: Path) -> None:
    duologue.test(asks, [GOAL], max_turns=2, out=tmp_path / "run")
    with pytest.raises(SettingError, match=r"assistant is a live object .*: name a cast"):
        fork(tmp_path / "run", at=1)
    (future,) = fork(tmp_path / "run", at=1, assistant=books)
    assert future.messages[3].text == "It is booked."
