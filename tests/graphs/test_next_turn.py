"""A cast that is asked for one turn of its user, at moments of stored conversations."""

import pytest

import duologue
from duologue import graphs
from duologue.data import Conversation, Message, recllmsim
from duologue.data.people.next_turns import moments_of
from duologue.errors import SettingError
from duologue.graphs.single_turn import cast_for, cast_name, next_turn, state_of
from duologue.nodes.contract import describe
from duologue.nodes.stops import AfterOneAnswer, AfterOneTurn, max_turns
from duologue.runs.people.next_turn import next_turns
from duologue.testing import scripted_model


def stored(*turns, number=0, scenario=None, answered=True):
    """A person's conversation about a shipped situation, each turn answered."""
    if scenario is None:
        situations = recllmsim.combined(recllmsim.shipped_tasks(), recllmsim.shipped_profiles().texts)
        scenario = list(situations)[number].scenario()
    messages = []
    for turn in turns:
        messages += [Message(role="user", text=turn), Message(role="assistant", text=f"You said: {turn}")]
    return Conversation(id=f"c{number}", scenario=scenario, messages=messages if answered else messages[:-1])


def nobody(messages):
    """An assistant that must not be asked."""
    raise AssertionError("the assistant was asked")


def turns_of(cast, *conversations, **more):
    return next_turns(cast, moments_of(conversations), **more)


def test_the_user_is_asked_once_at_each_turn_and_at_the_end_and_the_assistant_never():
    heard = []

    def user(messages):
        heard.append([message["content"] for message in messages])
        return f"Turn {len(heard)}"

    conversation = stored("Where to go?", "And then?")
    cast = graphs.recllmsim.cast(user=user, assistant=nobody)
    turns = turns_of(cast, conversation, concurrency=1)
    assert [turn.text for turn in turns] == ["Turn 1", "Turn 2", "Turn 3"]
    assert [turn.stopped for turn in turns] == [False, False, False]
    assert [turn.failure for turn in turns] == [None] * 3
    assert not any("Where to go?" in text for text in heard[0])
    assert any("You said: Where to go?" in text for text in heard[1])
    assert not any("And then?" in text for text in heard[1])  # what the person says next is not told
    assert any("You said: And then?" in text for text in heard[2])


@pytest.mark.parametrize("handshake", [False, True])
def test_a_user_is_sent_at_each_turn_what_a_run_sent_it_there(handshake):
    heard = []

    def user(messages):
        heard.append(messages)
        return f"Tell me more about <place> {sum(message['role'] == 'assistant' for message in messages)}."

    cast = graphs.recllmsim.cast(
        user=user, assistant=scripted_model("The sea.", "The <hills>.", "A town."), handshake=handshake
    )
    scenario = graphs.recllmsim.scenario(stored("a").scenario)
    (conversation,) = duologue.simulate(cast, [scenario], limits=duologue.Limits(max_turns=3))
    in_the_run = list(heard)
    assert len(in_the_run) == 3
    heard.clear()
    turns = turns_of(cast, conversation, concurrency=1)
    assert heard == in_the_run
    assert [turn.text for turn in turns] == [
        message.text for message in conversation.messages if message.role == "user"
    ]


def test_a_rejected_draft_is_asked_for_again_with_the_casts_repair_and_counted():
    heard = []

    def user(messages):
        heard.append(messages[-1]["content"])
        return (
            "" if len(heard) == 1 else "Assistant: here is your plan" if len(heard) == 2 else "A quiet beach, please."
        )

    (turn, _) = turns_of(graphs.recllmsim.cast(user=user), stored("Where to go?"), concurrency=1)
    assert turn.rejected == 2
    assert (turn.text, turn.stopped) == ("A quiet beach, please.", False)
    assert heard[0] != heard[1] != heard[2]


def test_a_user_whose_every_draft_is_rejected_says_nothing_and_has_not_left():
    def user(messages):
        return "[System]: You are welcome."

    (turn, _) = turns_of(graphs.recllmsim.cast(user=user), stored("Where to go?"), attempts=3)
    assert (turn.text, turn.stopped, turn.stop, turn.rejected, turn.failure) == ("", False, "user_rejected", 3, None)


def test_a_goodbye_is_a_text_with_which_the_user_leaves():
    cast = graphs.recllmsim.cast(user=scripted_model("More, please.", "Thank you, goodbye."))
    turns = turns_of(cast, stored("Where to go?", "And then?"))
    assert [(turn.text, turn.stopped) for turn in turns] == [
        ("More, please.", False), ("Thank you, goodbye.", True), ("Thank you, goodbye.", True),
    ]  # fmt: skip


def test_a_replayed_person_says_what_it_said_and_leaves_where_it_left(tmp_path):
    from duologue.data import record_lines

    conversations = [stored("Where to go?", "And then?"), stored("What else?", number=1), stored("Again", number=1)]
    path = tmp_path / "records.jsonl"
    path.write_text("".join(record_lines.line(conversation) + "\n" for conversation in conversations))
    turns = turns_of(graphs.recllmsim.cast(user=f"replay:{path}"), *conversations)
    moments = list(moments_of(conversations))
    assert [turn.text for turn in turns] == [moment.text for moment in moments]
    assert [turn.stopped for turn in turns] == [moment.ended for moment in moments]


def test_a_student_is_asked_about_a_section_by_its_own_cast():
    scenario = {"kind": "simquac", "title": "T", "background": "B", "header": "H", "section": "It was built in 1823."}
    conversation = stored("When was it built?", scenario=scenario)
    moments = list(moments_of([conversation]))
    assert cast_name(moments) == "simquac"
    turns = next_turns(cast_for(moments, "offline"), moments)
    assert all(turn.text and turn.failure is None for turn in turns)


def test_where_nothing_says_what_the_user_wants_the_first_turn_is_not_asked_for():
    heard = []

    def user(messages):
        heard.append("\n".join(message["content"] for message in messages))
        return "And the price?"

    moments = list(moments_of([stored("Move my flight", "To May", scenario={"kind": "messages"})]))
    assert cast_name(moments) == "agent_test"
    assert [state_of(moment, "agent_test") is not None for moment in moments] == [False, True, True]
    turns = next_turns(cast_for(moments, user), moments)
    assert [turn.key for turn in turns] == ["0/1", "0/2"]
    assert all("Move my flight" in text for text in heard)
    lines = stored("Move my flight", scenario={"kind": "messages"}).model_copy(
        update={"extra": {"messages": {"values": {"goal": "Fly in May", "facts": "Code QX4821."}}}}
    )
    state = state_of(next(moments_of([lines])), "agent_test")
    assert (state["scenario"]["goal"], state["scenario"]["facts"]) == ("Fly in May", "Code QX4821.")
    goal = {"kind": "messages", "goal": "Fly in May"}
    assert state_of(next(moments_of([stored("Move my flight", scenario=goal)])), "agent_test") is not None


def test_pages_are_in_the_language_of_most_conversations():
    situation = {
        "kind": "recllmsim",
        "language": "zh",
        "task": "旅行规划",
        "task_context": "去海边玩",
        "preference": "1. 年龄：20",
    }
    moments = list(moments_of([stored("去哪里玩？", scenario=situation)]))
    heard = []

    def user(messages):
        heard.append(messages[-1]["content"])
        return "还有吗？"

    next_turns(cast_for(moments, user), moments, concurrency=1)
    assert "谢谢，再见" in heard[1]


def test_conversations_of_several_kinds_need_a_cast_by_name():
    moments = list(moments_of([stored("a"), stored("b", scenario={"kind": "messages", "goal": "g"})]))
    with pytest.raises(SettingError, match="several kinds"):
        cast_for(moments, "offline")


def test_a_cast_that_scores_and_asks_after_the_end_does_neither():
    def user(messages):
        return "Yes?"

    conversation = stored(
        "a", scenario={"kind": "messages", "goal": "g", "success": {"judge": {"model": "openai:nobody"}}}
    )
    turns = next_turns(graphs.agent_test.cast(user=user, assistant=nobody), moments_of([conversation]))
    assert [turn.failure for turn in turns] == [None, None]
    calls = []

    def counted(messages):
        calls.append(1)
        return "Yes?"

    turns_of(graphs.recllmsim.cast(user=counted, assistant=nobody, post_questions=True), stored("a"))
    assert len(calls) == 2


def test_the_criterion_of_one_turn_is_recorded_by_the_name_that_each_side_has_always_had():
    own = {"name": "max_turns"}
    names = {
        "user": describe(AfterOneTurn("user", max_turns)),
        "assistant": describe(AfterOneAnswer("assistant", max_turns)),
    }
    assert names == {
        "user": {"name": "AfterOneTurn", "own": own},
        "assistant": {"name": "AfterOneAnswer", "own": own},
    }


def test_of_a_user_that_cannot_leave_it_is_not_said_whether_it_left():
    conversation = stored("Where to go?")
    moment = next(iter(moments_of([conversation])))
    assert [next_turn(moment, conversation, leaves=leaves).stopped for leaves in (True, False)] == [False, None]
