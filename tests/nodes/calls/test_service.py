"""A model call from end to end: kept replies, budgets, what is noted, and when no call begins any more."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from duologue.nodes.calls.gate import EndpointError, RunOverError
from duologue.nodes.calls.service import Calls, current, drafted, kept_in, replies_outside, run_is_over
from duologue.nodes.calls.spending import Spending
from duologue.nodes.calls.store import Call, Replies, RepliesError
from duologue.nodes.models.specs import chat_model
from duologue.testing import scripted_model

ASKED = [HumanMessage("Where to?")]
CALL = Call(7, "c1", "user")


async def test_a_reply_is_kept_with_the_model_and_the_seed_that_it_was_asked_with_and_found_again():
    model, replies = scripted_model("Rome."), Replies(None)
    with Calls(replies=replies).active():
        drafts = [await drafted(model, ASKED, CALL, attempt) for attempt in (1, 1, 2)]
    assert [draft["text"] for draft in drafts] == ["Rome."] * 3
    assert drafts[0] == drafts[1]
    assert (len(model.sent), replies.replayed) == (2, 1)


async def test_the_offline_model_is_not_kept_as_it_replies_the_same_again():
    replies = Replies(None)
    with Calls(replies=replies).active():
        await drafted(chat_model("offline", side="student"), ASKED, CALL)
    assert replies.count() == 0


async def test_outside_a_run_replies_may_be_kept_too():
    model, replies = scripted_model("Rome."), Replies(None)
    assert replies_outside() is None
    with kept_in(replies):
        assert replies_outside() is replies
        assert await drafted(model, ASKED, CALL) == await drafted(model, ASKED, CALL)
    assert len(model.sent) == 1


async def test_what_another_version_paid_for_is_marked():
    model, calls, drafts = scripted_model("Rome."), Calls(replies=Replies(None)), []
    for version in ("", "against"):
        with calls.active(version):
            drafts.append(await drafted(model, ASKED, CALL))
    assert [draft.get("shared", False) for draft in drafts] == [False, True]
    assert len(model.sent) == 1


async def test_a_run_whose_endpoint_is_given_up_makes_no_further_call_and_the_first_lost_one_is_noted():
    given_up, model = EndpointError("given up"), scripted_model("Yes.")
    with Calls(stopped=given_up).active() as calls, pytest.raises(EndpointError) as raised:
        await drafted(model, ASKED, CALL)
    assert raised.value is given_up
    assert "given up" in calls.lost["c1"]
    assert (model.sent, calls.is_over) == ([], False)


async def test_a_full_disk_ends_the_run_as_later_replies_would_be_lost_too(tmp_path, monkeypatch):
    replies = Replies(tmp_path / "r")

    def full(*arguments):
        raise RepliesError("no space left")

    monkeypatch.setattr(replies, "keep", full)
    with Calls(replies=replies).active() as calls:
        with pytest.raises(RepliesError):
            await drafted(scripted_model("Yes."), ASKED, CALL)
        assert run_is_over()
    assert "no space left" in str(calls.stopped)


def reported(text: str, tokens: int) -> AIMessage:
    usage: Any = {"input_tokens": tokens, "output_tokens": tokens, "total_tokens": 2 * tokens}
    return AIMessage(text, usage_metadata=usage)


async def as_any_code_between(model: Any) -> Any:
    try:
        return await drafted(model, ASKED, CALL, 2)
    except Exception:
        return "taken for a failed call"


async def test_no_call_begins_beyond_the_budget_and_nothing_takes_that_for_a_failed_call():
    calls = Calls(spending=Spending(max_tokens=500))
    model = scripted_model(reported("Rome.", 200))
    with calls.active():
        await drafted(model, ASKED, CALL)
        with pytest.raises(RunOverError):
            await as_any_code_between(model)
    assert (len(model.sent), calls.lost) == (1, {})


async def test_what_an_agents_code_asks_in_its_turn_does_not_wait_for_the_turn():
    calls, model = Calls(spending=Spending(max_tokens=10_000)), scripted_model(reported("Rome.", 10))

    async def turn() -> Any:
        assert current() is calls
        return {"drafts": [await drafted(model, ASKED, Call(7, "c1", "assistant"))]}

    with calls.active():
        async with asyncio.timeout(10):
            update = await calls.update({"agent": "a"}, ASKED, CALL, 1, turn)
    assert update["drafts"][0]["text"] == "Rome."


async def test_a_run_that_is_cut_begins_no_call():
    calls = Calls()
    calls.cut("time is over")
    with calls.active(), pytest.raises(RunOverError):
        await drafted(scripted_model("Yes."), ASKED, CALL)


def test_a_run_is_woken_when_an_endpoint_has_room_for_more_or_fewer_conversations():
    changes: list[int] = []
    calls = Calls(on_room=lambda: changes.append(calls.room))
    gate = calls.gate("http://x/v1")
    assert calls.gate("http://x/v1") is gate
    assert gate.on_room is not None
    gate.on_room()
    assert changes == [calls.room]
    calls.on_room = None
    gate.on_room()
    assert len(changes) == 1


async def test_a_model_whose_name_sets_rates_has_a_gate_of_its_own():
    calls, model = Calls(), scripted_model("Yes.")
    paced = scripted_model("Yes.")
    paced.metadata = {"spec": "own:m", "arguments": {}, "pace": {"rpm": 60.0}}
    with calls.active():
        await drafted(model, ASKED, CALL)
        await drafted(paced, ASKED, CALL, 2)
    assert len(calls.gates) == 2
