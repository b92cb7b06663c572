"""What a user's own agent is sent: only the conversation, on its own thread if it has a checkpointer."""

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime

from duologue.data.recllmsim import Situation
from duologue.graphs import Cast, conversation, recllmsim
from duologue.graphs.opening import begun
from duologue.nodes import AgentSpeaker, Limits, conformance, validator
from duologue.nodes.contract import ContractError
from duologue.nodes.messages.building import plain_messages
from duologue.nodes.speakers.speaker import FunctionSpeaker
from tests.graphs.played import played

ABOUT = Situation(task="gift preparation", task_context="You want a present.", preference="1. Gender: Female")


class Recording:
    """An agent that keeps what it was sent, and under which thread."""

    def __init__(self, **compiled: Any) -> None:
        self.heard: list[list[tuple[str, str]]] = []
        self.configs: list[dict[str, Any]] = []
        graph = StateGraph(MessagesState).add_node("answer", self.answer).add_edge(START, "answer")
        self.graph = graph.compile(name="recording", **compiled)

    async def answer(self, state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        self.heard.append([(message.type, str(message.text)) for message in state["messages"]])
        self.configs.append(config["configurable"])
        return {"messages": [AIMessage(f"reply {len(self.heard)}")]}


def persistent() -> Recording:
    return Recording(checkpointer=InMemorySaver())


def in_cast(assistant: Any, reject: str = "", **changes: Any) -> Cast:
    """A cast with a user of scripted lines; `reject` has a letter for each reply, `x` to reject it."""
    judged: Iterator[str] = iter(reject)
    lines: Iterator[str] = iter(f"thing {number}" for number in range(1, 100))
    judge = validator(lambda draft, state: "rude" if next(judged, "-") == "x" else None)
    return recllmsim.cast(user=lambda messages: next(lines)).replace(
        assistant=assistant, answer_validator=judge, **changes
    )


async def talk(cast: Cast, turns: int = 2, **state: Any) -> Any:
    return await played(cast, recllmsim.scenario(ABOUT) | state, Limits(max_turns=turns))


async def invoked(cast: Cast, **state: Any) -> Any:
    return await conversation(cast).ainvoke(begun(recllmsim.scenario(ABOUT) | state))


TWO_TURNS = [
    [("human", "thing 1")],
    [("human", "thing 1"), ("ai", "reply 1"), ("human", "thing 2")],
]


async def test_an_agent_as_the_assistant_is_sent_the_talk_and_nothing_else():
    agent = Recording()
    conversation = await talk(in_cast(agent.graph))
    assert agent.heard == TWO_TURNS
    assert [message.attempts[0].prompt for message in conversation.messages if message.role == "assistant"] == [
        None,
        None,
    ]


async def test_a_function_as_the_assistant_is_sent_the_talk_and_nothing_else():
    heard: list[Any] = []

    def reply(messages: list[dict[str, Any]]) -> str:
        heard.append([(message["role"], message["content"]) for message in messages])
        return f"reply {len(heard)}"

    await talk(in_cast(reply))
    assert heard == [[("user", "thing 1")], [("user", "thing 1"), ("assistant", "reply 1"), ("user", "thing 2")]]


async def test_an_agent_that_plays_the_user_is_sent_the_pages_that_tell_it_its_part():
    agent = Recording()
    await talk(recllmsim.cast(user=agent.graph), turns=1)
    assert agent.heard[0][0][0] == "system"
    assert "You want a present." in agent.heard[0][1][1]


@pytest.mark.parametrize("speaker", [AgentSpeaker, FunctionSpeaker])
async def test_a_system_text_is_added_where_it_is_asked_for(speaker):
    heard: list[Any] = []

    def reply(messages: Any) -> Any:
        heard.append(messages["messages"] if isinstance(messages, dict) else messages)
        return AIMessage("Yes.")

    own = RunnableLambda(reply) if speaker is AgentSpeaker else reply
    await talk(in_cast(speaker("assistant", own, system="Be brief.")), turns=1)
    first = heard[0][0]
    assert (first["content"] if isinstance(first, dict) else first.content) == "Be brief."
    assert len(heard[0]) == 2


async def test_system_true_sends_what_a_model_in_the_same_place_is_sent():
    agent = Recording()
    cast = in_cast(AgentSpeaker("assistant", agent.graph, system=True), reject="x")
    await talk(cast, turns=1)
    page = cast.prompts["assistant/system"].fill()
    assert agent.heard[0] == [("system", page), ("human", "thing 1")]
    assert agent.heard[1][:3] == [("system", page), ("human", "thing 1"), ("ai", "reply 1")]


def test_a_text_beside_a_builder_of_ones_own_is_refused():
    for speaker, own in ((AgentSpeaker, Recording().graph), (FunctionSpeaker, lambda messages: "Yes.")):
        with pytest.raises(ContractError, match="give build= or a text as system=, not both"):
            speaker("assistant", own, plain_messages("assistant"), system="Be brief.")


async def test_a_model_that_replaces_an_agent_is_sent_the_casts_pages_again():
    plain: Any = recllmsim.cast().nodes["assistant"]
    replaced: Any = in_cast(Recording().graph).replace(assistant=plain.model).nodes["assistant"]
    assert replaced.build == plain.build


async def test_the_repair_line_is_the_one_addition_and_the_rejected_draft_is_not_sent():
    agent = Recording()
    conversation = await talk(in_cast(agent.graph, reject="x"))
    assert [kind for kind, _ in agent.heard[1]] == ["human", "human"]
    assert agent.heard[1][0] == ("human", "thing 1")
    assert agent.heard[1][1][1].startswith("<note>This reply was not accepted: rude.")
    assert agent.heard[1][1][1].endswith("</note>")
    assert agent.heard[2] == [("human", "thing 1"), ("ai", "reply 2"), ("human", "thing 2")]
    rejected, accepted = conversation.messages[1].attempts
    assert (rejected.prompt, accepted.prompt.name) == (None, "assistant/repair_other")


async def test_an_agent_is_called_with_the_conversations_thread():
    agent, user = Recording(), Recording()
    conversation = await talk(in_cast(agent.graph, user_simulator=user.graph))
    assert {config["thread_id"] for config in agent.configs} == {conversation.id}
    assert {config["thread_id"] for config in user.configs} == {f"{conversation.id}-user"}
    again = await talk(in_cast(agent.graph), repeat=2)
    assert agent.configs[-1]["thread_id"] == f"{again.id}-2"


async def test_the_settings_of_a_run_reach_the_agent_and_the_conversations_checkpoints_do_not():
    agent = persistent()
    graph = conversation(in_cast(agent.graph), checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "outer", "tone": "warm"}}
    state = await graph.ainvoke(recllmsim.scenario(ABOUT), config, context=Limits(max_turns=2))
    assert agent.configs[0]["tone"] == "warm"
    assert agent.configs[0]["thread_id"] == state["origin"]["id"]
    assert agent.heard == TWO_TURNS


async def test_an_agents_runtime_has_the_limits_of_the_conversation_as_its_context():
    contexts: list[Any] = []

    async def answer(state: MessagesState, runtime: Runtime[Limits]) -> dict[str, Any]:
        contexts.append(runtime.context)
        return {"messages": [AIMessage("Yes.")]}

    graph = StateGraph(MessagesState, context_schema=Limits).add_node("answer", answer).add_edge(START, "answer")
    for checkpointer in (None, InMemorySaver()):
        await talk(in_cast(graph.compile(checkpointer=checkpointer)), turns=1)
    assert contexts == [Limits(max_turns=1)] * 2


async def test_an_agent_with_a_checkpointer_is_sent_only_what_is_new_and_its_history_does_not_double():
    agent = persistent()
    conversation = await talk(in_cast(agent.graph), turns=3)
    assert agent.heard[2] == [*TWO_TURNS[1], ("ai", "reply 2"), ("human", "thing 3")]
    thread = await agent.graph.aget_state({"configurable": {"thread_id": conversation.id}})
    assert len(thread.values["messages"]) == 6


async def test_send_all_sends_an_agent_with_a_checkpointer_the_whole_talk_on_an_empty_thread():
    agent = persistent()
    await talk(in_cast(AgentSpeaker("assistant", agent.graph, send="all"), reject="-x"))
    assert agent.heard[:2] == TWO_TURNS
    assert agent.heard[2][:-1] == TWO_TURNS[1]
    assert len(agent.heard[2]) == 4


@pytest.mark.parametrize(
    ("send", "problem"),
    [
        ("new", "send='new' is for an agent that keeps its own history"),
        ("some", "expected 'all' or 'new', got 'some'"),
    ],
)
def test_a_way_of_sending_that_the_agent_does_not_have_is_refused(send, problem):
    with pytest.raises(ContractError, match=problem):
        AgentSpeaker("assistant", Recording().graph, send=send)


@pytest.mark.parametrize("reject", ["x", "xx", "-x", "x-xx"])
async def test_a_rejected_draft_leaves_no_trace_in_the_agents_history(reject):
    agent = persistent()
    conversation = await talk(in_cast(agent.graph, reject=reject), turns=4)
    texts = [message.text for message in conversation.messages]
    for heard in agent.heard:
        of_the_talk = [text for _, text in heard if not text.startswith("<note>")]
        assert of_the_talk == texts[: len(of_the_talk)]
        assert sum(text.startswith("<note>") for _, text in heard) <= 1
    assert not any(text.startswith("<note>") for _, text in agent.heard[-1])
    assert len(agent.heard) == 4 + reject.count("x")


async def test_a_history_in_a_database_has_no_trace_either_and_a_later_process_starts_anew(tmp_path):
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite.aio", reason="needs langgraph-checkpoint-sqlite")
    for _ in range(2):
        async with sqlite.AsyncSqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
            agent = Recording(checkpointer=saver)
            await talk(in_cast(agent.graph, reject="x-x"), turns=3, id="one")
        kinds = [["note" if text.startswith("<note>") else kind for kind, text in heard] for heard in agent.heard]
        assert kinds == [
            ["human"],
            ["human", "note"],
            ["human", "ai", "human"],
            ["human", "ai", "human", "note"],
            ["human", "ai", "human", "ai", "human"],
        ]


async def test_a_thread_without_its_first_checkpoint_is_deleted_before_a_conversation_starts_on_it():
    agent = persistent()
    config: RunnableConfig = {"configurable": {"thread_id": "one"}}
    await agent.graph.ainvoke({"messages": [AIMessage("old")]}, config, durability="exit")
    agent.heard.clear()
    await talk(in_cast(agent.graph), id="one")
    assert [[kind for kind, _ in heard] for heard in agent.heard] == [["human"], ["human", "ai", "human"]]


async def test_a_thread_that_cannot_be_emptied_is_refused_with_what_to_do():
    class Keeping(InMemorySaver):
        async def adelete_thread(self, thread_id: str) -> None:
            raise NotImplementedError

    agent = Recording(checkpointer=Keeping())
    config: RunnableConfig = {"configurable": {"thread_id": "one"}}
    await agent.graph.ainvoke({"messages": [AIMessage("old")]}, config, durability="exit")
    with pytest.raises(ContractError, match="its Keeping cannot delete it: give the agent an empty checkpointer"):
        await invoked(in_cast(agent.graph), id="one")


async def test_the_words_that_the_cast_says_for_an_agent_are_news_to_its_thread():
    agent = persistent()
    await talk(in_cast(agent.graph, reject="xxxx", fallback="I cannot say.", greeting="Hello."))
    assert agent.heard[0] == [("ai", "Hello."), ("human", "thing 1")]
    assert agent.heard[-1] == [
        ("ai", "Hello."),
        ("human", "thing 1"),
        ("ai", "I cannot say."),
        ("human", "thing 2"),
    ]


async def test_a_conversation_that_is_simulated_anew_starts_on_an_empty_thread():
    agent = persistent()
    first = await talk(in_cast(agent.graph), id="one")
    agent.heard.clear()
    second = await talk(in_cast(agent.graph), id="one")
    assert (first.id, second.id) == ("one", "one")
    assert [[kind for kind, _ in heard] for heard in agent.heard] == [["human"], ["human", "ai", "human"]]


async def test_conversations_with_one_checkpointer_and_agents_on_both_sides_do_not_share_a_thread():
    saver = InMemorySaver()
    agent, user = Recording(checkpointer=saver), Recording(checkpointer=saver)
    cast = in_cast(agent.graph, user_simulator=user.graph)
    conversation = await talk(cast, turns=2)
    await talk(cast, turns=2, ordinal=1)
    assert [kind for kind, _ in agent.heard[1]] == ["human", "ai", "human"]
    assert [kind for kind, _ in agent.heard[3]] == ["human", "ai", "human"]
    texts = [text for kind, text in user.heard[1] if kind == "ai"]
    assert texts == [conversation.messages[0].text]


async def test_a_persistent_agent_goes_on_from_its_channels_and_they_are_recorded():
    class Shop(MessagesState):
        basket: list[str]

    async def clerk(state: Shop) -> dict[str, Any]:
        basket = [*state.get("basket", []), str(state["messages"][-1].text)[:7]]
        return {"basket": basket, "messages": [AIMessage(", ".join(basket))]}

    graph = StateGraph(Shop).add_node("clerk", clerk).add_edge(START, "clerk").compile(checkpointer=InMemorySaver())
    speaker = AgentSpeaker("assistant", graph, start=lambda scenario: {"basket": ["bag"]})
    conversation = await talk(in_cast(speaker, reject="-x"), turns=2)
    assert conversation.messages[1].attempts[0].kept == {"basket": ["bag", "thing 1"]}
    assert [len(attempt.kept["basket"]) for attempt in conversation.messages[3].attempts] == [3, 3]


async def test_a_post_question_is_sent_to_an_agent_and_leaves_its_thread_alone():
    agent = persistent()
    cast = recllmsim.cast(assistant=agent.graph, post_questions=True)
    conversation = await talk(cast, turns=1)
    assert "<note>" in agent.heard[-1][-1][1]
    thread = await agent.graph.aget_state({"configurable": {"thread_id": conversation.id}})
    assert [message.type for message in thread.values["messages"]] == ["human", "ai"]


async def test_an_agent_that_takes_old_messages_out_of_its_history_is_understood():
    async def short(state: MessagesState) -> dict[str, Any]:
        gone = [RemoveMessage(id=str(message.id)) for message in state["messages"][:-1]]
        return {"messages": [*gone, AIMessage(f"of {len(state['messages'])}")]}

    graph = StateGraph(MessagesState).add_node("short", short).add_edge(START, "short")
    conversation = await talk(in_cast(graph.compile(checkpointer=InMemorySaver()), reject="-x"), turns=3)
    assert [m.text for m in conversation.messages if m.role == "assistant"] == ["of 1", "of 4", "of 2"]
    assert conversation.failure is None


async def test_an_agent_with_a_checkpointer_conforms():
    await conformance.conforms("assistant", persistent().graph)
    await conformance.conforms("user_simulator", persistent().graph)
