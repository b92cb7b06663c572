"""Somebody's own agent in a cast: several messages a turn, tools, and channels that it goes on from."""

import asyncio
import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, MessagesState, StateGraph

from duologue.data import record_lines
from duologue.data.recllmsim import Situation
from duologue.graphs import conversation, recllmsim
from duologue.nodes import AgentSpeaker, Limits, conformance, scoring, validator
from duologue.nodes.contract import ContractError
from duologue.nodes.messages.building import plain_messages
from duologue.nodes.scorers import agent_channels
from tests.graphs.played import played

ABOUT = Situation(task="gift preparation", task_context="You want a present.", preference="1. Gender: Female")
BUILD = plain_messages("assistant")


class Shop(MessagesState):
    basket: list[str]
    prices: dict[str, int]


async def clerk(state: Shop) -> dict[str, Any]:
    """Puts the customer's last words into the basket, by a tool, and says how much is in it."""
    await asyncio.sleep(0)
    basket = [*state.get("basket", []), str(state["messages"][-1].content)]
    call = {"name": "put", "args": {"what": basket[-1]}, "id": f"c{len(basket)}"}
    return {
        "basket": basket,
        "messages": [
            AIMessage("One moment.", tool_calls=[call]),
            ToolMessage(json.dumps({"in_it": len(basket)}), tool_call_id=call["id"]),
            AIMessage(f"There are {len(basket)} things in your basket."),
        ],
    }


def compiled(node: Any = clerk, state: type = Shop, **schemas: Any) -> Any:
    return StateGraph(state, **schemas).add_node("clerk", node).add_edge(START, "clerk").compile(name="clerk")


def shop(agent: Any = None, user: Any = None, **settings: Any) -> Any:
    speaker = AgentSpeaker("assistant", agent or compiled(), BUILD, **settings)
    lines = iter(f"thing {number}" for number in range(1000))
    return recllmsim.cast(user or (lambda messages: next(lines)), speaker, opens="user")


async def talk(cast: Any, turns: int = 2, **state: Any) -> Any:
    return await played(cast, recllmsim.scenario(ABOUT) | state, Limits(max_turns=turns))


async def test_an_agent_that_says_several_messages_has_said_several_and_its_tools_stand_with_the_next():
    conversation = await talk(shop(), turns=1)
    first, second = conversation.messages[1:]
    assert (first.text, second.text) == ("One moment.", "There are 1 things in your basket.")
    assert first.tool_calls == ()
    (call,) = second.tool_calls
    assert (call.name, call.arguments, call.result, call.error) == ("put", {"what": "thing 0"}, {"in_it": 1}, None)
    assert first.attempts[0].kept == {}
    assert second.attempts[0].kept == {"basket": ["thing 0"]}
    assert (first.attempts[0].usage.calls, second.attempts[0].usage) == (1, None)


async def test_an_agent_goes_on_from_the_channels_that_are_kept():
    conversation = await talk(shop(), turns=3)
    assert conversation.messages[-1].attempts[0].kept == {"basket": ["thing 0", "thing 1", "thing 2"]}
    forgetful = await talk(shop(), turns=3)
    assert forgetful.messages[-1].text == "There are 1 things in your basket."


async def test_five_concurrent_conversations_with_one_agent_do_not_share_its_channels():
    catalogue = {"prices": {"a": 1}, "basket": ["a bag"]}

    async def greedy(state: Shop) -> dict[str, Any]:
        await asyncio.sleep(0)
        state["prices"]["a"] += 1  # in place, as one should not
        state["basket"].append(state["messages"][-1].content)
        return {"messages": [AIMessage("Yes.")], "basket": state["basket"], "prices": state["prices"]}

    def user(messages: list[dict[str, Any]]) -> str:
        return f"thing {len(messages)}"

    cast = shop(compiled(greedy), user, start=lambda scenario: catalogue)
    conversations = await asyncio.gather(*(talk(cast, turns=4, repeat=repeat) for repeat in range(5)))
    for attempt in [one.messages[-1].attempts[0] for one in conversations]:
        channels = attempt.kept
        assert len(channels["basket"]) == 1 + 4
        assert channels["prices"] == {"a": 1 + 4}
    assert catalogue == {"prices": {"a": 1}, "basket": ["a bag"]}


async def test_a_rejected_draft_has_not_happened_to_the_channels():
    verdicts = iter(["rude", "rude", None, None, "rude", None, None])

    def judge(draft: Any, state: Any) -> str | None:
        return next(verdicts, None)

    cast = shop(read_only=["put"]).replace(answer_validator=validator(judge))
    conversation = await talk(cast, turns=2)
    channels = [attempt.kept for attempt in conversation.attempts("assistant") if attempt.kept]
    assert [len(one["basket"]) for one in channels] == [1, 1, 2, 2]
    assert conversation.messages[-1].text == "There are 2 things in your basket."


async def test_the_channels_of_a_draft_that_declared_words_replace_are_dropped_and_of_one_that_stands_are_kept():
    cast = shop(read_only=True).replace(answer_validator=validator(lambda draft, state: "rude"))
    for fallback, counts in ((None, [1, 2]), ("Sorry.", [1, 1])):
        conversation = await talk(cast.replace(fallback=fallback), turns=2)
        last = [turn[-1].attempts[-1].kept for turn in (conversation.messages[1:3], conversation.messages[4:])] if fallback is None else [
            conversation.messages[n].attempts[-1].kept for n in (1, 3)
        ]  # fmt: skip
        assert [len(channels["basket"]) for channels in last] == counts


async def test_the_first_call_starts_from_the_scenarios_channels():
    def start(scenario: dict[str, Any]) -> dict[str, Any]:
        return {"basket": [scenario["task"]]}

    conversation = await talk(shop(start=start), turns=2)
    assert conversation.messages[-1].attempts[0].kept == {"basket": ["gift preparation", "thing 0", "thing 1"]}


async def test_a_channel_outside_the_agents_output_is_read_all_the_same():
    conversation = await talk(shop(compiled(output_schema=MessagesState)), turns=2)
    assert conversation.messages[-1].attempts[0].kept == {"basket": ["thing 0", "thing 1"]}


@pytest.mark.parametrize(
    ("agent", "settings", "problem"),
    [
        (compiled(), {"keep": ("baskets",)}, "keep: the agent's state has no 'baskets', only basket, messages, prices"),
        (compiled(), {"keep": ("messages",)}, "'messages' cannot be kept"),
        (compiled(input_schema=MessagesState), {"keep": ("basket",)}, "keep: the agent's input has no 'basket'"),
    ],
)
def test_a_channel_that_cannot_be_kept_is_refused_when_the_speaker_is_made(agent, settings, problem):
    with pytest.raises(ContractError, match=problem):
        AgentSpeaker("assistant", agent, BUILD, **settings)


@pytest.mark.parametrize(
    ("start", "problem"),
    [(lambda s: {"price": 1}, "start: the agent's state has no 'price'"), (lambda s: [1], "expected 'start' to give")],
)
async def test_a_start_that_the_agent_has_no_channels_for_is_refused_by_name(start, problem):
    with pytest.raises(ContractError, match=problem):
        await conversation(shop(start=start)).ainvoke(recllmsim.scenario(ABOUT))


async def test_a_kept_channel_that_is_no_json_is_refused_by_name():
    async def odd(state: Shop) -> dict[str, Any]:
        return {"messages": [AIMessage("Yes.")], "basket": {1, 2}}

    with pytest.raises(ContractError, match="keep: the agent's 'basket' is not plain JSON; set is not JSON"):
        await conversation(shop(compiled(odd))).ainvoke(recllmsim.scenario(ABOUT))


async def test_an_agent_that_answers_with_its_own_messages_alone_is_understood_too():
    seen = []

    async def echo(state: dict[str, Any]) -> dict[str, Any]:
        seen.append(len(state["messages"]))
        return {"messages": [{"role": "assistant", "content": "Yes."}]}  # as dictionaries, as a server gives them

    conversation = await talk(shop(RunnableLambda(echo)), turns=3)
    assert [m.text for m in conversation.messages if m.role == "assistant"] == ["Yes."] * 3
    assert seen == [1, 3, 5]


async def test_a_function_that_answers_with_tool_calls_is_recorded_with_them():
    call = {"name": "put", "args": {}, "id": "1"}
    cast = recllmsim.cast(assistant=lambda messages: AIMessage("Yes.", tool_calls=[call]))
    conversation = await talk(cast, turns=1)
    (recorded,) = conversation.messages[1].tool_calls
    assert (recorded.name, recorded.error) == ("put", "no result came")


async def test_an_agent_with_kept_channels_conforms():
    await conformance.conforms("assistant", AgentSpeaker("assistant", compiled(), BUILD))


async def test_a_replayed_run_has_its_tools_again(tmp_path):
    conversation = await talk(shop(), turns=2)
    record_lines.write([conversation], tmp_path / "run.jsonl")
    replay = f"replay:{tmp_path / 'run.jsonl'}"
    again = await talk(recllmsim.cast(replay, replay), turns=2)
    assert [m.tool_calls for m in again.messages] == [m.tool_calls for m in conversation.messages]


@pytest.mark.parametrize("side", ["assistant", "user and assistant"])
async def test_a_replayed_run_is_scored_by_what_its_agent_kept(tmp_path, side):
    verdicts = iter(["rude", "rude", None])
    scored = scoring(things=lambda state: len(agent_channels(state)["basket"]))
    cast = shop().replace(closing=scored, answer_validator=validator(lambda draft, state: next(verdicts, None)))
    conversation = await talk(cast, turns=2)
    record_lines.write([conversation], tmp_path / "run.jsonl")
    replay = f"replay:{tmp_path / 'run.jsonl'}"
    again = recllmsim.cast(replay if "user" in side else lambda messages: "thing", replay).replace(closing=scored)
    replayed = await talk(again, turns=2)
    assert replayed.labels["scores"] == conversation.labels["scores"] == {"things": {"value": 2, "reason": ""}}
    assert [m.attempts[-1].kept for m in replayed.messages] == [m.attempts[-1].kept for m in conversation.messages]


async def test_the_labels_and_settings_of_an_agent_stand_in_the_record():
    conversation = await talk(shop(start=lambda scenario: {}), turns=1)
    node = conversation.provenance.nodes["assistant"]
    assert (node.role, node.name, node.label) == ("assistant", "AgentSpeaker", "clerk")
    assert node.settings["keep"] == ["basket"]


async def test_an_agent_that_returns_a_channel_only_when_it_changes_keeps_it():
    async def once(state: dict[str, Any]) -> dict[str, Any]:
        answer = {"messages": [AIMessage(f"{state.get('basket', 'nothing')}")]}
        return answer | ({"basket": ["a bag"]} if len(state["messages"]) == 1 else {})

    conversation = await talk(shop(RunnableLambda(once)), turns=3)
    assert [m.text for m in conversation.messages if m.role == "assistant"] == ["nothing", "['a bag']", "['a bag']"]
    begun = await talk(shop(RunnableLambda(lambda state: AIMessage("Yes.")), start=lambda s: {"prices": {}}))
    assert begun.messages[-1].attempts[0].kept == {"prices": {}}


class Climb(MessagesState):
    step: int


def climber(steps: int = 30) -> Any:
    def climb(state: Climb) -> dict[str, Any]:
        done = state.get("step", 0) + 1
        return {"step": done} | ({"messages": [AIMessage("On top.")]} if done == steps else {})

    graph = StateGraph(Climb).add_node("climb", climb).add_edge(START, "climb")
    return graph.add_conditional_edges("climb", lambda state: "climb" if state["step"] < steps else END).compile()


async def simulated(cast: Any) -> Any:
    """With one turn of one attempt each, and the recursion limit that these limits give a run."""
    limits = Limits(max_turns=1, question_attempts=1, answer_attempts=1)
    return await played(cast, recllmsim.scenario(ABOUT), limits)


async def climbs(messages: list[dict[str, Any]]) -> AIMessage:
    last: AIMessage = (await climber().ainvoke({"messages": messages}))["messages"][-1]
    return last


@pytest.mark.parametrize(
    "assistant", [None, climbs, lambda messages: climber().invoke({"messages": messages})["messages"][-1]]
)
async def test_an_agent_of_more_steps_than_its_conversation_is_not_stopped_by_the_conversations_limit(assistant):
    cast = shop(climber()) if assistant is None else recllmsim.cast(assistant=assistant)
    conversation = await simulated(cast)
    assert (conversation.failure, conversation.messages[-1].text) == (None, "On top.")


async def test_an_agents_own_recursion_limit_binds_it():
    conversation = await simulated(shop(climber().with_config(recursion_limit=10)))
    assert conversation.failure is not None
    assert "Recursion limit of 10 reached" in conversation.failure.error


async def test_an_agent_without_a_name_is_recorded_by_what_it_is():
    conversation = await talk(shop(RunnableLambda(lambda state: AIMessage("Yes."))), turns=1)
    assert conversation.provenance.nodes["assistant"].label == "RunnableLambda"
