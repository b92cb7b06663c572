"""What an agent is lent for a conversation: a thread, a store, a context; and what it is sent of it."""

import asyncio
import copy
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import tool
from langgraph._internal import _constants as private
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store
from langgraph.func import entrypoint
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, ToolRuntime
from langgraph.pregel.remote import RemoteGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from typing_extensions import TypedDict

from duologue.errors import SettingError
from duologue.graphs import conversation, recllmsim
from duologue.graphs.records import begun
from duologue.graphs.scenarios.forks import forked
from duologue.nodes import AgentSpeaker, Limits, scoring
from duologue.nodes import langgraph_names as names
from duologue.nodes.contract import ContractError
from duologue.nodes.messages import Talk
from duologue.nodes.scorers import agent_channels
from duologue.nodes.speakers import agents, tools
from tests.graphs.agents.talks import (
    ABOUT,
    Heard,
    call,
    calls_of,
    cast_of,
    chain,
    first_draft,
    heard,
    lines,
    looped,
    replies,
    run,
    talk,
)


class Shop(MessagesState):
    basket: list[str]


async def clerk(state: Shop) -> dict[str, Any]:
    """Puts the customer's last words into the basket."""
    await asyncio.sleep(0)
    basket = [*state.get("basket", []), str(state["messages"][-1].text)[:6]]
    return {"basket": basket, "messages": [AIMessage(f"{len(basket)} in {len(state['messages'])}")]}


def shop(**compiled: Any) -> Any:
    return chain(Shop, clerk=clerk).compile(name="clerk", **compiled)


# What it is sent


@pytest.mark.parametrize("compiled", [{}, {"checkpointer": InMemorySaver()}])
async def test_an_agent_goes_on_from_its_history_and_is_sent_nothing_else_than_the_talk(compiled: Any) -> None:
    agent = Heard(**compiled)
    conversation = await talk(agent.graph, turns=3)
    texts = [message.text for message in conversation.messages]
    assert agent.calls == [texts[:1], texts[:3], texts[:5]]
    assert [message.prompt for message in conversation.messages if message.role == "assistant"] == [None] * 3
    for saver in compiled.values():
        assert not saver.storage  # its own is not used


@pytest.mark.parametrize("form", ["function", "runnable", "last value", "entrypoint"])
async def test_what_keeps_no_history_is_sent_the_whole_talk(form: str) -> None:
    seen: list[list[str]] = []

    def answer(state: Any) -> Any:
        messages = state["messages"] if isinstance(state, dict) else state
        seen.append([m["content"] if isinstance(m, dict) else str(m.text) for m in messages])
        said = AIMessage(f"reply {len(seen)}")
        return {"messages": [*messages, said]} if form == "last value" else said

    @entrypoint(checkpointer=InMemorySaver())
    def functional(messages: list[Any]) -> Any:
        return answer(messages)

    class Last(TypedDict):
        messages: list[Any]

    forms = {
        "function": lambda messages: answer(messages),
        "runnable": RunnableLambda(answer),
        "entrypoint": functional,
    }
    agent = forms.get(form) or chain(Last, desk=answer).compile()
    await talk(agent)
    assert seen == [["line 1"], ["line 1", "reply 1", "line 2"]]


@pytest.mark.parametrize("is_async", [False, True])
async def test_an_entrypoint_that_has_its_last_result_is_sent_only_what_is_new(is_async: bool) -> None:
    def chat(messages: list[Any], *, previous: list[str] | None = None) -> Any:
        known = [*(previous or []), *heard(messages)]
        return entrypoint.final(value=AIMessage(" | ".join(known)), save=known)

    async def chat_async(messages: list[Any], *, previous: list[str] | None = None) -> Any:
        return chat(messages, previous=previous)

    agent = entrypoint(checkpointer=InMemorySaver())(chat_async if is_async else chat)
    conversation = await talk(agent, turns=3, reject="-x")
    assert replies(conversation)[0] == "line 1"
    assert [one.text for one in conversation.messages[3].attempts] == ["line 1 | line 2", "line 1 | line 2 | <note>"]
    assert replies(conversation)[2] == "line 1 | line 2 | <note> | line 3"


class Rag(TypedDict):
    question: str
    asked: Annotated[list[str], lambda old, new: [*old, *new]]
    result: NotRequired[Any]


@tool
def look(page: int) -> str:
    """Look a page up."""
    return f"page {page}"


RAG = chain(Rag, desk=lambda state: {}).compile()  # by its import path


async def test_a_graph_without_messages_reads_a_channel_and_answers_in_another() -> None:
    def find(state: Rag) -> Any:
        first, *note = state["question"].split("\n\n", 1)
        assert not note or note[0].startswith("<note>")
        return {"asked": [first]}

    def answer(state: Rag) -> Any:
        page = look.invoke({"page": 7}) if len(state["asked"]) < 3 else None
        return {"result": {"text": f"{state['asked']}", "pages": [page]}} if page else {}

    agent = chain(Rag, find=find, answer=answer).compile()
    conversation = await talk(
        AgentSpeaker("assistant", agent, reads="question", answers="result"), reject="-x", turns=3
    )
    # What it answered last is no answer to the third question.
    assert replies(conversation) == ["['line 1']", "['line 1', 'line 2']"]
    assert conversation.messages[3].kept["result"]["pages"] == ["page 7"]
    assert [step.node for step in first_draft(conversation).steps] == ["find", "answer"]
    assert conversation.provenance.nodes["assistant"].settings["answers"] == "result"


async def test_a_history_of_another_name_is_read_as_messages_with_steps_and_calls() -> None:
    class Talked(TypedDict):
        history: Annotated[list[Any], add_messages]

    def model(state: Talked) -> Any:
        said = [message.text for message in state["history"] if message.type == "human"]
        looked = state["history"][-1].type == "tool"
        return {
            "history": [
                AIMessage(" ".join(said) if looked else "", tool_calls=[] if looked else [call("look", page=7)])
            ]
        }

    agent = chain(Talked, model=model, tools=ToolNode([look], messages_key="history"), end=model).compile()
    conversation = await talk(AgentSpeaker("assistant", agent, reads="history", answers="history"))
    assert replies(conversation) == ["line 1", "line 1 line 2"]
    assert [calls_of(draft) for draft in conversation.attempts("assistant")] == [[("look", {"page": 7}, "page 7")]] * 2


@pytest.mark.parametrize(
    ("choice", "wrong"),
    [
        ("", "no 'messages', only asked, question, result: say which channel gets the words"),
        ("?in=question", "only .in=NAME&out=NAME may stand"),
        ("?in=question&out=answer", "no 'answer', only asked, question, result"),
    ],
)
def test_channels_that_a_graph_has_not_are_refused(choice: str, wrong: str) -> None:
    with pytest.raises((ContractError, SettingError), match=wrong):
        assert cast_of(f"{__name__}:RAG{choice}").nodes


def test_channels_stand_after_an_import_path() -> None:
    node: Any = cast_of(f"{__name__}:RAG?in=question&out=result").nodes["assistant"]
    assert (node.agent, node.reads, node.answers) == (RAG, "question", "result")


async def test_an_agent_that_plays_the_user_is_sent_its_part_anew_each_time() -> None:
    agent = Heard()
    await run(recllmsim.cast(agent.graph, lambda messages: "Yes."), turns=2)
    assert "You want a quiet room." in agent.calls[0][1]
    assert [len(sent) for sent in agent.calls] == [2, 4]
    assert agent.calls[1][2] == "reply 1"
    assert agent.calls[1][3].startswith("Yes.")


async def test_the_words_that_the_cast_says_for_an_agent_are_news_to_its_thread() -> None:
    agent = Heard()
    await talk(agent.graph, reject="xxxx", fallback="I cannot say.", greeting="Hello.")
    assert agent.calls[0] == ["Hello.", "line 1"]
    assert agent.calls[-1] == ["Hello.", "line 1", "I cannot say.", "line 2"]


async def test_an_agent_that_takes_old_messages_out_of_its_history_is_understood() -> None:
    async def short(state: MessagesState) -> dict[str, Any]:
        gone = [RemoveMessage(id=str(message.id)) for message in state["messages"][:-1]]
        return {"messages": [*gone, AIMessage(f"of {len(state['messages'])}")]}

    assert replies(await talk(chain(short=short).compile(), turns=3, reject="-x")) == ["of 1", "of 4", "of 2"]


async def test_a_post_question_is_asked_with_the_whole_talk_and_changes_nothing() -> None:
    agent = Heard()
    conversation = await run(recllmsim.cast(lines(), agent.graph, opens="user", post_questions=True), turns=1)
    assert agent.calls[1][-1] == "<note>"
    assert conversation.labels["post_questions"]
    assert replies(conversation) == ["reply 1"]


# Conversations share nothing


class Swarm(MessagesState):
    active_agent: str


@pytest.mark.parametrize("compiled", [{}, {"checkpointer": InMemorySaver()}])
async def test_who_speaks_in_a_swarm_lasts_for_a_conversation_with_and_without_a_checkpointer(compiled: Any) -> None:
    def alice(state: Swarm) -> Any:
        return {"messages": [AIMessage("Alice here.", name="alice")], "active_agent": "bob"}

    graph = StateGraph(Swarm).add_node("alice", alice)
    graph.add_node("bob", lambda state: {"messages": [AIMessage("Bob here.", name="bob")]})
    graph.add_conditional_edges(START, lambda state: state.get("active_agent") or "alice", ["alice", "bob"])
    agent = graph.compile(**compiled)
    for repeat in range(2):
        conversation = await run(cast_of(agent), turns=3, repeat=repeat)
        assert replies(conversation) == ["Alice here.", "Bob here.", "Bob here."]
        assert conversation.messages[-1].kept == {"active_agent": "bob"}


async def test_conversations_at_once_share_no_thread_store_or_channel() -> None:
    async def greedy(state: Shop) -> dict[str, Any]:
        await asyncio.sleep(0)
        store = get_store()
        store.put(("seen",), str(state["messages"][-1].id), {})
        state.setdefault("basket", []).append("in place, as one should not")
        counts = len(store.search(("seen",))), len(state["messages"]), len(state["basket"])
        return {"messages": [AIMessage(str(counts))], "basket": state["basket"]}

    store = InMemoryStore()
    store.put(("seen",), "before", {})
    agent = chain(Shop, greedy=greedy).compile(checkpointer=InMemorySaver(), store=store)
    speaker = AgentSpeaker("assistant", agent)
    kept = set(agents._DIRECT)
    talks = await asyncio.gather(*(run(cast_of(speaker), repeat=repeat) for repeat in range(5)))
    assert set(agents._DIRECT) == kept  # a run lets them go with their conversations
    assert [replies(one) for one in talks] == [["(2, 1, 1)", "(3, 3, 2)"]] * 5
    assert len(store.search(("seen",))) == 1


async def test_agents_on_both_sides_have_a_thread_each_by_the_conversations_id_and_repeat() -> None:
    agent, user = Heard(), Heard()
    conversation = await talk(agent.graph, user_simulator=user.graph)
    again = await run(cast_of(agent.graph), repeat=2)
    threads = [[config["configurable"]["thread_id"] for config in one.configs] for one in (agent, user)]
    assert threads == [[conversation.id] * 2 + [f"{again.id}-2"] * 2, [f"{conversation.id}-user"] * 2]
    assert [len(sent) for sent in user.calls] == [2, 4]


async def test_a_store_that_is_not_in_memory_is_shared_and_said(caplog: Any) -> None:
    class Database(BaseStore):
        kept = InMemoryStore()

        def batch(self, ops: Any) -> Any:
            return self.kept.batch(ops)

        async def abatch(self, ops: Any) -> Any:
            return await self.kept.abatch(ops)

    def count(state: MessagesState) -> Any:
        store = get_store()
        store.put(("all",), str(len(store.search(("all",)))), {})
        return {"messages": [AIMessage(str(len(store.search(("all",)))))]}

    agent = chain(count=count).compile(store=Database())
    assert [replies(await talk(agent)) for _ in range(2)] == [["1", "2"], ["3", "4"]]
    assert "share the agent's store (Database)" in caplog.text


# A rejected draft has not happened


@pytest.mark.parametrize("reject", ["x", "xx", "-x", "x-xx"])
async def test_a_rejected_draft_leaves_no_trace_in_the_history(reject: str) -> None:
    agent = Heard()
    conversation = await talk(agent.graph, reject=reject, turns=4)
    texts = [message.text for message in conversation.messages]
    for sent in agent.calls:
        said = [text for text in sent if text != "<note>"]
        assert said == texts[: len(said)]
        assert "<note>" not in sent[:-1]
    assert (len(agent.calls), agent.calls[-1][-1]) == (4 + reject.count("x"), texts[-2])
    last = conversation.messages[1].attempts[-1]
    assert (last.prompt.name if last.prompt else None) == ("assistant/repair_other" if reject[0] == "x" else None)


class Rooms:
    """A world that can be put back."""

    def __init__(self) -> None:
        self.booked: list[str] = []

    def snapshot(self) -> list[str]:
        return self.booked

    def restore(self, snapshot: list[str]) -> None:
        self.booked = snapshot


@tool
def book(room: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Book a room."""
    runtime.context.world.booked.append(room)
    runtime.store.put(("booked",), room, {})
    earlier = [item.key for item in runtime.store.search(("booked",)) if item.key[0] != room[0]]  # not those at once
    return f"{room}: {len(earlier)} in the store"


async def test_thread_subgraph_store_channels_and_world_go_back_behind_parallel_calls() -> None:
    """The subgraph has a thread of its own, which LangGraph keeps between the turns."""

    def desk(state: Shop) -> Any:
        if isinstance(state["messages"][-1], ToolMessage):
            return {"messages": [AIMessage(f"Booked {state['basket']}.")]}
        turn = sum(isinstance(message, HumanMessage) for message in state["messages"])
        rooms = [f"{turn}a", f"{turn}b"]
        calls = [call("book", room, room=room) for room in rooms]
        return {"messages": [AIMessage("", tool_calls=calls)], "basket": [*state.get("basket", []), *rooms]}

    inner = looped(desk, ToolNode([book]), Shop).compile(checkpointer=True)
    agent = chain(desk=inner).compile(checkpointer=InMemorySaver())
    world, seen = Rooms(), list[Any]()

    async def judge(state: Any, runtime: Any) -> Any:
        seen.append([*world.booked])
        return {"verdicts": [{"accepted": len(seen) not in (1, 3, 4), "reason": "rude"}]}

    cast = cast_of(agent, world=lambda scenario: world, answer_validator=judge)
    conversation = await run(cast, turns=2)
    assert [len(found) for found in seen] == [2, 2, 4, 4, 4]
    assert len(world.booked) == 4
    for message, rooms in zip(conversation.messages[1::2], (2, 4), strict=True):
        assert len(set(map(str, map(calls_of, message.attempts[1:])))) == 1
        assert [result for *_, result in calls_of(message.attempts[-1])][-1].endswith(f"{rooms - 2} in the store")
        assert message.text == f"Booked {sorted(world.booked[:rooms])}."
    assert len(conversation.messages[3].attempts) == 3


async def test_a_rejected_draft_has_not_happened_to_the_channels_and_one_behind_a_fallback_neither() -> None:
    conversation = await talk(shop(), reject="xx--x", turns=3)
    assert [len(attempt.kept["basket"]) for attempt in conversation.attempts("assistant")] == [1, 1, 1, 2, 3, 3]
    fallen = await talk(shop(), reject="xxxx", fallback="Sorry.")
    assert (fallen.messages[3].text, fallen.messages[3].kept) == ("1 in 3", {"basket": ["line 2"]})
    standing = await talk(shop(), reject="xxxx")
    assert standing.messages[3].kept["basket"][1] == "line 2"


# Channels


async def test_all_plain_channels_are_recorded_and_scored_and_others_are_the_agents_own(tmp_path: Any) -> None:
    class Connection:
        """It cannot be serialized, nor copied."""

        def __init__(self) -> None:
            self.lock, self.calls = threading.Lock(), 0

    class Held(Shop):
        connection: Any
        things: Any
        structured_response: Any

    connection = Connection()

    def desk(state: Held) -> Any:
        held = state.get("connection") or connection
        held.calls += 1
        done = {"basket": ["a bag"], "things": {1, 2}, "connection": held}
        return done | {"messages": [AIMessage(f"{held.calls} {sorted(state.get('things') or ())}")]}

    cast = cast_of(chain(Held, desk=desk).compile(), reject="-x")
    cast = cast.replace(closing=scoring(things=lambda state: len(agent_channels(state)["basket"])))
    conversation = await run(cast)
    assert replies(conversation) == ["1 []", "3 [1, 2]"]
    assert conversation.messages[-1].kept == {"basket": ["a bag"]}
    assert conversation.scores["things"]["value"] == 1


async def test_a_runnable_goes_on_from_its_channels_though_it_gives_them_only_when_they_change() -> None:
    def once(state: dict[str, Any]) -> Any:
        new = {"basket": ["a bag"]} if len(state["messages"]) == 1 else {}
        return {"messages": [AIMessage(str(state.get("basket")))], **new}

    assert replies(await talk(RunnableLambda(once), turns=3)) == ["None", "['a bag']", "['a bag']"]


# Context


@dataclass
class Own:
    customer: str = "nobody"
    world: Any = None


@dataclass
class Required:
    customer: str
    rooms: list[str] = field(default_factory=list)


class RequiredKeys(TypedDict):
    customer: str
    note: NotRequired[str]


def greeting(schema: Any) -> Any:
    def answer(state: MessagesState, runtime: Runtime[Any]) -> Any:
        own = runtime.context
        name = own.get("customer") if isinstance(own, dict) else getattr(own, "customer", type(own).__name__)
        return {"messages": [AIMessage(f"For {name}.")]}

    return chain(schema=schema, answer=answer).compile()


@pytest.mark.parametrize(
    ("schema", "context", "name"),
    [
        (Own, None, "nobody"),
        (Own, Own("the guest"), "the guest"),
        (Own, lambda scenario, world: Own(f"{scenario['task']}, {world}"), "book a room, here"),
        (Required, Required("Ann"), "Ann"),
        (RequiredKeys, {"customer": "Ann"}, "Ann"),
        (Limits, None, "Context"),
        (None, None, "Context"),
        (None, None, "NoneType"),
    ],
)
async def test_a_context_is_a_value_a_function_of_scenario_and_world_or_built_by_default(
    schema: Any, context: Any, name: str
) -> None:
    speaker = AgentSpeaker("assistant", greeting(schema), context=context)
    world = None if name == "NoneType" else lambda scenario: "here"
    assert replies(await talk(speaker, world=world, turns=1)) == [f"For {name}."]


@pytest.mark.parametrize("schema", [Required, RequiredKeys])
def test_a_context_that_must_be_given_is_asked_for_before_the_first_call(schema: Any) -> None:
    with pytest.raises(
        ContractError,
        match=rf"needs a context \({schema.__name__}: .*customer.*\): give --context MODULE:NAME, or context=",
    ):
        conversation(cast_of(greeting(schema)))


# In the conversation's graph


async def test_an_agents_steps_are_in_the_streams_of_the_conversations_graph_and_its_settings_reach_it() -> None:
    agent = Heard()
    graph = conversation(cast_of(agent.graph), checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "outer", "tone": "warm"}}
    spaces = set()
    state: Any = recllmsim.scenario(ABOUT)
    async for space, part in graph.astream(
        state, config, context=Limits(max_turns=2), subgraphs=True, stream_mode="updates"
    ):
        spaces |= {(tuple(one.partition(":")[0] for one in space), node) for node in part}
    assert (("assistant",), "answer") in spaces
    assert agent.calls == [["line 1"], ["line 1", "reply 1", "line 2"]]
    inner = agent.configs[0]["configurable"]
    assert (inner["tone"], inner["thread_id"] != "outer") == ("warm", True)


class Climb(MessagesState):
    step: int


def climber() -> Any:
    def climb(state: Climb) -> dict[str, Any]:
        done = state.get("step", 0) + 1
        return {"step": done} | ({"messages": [AIMessage("On top.")]} if done == 30 else {})

    graph = StateGraph(Climb).add_node("climb", climb).add_edge(START, "climb")
    return graph.add_conditional_edges("climb", lambda state: "climb" if state["step"] < 30 else END).compile()


async def climbs(messages: Any) -> Any:
    return (await climber().ainvoke({"messages": messages}))["messages"][-1]


@pytest.mark.parametrize("agent", [climber(), climbs, lambda m: climber().invoke({"messages": m})["messages"][-1]])
async def test_an_agent_of_more_steps_than_its_conversation_has_its_own_recursion_limit(agent: Any) -> None:
    limits = Limits(max_turns=1, question_attempts=1, answer_attempts=1)
    assert replies(await run(cast_of(agent), limits=limits)) == ["On top."]


@pytest.fixture
def another_process() -> Iterator[Any]:
    """A function that forgets the threads of graphs that are invoked directly, as another process never had them."""
    yield agents._DIRECT.clear
    agents._DIRECT.clear()


async def test_where_the_place_is_not_in_this_process_the_talk_is_sent_anew_with_channels(
    another_process: Any,
) -> None:
    seen: list[list[str]] = []

    def desk(state: Shop) -> Any:
        seen.append([f"{one.type}: {one.text}" for one in state["messages"]])
        basket = [*state.get("basket", []), "a bag"]
        found = [AIMessage("", tool_calls=[call("look")]), ToolMessage("free", tool_call_id="look-1")]
        return {"basket": basket, "messages": [*copy.deepcopy(found), AIMessage(f"{len(basket)} bags.")]}

    cast = cast_of(chain(Shop, desk=desk).compile(), limits=Limits(max_turns=2))
    graph = conversation(cast, checkpointer=InMemorySaver(), interrupt_after=["turn_recorder"])
    config: Any = {"configurable": {"thread_id": "1"}}
    await graph.ainvoke(recllmsim.scenario(ABOUT), config)
    another_process()
    state = await graph.ainvoke(None, config)
    whole = ["human: line 1", "ai: ", "tool: free", "ai: 1 bags.", "human: line 2"]
    assert (seen[1], state["messages"][-1].text) == (whole, "2 bags.")


async def test_a_fork_begins_with_the_talk_and_the_channels_at_its_message() -> None:
    agent, cast = Heard(), cast_of(shop())
    stored = await run(cast.replace(record_memory=True), turns=3)
    state: Any = begun(forked(stored, 3))
    final = await conversation(cast_of(shop(), limits=Limits(max_turns=3))).ainvoke(state)
    assert final["messages"][-1].text == "3 in 5"
    await conversation(cast_of(agent.graph, limits=Limits(max_turns=3))).ainvoke(state)
    assert agent.calls == [[message.text for message in stored.messages[:4]] + ["line 1"]]


async def test_an_agent_that_says_one_object_in_every_turn_has_said_it_in_every_turn() -> None:
    """`add_messages` gives the object an id, and by that puts its second saying in the place of the first."""
    one = AIMessage("Which day?")
    conversation = await talk(chain(desk=lambda state: {"messages": [one]}).compile(), turns=3, reject="-x")
    assert replies(conversation) == ["Which day?"] * 3


async def test_a_served_graph_is_sent_the_whole_talk_on_a_new_thread_each_time() -> None:
    seen: list[list[str]] = []

    class There(RemoteGraph):
        """What a server answers, without the server: plain JSON."""

        async def ainvoke(self, *sent: Any, **more: Any) -> Any:
            seen.append(heard(sent[0]["messages"]))
            said = [*sent[0]["messages"], AIMessage(f"reply {len(seen)}")]
            return {"messages": [one.model_dump(mode="json") for one in said]}

    conversation = await talk(There("agent", url="http://127.0.0.1:1"), reject="--x")
    assert replies(conversation) == ["reply 1", "reply 2"]
    assert seen == [["line 1"], ["line 1", "reply 1", "line 2"]]


@pytest.mark.parametrize("agent", [Heard().graph, lambda messages: str(messages)])
async def test_an_agent_is_sent_what_its_builder_makes(agent: Any) -> None:
    seen: list[Any] = []

    def builder(state: Any) -> Any:
        seen.append(Talk("assistant", "Be brief.")(state))
        return seen[-1]

    await talk(AgentSpeaker("assistant", agent, build=builder))
    assert [[one.text for one in sent][:2] for sent in seen[-1:]] == [["Be brief.", "line 1"]]


def test_the_names_of_langgraph_that_are_not_public_are_still_its_own() -> None:
    ours = (names.RESUMING, names.BETWEEN, names.BEFORE_ID, names.ASKED)
    keys = (private.CONFIG_KEY_RESUMING, private.NS_SEP, private.NS_END)
    assert ours == (*keys, private.INTERRUPT)
    about = dict[str, Any]()

    def fails(state: Any, config: RunnableConfig) -> Any:
        about.update(config["metadata"])
        raise LookupError("no such room")

    with pytest.raises(LookupError) as raised:
        chain(desk=fails).compile().invoke({"messages": []})
    assert (about[names.NODE], about[names.SPACE].partition(names.BEFORE_ID)[0]) == ("desk", "desk")
    assert raised.value.__notes__[0].startswith(f"{names.TASK}desk'")

    async def awaits(state: MessagesState) -> Any:
        return {}

    @entrypoint()
    def chat(messages: list[Any], *, previous: Any = None) -> Any:
        return previous

    plain, awaiting = (chain(desk=node).compile() for node in (lambda state: {}, awaits))
    assert [tools.blocks_the_loop(one) for one in (plain, awaiting)] == [False, True]
    assert (tools.joins_messages(plain), tools.keeps_messages(chat)) == (True, True)
    assert [name for name, _ in tools.tools_of(looped(awaits, ToolNode([book])).compile())] == ["book"]
