"""Further nodes: a moderator between the turns, who speaks, ends the conversation, or sends it elsewhere."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, Send, interrupt

import duologue
from duologue import data, graphs, nodes
from duologue.data.checks import check
from duologue.data.people import moments_of
from duologue.data.summaries import count
from duologue.errors import SettingError
from duologue.graphs import agent_test, simquac
from duologue.graphs.scenarios.forks import forked, replayed
from duologue.nodes import Limits
from duologue.nodes.contract import ContractError
from duologue.nodes.messages import plain_messages
from tests.graphs.played import SCENARIO, talk

TOPIC = data.simquac.samples()[0]
PLACES = ("question_validator", "answer_validator", "turn_recorder")


def moderated(node, place="turn_recorder", cast=None, **more):
    return graphs.conversation(cast or simquac.cast(), after={place: {"moderator": node, **more}})


async def simulated(graph, scenario=None, turns=2):
    [conversation] = await duologue.asimulate(
        graph, [scenario or simquac.scenario(TOPIC)], limits=Limits(max_turns=turns)
    )
    return conversation


def names(conversation):
    return [message.name for message in conversation.messages]


# What it says


@pytest.mark.parametrize(
    "node",
    [
        lambda state: "Go on.",
        lambda state: AIMessage("Go on."),
        lambda state: {"messages": ["Go on."]},
        StateGraph(MessagesState).add_node("thinks", lambda state: {"messages": [AIMessage("Go on.")]})
        .add_edge(START, "thinks").compile(),
    ],
)  # fmt: skip
async def test_what_a_moderator_says_is_recorded_with_its_name_and_read_by_both_sides(node):
    read = {}

    async def user(state, runtime):
        read["user"] = [message["text"] for message in nodes.said(state)]
        return {"drafts": [{"text": f"question {state['turn']}"}]}

    def agent(messages):
        read["agent"] = [message["content"] for message in messages]
        return "answer"

    cast = talk(user_simulator=user, assistant=agent, assistant_view=plain_messages("assistant"))
    state = await moderated(node, cast=cast).ainvoke(SCENARIO)
    conversation = graphs.record(state)
    assert [(message.role, message.name, message.text) for message in conversation.messages[1:4]] == [
        ("assistant", None, "answer"), ("user", "moderator", "Go on."), ("user", None, "question 1"),
    ]  # fmt: skip
    assert "moderator: Go on." in read["user"]
    assert any("moderator: Go on." in text for text in read["agent"])
    assert [len(exchange.user) for exchange in conversation.exchanges] == [1, 1]
    assert conversation == data.Conversation.model_validate(conversation.model_dump(mode="json"))
    assert state["messages"][2] == HumanMessage("Go on.", name="moderator", id=state["messages"][2].id)


@pytest.mark.parametrize("place", PLACES)
async def test_a_moderators_message_is_shown_by_its_name_and_is_of_neither_side(place):
    conversation = await simulated(moderated(lambda state: "Well.", place))
    assert "moderator: Well." in str(conversation)
    assert '<p class="who">moderator ' in duologue.show(conversation)._repr_html_()
    assert [side.messages for side in count([conversation]).sides] == [2, 2]
    assert not [found for found in check(conversation) if found.rule.startswith("same-side")]
    said = [message.text for message in conversation.messages if message.role == "user" and message.name is None]
    assert [moment.text for moment in moments_of([conversation])][:2] == said


async def test_what_a_moderator_says_is_no_success_of_the_user():
    goal = {"goal": "Ask", "first_message": "Hello", "success": {"text_contains": {"all": ["ticket"], "side": "user"}}}
    graph = moderated(lambda state: "The ticket is 12.", "question_validator", agent_test.cast())
    conversation = await simulated(graph, agent_test.scenarios([goal])[0])
    assert "moderator" in names(conversation)
    assert conversation.scores["success"]["value"] is False


async def test_a_users_draft_under_way_after_a_moderators_message_is_the_users():
    async def fails(state, runtime):
        if state["turn"]:
            raise RuntimeError("down")
        return {"verdicts": [{"accepted": True}]}

    conversation = await simulated(moderated(lambda state: "Well.", cast=talk(question_validator=fails)), SCENARIO)
    assert [(turn.role, turn.after) for turn in conversation.unsaid] == [("user", 3)]


# Where it leads


@pytest.mark.parametrize(
    "answer",
    [
        {"stop": "user_ended"},
        Command(update={"stop": "user_ended"}, goto=END),
        Command(goto=END),  # without a reason it is that the user ended it
        Command(goto=[END]),
        Command(goto="closing"),
    ],
)
async def test_a_moderator_ends_the_conversation(answer):
    conversation = await simulated(moderated(lambda state: answer))
    assert (conversation.stop, len(conversation.messages), conversation.failure) == ("user_ended", 2, None)
    taken = [edge for edge in data.executed([conversation]).edges if edge.count]
    assert {edge.target for edge in taken if edge.source == "moderator"} == {"closing"}


async def test_a_moderator_sends_the_way_elsewhere():
    sent = []

    async def again(state, config):
        sent.append(config["metadata"]["langgraph_node"])
        return Command(update={"messages": ["The same once more."]}, goto="assistant_prompt_selector")

    def first(state):
        return None if len(sent) != 1 else Command(goto="second")

    graph = moderated(
        RunnableLambda(first), "question_validator", second=again, third=lambda state: sent.append("third")
    )
    conversation = await simulated(graph, turns=2)
    assert sent == ["second", "second"]  # what stands behind it is passed by
    assert names(conversation) == [None, "second", None] * 2


async def test_what_ran_is_counted_where_a_moderator_has_the_assistant_speak_once_more():
    def again(state):
        update = {"messages": ["Once more."]}
        return Command(update=update, goto="assistant_prompt_selector") if state["turn"] == 1 else None

    conversation = await simulated(moderated(again, cast=talk()), SCENARIO, turns=3)
    runs = {node.name: node.runs for node in data.executed([conversation]).nodes}
    assert [runs[name] for name in ("user_simulator", "assistant", "turn_recorder", "moderator")] == [2, 3, 3, 2]


async def test_a_regeneration_and_a_stop_pass_no_further_node():
    asked = []
    cast = simquac.cast(user="offline?misbehave=0.9", assistant="offline?misbehave=0.5")
    after = {place: {f"after {place}": lambda state: asked.append(len(state["messages"]))} for place in PLACES}
    conversation = await simulated(graphs.conversation(cast, after=after), turns=3)
    assert any(len(message.attempts) > 1 for message in conversation.messages)
    assert asked == [1, 2, 2, 3, 4, 4, 5, 6]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Command(goto="nowhere"), "got 'nowhere'"),
        (Command(goto=Send("assistant", {})), "expected a node of the graph or END"),
        ({"message": "?"}, "got the key 'message'"),
        ({"stop": "tired"}, "got 'tired'"),
        (7, "expected a text, a message or an update"),
        ({"labels": 3}, "expected 'labels' to be a dict"),
        ({"labels": {"seen": object()}}, "expected plain JSON values"),
        (RemoveMessage("1"), "got a RemoveMessage"),
    ],
)
async def test_an_answer_that_is_none_is_refused_by_name(answer, problem):
    with pytest.raises(ContractError, match=rf"moderator.*{problem}|{problem}"):
        await moderated(lambda state: answer, cast=talk()).ainvoke(SCENARIO)


# In a run


async def test_a_compiled_graph_is_drawn_and_simulated_into_a_folder_and_not_on_ray(tmp_path):
    stops = {"checkpointer": InMemorySaver(), "interrupt_before": ["assistant"], "interrupt_after": ["moderator"]}
    graph = graphs.conversation(simquac.cast(), after={"turn_recorder": {"moderator": lambda state: "Well."}}, **stops)
    drawn = {(edge.source, edge.target) for edge in graph.get_graph().edges}
    assert {("turn_recorder", "moderator"), ("moderator", "user_prompt_selector"), ("moderator", "closing")} <= drawn
    assert ("turn_recorder", "user_prompt_selector") not in drawn
    scenarios = simquac.scenarios([TOPIC])
    await duologue.asimulate(graph, scenarios, limits=Limits(max_turns=2), out=tmp_path / "run")
    [conversation] = data.load(tmp_path / "run")
    assert names(conversation) == [None, None, "moderator", None, None]
    assert {edge.count for edge in data.executed([conversation]).edges if edge.target == "moderator"} == {1}
    assert conversation.provenance.nodes["moderator"].after == "turn_recorder"
    with pytest.raises(SettingError):
        await duologue.asimulate(graph, scenarios, out=tmp_path / "elsewhere", ray="local")


async def test_an_exit_or_a_wait_for_a_person_within_a_moderator_ends_its_own_conversation_alone():
    def leaves(state):
        raise SystemExit(3)

    for node, place in ((leaves, "moderator"), (lambda state: interrupt("?"), "graph")):
        conversation = await simulated(moderated(node, cast=talk()), SCENARIO)
        assert (conversation.stop, conversation.failure.node) == ("model_failed", place)
    assert "ended without a stop reason" in conversation.failure.error


async def test_further_nodes_leave_the_steps_of_a_run_enough_for_all_turns():
    after = {"turn_recorder": {f"moderator {number}": lambda state: None for number in range(12)}}
    graph = graphs.conversation(talk(), after=after)
    limits = Limits(max_turns=4, question_attempts=1, answer_attempts=1)
    [conversation] = await duologue.asimulate(graph, [SCENARIO], limits=limits)
    assert (conversation.stop, conversation.failure) == ("max_turns", None)


@pytest.mark.parametrize("place", PLACES)
async def test_a_replay_takes_no_word_of_a_moderator_for_the_users(place):
    graph = moderated(lambda state: "Well.", place)
    stored = await simulated(graph)
    again = await simulated(graph, replayed(stored))
    assert (again.forks, again.without_timing().messages) == (None, stored.without_timing().messages)
    without = await simulated(simquac.cast(), replayed(stored))
    assert without.forks is not None
    assert "Well." not in [message.text for message in without.messages]


async def test_a_fork_may_end_with_a_moderators_message_which_stays_its_own():
    read = []

    def moderator(state):
        read.append([message.name for message in state["messages"]])
        return "Well."

    graph = moderated(moderator)
    stored = await simulated(graph, turns=3)
    read.clear()
    fork = await simulated(graph, forked(stored, 2), turns=3)
    assert (fork.messages[2].name, fork.messages[2].stored) == ("moderator", False)
    assert [message.role for message in fork.messages[3:5]] == ["user", "assistant"]
    assert read[0][:3] == [None, None, "moderator"]
