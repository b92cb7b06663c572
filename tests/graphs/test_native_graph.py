"""What LangGraph's users expect of any graph: input, threads, breakpoints, interrupts, commands, exceptions."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END
from langgraph.types import Command, interrupt

from duologue import graphs, nodes
from duologue.data import Conversation, simquac
from duologue.graphs import Cast, agent_test
from duologue.graphs.failures import NodeError
from duologue.graphs.graph import cast_of, conversation, fuse, world
from duologue.graphs.opening import begun
from duologue.graphs.records import record
from duologue.nodes import Limits
from duologue.nodes.contract import ContractError
from duologue.runs.engine.conversing import planned
from tests.graphs.played import played

SCENARIO: Any = {"scenario": {"kind": "talk", "topic": "lighthouses"}}


def plain(one: Any) -> dict[str, Any]:
    return one.model_copy(update={"edges": (), "timing": type(one.timing)()}).model_dump(mode="json")


def odd(draft: Any, state: Any) -> str | None:
    return "odd" if len(draft["text"]) % 2 else None


def casts() -> dict[str, tuple[Cast, list[Any]]]:
    topics = graphs.simquac.scenarios(simquac.samples()[:3])
    cast = graphs.simquac.cast()
    return {
        "as it is": (cast, topics),
        "rejected": (cast.replace(question_validator=nodes.validator(odd), answer_validator=nodes.validator(odd)), topics),
        "never sent": (cast.replace(answer_validator=nodes.validator(odd, must=True)), topics),
        "fallback": (cast.replace(answer_validator=nodes.validator(odd), fallback="I am not sure.", greeting="Hi."), topics),
        "agent": (agent_test.cast(assistant=lambda sent: f"A17: {len(sent)}"), agent_test.scenarios([
            {"goal": "Return the lamp, order A17", "success": {"text_contains": "A17"}},
            {"goal": "A table for two", "first_message": "Hello, a table, please?"},
        ])),
    }  # fmt: skip


@pytest.mark.parametrize("name", casts())
async def test_a_run_records_what_the_graph_has_when_it_is_called_directly(name: str) -> None:
    cast, scenarios = casts()[name]
    for limits in (Limits(max_turns=3, seed=3), Limits(max_turns=2, seed=5, question_attempts=2, answer_attempts=1)):
        for state in planned(cast, scenarios):
            last = await conversation(cast).ainvoke(begun(state), {"recursion_limit": fuse(limits)}, context=limits)
            direct, of_a_run = record(last, cast.name), await played(cast, state, limits)
            assert plain(direct) == plain(of_a_run)
            assert (direct.id, direct.scenario) == (state["id"], state["scenario"])
            assert direct.stop is not None
            assert len(list(direct.attempts())) == sum(
                attempt["verdict"] not in ("given", "fallback") for attempt in last["attempts"]
            )
            assert Conversation.from_plain(json.loads(json.dumps(direct.plain()))) == direct


def talk(**parts: Any) -> Cast:
    async def user(state: Any, runtime: Any) -> Any:
        return {"drafts": [{"text": f"Question {state['turn']}?"}]}

    async def assistant(state: Any, runtime: Any) -> Any:
        return {"drafts": [{"text": f"Answer to {state['messages'][-1].text}"}]}

    return Cast(
        **{"name": "talk", "user_simulator": user, "assistant": assistant, "limits": Limits(max_turns=2)} | parts
    )


async def test_the_messages_are_langchains_and_each_draft_is_an_attempt() -> None:
    state = await conversation(talk()).ainvoke(SCENARIO)
    assert [type(message) for message in state["messages"]] == [HumanMessage, AIMessage] * 2
    assert [attempt["message"] for attempt in state["attempts"]] == [message.id for message in state["messages"]]
    assert (state["stop"], state["turn"], state["drafts"]) == ("max_turns", 2, None)


async def test_messages_may_be_given_and_the_assistant_answers_the_last_of_the_users() -> None:
    given = {**SCENARIO, "messages": [("user", "Hi?"), ("assistant", "Hello."), {"role": "user", "content": "And?"}]}
    state = await conversation(talk()).ainvoke(given)
    assert [message.text for message in state["messages"]] == ["Hi?", "Hello.", "And?", "Answer to And?"]
    (first, *_, last) = record(state).messages
    assert (first.attempts, last.attempts[0].verdict) == ((), "accepted")


async def test_an_image_of_a_given_message_is_kept() -> None:
    image = {"type": "image", "base64": "aGk=", "mime_type": "image/png"}
    given = [HumanMessage([{"type": "text", "text": "What is it?"}, image])]
    state = await conversation(graphs.simquac.cast()).ainvoke(
        {"scenario": graphs.simquac.scenario(simquac.samples()[0])["scenario"], "messages": given},
        context=Limits(max_turns=1),
    )
    first = record(state).messages[0]
    assert (first.text, [part.type for part in first.parts]) == ("What is it?", ["image"])
    assert state["messages"][0].content[1]["type"] == "image"


def test_what_is_no_graph_has_no_cast() -> None:
    others: list[Any] = [object(), conversation(agent_test.cast()).with_retry()]
    for one in others:
        with pytest.raises(ContractError, match="has no cast"):
            cast_of(one)


async def test_a_thread_begins_anew_with_another_scenario_and_refuses_the_same_one_once_it_is_over() -> None:
    graph, config = conversation(talk(), checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    one = await graph.ainvoke(SCENARIO, config)
    with pytest.raises(ContractError, match="is over"):
        await graph.ainvoke(SCENARIO, config)
    other = await graph.ainvoke({"scenario": {"kind": "talk", "topic": "ferries"}}, config)
    assert len(other["messages"]) == len(other["attempts"]) == len(one["messages"])
    assert record(other).id != record(one).id


async def test_a_planned_conversation_begins_anew_on_a_used_thread_too() -> None:
    graph, config = conversation(talk(), checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    records = []
    for state in planned(talk(), [SCENARIO, SCENARIO | {"repeat": 1}]):
        records.append(record(await graph.ainvoke(begun(state), config), "talk"))
    one, other = records
    assert [message.text for message in other.messages] == [message.text for message in one.messages]
    assert (one.repeat, other.repeat, other.id == one.id) == (0, 1, False)
    assert [one.provenance and one.provenance.begun, other.provenance and other.provenance.begun] == ["", ""]


async def test_a_breakpoint_goes_on_with_the_limits_that_the_conversation_began_with() -> None:
    graph = conversation(talk(), checkpointer=InMemorySaver(), interrupt_before=["assistant"])
    config = {"configurable": {"thread_id": "1"}}
    await graph.ainvoke(SCENARIO, config, context=Limits(max_turns=1))
    state = await graph.ainvoke(None, config)
    assert (state["turn"], state["stop"]) == (1, "max_turns")


async def test_a_person_is_the_user_by_an_interrupt() -> None:
    async def person(state: Any, runtime: Any) -> Any:
        return {"drafts": [{"text": interrupt("What do you say?")}]}

    graph, config = (
        conversation(talk(user_simulator=person), checkpointer=InMemorySaver()),
        {"configurable": {"thread_id": "1"}},
    )
    stopped = await graph.ainvoke(SCENARIO, config, context=Limits(max_turns=1))
    assert [one.value for one in stopped["__interrupt__"]] == ["What do you say?"]
    state = await graph.ainvoke(Command(resume="Where?"), config)
    assert [message.text for message in state["messages"]] == ["Where?", "Answer to Where?"]


async def test_a_command_may_end_the_conversation_and_go_nowhere_else() -> None:
    def going(to: str) -> Any:
        async def recorder(state: Any, runtime: Any) -> Any:
            return Command(update={"labels": {"seen": True}}, goto=to)

        return conversation(talk(turn_recorder=recorder))

    state = await going(END).ainvoke(SCENARIO)
    assert (state["turn"], state["stop"], state["labels"]) == (1, "user_ended", {"seen": True})
    with pytest.raises(ContractError, match="may only go to END"):
        await going("assistant").ainvoke(SCENARIO)


async def test_what_a_node_raises_reaches_the_caller_and_what_it_had_done_is_told() -> None:
    async def broken(state: Any, runtime: Any) -> Any:
        raise ZeroDivisionError("mine")

    async def failed(state: Any, runtime: Any) -> Any:
        return {"drafts": [{"text": "Half of"}], "failed": "the shop is away"}

    with pytest.raises(ZeroDivisionError, match="mine"):
        await conversation(talk(assistant=broken)).ainvoke(SCENARIO)
    with pytest.raises(NodeError, match="assistant: the shop is away") as raised:
        await conversation(talk(assistant=failed)).ainvoke(SCENARIO)
    assert [(one["text"], one["verdict"]) for one in raised.value.update["attempts"]] == [("Half of", "unjudged")]


async def test_a_world_lives_as_long_as_its_block_and_a_rejected_draft_is_undone() -> None:
    class Shop:
        sold = 0

        def snapshot(self) -> int:
            return self.sold

        def restore(self, snapshot: int) -> None:
            self.sold = snapshot

    async def seller(state: Any, runtime: Any) -> Any:
        runtime.context.world.sold += 1
        return {"drafts": [{"text": f"Sold {runtime.context.world.sold}."}]}

    first_is_rude = nodes.validator(lambda draft, state: None if nodes.rejected(state) else "rude")
    cast = talk(assistant=seller, answer_validator=first_is_rude, world=lambda scenario: Shop())
    with pytest.raises(ContractError, match="the cast has a world"):
        await conversation(cast).ainvoke(SCENARIO)
    async with world(cast, SCENARIO) as context:
        state = await conversation(cast).ainvoke(SCENARIO, context=context)
        assert (context.world.sold, len(state["attempts"])) == (2, 6)
