"""Casts: what was given, checked when it is given or when a graph is made of it, and what they refuse before a run."""

from pathlib import Path
from typing import Any, TypedDict

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

import duologue
from duologue import graphs, nodes, prompts
from duologue.errors import SettingError
from duologue.graphs import agent_test, conversation, record, simquac
from duologue.nodes import Limits
from duologue.nodes.contract import ContractError
from duologue.nodes.goodbyes import Ending
from duologue.nodes.messages import PageMessages
from duologue.nodes.prompt_selectors import RepairPrompts
from duologue.nodes.recllmsim import UserValidator
from duologue.nodes.requests import PostQuestions
from duologue.nodes.scorers import all_of
from duologue.prompts import PromptError

FLIGHT = {"goal": "move my flight to 2026-05-03", "facts": "My booking code is QX4821.", "kind": "flight"}
AIRLINE = "<goal>{{ goal }}</goal>\n<facts>{{ facts }}</facts>"


async def _other_names(conversation: Any, run: Any) -> Any:
    return {}


class _Node:
    async def __call__(self, state: Any, runtime: Any) -> Any:
        return {}


class Live(_Node):
    """A node that may be given, and not be copied while a cast is made."""

    def __deepcopy__(self, memo: Any) -> Any:
        raise AssertionError("it was copied")


def test_a_cast_is_what_was_given_until_a_graph_is_made_of_it() -> None:
    live = Live()
    for cast in (simquac.cast(live, live), simquac.cast().replace(user=live, assistant=live)):
        assert cast.user_simulator is cast.assistant is cast.nodes["assistant"] is live
    late = simquac.cast(assistant="ollama:none?nonsense=1").replace(assistant=live)  # nothing was made of the model
    assert graphs.builder(late).nodes.keys() > {"assistant"}


def test_a_name_a_user_and_an_assistant_are_a_cast() -> None:
    (talk,) = duologue.simulate(
        graphs.Cast(name="hotel", user="offline", assistant=lambda messages: "It is booked."), [{"scenario": FLIGHT}]
    )
    assert "move my flight" in talk.messages[0].text
    assert talk.stop == "user_ended"
    with pytest.raises(ContractError, match="give user= and assistant="):
        graphs.Cast(name="hotel", assistant="offline")


async def test_somebodys_own_graph_is_sent_the_talk_or_with_a_view_what_a_model_would_be_sent(topic: Any) -> None:
    sent = []

    async def model(state: MessagesState) -> Any:
        sent.append(state["messages"])
        return {"messages": [AIMessage("<think>hm</think>The last one left in 1968.")]}

    agent = StateGraph(MessagesState).add_node("model", model).add_edge(START, "model").compile(name="mine")
    shown = nodes.AgentSpeaker("assistant", agent, build=simquac.cast().assistant_view)
    for assistant in (agent, shown):
        graph = conversation(simquac.cast().replace(assistant=assistant))
        talk = record(await graph.ainvoke(simquac.scenario(topic), context=Limits(max_turns=1)))
        assert talk.messages[1].text == "The last one left in 1968."
    assert [len(messages) for messages in sent] == [1, len(sent[1])]
    assert "1968" in sent[1][1].content  # the agent sees what the teacher sees


def test_a_graph_that_does_not_speak_messages_is_refused() -> None:
    class Other(TypedDict):
        query: str

    agent = StateGraph(Other).add_node("x", lambda state: state).add_edge(START, "x").compile()
    with pytest.raises(ContractError, match="the agent's state has no 'messages', only query"):
        graphs.builder(simquac.cast().replace(assistant=agent))


def clerk(messages: list[dict[str, Any]]) -> str:
    """Asks for the code, then does it."""
    user_text = "\n".join(message["content"] for message in messages if message["role"] == "user")
    return "Done: it has been moved." if "QX4821" in user_text else "Which booking is it? Please tell me its code."


def own_cast(folder: Path, material: str, system: str = "You are a customer.", user: Any = "offline") -> graphs.Cast:
    (folder / "user").mkdir()
    (folder / "user" / "system.md").write_text(system, encoding="utf-8")
    (folder / "user" / "material.md").write_text(material, encoding="utf-8")
    return graphs.Cast(
        name="airline",
        user=user,
        user_view=PageMessages("user", prompts.library(folder)),
        question_validator=UserValidator(Ending(may_give_up=True)),
        assistant=clerk,
    )


@pytest.mark.parametrize("material", [AIRLINE, "<task>{{ goal }}</task>\n<profile>{{ facts }}</profile>"])
def test_the_offline_user_plays_by_pages_of_ones_own_says_goodbye_and_gives_up_where_it_may(
    tmp_path: Path, material: str
) -> None:
    cast = own_cast(tmp_path, material, "When you lose patience, write: I give up, goodbye.")
    talk, lost = duologue.simulate(cast, [{"scenario": FLIGHT}, {"scenario": {"facts": "QX4821", "kind": "flight"}}])
    wish, code, bye = [message.text for message in talk.messages if message.role == "user"]
    assert ("move my flight to 2026-05-03" in wish, "QX4821" in wish, "QX4821" in code) == (True, False, True)
    assert (bye, talk.stop) == ("Thank you, goodbye.", "user_ended")
    assert (lost.stop, lost.messages) == ("model_failed", ())  # it is not played with an empty goal
    (talk,) = duologue.simulate(cast.replace(assistant=lambda messages: "Not possible."), [{"scenario": FLIGHT}])
    assert talk.stop == "user_gave_up"


def test_the_offline_user_of_pages_without_a_mark_for_the_goal_names_the_page(tmp_path: Path) -> None:
    (lost,) = duologue.simulate(own_cast(tmp_path, "You want: {{ goal }}"), [{"scenario": FLIGHT}])
    assert (lost.stop, "user/material" in lost.failure.error) == ("model_failed", True)


@pytest.mark.parametrize(
    ("name", "source", "problem"),
    [
        ("user/system", "You want {{ goal }}.", r"has the template variable \{\{ goal \}\} that nothing fills"),
        ("user/repair_other", "Mend {{ this }}.", r"has the template variable \{\{ this \}\} .*attempt"),
        ("user/repair_other", "{{ 1 / 0 }} {{ repair }}", r"line 1"),
        ("user/post_open", "Was {{ goal }} reached?", r"has the template variable \{\{ goal \}\}"),
    ],
)
def test_a_page_with_a_gap_that_nothing_fills_is_refused(name: str, source: str, problem: str) -> None:
    pages = prompts.Library(
        {one: prompts.Page(one, text) for one, text in (("user/material", AIRLINE), (name, source))}
    )
    cast = agent_test.cast(assistant=clerk).replace(
        user_view=PageMessages("user", pages),
        user_prompt_selector=RepairPrompts("user", pages),
        closing=PostQuestions(pages, {"user": _Node()}),
    )
    with pytest.raises(PromptError, match=f"^prompt {name}: {problem}"):
        graphs.builder(cast)


def test_a_gap_that_a_scenario_lacks_is_refused_before_the_first_call(tmp_path: Path) -> None:
    cast = own_cast(tmp_path, AIRLINE + "{{ code }}").replace(assistant=lambda messages: pytest.fail("it was called"))
    with pytest.raises(PromptError, match=r"user/material: .*\{\{ code \}\} .*facts, goal, kind"):
        duologue.simulate(cast, [{"scenario": FLIGHT}])
    judge = nodes.judge(FakeListChatModel(responses=["x"]), "Is it {{ kind }} for {{ budget }}?", ["wrong"])
    judged = agent_test.cast().replace(answer_validator=judge)
    with pytest.raises(PromptError, match=r"\{\{ budget \}\} .*with scenario 1 there are: .*draft, facts"):
        duologue.simulate(judged, [{"scenario": {**FLIGHT, "budget": "100"}}, {"scenario": FLIGHT}])


class Kept(MessagesState):
    seats: int


def agent(state: Kept) -> dict[str, Any]:
    return {"messages": [("assistant", "Done: moved.")], "seats": 1}


@tool
def change_seat(seat: int) -> str:
    """Change the seat."""
    return "changed"


GRAPH = StateGraph(Kept).add_node("a", agent).set_entry_point("a").compile()
TOOLS = StateGraph(Kept).add_node("a", agent).add_node("tools", ToolNode([change_seat])).set_entry_point("a").compile()
STATE = nodes.final_state({"seats": 1})


@pytest.mark.parametrize("assistant", [clerk, "offline"])
def test_a_final_state_needs_a_world_or_an_agent_that_keeps_one(assistant: Any) -> None:
    cast, limits = agent_test.cast(assistant=assistant), Limits(max_turns=1)
    states = agent_test.scenarios([{"goal": "a"}, {"goal": "b", "success": {"final_state": {"seats": 1}}}])
    with pytest.raises(SettingError, match=r"^scenario 'b': success.final_state: compares a state that nothing gives"):
        duologue.simulate(cast, states)
    scored = cast.replace(closing=nodes.scoring(success=all_of(nodes.solved(), STATE)))
    with pytest.raises(SettingError, match="closing: the scorer 'success': final_state compares a state that nothing"):
        duologue.simulate(scored, states[:1])
    keeping = agent_test.cast(assistant=nodes.AgentSpeaker("assistant", GRAPH))
    for able in (scored.replace(world=lambda scenario: {"seats": 1}), keeping):
        assert len(duologue.simulate(able, states, limits=limits)) == 2
    other = cast.replace(closing=nodes.scoring(seats=STATE))  # is not what counts as success
    assert len(duologue.simulate(other, states[:1], limits=limits)) == 1


@pytest.mark.parametrize(
    ("success", "problem"),
    [
        ({"not": {"judged": "It is moved."}}, "success.not.judged: names no model to judge"),
        ({"tool_called": "change_seats"}, "success.tool_called: .* did you mean 'change_seat'"),
        ({"any_of": [{"refused": True}, {"not": {"tool_called": "change-seat"}}]}, "success.any_of.not.tool_called"),
    ],
)
def test_a_success_that_cannot_be_scored_is_refused_before_the_first_call(success: Any, problem: str) -> None:
    cast, (state,) = agent_test.cast(assistant=TOOLS), agent_test.scenarios([{"goal": "b"}])
    state["scenario"]["success"] = success
    with pytest.raises(SettingError, match=f"^scenario 'b': {problem}"):
        duologue.simulate(cast, [state])
    state["scenario"]["success"] = {"tool_called": "change_seat", "tool_not_called": "web_search"}
    assert duologue.simulate(cast, [state], limits=Limits(max_turns=1))[0].failure is None
