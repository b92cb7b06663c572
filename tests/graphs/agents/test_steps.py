"""The steps of an agent's turn in the record, and what its models spend in every bound."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from pydantic import BaseModel

from duologue import runs
from duologue.data import record_lines
from duologue.graphs import recllmsim
from duologue.nodes import Limits, scorers, scoring
from duologue.nodes.models.scripted import ScriptedModel
from tests.graphs.agents.talks import ABOUT, call, calls_of, cast_of, chain, run, says, talk


def told(draft: Any) -> list[tuple[Any, ...]]:
    """Each step: where, its words, the names of the calls that it made, and of those whose results it gave."""
    names = [one.name for one in draft.tool_calls]
    return [
        ("/".join([*step.path, step.node]), step.text, [names[n] for n in step.calls], [names[n] for n in step.results])
        for step in draft.steps
    ]


def answering(*lines: Any, tokens: tuple[int, int] = (10, 5)) -> ScriptedModel:
    about = {"model_name": "gpt-4o"}
    said = [AIMessage(line) if isinstance(line, str) else line for line in lines]
    named = [line.model_copy(update={"response_metadata": about}) for line in said]
    return ScriptedModel(lines=[*named], by_call=True, tokens=tokens)


@tool
def look(room: int) -> str:
    """Look a room up."""
    return f"{room} is free"


def researcher() -> Any:
    """A sub-agent that looks two rooms up, whose messages its parent's tool does not show."""
    lines = [AIMessage("", tool_calls=[call("look", n, room=n) for n in (1, 2)]), AIMessage("Both are free.")]
    return create_agent(answering(*lines), [look], name="researcher")


def manager(sub: Any) -> Any:
    """An agent whose tool calls the sub-agent."""

    @tool
    async def research(about: str) -> str:
        """Look it up."""
        return str((await sub.ainvoke({"messages": [HumanMessage(about)]}))["messages"][-1].text)

    lines = [AIMessage("Let me see.", tool_calls=[call("research", about="rooms")]), AIMessage("You can have both.")]
    return create_agent(answering(*lines), [research], name="manager")


async def test_steps_stand_in_order_with_their_path_words_and_calls() -> None:
    conversation = await talk(manager(researcher()), turns=1)
    (draft,) = conversation.attempts("assistant")
    assert draft.text == "Let me see.\n\nYou can have both."
    assert told(draft) == [
        ("model", "Let me see.", ["research"], []),
        ("tools", "", [], ["research"]),
        ("tools/researcher/model", "", ["look", "look"], []),
        ("tools/researcher/tools", "", [], ["look"]),
        ("tools/researcher/tools", "", [], ["look"]),
        ("tools/researcher/model", "Both are free.", [], []),
        ("model", "You can have both.", [], []),
    ]
    assert calls_of(draft) == [
        ("research", {"about": "rooms"}, "Both are free."),
        ("look", {"room": 1}, "1 is free"),
        ("look", {"room": 2}, "2 is free"),
    ]


async def test_a_graph_that_a_function_calls_has_its_steps_calls_and_results() -> None:
    async def agent(messages: list[dict[str, Any]]) -> str:
        return str((await researcher().ainvoke({"messages": messages}))["messages"][-1].text)

    (draft,) = (await talk(agent, turns=1)).attempts("assistant")
    assert draft.text == "Both are free."
    assert [step.node for step in draft.steps][:4] == ["model", "tools", "tools", "model"]
    assert calls_of(draft) == [("look", {"room": 1}, "1 is free"), ("look", {"room": 2}, "2 is free")]
    assert (draft.usage.tokens, draft.usage.calls) == (30, 2)


async def test_what_sub_agents_spend_counts_in_the_draft_and_in_every_bound_on_tokens_and_money() -> None:
    (draft,) = (await talk(manager(researcher()), turns=1)).attempts("assistant")
    assert (draft.usage.input_tokens, draft.usage.output_tokens, draft.usage.calls) == (40, 20, 4)
    assert [step.usage.tokens for step in draft.steps if step.usage] == [15] * 4

    states = [recllmsim.scenario(ABOUT) | {"id": str(number)} for number in range(3)]
    four_calls = (4 * 10 * 2.5 + 4 * 5 * 10) / 1e6  # dollars of gpt-4o
    for bound in ({"max_tokens": 60}, {"max_cost": four_calls}):
        cast = cast_of(manager(researcher()), user=lambda messages: "A room?")
        begun = await runs.asimulate(cast, states, limits=Limits(max_turns=1), concurrency=1, **bound)
        assert sum(one.usage.tokens for one in begun) == 60  # the second one had no call


async def test_a_message_that_several_nodes_pass_on_is_counted_once_for_the_one_that_wrote_it() -> None:
    spent: Any = {"input_tokens": 6, "output_tokens": 2, "total_tokens": 8}
    inner = chain(write=lambda state: {"messages": [AIMessage("Done.", usage_metadata=spent)]}).compile()
    agent = chain(inner=inner, after=lambda state: {"messages": state["messages"][-1:]}).compile()
    (draft,) = (await talk(agent, turns=1)).attempts("assistant")
    assert [place for place, *_ in told(draft)] == ["inner", "inner/write", "after"]
    assert [step.usage and step.usage.tokens for step in draft.steps] == [None, 8, None]
    assert (draft.text, draft.usage.tokens, draft.usage.calls) == ("Done.", 8, 1)


async def test_each_agent_of_a_hand_off_has_its_words_in_its_step() -> None:
    agent = chain(
        alice=lambda state: {
            "messages": [AIMessage("I pass you on.", name="alice", tool_calls=[call("transfer_to_bob")])]
        },
        bob=lambda state: {
            "messages": [ToolMessage("ok", tool_call_id="transfer_to_bob-1"), AIMessage("Bob here.", name="bob")]
        },
    ).compile()
    (draft,) = (await talk(agent, turns=1)).attempts("assistant")
    assert draft.text == "Bob here."
    assert told(draft) == [("alice", "I pass you on.", ["transfer_to_bob"], []), ("bob", "", [], ["transfer_to_bob"])]


async def test_a_step_that_fails_says_so_and_what_was_done_before_stands() -> None:
    def model(state: MessagesState) -> Any:
        return {"messages": [AIMessage("One moment.", tool_calls=[call("look", room=1)])]}

    def fails(state: MessagesState) -> Any:
        raise ConnectionError("503")

    graph = StateGraph(MessagesState).add_node("model", model).add_node("tools", ToolNode([look])).add_node("f", fails)
    graph.add_edge(START, "model").add_edge("model", "tools").add_edge("tools", "f")
    conversation = await talk(graph.compile(checkpointer=InMemorySaver()))
    assert (conversation.stop, conversation.failure.node) == ("model_failed", "assistant")
    assert conversation.failure.error.startswith("ConnectionError: 503 (agents/test_steps.py:")
    (draft,) = conversation.unsaid[0].attempts
    assert (draft.verdict, draft.text, calls_of(draft)) == (
        "unjudged",
        "One moment.",
        [("look", {"room": 1}, "1 is free")],
    )
    assert [bool(step.error) for step in draft.steps] == [False, False, True]
    assert "503" in draft.steps[-1].error


@pytest.mark.parametrize(("said", "steps"), [(["Yes."], []), (["One moment.", "Yes."], ["One moment.\n\nYes."])])
async def test_an_only_step_is_in_the_record_if_it_says_more_than_the_reply(said: list[str], steps: list[str]) -> None:
    (draft,) = (await talk(says(*map(AIMessage, said)), turns=1)).attempts("assistant")
    assert (draft.text, [step.text for step in draft.steps]) == ("\n\n".join(said), steps)


async def test_steps_are_read_from_a_record_and_replayed_with_their_calls(tmp_path: Any) -> None:
    conversation = await talk(manager(researcher()), turns=2)
    record_lines.write([conversation], tmp_path / "run.jsonl")
    replay = f"replay:{tmp_path / 'run.jsonl'}"
    again = await run(recllmsim.cast(replay, replay), turns=2)
    for name in ("tool_calls", "text"):
        assert [getattr(m, name) for m in again.messages] == [getattr(m, name) for m in conversation.messages]


async def test_a_structured_response_by_a_call_is_kept_whole_and_is_no_act() -> None:
    class Answer(BaseModel):
        reply: str
        nights: int = 1

    lines = [AIMessage("", tool_calls=[call("Answer", number, reply="No, sorry.")]) for number in (1, 2)]
    agent = create_agent(answering(*lines), [look], response_format=ToolStrategy(Answer))
    conversation = await run(cast_of(agent, reject="x", closing=scoring(success=scorers.refused())), turns=1)
    first, second = conversation.attempts("assistant")
    assert (first.verdict, second.verdict, second.text) == ("rejected", "accepted", "No, sorry.")
    assert second.kept == {"structured_response": {"reply": "No, sorry.", "nights": 1}}
    assert conversation.scores["success"]["value"] is True
