"""Validators of functions and of other validators: whom they ask, and what becomes of a flawed draft."""

from typing import Any

from langgraph.runtime import Runtime

from duologue import nodes
from duologue.nodes import Limits, every, judge, validator
from duologue.nodes.validators import Observing
from tests.fake_models import SeededModel
from tests.nodes.states import state


async def verdicts(node, *drafts, **more) -> Any:
    update = await node(state(*drafts, **more), Runtime(context=Limits(seed=3)))
    return update["verdicts"]


async def test_an_async_function_judges_and_may_read_the_limits():
    async def rude(draft, state, runtime):
        return "rude" if "idiot" in draft["text"] and runtime.context.seed == 3 else None

    async def later(draft, state, *, runtime=None):
        return None if runtime else "no_runtime"

    def other(draft, state):
        return {"accepted": False, "reason": "other", "notes": ["says idiot"]}

    assert await verdicts(validator(rude), "You idiot", "Hello") == [
        {"accepted": False, "reason": "rude"}, {"accepted": True}
    ]  # fmt: skip
    assert await verdicts(validator(later), "x") == [{"accepted": True}]
    assert (await verdicts(validator(other, must=True), "x"))[0]["must"]
    (observed,) = await verdicts(Observing(validator(other)), "x")
    assert (observed["accepted"], observed["observed"], observed["notes"]) == (True, True, ["says idiot"])


async def test_every_pays_no_judge_for_what_a_rule_rejects_in_whatever_order_they_are_written():
    model = SeededModel(lines=['{"reason": null}'])
    polite = judge(model, "Reject what is rude.", ["rude"])
    waiting = []

    async def slow(draft, state):
        waiting.append(draft["text"])

    def short(draft, state):
        return "too_short" if len(draft["text"]) < 3 else None

    node: Any = every(polite, Observing(polite), validator(slow), nodes.not_empty, every(validator(short)))
    assert [v["reason"] for v in await verdicts(node, "x")] == ["too_short"]
    assert [v["accepted"] for v in await verdicts(node, "Hello there", "y")] == [True, False]
    assert (model.sent, waiting) == ([], [])
    (verdict,) = await verdicts(node, "Hello there")
    assert (verdict["judging"]["calls"], len(model.sent), waiting) == (2, 2, ["Hello there"])


async def test_what_ends_the_conversation_ends_every_at_once():
    async def stopping(state, runtime):
        return {"stop": "user_ended"}

    assert await every(stopping, nodes.not_empty)(state("x"), Runtime(context=Limits())) == {"stop": "user_ended"}
