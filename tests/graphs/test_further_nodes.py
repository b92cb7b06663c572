"""Further nodes: a moderator between the turns, who speaks, ends the conversation, or sends it elsewhere."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, Send, interrupt

import duologue
from duologue import data, graphs, nodes, runs
from duologue.data.checks import check
from duologue.data.people.next_turns import moments_of
from duologue.data.recllmsim.dataset import unsupported_fields
from duologue.data.summaries.counts import count
from duologue.errors import SettingError
from duologue.graphs import agent_test, simquac
from duologue.graphs.scenarios.forks import forked, replayed
from duologue.nodes import Limits
from duologue.nodes.contract import ContractError
from duologue.nodes.messages.building import plain_messages

TOPIC = data.simquac.samples()[0]


def moderated(node, place="turn_recorder", cast=None, **more):
    return graphs.conversation(cast or simquac.cast(), after={place: {"moderator": node, **more}})


async def played(graph, turns=3):
    return graphs.record(await graph.ainvoke(simquac.scenario(TOPIC), context=Limits(max_turns=turns)))


async def test_what_a_moderator_says_is_recorded_with_its_name_and_read_by_both_sides():
    read = {}

    async def user(state, runtime):
        read["user"] = [message["text"] for message in nodes.said(state)]
        return {"drafts": [{"text": f"question {state['turn']}"}]}

    def agent(messages):
        read["agent"] = [message["content"] for message in messages]
        return "answer"

    cast = graphs.Cast(name="talk", user_simulator=user, assistant=agent, assistant_view=plain_messages("assistant"))
    graph = moderated(lambda state: f"Turn {state['turn']} is over." if state["turn"] == 1 else None, cast=cast)
    state = await graph.ainvoke({"scenario": {"kind": "talk"}}, context=Limits(max_turns=2))
    conversation = graphs.record(state)
    said = [(message.role, message.name, message.text) for message in conversation.messages]
    assert said == [
        ("user", None, "question 0"),
        ("assistant", None, "answer"),
        ("user", "moderator", "Turn 1 is over."),
        ("user", None, "question 1"),
        ("assistant", None, "answer"),
    ]
    assert "moderator: Turn 1 is over." in read["user"]
    assert any("moderator: Turn 1 is over." in text for text in read["agent"])
    assert [len(exchange.user) for exchange in conversation.exchanges] == [1, 1]
    assert conversation == data.Conversation.model_validate(conversation.model_dump(mode="json"))
    assert state["messages"][2] == HumanMessage("Turn 1 is over.", name="moderator", id=state["messages"][2].id)


async def test_published_formats_leave_a_third_ones_messages_out_and_say_so(tmp_path):
    conversation = await played(moderated(lambda state: "Go on."))
    assert [message.name for message in conversation.messages].count("moderator") == 2
    written = tmp_path / "set.json"
    assert any("third role (2)" in line for line in data.simquac.write([conversation], written))
    assert unsupported_fields(conversation)["messages of a third role"] == 2
    assert "Go on." not in written.read_text()
    assert len(data.load(written)[0].messages) == 6


async def test_a_moderator_ends_the_conversation_by_a_reason_or_by_a_command():
    for node in (lambda state: {"stop": "user_ended"}, lambda state: Command(update={"stop": "user_ended"}, goto=END)):
        conversation = await played(moderated(node))
        assert (conversation.stop, len(conversation.messages)) == ("user_ended", 2)


async def test_a_moderator_sends_the_way_elsewhere():
    sent = []

    async def again(state, config):
        sent.append(config["metadata"]["langgraph_node"])
        return Command(update={"messages": ["The same once more."]}, goto="assistant_prompt_selector")

    graph = moderated(lambda state: None if sent else Command(goto="second"), "question_validator")
    graph = graphs.conversation(
        simquac.cast(), after={"question_validator": {"moderator": RunnableLambda(lambda state: None), "second": again}}
    )
    conversation = await played(graph, turns=2)
    assert sent == ["second", "second"]
    assert [message.name for message in conversation.messages] == [None, "second", None] * 2


async def test_a_regeneration_and_a_stop_pass_no_further_node():
    asked = []
    cast = simquac.cast(user="offline?misbehave=0.9", assistant="offline?misbehave=0.5")
    graph = graphs.conversation(
        cast, after={place: {f"after {place}": lambda state: asked.append(len(state["messages"]))} for place in
                     ("question_validator", "answer_validator", "turn_recorder")},
    )  # fmt: skip
    conversation = await played(graph, turns=3)
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
        await played(moderated(lambda state: answer))


@pytest.mark.parametrize(
    "after", [{"assistant": {"moderator": str}}, {"turn_recorder": {"closing": str}}, {"nowhere": {}}]
)
def test_a_place_where_no_further_node_stands_is_refused(after):
    with pytest.raises(ContractError, match="after: "):
        graphs.builder(simquac.cast(), after=after)


async def test_it_is_drawn_streamed_and_simulated_by_the_thousand():
    graph = moderated(lambda state: AIMessage("Well."))
    drawn = {(edge.source, edge.target) for edge in graph.get_graph().edges}
    assert {("turn_recorder", "moderator"), ("moderator", "user_prompt_selector"), ("moderator", "closing")} <= drawn
    assert ("turn_recorder", "user_prompt_selector") not in drawn
    scenarios = simquac.scenarios([TOPIC])
    [conversation] = await duologue.asimulate(graph, scenarios, limits=Limits(max_turns=2))
    assert [message.name for message in conversation.messages] == [None, None, "moderator", None, None]
    assert {edge.count for edge in conversation.edges if edge.target == "moderator"} == {1}
    assert "moderator" in conversation.provenance.nodes


async def test_a_compiled_graph_is_simulated_into_a_folder_and_by_no_further_processes(tmp_path):
    after = {"turn_recorder": {"moderator": lambda state: "Well."}}
    stops = {"checkpointer": InMemorySaver(), "interrupt_before": ["assistant"], "interrupt_after": ["moderator"]}
    graph, scenarios = graphs.conversation(simquac.cast(), after=after, **stops), simquac.scenarios([TOPIC])
    await duologue.asimulate(graph, scenarios, limits=Limits(max_turns=2), out=tmp_path / "run")
    [conversation] = data.load(tmp_path / "run")
    assert conversation.messages[2].name == "moderator"
    with pytest.raises(SettingError, match="give its cast"):
        await duologue.asimulate(graph, scenarios, conduct=runs.Conduct(processes=2))
    with pytest.raises(ContractError, match="has no cast"):
        await duologue.asimulate(StateGraph(MessagesState).add_edge(START, END).compile(), scenarios)


PLACES = ("question_validator", "answer_validator", "turn_recorder")


async def simulated(graph, scenario=None, turns=2):
    [conversation] = await duologue.asimulate(
        graph, [scenario or simquac.scenario(TOPIC)], limits=Limits(max_turns=turns)
    )
    return conversation


async def test_a_compiled_graph_of_messages_says_what_is_new_alone():
    inner = StateGraph(MessagesState)
    inner.add_node("thinks", lambda state: {"messages": [AIMessage("Well.")]})
    conversation = await played(moderated(inner.add_edge(START, "thinks").compile()), turns=2)
    assert [message.name for message in conversation.messages] == [None, None, "moderator", None, None]


@pytest.mark.parametrize("goto", [END, [END], "closing"])
async def test_a_way_to_the_end_without_a_reason_is_that_the_user_ended_it(goto):
    conversation = await simulated(moderated(lambda state: Command(goto=goto)))
    assert (conversation.stop, len(conversation.messages), conversation.failure) == ("user_ended", 2, None)
    assert {edge.target for edge in conversation.edges if edge.source == "moderator" and edge.count} == {"closing"}


async def test_a_run_records_why_a_conversation_has_no_end():
    conversation = await simulated(moderated(lambda state: interrupt("?")))
    assert (conversation.stop, conversation.failure.node) == ("model_failed", "graph")
    assert "ended without a stop reason" in conversation.failure.error


async def test_further_nodes_leave_the_steps_of_a_run_enough_for_all_turns():
    graph = graphs.conversation(
        simquac.cast(), after={"turn_recorder": {f"moderator {number}": lambda state: None for number in range(12)}}
    )
    limits = Limits(max_turns=4, question_attempts=1, answer_attempts=1)
    [conversation] = await duologue.asimulate(graph, [simquac.scenario(TOPIC)], limits=limits)
    assert (conversation.stop, conversation.failure) == ("max_turns", None)


async def test_an_exit_within_a_moderator_ends_its_own_conversation_alone():
    def leaves(state):
        raise SystemExit(3)

    conversation = await simulated(moderated(leaves))
    assert (conversation.stop, conversation.failure.node) == ("model_failed", "moderator")


async def test_a_users_draft_under_way_after_a_moderators_message_is_the_users():
    async def fails(state, runtime):
        if state["turn"]:
            raise RuntimeError("down")
        return {"verdicts": [{"accepted": True}]}

    conversation = await simulated(
        moderated(lambda state: "Well.", cast=simquac.cast().replace(question_validator=fails))
    )
    assert [(turn.role, turn.after) for turn in conversation.unsaid] == [("user", 3)]


@pytest.mark.parametrize("place", PLACES)
async def test_a_replay_takes_no_word_of_a_moderator_for_the_users(place):
    graph = moderated(lambda state: "Well.", place)
    stored = await simulated(graph)
    again = await simulated(graph, replayed(stored))
    assert (again.forks, again.messages) == (None, stored.messages)
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
    for edit in (None, "Now then."):
        read.clear()
        fork = await simulated(graph, forked(stored, 2, edit=edit), turns=3)
        assert (fork.messages[2].name, fork.messages[2].stored) == ("moderator", False)
        assert [message.role for message in fork.messages[3:5]] == ["user", "assistant"]
        assert read[0][:3] == [None, None, "moderator"]


@pytest.mark.parametrize("place", PLACES)
async def test_a_moderators_message_is_shown_by_its_name_and_counted_for_no_side(place):
    conversation = await simulated(moderated(lambda state: "Well.", place))
    assert "moderator: Well." in str(conversation)
    assert '<p class="who">moderator ' in duologue.show(conversation)._repr_html_()
    assert [side.messages for side in count([conversation]).sides] == [2, 2]
    said = [message.text for message in conversation.messages if message.role == "user" and message.name is None]
    assert [moment.text for moment in moments_of([conversation])][:2] == said


async def test_what_a_moderator_says_is_no_success_of_the_user():
    goal = {"goal": "Ask", "first_message": "Hello", "success": {"text_contains": {"all": ["ticket"], "side": "user"}}}
    graph = moderated(lambda state: "The ticket is 12.", "question_validator", agent_test.cast())
    conversation = await simulated(graph, agent_test.scenarios([goal])[0])
    assert "moderator" in [message.name for message in conversation.messages]
    assert conversation.labels["scores"]["success"]["value"] is False


async def test_a_moderator_breaks_no_rule_of_the_two_sides():
    conversation = await played(moderated(lambda state: "Go on."))
    assert not [found for found in check(conversation) if found.rule.startswith("same-side")]
