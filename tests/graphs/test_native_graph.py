"""What LangGraph's users expect of any graph: ways, input, threads, breakpoints, interrupts, commands, exceptions, context."""

import json
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt

import duologue
from duologue import graphs, nodes, views
from duologue.data import Conversation, Message, simquac
from duologue.data.executed_graph import executed
from duologue.data.records import bare
from duologue.graphs import agent_test, conversation, record
from duologue.graphs.records import NodeFailedError
from duologue.nodes import Limits
from duologue.nodes.contract import ContractError
from duologue.nodes.state import PLACES
from tests.graphs.played import SCENARIO, begun, fuse, planned, played, talk

ONE, CONFIG = Limits(max_turns=1), {"configurable": {"thread_id": "1"}}
WAYS = {
    ("__start__", None): "opening",
    ("opening", "user"): "user_prompt_selector",
    ("opening", "assistant"): "assistant_prompt_selector",
    ("opening", "stop"): "closing",
    ("user_prompt_selector", None): "user_simulator",
    ("user_simulator", None): "question_validator",
    ("question_validator", "accepted"): "assistant_prompt_selector",
    ("question_validator", "regenerate"): "user_prompt_selector",
    ("question_validator", "stop"): "closing",
    ("assistant_prompt_selector", None): "assistant",
    ("assistant", None): "answer_validator",
    ("answer_validator", "accepted"): "turn_recorder",
    ("answer_validator", "regenerate"): "assistant_prompt_selector",
    ("answer_validator", "stop"): "closing",
    ("turn_recorder", "continue"): "user_prompt_selector",
    ("turn_recorder", "stop"): "closing",
    ("closing", None): "__end__",
}


def kept(**parts: Any) -> Any:
    """The compiled graph of a cast of these parts, which keeps its threads."""
    return conversation(talk(**parts), checkpointer=InMemorySaver())


def texts(state: Any) -> list[str]:
    return [message.text for message in record(state).messages]


def test_the_drawing_shows_both_regeneration_loops_and_the_stops_and_a_notebook_draws_it_without_a_network():
    drawn = graphs.simquac.graph.get_graph()
    assert {(edge.source, edge.data): edge.target for edge in drawn.edges} == WAYS
    shell = InteractiveShell()
    views.load_ipython_extension(shell)
    for graph in (graphs.simquac.graph, graphs.simquac.graph.with_config(tags=["x"])):
        shown, _ = shell.display_formatter.format(graph)
        assert (shown["text/plain"], "image/png" in shown) == (drawn.draw_mermaid(), False)


def test_langgraphs_server_finds_the_graphs():
    path = Path(graphs.__file__).parent.parent / "langgraph.json"
    for target in json.loads(path.read_text())["graphs"].values():
        module, name = target.split(":")
        assert isinstance(getattr(import_module(module), name), CompiledStateGraph)


# Records


def odd(draft: Any, state: Any) -> str | None:
    return "odd" if len(draft["text"]) % 2 else None


TOPICS = graphs.simquac.scenarios(simquac.samples()[:3])
CAST = graphs.simquac.cast()
CASES = {
    "as it is": (CAST, TOPICS),
    "rejected": (CAST.replace(question_validator=nodes.validator(odd), answer_validator=nodes.validator(odd)), TOPICS),
    "never sent": (CAST.replace(answer_validator=nodes.validator(odd, must=True)), TOPICS),
    "fallback": (CAST.replace(answer_validator=nodes.validator(odd), fallback="I am not sure.", greeting="Hi."), TOPICS),
    "agent": (agent_test.cast(assistant=lambda sent: f"A17: {len(sent)}"), agent_test.scenarios([
        {"goal": "Return the lamp, order A17", "success": {"text_contains": "A17"}},
        {"goal": "A table for two", "first_message": "Hello, a table, please?"},
    ])),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_a_run_records_what_the_graph_has_when_it_is_called_directly(name: str):
    def plain(one: Any) -> dict[str, Any]:
        return one.without_timing().model_dump(mode="json")

    cast, scenarios = CASES[name]
    for limits in (Limits(max_turns=3, seed=3), Limits(max_turns=2, seed=5, question_attempts=2, answer_attempts=1)):
        for state in planned(cast, scenarios):
            ran: Counter[str] = Counter()
            steps: Any = {"recursion_limit": fuse(limits)}
            stream: Any = conversation(cast).astream(
                begun(state), steps, context=limits, stream_mode=["updates", "values"]
            )
            async for mode, last in stream:
                ran.update(last.keys() if mode == "updates" else ())
            direct, of_a_run = record(last, cast.name), await played(cast, state, limits)
            assert plain(direct) == plain(of_a_run)
            assert ran == {node.name: node.runs for node in executed([direct]).nodes if not node.name.startswith("__")}
            assert (direct.id, direct.scenario) == (state["id"], state["scenario"])
            assert direct.stop is not None
            assert Conversation.model_validate(json.loads(json.dumps(direct.plain()))) == direct


# Input


async def test_messages_are_langchains_with_ids_of_the_conversations_own():
    state = await conversation(talk()).ainvoke(SCENARIO)
    assert [type(message) for message in state["messages"]] == [HumanMessage, AIMessage] * 2
    assert [message.id for message in state["messages"]] == [f"{record(state).id}:{number}" for number in range(4)]
    assert (state["stop"], state["turn"], state["drafts"]) == ("max_turns", 2, None)


async def test_a_conversation_begins_with_given_messages_in_each_of_langchains_forms():
    for given in (
        [("user", "Hi?"), ("assistant", "Hello."), ("user", "And?")],
        [{"role": "user", "content": "Hi?"}, {"role": "assistant", "content": "Hello."}, HumanMessage("And?")],
        [HumanMessage("Hi?", id="mine"), AIMessage("Hello.", id="mine too"), ("user", "And?")],
    ):
        state = await conversation(talk()).ainvoke({**SCENARIO, "messages": given})
        assert texts(state) == ["Hi?", "Hello.", "And?", "Answer to And?"]  # the last waits for an answer
        assert {message.id.partition(":")[0] for message in state["messages"]} == {record(state).id}
        messages = record(state).messages
        assert (messages[0].attempts, messages[-1].attempts[0].verdict) == ((), "accepted")
    image = {"type": "image", "base64": "aGk=", "mime_type": "image/png"}
    seen = await conversation(talk()).ainvoke(
        {**SCENARIO, "messages": [HumanMessage([{"type": "text", "text": "What is it?"}, image])]}, context=ONE
    )
    assert (record(seen).messages[0].text, record(seen).messages[0].parts[0].type) == ("What is it?", "image")


async def test_a_stored_conversation_goes_on_where_it_was(casting, topic):
    first = await played(CAST, graphs.simquac.scenario(topic), Limits(max_turns=2))
    cast = casting(["And then?"])
    more = await played(cast, graphs.simquac.scenario(topic, messages=first.messages), Limits(max_turns=3))
    assert more.messages[:4] == first.messages
    assert [message.text for message in more.messages[4:]] == ["And then?", "Three keepers"]
    answered = await played(cast, graphs.simquac.scenario(topic, messages=first.messages[:3]), Limits(max_turns=2))
    assert (answered.messages[:3], len(answered.messages)) == (first.messages[:3], 4)
    bye = Message(role="user", text="Thank you, goodbye.", stored=False)  # is no question that waits
    again = await played(cast, graphs.simquac.scenario(topic, messages=[bye]), ONE)
    assert [message.text for message in again.messages] == ["Thank you, goodbye.", "And then?", "Three keepers"]


# Threads


async def test_a_thread_begins_anew_with_another_scenario_and_refuses_any_other_input_once_it_is_over():
    remembered = []

    def user(state: Any) -> Any:
        remembered.append(nodes.state.memory_of(state, "user"))
        return {"drafts": [{"text": "Where?"}], "memory": {"turn": state["turn"]}}

    graph = kept(user_simulator=user, turn_recorder=lambda state: {"labels": {state["scenario"]["topic"]: True}})
    one = await graph.ainvoke(SCENARIO, CONFIG)
    for given in (SCENARIO, {}):
        with pytest.raises(ContractError, match="is over"):
            await graph.ainvoke(given, CONFIG)
    (repeat,) = planned(talk(), [SCENARIO | {"repeat": 1}])
    for given, topic in (
        ({"scenario": {"kind": "talk", "topic": "ferries"}}, "ferries"),
        (begun(repeat), "lighthouses"),
    ):
        first, second = (record(state).without_timing() for state in (one, await graph.ainvoke(given, CONFIG)))
        assert (second.messages, bare(second.labels), second.provenance.begun) == (first.messages, {topic: True}, "")
    assert second.id != first.id
    assert remembered == [{}, {"turn": 0}] * 3


async def test_a_breakpoint_goes_on_with_the_limits_and_the_memory_that_the_conversation_has():
    remembered = []

    def user(state: Any) -> Any:
        remembered.append(nodes.state.memory_of(state, "user"))
        return {"drafts": [{"text": "Where?"}], "memory": {"n": len(remembered)}}

    graph = conversation(talk(user_simulator=user), checkpointer=InMemorySaver(), interrupt_before=["turn_recorder"])
    await graph.ainvoke(SCENARIO, CONFIG, context=ONE)
    state = await graph.ainvoke(None, CONFIG)
    assert (state["turn"], state["stop"]) == (1, "max_turns")
    remembered.clear()
    other: Any = {"configurable": {"thread_id": "2"}}
    await graph.ainvoke(SCENARIO, other)
    await graph.ainvoke(None, other)
    assert remembered == [{}, {"n": 1}]


async def test_a_checkpoint_is_a_record_and_goes_on_under_other_limits_and_says_which(topic):
    graph = conversation(CAST, checkpointer=InMemorySaver())
    await graph.ainvoke(graphs.simquac.scenario(topic), CONFIG, context=Limits(max_turns=2, seed=1))
    history = [snapshot async for snapshot in graph.aget_state_history(CONFIG)]
    assert len([record(one.values) for one in history if "scenario" in one.values]) > 14
    middle = next(one for one in history if one.next == ("user_prompt_selector",) and one.values.get("turn") == 1)
    forked = record(await graph.ainvoke(None, middle.config, context=Limits(max_turns=3, seed=2)))
    assert (forked.provenance.limits["seed"], len(forked.exchanges)) == (2, 3)


async def test_a_person_is_the_user_by_an_interrupt_and_any_node_may_ask_one():
    async def person(state: Any, runtime: Any) -> Any:
        return {"drafts": [{"text": interrupt("What do you say?")}]}

    def asks(state: Any) -> Any:
        return {"verdicts": [{"accepted": interrupt("Is it fit?") == "yes"}]}

    graph = kept(user_simulator=person, answer_validator=asks)
    asked, given = [await graph.ainvoke(SCENARIO, CONFIG, context=ONE)], ["Where?", "no", "yes"]
    for answer in given:
        asked.append(await graph.ainvoke(Command(resume=answer), CONFIG))
    *stopped, state = asked
    waiting = [one.value for each in stopped for one in each["__interrupt__"]]
    assert waiting == ["What do you say?", "Is it fit?", "Is it fit?"]
    assert (texts(state), state["stop"]) == (["Where?", "Answer to Where?"], "max_turns")
    assert len(record(state).messages[1].attempts) == 2


# Commands, exceptions, context


@pytest.mark.parametrize("place", PLACES)
async def test_a_command_to_the_end_ends_the_conversation_at_every_place_and_leads_nowhere_else(place: Any):
    fine = {"verdicts": [{"accepted": True}]} if place.endswith("validator") else {}
    ended = await played(talk(**{place: lambda state: Command(update=fine, goto=END)}), SCENARIO)
    assert ended.stop == ("max_turns" if place == "closing" else "user_ended")
    before = 0 if place.startswith("user") else 1
    assert len(ended.messages) == {"closing": 4, "turn_recorder": 2, "answer_validator": 2}.get(place, before)
    with pytest.raises(ContractError, match=f"{place}: goto='assistant'.*after="):
        await conversation(talk(**{place: lambda state: Command(update=fine, goto="assistant")})).ainvoke(SCENARIO)


async def test_what_a_node_raises_reaches_the_caller_and_what_it_had_done_is_told():
    async def broken(state: Any, runtime: Any) -> Any:
        raise ZeroDivisionError("mine")

    async def failed(state: Any, runtime: Any) -> Any:
        return {"drafts": [{"text": "Half of"}], "failed": "the shop is away"}

    with pytest.raises(ZeroDivisionError, match="mine"):
        await conversation(talk(assistant=broken)).ainvoke(SCENARIO)
    with pytest.raises(NodeFailedError, match="assistant: the shop is away"):
        await conversation(talk(assistant=failed)).ainvoke(SCENARIO)
    (unsaid,) = (await played(talk(assistant=failed), SCENARIO)).unsaid
    assert [(one.text, one.verdict) for one in unsaid.attempts] == [("Half of", "unjudged")]


@pytest.mark.parametrize("given", [None, Limits(), ONE])
async def test_every_node_finds_complete_limits_in_the_context_whether_the_caller_gave_them_or_not(given: Any):
    seen = []

    def seeing(state: Any, runtime: Any) -> Any:
        seen.append(runtime.context)
        return {"drafts": [{"text": "Well."}]} if len(seen) == 1 else {}

    cast = talk(user_simulator=seeing, turn_recorder=seeing, closing=seeing)
    graph = conversation(
        cast, after={"turn_recorder": {"moderator": lambda state, runtime: seeing(state, runtime) and None}}
    )
    state = await graph.ainvoke(SCENARIO, context=given)
    assert set(seen) == {Limits(max_turns=state["turn"])}
    assert state["turn"] == (1 if given is ONE else 2)


async def test_a_run_finds_the_cast_of_a_compiled_graph_however_it_was_configured():
    graph = graphs.builder(talk()).compile(checkpointer=InMemorySaver()).with_config(tags=["x"])
    (one,) = await duologue.asimulate(graph, [SCENARIO], limits=ONE)
    assert (one.provenance.cast, len(one.messages)) == ("talk", 2)
    for other in (object(), graph.with_retry()):
        with pytest.raises(ContractError, match="has no cast"):
            await duologue.asimulate(other, [SCENARIO])


async def test_a_world_lives_as_long_as_its_block_and_a_rejected_draft_is_undone():
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
    async with graphs.world(cast, SCENARIO) as context:
        state = await conversation(cast).ainvoke(SCENARIO, context=context)
        assert (context.world.sold, sum(1 for _ in record(state).attempts())) == (2, 6)


async def test_what_a_node_writes_into_its_state_has_not_happened():
    def forging(answer: Any) -> Any:
        async def node(state: Any, runtime: Any) -> Any:
            for value in state.values():
                if isinstance(value, list):
                    value.clear()
            state["messages"].append(HumanMessage("forged"))
            state["scenario"]["seen"] = state["labels"] = {"forged": True}
            return answer

        return node

    judged = {"verdicts": [{"accepted": True}]}
    cast = talk(
        assistant=forging({"drafts": [{"text": "Well."}]}), answer_validator=forging(judged), closing=forging({})
    )
    before = json.dumps(SCENARIO)
    one = record(await conversation(cast).ainvoke(SCENARIO))
    assert [message.text for message in one.messages] == ["Question 0?", "Well.", "Question 1?", "Well."]
    assert ("forged" in json.dumps(one.plain()), json.dumps(SCENARIO)) == (False, before)


async def test_a_new_scenario_on_a_used_thread_has_the_casts_limits_again() -> None:
    graph, thread = conversation(talk(), checkpointer=InMemorySaver()), {"configurable": {"thread_id": "used"}}
    short = await graph.ainvoke(dict(SCENARIO), thread, context=Limits(max_turns=1))
    other = {"scenario": {**SCENARIO["scenario"], "title": "another"}}
    assert (short["turn"], (await graph.ainvoke(other, thread))["turn"]) == (1, talk().limits.max_turns)


# What a graph's user may also do


def asking(state):
    return {"messages": [AIMessage(f"It was {interrupt('Shall I?')}.")]}


async def test_a_subgraph_that_interrupts_passes_it_on_and_goes_on_with_the_answer():
    sub = StateGraph(MessagesState).add_node("ask", asking).add_edge(START, "ask").compile()
    graph = conversation(talk(), after={"turn_recorder": {"moderator": sub}}, checkpointer=InMemorySaver())
    asked = await graph.ainvoke(SCENARIO, CONFIG)
    assert [one.value for one in asked["__interrupt__"]] == ["Shall I?"]
    state = await graph.ainvoke(Command(resume="yes"), CONFIG)
    assert record(state).messages[2].text == "It was yes."


async def test_a_command_for_the_parent_of_a_subgraph_is_held_to_the_same_rules():
    def node(update, goto):
        answer = Command(graph=Command.PARENT, update=update, goto=goto)
        return StateGraph(MessagesState).add_node("end", lambda state: answer).add_edge(START, "end").compile()

    ended = conversation(talk(), after={"turn_recorder": {"m": node({}, "closing")}})
    assert (await ended.ainvoke(SCENARIO))["stop"] == "user_ended"
    for update in ({"stop": "nonsense"}, {"turn": 77}):
        with pytest.raises(ContractError):
            await conversation(talk(), after={"turn_recorder": {"m": node(update, END)}}).ainvoke(SCENARIO)
    with pytest.raises(ContractError, match="after="):
        await conversation(talk(turn_recorder=node({}, "assistant"))).ainvoke(SCENARIO)


async def test_an_input_that_is_given_again_in_the_middle_of_a_turn_goes_on_there():
    graph = conversation(talk(), checkpointer=InMemorySaver(), interrupt_before=["assistant"])
    for given in (SCENARIO, SCENARIO, None, SCENARIO):
        state = await graph.ainvoke(given, CONFIG)
    assert [message.text for message in state["messages"]][::2] == ["Question 0?", "Question 1?"]


async def test_a_context_of_another_kind_and_a_runtime_by_name():
    async def by_name(state, *, runtime):
        return {"drafts": [{"text": f"At most {runtime.context.max_turns}."}]}

    state = await conversation(talk(assistant=by_name)).ainvoke(SCENARIO, context=ONE)
    assert state["messages"][1].text == "At most 1."
    with pytest.raises(ContractError, match="context: expected Limits"):
        await conversation(talk()).ainvoke(SCENARIO, context=object())
