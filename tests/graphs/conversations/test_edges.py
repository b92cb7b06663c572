"""The record holds the graph that ran: every edge, and how often it was taken."""

from collections import Counter

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from duologue import graphs
from duologue.data import Message
from duologue.graphs import conversation, record, simquac
from duologue.graphs.conversations.conversation_graph import after_answer, after_question, after_turn, edges
from duologue.nodes import Limits


def taken(conversation):
    return {(edge.source, edge.target): edge.count for edge in conversation.edges if edge.count}


def flows(conversation):
    """What leaves each node minus what arrives there: 1 at the start, -1 at the end, 0 between."""
    flow = Counter()
    for edge in conversation.edges:
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
    conversation_record = record(await conversation(cast).ainvoke(simquac.scenario(topic), context=Limits(max_turns=2)))
    counted = {(edge.source, edge.target, edge.label): edge.count for edge in conversation_record.edges}
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
    runs = {name: node.runs for name, node in conversation_record.timing.nodes.items()}
    arrived = Counter()
    for edge in conversation_record.edges:
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
    conversation_record = record(
        await conversation(casting(user, assistant)).ainvoke(simquac.scenario(topic), context=Limits(**limits))
    )
    assert flows(conversation_record) == {"__start__": 1, "__end__": -1}


async def test_a_conversation_that_begins_with_messages_is_counted_from_its_first_step(casting, topic):
    messages = [Message(role="user", text="Who lived there?")]
    graph = conversation(casting(["When?"]))
    conversation_record = record(
        await graph.ainvoke(simquac.scenario(topic, messages=messages), context=Limits(max_turns=1))
    )
    assert taken(conversation_record)["user_prompt_selector", "user_simulator"] == 1
    assert flows(conversation_record) == {"__start__": 1, "__end__": -1}


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
    conversation_record = record(await graph.ainvoke(middle, context=Limits(max_turns=1)))
    assert taken(conversation_record)["__start__", "user_prompt_selector"] == 2
    assert {(edge.source, edge.target) for edge in conversation_record.edges} == {
        (edge.source, edge.target) for edge in edges()
    }


async def test_a_state_before_the_first_step_and_a_state_of_another_graph(topic):
    assert record(simquac.scenario(topic)).edges == ()
    conversation = record({**simquac.scenario(topic), "taken": {"__start__>user_prompt_selector": 1, "mine>yours": 2}})
    assert (
        conversation.edges[0].count,
        conversation.edges[-1].source,
        conversation.edges[-1].target,
        conversation.edges[-1].count,
    ) == (
        1,
        "mine",
        "yours",
        2,
    )


async def test_the_graph_itself_makes_records_of_its_states(topic):
    state = await simquac.graph.ainvoke(simquac.scenario(topic), context=Limits(max_turns=1))
    assert simquac.graph.record(state) == graphs.record(state)


async def ways_of(cast, topic, **limits):
    """What the steps with several ways on wrote, in order."""
    stream = conversation(cast).astream(simquac.scenario(topic), context=Limits(**limits), stream_mode="updates")
    updates = [update async for step in stream for update in step.items()]
    return [(place, update["way"]) for place, update in updates if update.get("way")]


async def test_each_step_with_several_ways_writes_the_one_that_it_takes(casting, topic):
    ways = await ways_of(casting(["", "Who?", "When?"], ["Nobody", "Three keepers"]), topic, max_turns=2)
    assert ways == [
        ("question_validator", "regenerate"),
        ("question_validator", "accepted"),
        ("answer_validator", "regenerate"),
        ("answer_validator", "accepted"),
        ("turn_recorder", "continue"),
        ("question_validator", "accepted"),
        ("answer_validator", "regenerate"),
        ("answer_validator", "accepted"),
        ("turn_recorder", "stop"),
    ]


@pytest.mark.parametrize(
    ("user", "assistant", "way"),
    [
        ([""], None, [("question_validator", "regenerate"), ("question_validator", "stop")]),
        ([{"drafts": [], "stop": "user_gave_up"}], None, [("question_validator", "stop")]),
        (["Who?"], [RuntimeError("down")], [("question_validator", "accepted"), ("answer_validator", "stop")]),
    ],
    ids=["attempts spent", "given up", "failed"],
)
async def test_a_conversation_that_ends_in_the_middle_of_a_turn_is_stopped_by_its_validator(
    casting, topic, user, assistant, way
):
    assert await ways_of(casting(user, assistant), topic, question_attempts=2) == way


REJECTED = [{"accepted": False, "reason": "empty"}]


@pytest.mark.parametrize(
    ("state", "question", "turn"),
    [
        ({"way": "accepted"}, "accepted", "continue"),
        ({"way": "regenerate", "verdicts": REJECTED}, "regenerate", "continue"),
        ({"way": "stop", "stop": "user_ended"}, "stop", "stop"),
        ({"way": "continue"}, "accepted", "continue"),
        ({"way": "accepted", "stop": "user_ended"}, "stop", "stop"),
    ],
)
def test_the_router_reads_the_way_and_a_stop_holds_at_once(state, question, turn):
    assert (after_question(state), after_answer(state), after_turn(state)) == (question, question, turn)
