"""What a call sends, as it is kept: plain, without secrets, and each text digested once in a conversation."""

import contextvars
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from duologue.data.identity import digest
from duologue.nodes.calls.call_store import SentRequest, remember_texts
from duologue.nodes.settings import redaction

SECRET = "lamp-oil-4711"
CALL = {"name": "look", "args": {"at": SECRET}, "id": "1", "type": "tool_call"}
MESSAGES = [
    SystemMessage("You keep a lighthouse."),
    HumanMessage("Ahoy, \ud83d half a pair, 灯塔 " + SECRET),
    AIMessage("", tool_calls=[CALL]),
    ToolMessage("a ship", tool_call_id="1"),
    HumanMessage("And now?", name="mate"),
    HumanMessage([{"type": "text", "text": "See:"}, {"type": "image", "url": "https://h/1.png"}]),
    AIMessage("A ship."),
    HumanMessage("Thanks."),
]
PLAIN: list[dict[str, Any]] = [
    {"type": "system", "content": "You keep a lighthouse."},
    {"type": "human", "content": "Ahoy, ? half a pair, 灯塔 [key]"},
    {"type": "ai", "content": "", "tool_calls": [{**CALL, "args": {"at": "[key]"}}]},
    {"type": "tool", "content": "a ship", "tool_call_id": "1"},
    {"type": "human", "content": "And now?", "name": "mate"},
    {"type": "human", "content": [{"type": "text", "text": "See:"}, {"type": "image", "url": "https://h/1.png"}]},
    {"type": "ai", "content": "A ship."},
    {"type": "human", "content": "Thanks."},
]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered here is not remembered in other tests."""
    monkeypatch.setattr(redaction, "_secrets", set())
    redaction._look_through.cache_clear()


def in_a_conversation(work: Callable[[], None]) -> None:
    def begun() -> None:
        remember_texts()
        work()

    contextvars.copy_context().run(begun)


@pytest.mark.parametrize("times", [1, 2])
def test_messages_are_kept_and_digested_as_plain_json_without_secrets(
    monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    monkeypatch.setenv("MINE_ACCESS_TOKEN", SECRET)

    def check() -> None:
        for _ in range(times):
            sent = SentRequest.of({"spec": f"openai:{SECRET}"}, MESSAGES)
            assert list(sent.messages) == PLAIN
            assert list(sent.digests) == [digest(message)[:16] for message in PLAIN]
            assert sent.digest == digest({"spec": "openai:[key]"}, list(sent.digests))[:32]

    check()
    in_a_conversation(check)


def test_a_credential_that_becomes_known_is_taken_out_of_texts_that_were_sent_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def check() -> None:
        assert SECRET in str(SentRequest.of({}, MESSAGES).messages)
        monkeypatch.setenv("MINE_ACCESS_TOKEN", SECRET)
        assert [*SentRequest.of({}, MESSAGES).digests] == [digest(message)[:16] for message in PLAIN]

    in_a_conversation(check)


def test_what_is_sent_is_what_was_there_before_the_call() -> None:
    greeting = HumanMessage("Ahoy.")
    sent = SentRequest.of({}, [greeting])
    greeting.content = "Nothing."
    assert sent.message(0) == {"type": "human", "content": "Ahoy."}


def test_a_text_that_was_sent_before_in_the_conversation_costs_no_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    digested: list[Any] = []

    def noted(*parts: Any) -> str:
        digested.append(parts)
        return digest(*parts)

    monkeypatch.setattr("duologue.nodes.calls.call_store.digest", noted)
    history: list[BaseMessage] = [SystemMessage("You keep a lighthouse.")]

    def talk() -> None:
        for turn in range(20):
            SentRequest.of({}, [*history, HumanMessage(f"Question {turn}\n\n<note>Answer.</note>")])
            history.extend([HumanMessage(f"Question {turn}"), AIMessage(f"Answer {turn}")])

    in_a_conversation(talk)
    assert len(digested) == 1 + 20 + 2 * 19
    SentRequest.of({}, history)
    assert len(digested) == 1 + 20 + 2 * 19 + len(history)  # another conversation knows nothing of it
