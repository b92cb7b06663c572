"""The record holds the graph that ran: every edge, and how often it was taken."""

from collections import Counter

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from duologue import graphs
from duologue.data import Message
from duologue.graphs import conversation, record, simquac
from duologue.graphs.topology import edges
from duologue.nodes import Limits


def taken(made):
    return {(edge.source, edge.target): edge.count for edge in made.edges if edge.count}


def flows(made):
    """What leaves each node minus what arrives there: 1 at the start, -1 at the end, 0 between."""
    flow = Counter()
    for edge in made.edges:
        flow[edge.source] += edge.count
        flow[edge.target] -= edge.count
    return {node: count for node, count in flow.items() if count}


def test_the_list_of_edges_is_that_of_the_compiled_graph():
    drawn = {(edge.source, edge.target, edge.data or "") for edge in simquac.graph.get_graph().edges}
    listed = [(edge.source, edge.target, edge.label) for edge in edges()]
    assert set(listed) == drawn
    assert len(listed) == len(drawn) == 14
    assert listed[:2] == [("__start__", "user_prompt_selector", ""), ("user_prompt_selector", "user_simulator", "")]


async def test_every_step_of_a_conversation_is_counted_and_ways_not_taken_are_listed(casting, topic):
    cast = casting(["", "Who?", "When?"], ["Nobody", "Three keepers"])
    made = record(await conversation(cast).ainvoke(simquac.scenario(topic), context=Limits(max_turns=2)))
    counted = {(edge.source, edge.target, edge.label): edge.count for edge in made.edges}
    assert counted == {
        ("__start__", "user_prompt_selector", ""): 1,
        ("user_prompt_selector", "user_simulator", ""): 3,
        ("user_simulator", "question_validator", ""): 3,
        ("question_validator", "assistant_prompt_selector", "accepted"): 2,
        ("question_validator", "user_prompt_selector", "regenerate"): 1,
        ("question_validator", "closing", "stop"): 0,
        ("assistant_prompt_selector", "assistant", ""): 4,
        ("assistant", "answer_validator", ""): 4,
        ("answer_validator", "turn_recorder", "accepted"): 2,
        ("answer_validator", "assistant_prompt_selector", "regenerate"): 2,
        ("answer_validator", "closing", "stop"): 0,
        ("turn_recorder", "user_prompt_selector", "continue"): 1,
        ("turn_recorder", "closing", "stop"): 1,
        ("closing", "__end__", ""): 1,
    }
    runs = {name: node.runs for name, node in made.timing.nodes.items()}
    arrived = Counter()
    for edge in made.edges:
        arrived[edge.target] += edge.count
    assert {name: arrived[name] for name in runs} == runs


@pytest.mark.parametrize(
    ("user", "assistant", "limits"),
    [
        ([""], None, {"question_attempts": 3}),
        (["Who?"], [RuntimeError("down")], {}),
        (["Who?"], ["Nobody"], {"max_turns": 2}),
        ([{"drafts": [], "stop": "user_gave_up"}], None, {}),
    ],
    ids=["rejected", "failed", "fallback", "given up"],
)
async def test_whatever_ends_a_conversation_its_way_leads_from_start_to_end(casting, topic, user, assistant, limits):
    made = record(
        await conversation(casting(user, assistant)).ainvoke(simquac.scenario(topic), context=Limits(**limits))
    )
    assert flows(made) == {"__start__": 1, "__end__": -1}


async def test_a_conversation_that_begins_with_messages_is_counted_from_its_first_step(casting, topic):
    said = [Message(role="user", text="Who lived there?")]
    graph = conversation(casting(["When?"]))
    made = record(await graph.ainvoke(simquac.scenario(topic, messages=said), context=Limits(max_turns=1)))
    assert taken(made)["user_prompt_selector", "user_simulator"] == 1
    assert flows(made) == {"__start__": 1, "__end__": -1}


async def test_a_checkpointed_conversation_goes_on_counting(casting, topic):
    cast = casting(["Who?", "When?", "Why?"])
    whole = record(await conversation(cast).ainvoke(simquac.scenario(topic), context=Limits(max_turns=3)))
    graph = conversation(cast, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "one"}}
    await graph.ainvoke(
        simquac.scenario(topic), config, context=Limits(max_turns=3), interrupt_before=["answer_validator"]
    )
    state = None
    while (await graph.aget_state(config)).next:
        state = await graph.ainvoke(None, config, context=Limits(max_turns=3), interrupt_before=["answer_validator"])
    assert record(state).edges == whole.edges


async def test_a_finished_conversation_that_is_taken_up_again_enters_anew(casting, topic):
    graph = conversation(casting(["Who?", "When?"]))
    state = await graph.ainvoke(simquac.scenario(topic), context=Limits(max_turns=1))
    again = record(await graph.ainvoke({**state, "stop": None}, context=Limits(max_turns=2)))
    assert flows(again) == {"__start__": 2, "__end__": -2}
    assert taken(again)["user_prompt_selector", "user_simulator"] == 2


async def test_a_state_that_a_kill_left_in_the_middle_enters_anew_too(casting, topic):
    graph = conversation(casting(["Who?", "When?"]))
    states = [
        state
        async for state in graph.astream(simquac.scenario(topic), context=Limits(max_turns=1), stream_mode="values")
    ]
    middle = next(state for state in states if state.get("came_from") == "user_simulator")
    made = record(await graph.ainvoke(middle, context=Limits(max_turns=1)))
    assert taken(made)["__start__", "user_prompt_selector"] == 2
    assert {(edge.source, edge.target) for edge in made.edges} == {(edge.source, edge.target) for edge in edges()}


async def test_a_state_before_the_first_step_and_a_state_of_another_graph(topic):
    assert record(simquac.scenario(topic)).edges == ()
    made = record({**simquac.scenario(topic), "taken": {"__start__>user_prompt_selector": 1, "mine>yours": 2}})
    assert (made.edges[0].count, made.edges[-1].source, made.edges[-1].target, made.edges[-1].count) == (
        1,
        "mine",
        "yours",
        2,
    )


async def test_the_graph_itself_makes_records_of_its_states(topic):
    state = await simquac.graph.ainvoke(simquac.scenario(topic), context=Limits(max_turns=1))
    assert simquac.graph.record(state) == graphs.record(state)
