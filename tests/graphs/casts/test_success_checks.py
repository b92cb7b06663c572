"""A `success` that cannot be scored is refused before a run begins, and one that can is not."""

from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from duologue import graphs, nodes, simulate
from duologue.errors import SettingError
from duologue.graphs.casts.success_checks import check_success

STATE = nodes.final_state({"seats": 1})


class Kept(MessagesState):
    seats: int


def agent(state: Kept) -> dict[str, Any]:
    return {"messages": [("assistant", "Done: moved.")], "seats": 1}


GRAPH = StateGraph(Kept).add_node("a", agent).set_entry_point("a").compile()


def says(messages: list[Any]) -> str:
    return "Done: moved."


async def own_node(state: Any, runtime: Any) -> Any:
    return {"drafts": [{"text": "Done: moved.", "kept": {"seats": 1}}]}


@pytest.mark.parametrize("assistant", [says, GRAPH, "offline"])
def test_a_final_state_needs_a_world_or_an_agent_that_keeps_one(assistant: Any) -> None:
    cast = graphs.agent_test.cast(assistant=assistant)
    states = graphs.agent_test.scenarios([{"goal": "a"}, {"goal": "b", "success": {"final_state": {"seats": 1}}}])
    with pytest.raises(SettingError, match=r"^scenario 'b': success.final_state: compares a state that nothing gives"):
        simulate(cast, states)
    scored = cast.replace(closing=nodes.scoring(success=nodes.all_of(nodes.solved(), STATE)))
    with pytest.raises(SettingError, match="closing: the scorer 'success': final_state compares a state that nothing"):
        check_success(scored, states[:1])
    for checked in (cast, scored):
        check_success(checked.replace(world=lambda scenario: {"seats": 1}), states)
    check_success(cast.replace(closing=nodes.scoring(seats=STATE)), states[:1])  # is not what counts as success


@pytest.mark.parametrize("assistant", [nodes.AgentSpeaker("assistant", GRAPH, keep=("seats",)), own_node])
def test_an_agent_that_keeps_channels_gives_a_state(assistant: Any) -> None:
    states = graphs.agent_test.scenarios([{"goal": "b", "success": {"final_state": {"seats": 1}}}])
    (conversation,) = simulate(graphs.agent_test.cast(assistant=assistant), states)
    assert conversation.labels["scores"]["success"]["value"] is True


def test_a_judge_without_a_model_is_refused_in_states_that_no_file_was_read_for() -> None:
    for judged in ("It is moved.", {"criterion": "It is moved."}, ["It is moved."]):
        state: Any = {"scenario": {"goal": "b", "success": {"not": {"judged": judged}}}}
        with pytest.raises(SettingError, match=r"^scenario 'b': success.not.judged: names no model to judge"):
            simulate(graphs.agent_test.cast(assistant=says), [state])


@tool
def change_seat(seat: int) -> str:
    """Change the seat."""
    return "changed"


TOOLS = StateGraph(Kept).add_node("a", agent).add_node("tools", ToolNode([change_seat])).set_entry_point("a").compile()


@pytest.mark.parametrize(
    ("success", "place"),
    [
        ({"tool_called": "change_seats"}, "success.tool_called"),
        ({"tool_not_called": {"name": "changeseat"}}, "success.tool_not_called"),
        ({"any_of": [{"refused": True}, {"not": {"tool_called": "change-seat"}}]}, "success.any_of.not.tool_called"),
    ],
)
def test_a_misspelt_tool_is_refused_where_the_agent_shows_its_tools(success: dict[str, Any], place: str) -> None:
    cast = graphs.agent_test.cast(assistant=TOOLS)
    states = graphs.agent_test.scenarios([{"goal": "b", "success": success}])
    with pytest.raises(SettingError) as error:
        check_success(cast, states)
    assert str(error.value).startswith(f"scenario 'b': {place}: the agent has no tool ")
    assert str(error.value).endswith("did you mean 'change_seat'?")
    check_success(graphs.agent_test.cast(assistant=says), states)


def test_a_tool_that_the_agent_has_or_that_is_like_none_of_its_tools_is_taken() -> None:
    states = graphs.agent_test.scenarios(
        [{"goal": "b", "success": {"tool_called": "change_seat", "tool_not_called": "web_search"}}]
    )
    check_success(graphs.agent_test.cast(assistant=TOOLS), states)


def test_a_misspelt_tool_of_a_casts_own_scorer_is_refused_too() -> None:
    cast = graphs.agent_test.cast(assistant=TOOLS).replace(
        closing=nodes.scoring(success=nodes.tool_called("change_seats"))
    )
    with pytest.raises(SettingError, match="closing: the scorer 'success': the agent has no tool 'change_seats'"):
        check_success(cast, graphs.agent_test.scenarios([{"goal": "a"}]))
