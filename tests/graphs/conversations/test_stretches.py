"""The graph of a run has several places in one step, and the states and records of the drawn graph."""

from contextvars import ContextVar

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook
from langgraph.config import get_config
from langgraph.runtime import get_runtime

from duologue.data.recllmsim import Situation
from duologue.data.simquac import Topic
from duologue.graphs import conversation, recllmsim, simquac
from duologue.graphs.conversations.conversation_graph import topology
from duologue.graphs.conversations.run_graph import stretches
from duologue.nodes import Limits
from duologue.runs.engine.conversing import converse, planned

TOPIC = Topic(title="t", header="h", section="Three keepers lived there. The last one left in 1968.")
ABOUT = Situation(task="gift preparation", task_context="You want a present.", preference="1. Gender: Female")
LIMITS = Limits(max_turns=4, seed=3)
CLUMSY = "offline?misbehave=0.6"
CASTS = {
    "simquac": (simquac.cast(CLUMSY, CLUMSY), simquac.scenario(TOPIC)),
    "recllmsim": (recllmsim.cast(CLUMSY, CLUMSY, post_questions=True), recllmsim.scenario(ABOUT)),
}
TRACING = ContextVar("tracing", default=None)
register_configure_hook(TRACING, inheritable=True)


async def in_a_run(cast, scenario, limits=LIMITS, follow=None):
    conversations, states = [], []
    await converse(conversation(cast), scenario, limits, conversations.append, follow or states.append)
    return conversations[0].without_timing(), states


async def as_drawn(cast, scenario):
    graph = conversation(cast)
    stream = graph.astream(scenario, {"recursion_limit": 1000}, context=LIMITS, stream_mode="values")
    states = [state async for state in stream]
    return graph.record(states[-1]).without_timing(), states


def without_clock(states):
    return [{key: value for key, value in state.items() if key != "timing"} for state in states]


def test_a_side_is_one_stretch_and_the_recorder_stands_behind_the_assistants():
    async def nobody(state, runtime):
        return state

    assert stretches(topology(lambda place: nobody)) == [
        ("user_prompt_selector", "user_simulator", "question_validator"),
        ("assistant_prompt_selector", "assistant", "answer_validator", "turn_recorder"),
        ("closing",),
    ]


@pytest.mark.parametrize("name", CASTS)
async def test_states_and_record_of_a_run_are_those_of_the_graph_as_it_is_drawn(name):
    cast, scenario = CASTS[name]
    asked_again = 0
    for planned_one in planned(cast, [scenario] * 4):
        record, states = await in_a_run(cast, planned_one)
        drawn_record, drawn_states = await as_drawn(cast, planned_one)
        assert record == drawn_record
        assert without_clock(states) == without_clock(drawn_states)
        asked_again += sum(attempt.verdict == "rejected" for attempt in record.attempts())
    assert asked_again


async def test_the_context_of_a_run_is_that_of_its_nodes():
    contexts = []

    async def noted(state, runtime):
        contexts.append(get_runtime(Limits).context)
        return {}

    cast, scenario = simquac.cast().replace(turn_recorder=noted), simquac.scenario(TOPIC)
    await in_a_run(cast, scenario, Limits(max_turns=1, seed=3))
    assert [(type(context), context.seed) for context in contexts] == [(Limits, 3)]


async def test_a_run_takes_two_steps_of_langgraph_for_an_exchange():
    steps = []

    async def noted(state, runtime):
        steps.append(get_config()["metadata"]["langgraph_step"])
        return {}

    cast, scenario = simquac.cast().replace(turn_recorder=noted), simquac.scenario(TOPIC)
    await in_a_run(cast, scenario)
    assert steps == [2, 4, 6, 8]


class Shown(BaseCallbackHandler):
    def __init__(self):
        self.names = set()

    def on_chain_start(self, serialized, inputs, **more):
        self.names.add(more["name"])


async def test_a_run_that_is_traced_shows_each_place():
    shown = Shown()
    TRACING.set(shown)  # of this test's own task
    record, _ = await in_a_run(*CASTS["simquac"])
    assert {edge.target for edge in record.edges if edge.count} - {"__end__"} <= shown.names


async def test_what_a_listener_of_states_raises_ends_the_conversation_with_the_state_that_it_was_told():
    def refuses(state):
        if state.get("came_from") == "user_simulator":
            raise RuntimeError("no more")

    record, _ = await in_a_run(simquac.cast(), simquac.scenario(TOPIC), follow=refuses)
    assert record.stop == "model_failed"
    assert record.failure.error.startswith("RuntimeError: no more")
    assert [turn.attempts[0].verdict for turn in record.unsaid] == ["unjudged"]
