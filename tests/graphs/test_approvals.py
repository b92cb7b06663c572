"""An agent that stops for an approval: a policy, a function or the simulated user answers it."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from duologue import runs
from duologue.analysis.outcomes import tool_errors
from duologue.errors import SettingError
from duologue.graphs import agent_test, casts, conversation
from duologue.nodes import AgentSpeaker, Limits
from duologue.nodes.contract import ContractError
from duologue.nodes.models.scripted import ScriptedModel
from duologue.nodes.speakers.approval import question_of, resumed

REQUEST = {
    "action_requests": [{"name": "pay", "args": {"euro": 3}}, {"name": "send", "args": {}}],
    "review_configs": [
        {"action_name": "send", "allowed_decisions": ["respond"]},
        {"action_name": "pay", "allowed_decisions": ["approve", "reject"]},
    ],
}


def paying(paid: list[int], calls: int = 1, **middleware: Any) -> Any:
    @tool
    def pay(euro: int) -> str:
        """Pay."""
        paid.append(euro)
        return "paid"

    called = [{"name": "pay", "args": {"euro": number}, "id": str(number)} for number in range(1, calls + 1)]
    model = ScriptedModel(lines=[AIMessage("", tool_calls=called), AIMessage("That is done.")], by_call=True)
    return create_agent(model, [pay], middleware=[HumanInTheLoopMiddleware({"pay": True}, **middleware)])


def plain(value: Any, **compiled: Any) -> Any:
    async def answer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"Done, it is now {interrupt(value)}.")]}

    return StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").compile(**compiled)


async def talk(agent: Any, user: Any = lambda messages: "Pay 3 euro.", turns: int = 1, **settings: Any) -> Any:
    cast = agent_test.cast(user, agent, **settings)
    limits = Limits(max_turns=turns)
    (conversation,) = await runs.asimulate(cast, agent_test.scenarios([{"goal": "pay"}]), limits=limits)
    return conversation


def calls_of(conversation: Any) -> list[Any]:
    return [
        (call.name, call.result)
        for message in conversation.messages
        for attempt in message.attempts
        for call in attempt.tool_calls
    ]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize("calls", [1, 2])
@pytest.mark.parametrize("approve", ["all", "none"])
async def test_langchains_middleware_is_answered_by_a_policy(mode, calls, approve):
    paid: list[int] = []
    conversation = await talk(paying(paid, calls, interrupt_mode=mode), approve=approve)
    assert sorted(paid) == (list(range(1, calls + 1)) if approve == "all" else [])
    assert (conversation.stop, conversation.messages[-1].text) == ("max_turns", "That is done.")
    name, result = calls_of(conversation)[0]
    assert (name, result["approve"]) == ("interrupt", approve)
    assert ("approve" if approve == "all" else "reject") in str(result["answer"])
    assert (tool_errors(conversation), calls_of(conversation)[1][0]) == ({}, "pay")


@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize(("message", "done"), [("Yes, please.", [1]), ("No, do not do that.", [])])
async def test_the_simulated_user_is_shown_the_action_and_decides(mode, message, done):
    paid: list[int] = []
    lines = iter(["Pay 1 euro.", message])
    conversation = await talk(
        paying(paid, interrupt_mode=mode), lambda messages: next(lines), turns=2, approve="ask-user"
    )
    question, answer = conversation.messages[1].text, conversation.messages[3]
    assert question == "Do you approve this? Please answer yes or no.\n- pay (euro: 1)"
    assert (paid, answer.text, conversation.stop) == (done, "That is done.", "max_turns")
    name, result = calls_of(conversation)[1]
    assert (name, result["approve"]) == ("interrupt", "ask-user")


@pytest.mark.parametrize(("second", "done"), [("Yes.", [1]), ("Hm, what for?", [])])
async def test_an_unclear_reply_is_asked_for_once_more_and_rejects_the_second_time(second, done):
    paid: list[int] = []
    lines = iter(["Pay 1 euro.", "Why?", second])
    conversation = await talk(paying(paid), lambda messages: next(lines), turns=3, approve="ask-user")
    first, again = (conversation.messages[place].text for place in (1, 3))
    assert again == first.replace("yes or no.", "yes or no. Your reply was neither.")
    assert (paid, conversation.messages[5].text) == (done, "That is done.")


@pytest.mark.parametrize("goal", ["pay 3 euro", "付三欧元"])
async def test_the_rule_based_user_approves_what_it_is_shown(goal):
    cast = agent_test.cast("offline", plain({"pay": 3}), approve="ask-user")
    states = agent_test.scenarios([{"goal": goal}])
    (conversation,) = await runs.asimulate(cast, states, limits=Limits(max_turns=2))
    assert conversation.messages[-1].text == "Done, it is now True."


@pytest.mark.parametrize("compiled", [{}, {"checkpointer": InMemorySaver()}])
@pytest.mark.parametrize(
    ("approve", "text"), [("all", "True"), ("none", "False"), (lambda value: value["euro"] * 2, "6")]
)
async def test_a_plain_interrupt_is_answered_and_gets_a_checkpointer_where_there_is_none(compiled, approve, text):
    conversation = await talk(plain({"euro": 3}, **compiled), approve=approve)
    assert (conversation.stop, conversation.messages[-1].text) == ("max_turns", f"Done, it is now {text}.")
    assert conversation.messages[-1].attempts[0].tool_calls[0].arguments == {"euro": 3}


async def test_a_policy_that_raises_is_named_and_no_failure_of_the_agent():
    def limit(value: Any) -> bool:
        return {"yen": True}[value["currency"]]

    conversation = await talk(plain({"currency": "euro"}), approve=limit)
    failure = conversation.failure
    assert failure is not None
    assert (failure.node, failure.fault) == ("approve", None)
    assert "limit failed: KeyError: 'euro' (test_approvals.py, line " in failure.error
    assert failure.frames[-1].endswith(" in limit")
    conversation = await talk(paying([]), approve=limit)
    assert conversation.failure.node == "approve"
    assert [call.name for call in conversation.unsaid[0].attempts[0].tool_calls] == ["pay"]


async def test_a_text_stays_a_question_to_the_user_and_without_a_policy_the_conversation_ends():
    conversation = await talk(plain("Which colour?"), lambda messages: "red", turns=2, approve="all")
    assert [message.text for message in conversation.messages[1:]] == ["Which colour?", "red", "Done, it is now red."]
    conversation = await talk(plain({"euro": 3}))
    assert conversation.stop == "agent_interrupted"


async def test_an_agent_that_asks_for_ever_is_a_named_stop(monkeypatch):
    monkeypatch.setattr("duologue.nodes.speakers.agents.ROUNDS", 3)

    async def answer(state: MessagesState) -> dict[str, Any]:
        while True:
            interrupt({"euro": 3})

    agent = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").compile()
    conversation = await talk(agent, approve="none")
    assert conversation.stop == "agent_interrupted"
    assert "again and again" in conversation.unsaid[0].attempts[0].tool_calls[-1].error


def test_each_action_gets_a_decision_that_its_tool_allows():
    assert resumed("all", [REQUEST], ["1"]) == {
        "decisions": [{"type": "approve"}, {"type": "respond", "message": "Approved."}]
    }
    assert resumed("ask-user", [REQUEST], ["1"], reply="No, thanks.") == {
        "decisions": [{"type": "reject", "message": "No, thanks."}, {"type": "respond", "message": "No, thanks."}]
    }
    only = {**REQUEST, "review_configs": [{"action_name": "pay", "allowed_decisions": ["approve"]}]}
    with pytest.raises(ContractError, match="pay allows only approve: give a function that decides"):
        resumed("none", [only], ["1"])
    assert resumed("all", [{"euro": 1}, {"euro": 2}], ["a", "b"]) == {"a": True, "b": True}
    assert question_of([{"euro": 3}, 7]).splitlines()[1:] == ["- euro: 3", "- 7"]


def test_a_policy_that_there_is_not_and_an_assistant_that_asks_nobody_are_refused():
    with pytest.raises(ContractError, match=r"assistant: approve: expected all, none, ask-user, MODULE:NAME or a"):
        AgentSpeaker("assistant", plain("?"), approve="some")
    with pytest.raises(SettingError, match="approve: the assistant is not a LangGraph agent"):
        conversation(agent_test.cast("offline", "offline", approve="all"))


def paying_deeply(paid: list[int], decisions: Any, within: bool) -> Any:
    """An agent of deepagents that pays twice, itself or by a subagent."""
    deepagents = pytest.importorskip("deepagents")

    @tool
    def pay(euro: int) -> str:
        """Pay."""
        paid.append(euro)
        return "paid"

    called = [{"name": "pay", "args": {"euro": number}, "id": str(number)} for number in (1, 2)]
    payer = ScriptedModel(lines=[AIMessage("", tool_calls=called), AIMessage("That is done.")], by_call=True)
    if not within:
        return deepagents.create_deep_agent(payer, [pay], interrupt_on={"pay": decisions})
    task = {"name": "task", "args": {"description": "pay", "subagent_type": "payer"}, "id": "task"}
    outer = ScriptedModel(lines=[AIMessage("", tool_calls=[task]), AIMessage("That is done.")], by_call=True)
    described = {"name": "payer", "description": "pays", "system_prompt": "Pay.", "tools": [pay], "model": payer}
    return deepagents.create_deep_agent(outer, [], subagents=[{**described, "interrupt_on": {"pay": decisions}}])


@pytest.mark.heavy
@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("decisions", [True, {"allowed_decisions": ["approve", "reject"]}])
@pytest.mark.parametrize(("approve", "done"), [("all", [1, 2]), ("none", []), ("ask-user", [1, 2])])
async def test_deepagents_and_its_subagents_are_answered_by_a_policy(within, decisions, approve, done):
    paid: list[int] = []
    lines = iter(["Pay.", "Yes, please."])
    turns = 2 if approve == "ask-user" else 1
    agent = paying_deeply(paid, decisions, within)
    conversation = await talk(agent, lambda messages: next(lines), turns=turns, approve=approve)
    assert (sorted(paid), conversation.messages[-1].text) == (done, "That is done.")


PLAIN = plain({"euro": 3})


def double(value: Any) -> Any:
    return value["euro"] * 2


@pytest.mark.parametrize(("approve", "text"), [("all", "True"), (f"{__name__}:double", "6"), (double, "6")])
async def test_a_policy_goes_to_other_processes_with_its_cast(approve, text):
    user = f"{__name__}:asks"
    cast = casts.built(agent_test.cast(user, f"{__name__}:PLAIN", approve=approve).travelling())
    states = agent_test.scenarios([{"goal": "pay"}])
    (conversation,) = await runs.asimulate(cast, states, limits=Limits(max_turns=1))
    assert conversation.messages[-1].text == f"Done, it is now {text}."


def asks(messages: Any) -> str:
    return "Pay 3 euro."


def test_a_function_without_an_import_path_stays_in_its_process():
    cast = agent_test.cast("offline", f"{__name__}:PLAIN", approve=lambda value: True)
    with pytest.raises(ContractError, match="approve is a live object"):
        cast.travelling()


async def test_a_moderators_yes_approves_nothing():
    paid: list[int] = []
    said = iter(["Pay 3 euro.", "What would that cost?"])
    cast = agent_test.cast(lambda messages: next(said), paying(paid), approve="ask-user")
    moderator = {"moderator": lambda state: "Yes." if state["turn"] else None}
    graph = conversation(cast, after={"question_validator": moderator})
    scenarios = agent_test.scenarios([{"goal": "pay"}])
    (record,) = await runs.asimulate(graph, scenarios, limits=Limits(max_turns=2))
    assert ("moderator", "Yes.") in [(message.name, message.text) for message in record.messages]
    assert (paid, record.messages[-1].text.count("neither")) == ([], 1)
