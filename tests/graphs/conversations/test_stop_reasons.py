"""Stop reasons of a cast's own: their declaration, typos in them, the record and resumed runs."""

import json

import pytest

from duologue.data.simquac import Topic
from duologue.graphs import conversation, record, simquac
from duologue.nodes import Limits, conformance
from duologue.nodes.contract import ContractError
from duologue.runs import RunError, arun, asimulate

TOPIC = Topic(title="T", background="", header="H", section="Three keepers lived there.")
OWN = {"transferred": "assistant", "no_database": "infrastructure", "agreed": "none"}


def stopping(reason, **changes):
    async def assistant(state, runtime):
        return {"drafts": [{"text": "Three keepers"}], "stop": reason}

    return simquac.cast().replace(assistant=assistant, name="airline", stop_reasons=OWN, **changes)


async def play(cast):
    return record(await conversation(cast).ainvoke(simquac.scenario(TOPIC), context=Limits(max_turns=3)))


@pytest.mark.parametrize(("name", "fault"), OWN.items())
async def test_a_node_may_end_a_conversation_for_a_reason_of_its_casts(name, fault):
    ended = await play(stopping(f"airline:{name}"))
    assert (ended.stop, ended.fault) == (f"airline:{name}", fault)
    assert ended.messages[-1].text == "Three keepers"
    assert json.loads(json.dumps(ended.plain()))["provenance"]["stop_reasons"][f"airline:{name}"] == fault


async def test_a_criterion_may_give_a_reason_of_its_casts():
    cast = simquac.cast().replace(
        name="airline", stop_reasons=OWN, stop=lambda state, limits: "airline:agreed" if state["turn"] else None
    )
    assert (await play(cast)).stop == "airline:agreed"


@pytest.mark.parametrize("reason", ["airline:transfered", "transferred", "other:transferred", "user_end"])
async def test_a_typo_is_refused_with_the_reasons_that_are_known(reason):
    with pytest.raises(ContractError) as caught:
        await play(stopping(reason))
    for name in ("airline:agreed", "airline:no_database", "airline:transferred", "user_ended", repr(reason)):
        assert name in str(caught.value)
    cast = simquac.cast().replace(name="airline", stop_reasons=OWN, stop=lambda state, limits: reason)
    with pytest.raises(ContractError, match=r"stop: expected one of .*airline:transferred"):
        await play(cast)


@pytest.mark.parametrize(
    ("name", "reasons", "problem"),
    [
        ("airline", {"Transferred": "assistant"}, "named with a-z, 0-9 and _"),
        ("airline", {"airline:gone": "assistant"}, "got 'airline:gone'"),
        ("airline", {"gone": "nobody"}, "expected the fault of 'gone' to be one of none, user, assistant, infra"),
        ("My airline", {"gone": "none"}, "got 'My airline'"),
    ],
)
def test_declarations_that_no_record_could_hold_are_refused(name, reasons, problem):
    with pytest.raises(ContractError, match=problem):
        simquac.cast().replace(name=name, stop_reasons=reasons)


async def test_a_resumed_run_tries_again_only_what_infrastructure_ended(tmp_path):
    out = tmp_path / "run"
    summary = await arun(stopping("airline:no_database"), [simquac.scenario(TOPIC)], out, limits=Limits(max_turns=3))
    assert (summary.finished, summary.complete) == (0, False)
    assert list(summary.failed.values()) == ["airline:no_database"]
    summary = await arun(
        stopping("airline:transferred"), [simquac.scenario(TOPIC)], out, limits=Limits(max_turns=3), resume=True
    )
    assert (summary.finished, summary.complete, summary.counts.stops) == (1, True, {"airline:transferred": 1})


async def test_a_resumed_run_must_have_the_same_reasons(tmp_path):
    out = tmp_path / "run"
    await asimulate(stopping("airline:agreed"), [simquac.scenario(TOPIC)], out=out)
    changed = stopping("airline:agreed").replace(stop_reasons=OWN | {"agreed": "user"})
    with pytest.raises(RunError, match=r"stop_reasons\.airline:agreed"):
        await asimulate(changed, [simquac.scenario(TOPIC)], out=out, resume=True)


async def test_conformance_knows_the_reasons_that_it_is_told():
    node = stopping("airline:agreed").assistant
    assert await conformance.problems("assistant", node, own_reasons=["airline:agreed"]) == []
    assert "expected a stop reason" in (await conformance.problems("assistant", node))[0]
