"""A cast that is asked for one turn of its user, at moments of stored conversations."""

import pytest

import duologue
from duologue import graphs
from duologue.data import Conversation, Message, recllmsim, record_lines
from duologue.data.people import moments_of
from duologue.errors import SettingError
from duologue.graphs.single_turn import cast_for, cast_name
from duologue.runs import RunSettings, blocking
from duologue.runs.ask import Runs
from duologue.runs.next_turn import turns_in, turns_run
from duologue.testing import scripted_model


def next_turns(cast, moments, *, seed=0, **settings):
    moments = list(moments)
    work = Runs({"": turns_run(cast, moments, seed)}).conversations(RunSettings.of(**settings))
    return turns_in(cast, moments, blocking(work)[""])


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


def test_a_rejected_draft_is_asked_for_again_with_the_casts_repair_and_one_that_never_passes_is_no_leaving():
    user = scripted_model("", "Assistant: here is your plan", "A quiet beach, please.", by_call=True)
    (turn, *_) = turns_of(graphs.recllmsim.cast(user=user), stored("Where to go?"), concurrency=1)
    assert (turn.text, turn.stopped, turn.rejected) == ("A quiet beach, please.", False, 2)
    assert len({text.rpartition("<note>")[2] for text in user.texts[:3]}) == 3
    leak = graphs.recllmsim.cast(user=lambda messages: "[System]: You are welcome.")
    (turn, _) = turns_of(leak, stored("Where to go?"))
    assert (turn.text, turn.stopped, turn.stop, turn.rejected, turn.failure) == ("", False, "user_rejected", 4, None)


def test_a_goodbye_is_a_text_with_which_the_user_leaves():
    cast = graphs.recllmsim.cast(user=scripted_model("More, please.", "Thank you, goodbye."))
    turns = turns_of(cast, stored("Where to go?", "And then?"))
    assert [(turn.text, turn.stopped) for turn in turns] == [
        ("More, please.", False), ("Thank you, goodbye.", True), ("Thank you, goodbye.", True),
    ]  # fmt: skip


def test_a_replayed_person_says_what_it_said_and_leaves_where_it_left(tmp_path):
    conversations = [stored("Where to go?", "And then?"), stored("What else?", number=1), stored("Again", number=1)]
    path = tmp_path / "records.jsonl"
    record_lines.write(conversations, path)
    turns = turns_of(graphs.recllmsim.cast(user=f"replay:{path}"), *conversations)
    moments = list(moments_of(conversations))
    assert [turn.text for turn in turns] == [moment.text for moment in moments]
    assert [turn.stopped for turn in turns] == [moment.ended for moment in moments]


def test_where_nothing_says_what_the_user_wants_the_first_turn_is_not_asked_for():
    heard = []

    def user(messages):
        heard.append("\n".join(message["content"] for message in messages))
        return "And the price?"

    moments = list(moments_of([stored("Move my flight", "To May", scenario={"kind": "messages"})]))
    turns = next_turns(cast_for(moments, user), moments)
    assert (cast_name(moments), [turn.key for turn in turns]) == ("agent_test", ["0/1", "0/2"])
    assert all("Move my flight" in text for text in heard)
    goal = {"kind": "messages", "goal": "Fly in May"}
    told = list(moments_of([stored("Move my flight", scenario=goal)]))
    assert [turn.key for turn in next_turns(cast_for(told, user), told)] == ["0/0", "0/1"]


def test_pages_are_in_the_language_of_most_conversations_and_several_kinds_need_a_cast_by_name():
    situation = {
        "kind": "recllmsim",
        "language": "zh",
        "task": "旅行规划",
        "task_context": "去海边",
        "preference": "1. 年龄：20",
    }
    moments, user = list(moments_of([stored("去哪里玩？", scenario=situation)])), scripted_model("还有吗？")
    next_turns(cast_for(moments, user), moments, concurrency=1)
    assert "谢谢，再见" in user.texts[1]
    moments = list(moments_of([stored("a"), stored("b", scenario={"kind": "messages", "goal": "g"})]))
    with pytest.raises(SettingError, match="several kinds"):
        cast_for(moments, "offline")


def test_a_cast_that_scores_and_asks_after_the_end_does_neither():
    success = {"judge": {"model": "openai:nobody"}}
    conversation = stored("a", scenario={"kind": "messages", "goal": "g", "success": success})
    cast = graphs.agent_test.cast(user=lambda messages: "Yes?", assistant=nobody)
    assert [turn.failure for turn in turns_of(cast, conversation)] == [None, None]
    user = scripted_model("Yes?", by_call=True)
    turns_of(graphs.recllmsim.cast(user=user, assistant=nobody, post_questions=True), stored("a"))
    assert len(user.sent) == 2
