"""What a call sends, as it is kept: plain and without secrets; and replies that are asked for once."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from duologue.data.identity import digest
from duologue.errors import DataError
from duologue.nodes.calls.store import Call, ReplayError, Replies, SentRequest, StoredReply, merge
from duologue.nodes.settings import redaction

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


def test_messages_are_known_by_plain_json_without_a_credential_also_one_that_becomes_known_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = SentRequest.of({}, MESSAGES)
    monkeypatch.setenv("MINE_ACCESS_TOKEN", SECRET)
    sent = SentRequest.of({"spec": f"openai:{SECRET}"}, MESSAGES)
    assert list(sent.messages) == [digest(message)[:16] for message in PLAIN]
    assert sent.tokens == before.tokens > 0
    assert sent.to == {"spec": "openai:[key]"}
    assert sent.digest != SentRequest.of({}, MESSAGES).digest
    assert SentRequest.of({}, []).messages == ()


def test_what_is_sent_is_what_was_there_before_the_call() -> None:
    greeting = HumanMessage("Ahoy.")
    sent = SentRequest.of({}, [greeting])
    greeting.content = "Nothing."
    assert sent.messages == SentRequest.of({}, [HumanMessage("Ahoy.")]).messages


async def asked(
    replies: Replies, role: str = "user", text: str = "Hello.", *, version: str = "", attempt: int = 1, **reply: Any
) -> tuple[int, StoredReply]:
    """How often it was asked, and the reply."""
    times = 0

    async def ask() -> StoredReply:
        nonlocal times
        times += 1
        await asyncio.sleep(0)
        return StoredReply({"content": "Yes."} | reply)

    place, sent = Call(7, "c1", role).place(attempt, version), SentRequest.of({"m": 1}, [HumanMessage(text)])
    got = await replies.once(place, version, sent, ask)
    return times, got


async def test_the_same_question_is_asked_once_also_by_the_next_process_and_another_one_again(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    with Replies(path) as replies:
        assert [(await asked(replies))[0] for _ in range(3)] == [1, 0, 0]
        assert replies.replayed == 2
    with Replies(path) as replies:
        assert (await asked(replies))[1].value == {"content": "Yes."}
        assert [(await asked(replies, *other))[0] for other in (("user", "Hello?"), ("assistant",))] == [1, 1]
        assert replies.count() == 3


async def test_what_the_user_said_to_one_version_is_what_it_says_to_the_other_also_at_the_same_moment() -> None:
    replies, versions = Replies(None), ("", "old", "older")
    answers = await asyncio.gather(*(asked(replies, version=version) for version in versions))
    assert [times for times, _ in answers] == [1, 0, 0]
    assert [reply.shared for _, reply in answers] == [False, True, True]
    assistants = await asyncio.gather(*(asked(replies, "assistant", version=version) for version in versions))
    assert [times for times, _ in assistants] == [1, 1, 1]
    judges = await asyncio.gather(*(asked(replies, "user judge Page", version=version) for version in versions))
    assert sum(times for times, _ in judges) == 1


async def test_an_earlier_run_answers_for_its_user_alone_and_its_reply_is_kept_here_too(tmp_path: Path) -> None:
    with Replies(tmp_path / "old") as old:
        await asked(old)
        await asked(old, "assistant")
    with Replies(tmp_path / "new", beside=tmp_path / "old") as new:
        times, reply = await asked(new)
        assert (times, reply.shared) == (0, True)
        assert (await asked(new, "assistant"))[0] == 1
    with Replies(tmp_path / "new") as alone:
        assert (await asked(alone))[1].shared


async def test_a_frozen_file_answers_what_it_holds_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    with pytest.raises(DataError, match="is not there"):
        Replies(path, frozen=True)
    with Replies(path) as replies:
        await asked(replies)
    with Replies(path, frozen=True) as frozen:
        assert (await asked(frozen))[0] == 0
        with pytest.raises(ReplayError, match="with other content"):
            await asked(frozen, text="Hello, you.")
        with pytest.raises(ReplayError, match="has no call of user in turn 1, attempt 2"):
            await asked(frozen, attempt=2)
    path.write_text("no database")
    with pytest.raises(DataError, match="holds no replies"):
        Replies(path, frozen=True)


@pytest.mark.parametrize("where", [0, 4096])
async def test_a_damaged_file_is_set_aside_with_one_line(tmp_path: Path, where: int, caplog: Any) -> None:
    path = tmp_path / "replies.sqlite"
    with Replies(path) as replies:
        for number in range(200):
            await asked(replies, text=f"Hello {number}. " * 9)
    content = bytearray(path.read_bytes())
    content[where : where + 3000] = b"?" * 3000
    path.write_bytes(content)
    with pytest.raises(DataError, match="holds no replies"):  # a file that the user has named
        Replies(path)
    assert path.read_bytes() == content
    with Replies(path, own=True) as replies:
        assert (await asked(replies))[0] == 1
    assert [one.getMessage().count("is damaged") for one in caplog.records] == [1]
    assert (tmp_path / "replies.sqlite.damaged").exists()


def test_a_database_of_somebody_else_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "orders.sqlite"
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("CREATE TABLE orders (number INT)")
    content = path.read_bytes()
    with pytest.raises(DataError, match="it has the tables orders"):
        Replies(path)
    assert (path.read_bytes(), [one.name for one in tmp_path.iterdir()]) == (content, [path.name])


async def test_a_turn_in_which_nothing_could_be_said_is_forgotten(tmp_path: Path) -> None:
    with Replies(tmp_path / "r") as replies:
        await asked(replies)
        await asked(replies, "assistant")
        replies.forget_turn("c1", "user")
        assert [(await asked(replies, role))[0] for role in ("user", "assistant")] == [1, 0]


async def test_files_of_shards_are_put_together(tmp_path: Path) -> None:
    for name, text in (("a", "Hello."), ("b", "Hello?")):
        with Replies(tmp_path / name) as replies:
            await asked(replies, text=text)
        merge(tmp_path / name, tmp_path / "whole")
    with Replies(tmp_path / "whole", frozen=True) as whole:
        assert [(await asked(whole, text=text))[0] for text in ("Hello.", "Hello?")] == [0, 0]
