"""What a call sends, as it is kept: plain and without secrets; and replies that are asked for once."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from duologue.data.identity import digest
from duologue.errors import DuologueError
from duologue.nodes.calls.store import Call, CallKey, Replies, SentRequest, SharedReplies, StoredReply
from duologue.nodes.settings import redaction
from duologue.runs.journals.in_memory import StoreInMemory

SECRET = "lamp-oil-4711-keeper"
CALL = {"name": "look", "args": {"at": SECRET}, "id": "1", "type": "tool_call"}
MESSAGES = [
    SystemMessage("You keep a lighthouse."),
    HumanMessage("Ahoy, \ud83d half a pair, 灯塔 " + SECRET),
    AIMessage("", tool_calls=[CALL]),
    ToolMessage("a ship", tool_call_id="1"),
    HumanMessage("And now?", name="mate"),
    HumanMessage([{"type": "text", "text": "See:"}, {"type": "image", "url": "https://h/1.png"}]),
    AIMessage("A ship."),
]
PLAIN: list[dict[str, Any]] = [
    {"type": "system", "content": "You keep a lighthouse."},
    {"type": "human", "content": "Ahoy, ? half a pair, 灯塔 [key]"},
    {"type": "ai", "content": "", "tool_calls": [{**CALL, "args": {"at": "[key]"}}]},
    {"type": "tool", "content": "a ship", "tool_call_id": "1"},
    {"type": "human", "content": "And now?", "name": "mate"},
    {"type": "human", "content": [{"type": "text", "text": "See:"}, {"type": "image", "url": "https://h/1.png"}]},
    {"type": "ai", "content": "A ship."},
]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered here is not remembered in other tests."""
    monkeypatch.setattr(redaction, "_secrets", set())
    redaction._look_through.cache_clear()


def test_messages_are_kept_as_plain_json_without_a_credential_also_one_that_becomes_known_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert SECRET in str(SentRequest.of({}, MESSAGES).messages)
    monkeypatch.setenv("MINE_ACCESS_TOKEN", SECRET)
    sent = SentRequest.of({"spec": f"openai:{SECRET}"}, MESSAGES)
    assert list(sent.messages) == PLAIN
    assert list(sent.digests) == [digest(message)[:16] for message in PLAIN]
    assert sent.to == {"spec": "openai:[key]"}
    assert sent.digest != SentRequest.of({}, MESSAGES).digest
    assert SentRequest.of({}, []).messages == ()


def test_what_is_sent_is_what_was_there_before_the_call() -> None:
    greeting = HumanMessage("Ahoy.")
    sent = SentRequest.of({}, [greeting])
    greeting.content = "Nothing."
    assert sent.messages[0] == {"type": "human", "content": "Ahoy."}


class Memory:
    """A store of every reply."""

    def __init__(self, *, full: bool = False) -> None:
        self.replies: dict[tuple[CallKey, str], StoredReply] = {}
        self.full = full

    def find(self, key: CallKey, sent: SentRequest) -> StoredReply | None:
        return self.replies.get((key, sent.digest))

    look_up = find

    def keep(self, key: CallKey, sent: SentRequest, reply: StoredReply) -> None:
        if self.full:
            raise DuologueError("no space left")
        self.replies[key, sent.digest] = reply


def asked(replies: Replies, role: str = "user", text: str = "Hello.", **reply: Any) -> Any:
    """How often it was asked, and the reply."""
    times = 0

    async def ask() -> StoredReply:
        nonlocal times
        times += 1
        await asyncio.sleep(0)
        return StoredReply({"content": "Yes."} | reply)

    async def once() -> tuple[int, StoredReply]:
        got = await replies.once(Call(7, "c1", role).key(1), SentRequest.of({"m": 1}, [HumanMessage(text)]), ask)
        return times, got

    return once()


async def test_the_same_question_is_asked_once_and_another_one_again() -> None:
    replies = Replies(Memory())
    assert [(await asked(replies))[0] for _ in range(3)] == [1, 0, 0]
    assert replies.replayed == 2
    assert (await asked(replies, text="Hello?"))[0] == 1
    assert (await asked(replies, role="assistant"))[0] == 1


async def test_what_the_user_said_to_one_version_is_what_it_says_to_the_other_also_at_the_same_moment() -> None:
    shared = SharedReplies(stores=[Memory(), StoreInMemory(), Memory()], together=True)
    versions = [Replies(store, shared) for store in shared.stores]
    answers = await asyncio.gather(*map(asked, versions))
    assert sorted(times for times, _ in answers) == [0, 0, 1]
    assert [reply.shared for _, reply in answers] == [False, True, True]
    assistants = await asyncio.gather(*(asked(version, role="assistant") for version in versions))
    assert [times for times, _ in assistants] == [1, 1, 1]
    judges = await asyncio.gather(*(asked(version, role="user judge Page") for version in versions))
    assert sum(times for times, _ in judges) == 1


async def test_a_reply_without_words_is_its_own_versions() -> None:
    shared = SharedReplies(stores=[Memory(), Memory()], together=True)
    one, other = (Replies(store, shared) for store in shared.stores)
    for reply in ({"content": ""}, {"content": "", "drafts": [{"text": ""}]}):
        shared.stores[0], shared.stores[1] = one.store, other.store = Memory(), Memory()
        assert [(await asked(version, **reply))[0] for version in (one, other)] == [1, 1]


async def test_an_earlier_run_answers_and_its_reply_is_in_the_own_store_too() -> None:
    earlier, own = Memory(), Memory()
    await asked(Replies(earlier))
    times, reply = await asked(Replies(own, SharedReplies([earlier])))
    assert (times, reply.shared) == (0, True)
    assert next(iter(own.replies.values())).shared


async def test_a_store_that_cannot_keep_is_known_to_be_broken() -> None:
    replies = Replies(Memory(full=True))
    with pytest.raises(DuologueError):
        await asked(replies)
    assert "no space left" in str(replies.broken)
