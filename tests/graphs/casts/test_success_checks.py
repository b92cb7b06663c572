"""A `success` that cannot be scored is refused before a run begins, and one that can is not."""

from typing import Any

import pytest
from langgraph.graph import MessagesState, StateGraph

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
