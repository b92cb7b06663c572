"""What an agent's `interrupt()` asks, and who answers: the user in words, a policy, a function, or nobody."""

from typing import Annotated, Any, Literal

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphInterrupt
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Interrupt, Send, interrupt
from pydantic import BaseModel

from duologue import runs
from duologue.analysis.outcomes import tool_errors
from duologue.data.summaries import count
from duologue.graphs import conversation, recllmsim
from duologue.nodes import AgentSpeaker, Limits, scorers, scoring
from duologue.nodes.contract import ContractError
from duologue.nodes.models.scripted import ScriptedModel
from duologue.nodes.speakers.questions import decided, pending_of, question_of
from tests.graphs.agents.talks import ABOUT, call, calls_of, cast_of, chain, heard, lines, looped, replies, talk


class Asked(BaseModel):
    question: str


class Day(BaseModel):
    day: str
    time: str | None = None


class Trip(BaseModel):
    day: str
    nights: int


class Two(BaseModel):
    day: str
    place: str


def asking(question: Any, schema: Any = None, **compiled: Any) -> Any:
    """An agent that asks at its first words, says what it was answered, and then counts its messages."""

    async def desk(state: MessagesState) -> dict[str, Any]:
        if len(state["messages"]) > 1:
            return {"messages": [AIMessage(f"I heard {len(state['messages'])}.")]}
        options = {} if schema is None else {"response_schema": schema}
        return {"messages": [AIMessage(f"So it is {interrupt(question, **options)!r}.")]}

    return chain(desk=desk).compile(**compiled)


# Questions in words


@pytest.mark.parametrize("compiled", [{}, {"checkpointer": InMemorySaver()}])
@pytest.mark.parametrize(
    ("question", "schema", "answer", "words"),
    [
        ("Which day?", None, "Monday", "'Monday'"),
        ({"question": "Which day?"}, None, "Monday", "'Monday'"),
        ({"query": "Which day?", "booking": 4}, None, "Monday", "'Monday'"),
        (Asked(question="Which day?"), None, "Monday", "'Monday'"),
        ("Which day?", str, "Monday", "'Monday'"),
        ("Which day?", {"type": "string"}, "Monday", "'Monday'"),
        ("Which day?", bool, "Yes, please.", "True"),
        ("Which day?", bool, "No, thanks.", "False"),
        ("Which day?", Day, "Monday", "Day(day='Monday', time=None)"),
    ],
)
async def test_a_question_is_asked_and_the_users_next_message_answers_it_in_the_form_that_it_wants(
    question: Any, schema: Any, answer: str, words: str, compiled: Any
) -> None:
    conversation = await talk(asking(question, schema, **compiled), user=lines("A room?", answer), turns=3)
    assert replies(conversation) == ["Which day?", f"So it is {words}.", "I heard 3."]
    assert (conversation.stop, conversation.failure) == ("max_turns", None)


@pytest.mark.parametrize(
    ("question", "schema"),
    [
        ({"tool": "pay"}, None),
        ({"question": "Which day?", "prompt": "Which room?"}, None),
        ("  ", None),
        ({1, 2}, None),
        (None, None),
        ("Which day?", Trip),
        ("Which day?", Two),
        ("Which day?", Literal["Monday", "Tuesday"]),
        ("Which day?", int),
    ],
)
async def test_what_words_cannot_answer_ends_the_conversation_and_is_no_crash(question: Any, schema: Any) -> None:
    conversation = await talk(asking(question, schema))
    assert (conversation.stop, conversation.fault, conversation.failure) == ("agent_interrupted", "assistant", None)
    (turn,) = conversation.unsaid
    (asked,) = turn.attempts[0].tool_calls
    wanted = (
        question if isinstance(question, dict) else {"value": str(question) if isinstance(question, set) else question}
    )
    assert (asked.name, asked.arguments) == ("interrupt", wanted)
    assert asked.error == "no one can answer the agent: it asks no question that words can answer"


def raising(state: Any) -> Any:
    raise GraphInterrupt([Interrupt("Which day?")])


@pytest.mark.parametrize(
    "agent",
    [
        RunnableLambda(raising),
        lambda m: {"__interrupt__": [Interrupt("Which day?")]},
        RunnableLambda(lambda state: {**state, "__interrupt__": [{"value": "Which day?", "id": "1"}]}),
    ],
)
async def test_a_question_of_what_cannot_be_resumed_is_a_named_stop(agent: Any) -> None:
    conversation = await talk(agent)
    assert (conversation.stop, conversation.failure) == ("agent_interrupted", None)
    assert "it has no checkpointer" in conversation.unsaid[0].attempts[0].tool_calls[0].error


@pytest.mark.parametrize("place", ["interrupt_before", "interrupt_after"])
async def test_a_breakpoint_asks_nothing(place: str) -> None:
    async def desk(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("One moment.")]}

    agent = chain(desk=desk, then=desk).compile(checkpointer=InMemorySaver(), **{place: ["desk"]})
    conversation = await talk(agent)
    assert (conversation.stop, conversation.failure) == ("agent_interrupted", None)
    before = "desk" if place == "interrupt_before" else "then"
    assert list(conversation.attempts("assistant"))[-1].tool_calls[0].arguments == {"paused": f"before {before}"}


class Fan(MessagesState):
    notes: Annotated[list[str], lambda old, new: [*old, *new]]


@pytest.mark.parametrize("schemas", [(None, None), (bool, Day)])
async def test_several_questions_at_once_are_asked_together_and_each_gets_the_answer(schemas: Any) -> None:
    asked = {"Is it urgent?": schemas[0], "Which code?": schemas[1]}

    def ask(state: Any) -> Any:
        schema = asked[state["question"]]
        answer = interrupt(state["question"], **({} if schema is None else {"response_schema": schema}))
        return {"notes": [f"{state['question']} {answer!r}"]}

    graph = StateGraph(Fan).add_node("ask", ask).add_edge("ask", "end")
    graph.add_node("end", lambda state: {"messages": [AIMessage(" ".join(sorted(state["notes"])))]})
    graph.add_conditional_edges(START, lambda state: [Send("ask", {"question": one}) for one in asked], ["ask"])
    conversation = await talk(graph.compile(), user=lines("A room?", "Yes, QX4."))
    question, answer = replies(conversation)
    assert sorted(question.splitlines()) == sorted(asked)
    values = ("True", "Day(day='Yes, QX4.', time=None)") if schemas[0] else ("'Yes, QX4.'",) * 2
    assert answer == f"Is it urgent? {values[0]} Which code? {values[1]}"


@pytest.mark.parametrize("reject", ["x", "-x", "-xx", "--x", "-x-x", "x-xx"])
async def test_a_node_of_several_questions_is_given_each_answer_once_whatever_is_rejected(reject: str) -> None:
    seen: list[list[str]] = []

    async def desk(state: MessagesState) -> dict[str, Any]:
        seen.append(heard(state["messages"]))
        return {"messages": [AIMessage(", ".join([interrupt("Which day?"), interrupt("Which room?")]))]}

    conversation = await talk(chain(desk=desk).compile(), reject=reject, turns=3)
    said = [[attempt.text for attempt in one.attempts] for one in conversation.messages if one.role == "assistant"]
    assert [texts[0] for texts in said] == ["Which day?", "Which room?", "line 2, line 3"]
    assert all(len(set(texts)) == 1 for texts in said)
    assert sum(map(len, said)) == 3 + reject.count("x")
    assert conversation.messages[3].attempts[-1].prompt is None  # an answer stands alone
    if not reject.startswith("x"):
        assert all("<note>" not in sent for sent in seen)


async def test_the_repair_line_before_a_question_is_taken_out_after_the_answer() -> None:
    seen: list[list[str]] = []

    async def desk(state: MessagesState) -> dict[str, Any]:
        seen.append(heard(state["messages"]))
        said = interrupt("Which day?") if seen[-1][-1] == "<note>" else "Yes."
        return {"messages": [AIMessage(said)]}

    conversation = await talk(chain(desk=desk).compile(), reject="x", turns=3)
    assert replies(conversation) == ["Which day?", "line 2", "Yes."]
    assert seen[-1] == ["line 1", "line 2", "line 3"]


async def test_words_before_a_question_are_said_with_it_and_words_before_an_approval_are_recorded() -> None:
    def agent(question: Any) -> Any:
        return chain(
            say=lambda state: {"messages": [AIMessage("One moment.")]},
            ask=lambda state: {"messages": [AIMessage(str(interrupt(question)))]},
        ).compile()

    assert replies(await talk(agent("Which day?"))) == ["One moment.\n\nWhich day?", "line 2"]
    conversation = await talk(agent({"pay": 3}))
    assert (replies(conversation), conversation.stop) == (["One moment."], "agent_interrupted")
    assert conversation.messages[-1].tool_calls[0].name == "interrupt"


async def test_a_tool_that_asks_waits_and_has_its_result_in_the_next_reply_and_acts_once() -> None:
    done: list[int] = []

    @tool
    def pay(euro: int) -> str:
        """Pay."""
        interrupt("Shall I pay?")
        done.append(euro)
        return "paid"

    def model(state: MessagesState) -> Any:
        if isinstance(state["messages"][-1], ToolMessage):
            return {"messages": [AIMessage("Done.")]}
        return {"messages": [AIMessage("", tool_calls=[call("pay", euro=3)])]}

    closing = scoring(success=scorers.tool_called("pay", {"euro": 3}, times=1))
    conversation = await talk(looped(model, ToolNode([pay])).compile(), reject="-x", closing=closing)
    (waiting,), (paid,) = (message.tool_calls for message in conversation.messages[1::2])
    assert (waiting.waits, paid.arguments, paid.result) == (True, {"euro": 3}, "paid")
    (attempt,) = conversation.messages[3].attempts
    assert (done, attempt.verdict, attempt.notes) == ([3], "observed", ("not asked again: it had called pay",))
    assert conversation.scores["success"]["value"] is True
    side = count([conversation]).side("assistant")
    assert (side.tool_calls, side.failed_calls) == (1, 0)


@pytest.mark.parametrize("form", ["node", "tool"])
async def test_a_sub_agent_that_asks_goes_on_where_it_was(form: str) -> None:
    ran: list[str] = []

    def first(state: MessagesState) -> Any:
        ran.append("first")
        return {"messages": [AIMessage("I have looked.")]}

    inner = chain(
        first=first,
        second=lambda state: {"messages": [AIMessage(f"{interrupt('Which day?')}, {interrupt('Which room?')}")]},
    ).compile()

    @tool
    async def ask(about: str) -> str:
        """Ask about it."""
        return str((await inner.ainvoke({"messages": [about]}))["messages"][-1].text)

    def model(state: MessagesState) -> Any:
        if isinstance(state["messages"][-1], ToolMessage):
            return {"messages": [AIMessage(str(state["messages"][-1].text))]}
        return {"messages": [AIMessage("", tool_calls=[call("ask", about="the room")])]}

    agent = chain(inner=inner).compile() if form == "node" else looped(model, ToolNode([ask])).compile()
    conversation = await talk(agent, reject="-x", turns=3)
    assert [text.split("\n\n")[-1] for text in replies(conversation)] == ["Which day?", "Which room?", "line 2, line 3"]
    assert ran == ["first"]


async def test_an_interrupt_of_an_agent_that_plays_the_user_is_the_users_fault() -> None:
    user = chain(pay=lambda state: {"messages": [AIMessage(str(interrupt({"tool": "pay"})))]}).compile()
    conversation = await talk("offline", user=user)
    assert (conversation.stop, conversation.fault, conversation.failure) == ("user_rejected", "user", None)


# Approvals


def paying(paid: list[int], calls: int = 1, decisions: Any = True, **middleware: Any) -> Any:
    @tool
    def pay(euro: int) -> str:
        """Pay."""
        paid.append(euro)
        return "paid"

    called = [call("pay", number, euro=number) for number in range(1, calls + 1)]
    model = ScriptedModel(lines=[AIMessage("", tool_calls=called), AIMessage("That is done.")], by_call=True)
    return create_agent(model, [pay], middleware=[HumanInTheLoopMiddleware({"pay": decisions}, **middleware)])


async def approved(agent: Any, approve: Any, *said: str, turns: int | None = None) -> Any:
    """The record of a conversation whose user says these lines."""
    user = lines("Pay 1 euro.", *said)
    return await talk(AgentSpeaker("assistant", agent, approve=approve), user=user, turns=turns or 1 + len(said))


@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize("calls", [1, 2])
@pytest.mark.parametrize("approve", ["all", "none"])
async def test_langchains_middleware_is_answered_by_a_policy(mode: Any, calls: int, approve: str) -> None:
    paid: list[int] = []
    conversation = await approved(paying(paid, calls, interrupt_mode=mode), approve)
    assert sorted(paid) == (list(range(1, calls + 1)) if approve == "all" else [])
    assert (conversation.stop, replies(conversation)) == ("max_turns", ["That is done."])
    made = calls_of(conversation.messages[-1])
    (decision,) = (result for name, _, result in made if name == "interrupt")
    assert ([name for name, *_ in made], decision["approve"]) == (["pay"] * calls + ["interrupt"], approve)
    assert ("approve" if approve == "all" else "reject") in str(decision["answer"])
    assert tool_errors(conversation) == {}
    (step,) = (step for step in conversation.messages[-1].attempts[0].steps if step.node == "interrupt")
    assert step.calls == step.results == (calls,)


@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize(("said", "done"), [("Yes, please.", [1]), ("No, do not do that.", []), ("Hm, what for?", [])])
async def test_the_simulated_user_is_shown_the_action_and_decides(mode: Any, said: str, done: list[int]) -> None:
    paid: list[int] = []
    conversation = await approved(paying(paid, interrupt_mode=mode), "ask-user", said)
    question = "Do you approve this? Please answer yes or no.\n- pay (euro: 1)"
    assert (replies(conversation), paid) == ([question, "That is done."], done)
    assert conversation.messages[1].tool_calls[0].waits
    name, _, decision = calls_of(conversation.messages[3])[0]
    assert (name, decision["approve"]) == ("interrupt", "ask-user")


@pytest.mark.parametrize("compiled", [{}, {"checkpointer": InMemorySaver()}])
async def test_any_other_interrupt_is_answered_by_a_function_and_by_no_policy(compiled: Any) -> None:
    conversation = await approved(asking({"euro": 3}, **compiled), lambda value: value["euro"] * 2)
    assert replies(conversation) == ["So it is 6."]
    assert conversation.messages[-1].tool_calls[0].arguments == {"euro": 3}
    for policy in ("all", "none", "ask-user"):
        assert (await approved(asking({"euro": 3}, **compiled), policy)).stop == "agent_interrupted"


async def test_a_policy_that_raises_is_named_and_no_failure_of_the_agent() -> None:
    def limit(value: Any) -> bool:
        return {"yen": True}[value["currency"]]

    conversation = await approved(asking({"currency": "euro"}), limit)
    assert (conversation.failure.node, conversation.failure.fault) == ("approve", None)
    assert "limit failed: KeyError: 'euro' (agents/test_questions.py:" in conversation.failure.error


async def test_an_agent_that_asks_for_ever_is_a_named_stop(monkeypatch: Any) -> None:
    monkeypatch.setattr("duologue.nodes.speakers.agents.ROUNDS", 3)

    async def desk(state: MessagesState) -> dict[str, Any]:
        while True:
            interrupt({"euro": 3})

    conversation = await approved(chain(desk=desk).compile(), lambda value: False)
    assert conversation.stop == "agent_interrupted"
    assert "again and again" in conversation.unsaid[0].attempts[0].tool_calls[-1].error


REQUEST = {
    "action_requests": [{"name": "pay", "args": {"euro": 3}}, {"name": "send", "args": {}}],
    "review_configs": [
        {"action_name": "send", "allowed_decisions": ["approve"]},
        {"action_name": "pay", "allowed_decisions": ["approve", "reject"]},
    ],
}


def test_each_action_gets_a_decision_that_its_tool_allows() -> None:
    pending = [pending_of(Interrupt(REQUEST, id="1"))]
    assert decided("all", pending)["1"]["decisions"] == [{"type": "approve"}] * 2
    with pytest.raises(ContractError, match="send allows only approve: give a function that decides"):
        decided("none", pending)
    assert question_of("ask-user", pending).splitlines()[1:] == ["- pay (euro: 3)", "- send"]


async def test_a_moderators_yes_approves_nothing() -> None:
    paid: list[int] = []
    user = lines("Pay 1 euro.", "What would that cost?")
    cast = cast_of(AgentSpeaker("assistant", paying(paid), approve="ask-user"), user=user)
    graph = conversation(cast, after={"question_validator": {"moderator": lambda s: "Yes." if s["turn"] else None}})
    (record,) = await runs.asimulate(graph, [recllmsim.scenario(ABOUT)], limits=Limits(max_turns=2))
    assert ("moderator", "Yes.") in [(message.name, message.text) for message in record.messages]
    assert paid == []


# Several at once, and one after the other


async def test_a_question_beside_an_approval_is_asked_while_the_policy_approves() -> None:
    graph = StateGraph(MessagesState).add_node(
        "pay", lambda s: {"messages": [AIMessage(f"Paid: {interrupt({'tool': 1})}")]}
    )
    graph.add_node("ask", lambda s: {"messages": [AIMessage(f"On {interrupt('Which day?')}")]})
    both = graph.add_edge(START, "pay").add_edge(START, "ask").compile()
    conversation = await talk(AgentSpeaker("assistant", both, approve=bool), user=lines("Hi", "Monday"))
    assert replies(conversation)[0] == "Which day?"
    assert "Paid: True" in replies(conversation)[1]
    assert "On Monday" in replies(conversation)[1]


async def test_a_tool_that_asks_twice_has_its_call_and_result_in_the_reply_to_the_last_answer() -> None:
    @tool
    def pay(sum: int) -> str:
        """Pay."""
        return f"{interrupt('Sure?')} {interrupt('Really?')}"

    model = ScriptedModel(lines=[AIMessage("", tool_calls=[call("pay", sum=3)]), AIMessage("Done.")], by_call=True)
    conversation = await talk(create_agent(model, [pay]), user=lines("Hi", "Yes", "Yes!"), turns=3)
    assert replies(conversation) == ["Sure?", "Really?", "Done."]
    (paid,) = conversation.messages[-1].tool_calls
    assert (paid.name, paid.result) == ("pay", "Yes Yes!")


def test_the_choices_of_a_question_are_asked_too() -> None:
    asked = pending_of(Interrupt({"question": "Which day?", "options": ["Monday", "Tuesday"]}, id="1"))
    assert asked["question"].splitlines() == ["Which day?", "- Monday", "- Tuesday"]
