"""Counts, lengths, hallucination and satisfaction: small conversations, counted by hand."""

import pytest

from duologue.analysis.recllmsim import (
    basic_counts,
    hallucination,
    lengths,
    satisfaction_by_assistant,
    satisfaction_by_turn,
)
from duologue.data import Conversation, Message, recllmsim


def by(rows, *names):
    return {tuple(getattr(row, name) for name in names): row for row in rows}


def test_conversations_users_and_messages_are_counted_by_task_and_side(simulated, person):
    conversations = [
        simulated("uaua"),
        simulated("aua", context="Another.", preference="1. Gender: Female"),
        simulated("ua", task="new travel planning"),
        person("uua", user=1),
        person("ua", user=1, task="旅行规划"),
        person("ua", user=2, task="旅行规划"),
    ]
    table = basic_counts(conversations)
    assert [(row.task, row.side) for row in table.rows] == [
        (task, side) for task in ("all", "preparing gifts", "travel planning") for side in ("simulated", "people")
    ]
    rows = by(table.rows, "task", "side")
    assert tuple(rows["all", "simulated"].model_dump().values())[2:] == (3, 2, 2, 9, pytest.approx(4 / 3))
    assert tuple(rows["preparing gifts", "people"].model_dump().values())[2:] == (1, 1, 1, 3, 1)
    assert (rows["travel planning", "people"].users, rows["all", "people"].users) == (2, 2)
    assert "Travel planning holds 1 conversations about new travel planning, as published tables do." in table.notes


def test_lengths_are_characters_or_what_a_tokenizer_gives_over_messages_and_conversations(simulated):
    conversations = [simulated("uaua", texts=["ab", "c d e", "abcd", "x"]), simulated("ua", texts=["abc", "f g"])]
    user, assistant = (row for row in lengths(conversations).rows if row.task == "all")
    assert (user.role, user.messages, user.per_message, user.per_conversation) == ("user", 3, 3, 4.5)
    assert (assistant.role, assistant.per_message, assistant.per_conversation) == ("assistant", 3, 4.5)
    table = lengths(conversations, str.split, "words")
    assert (table.rows[1].per_message, table.rows[1].per_conversation) == (2, 3)
    assert table.notes == (
        "Words of the texts as they were written: mean over messages, and over conversations' totals.",
    )
    assert lengths(conversations, lambda text: 7).rows[0].per_conversation == 10.5


def test_in_a_language_the_translation_is_measured_and_a_message_without_one_has_no_length(simulated, person):
    one = simulated("aua", texts=["reply", "long text", "reply"])
    messages = [message.model_copy(update={"extra": {"content_zh": "长文"}}) for message in one.messages[:2]]
    messages.append(one.messages[2])
    conversations = [one.model_copy(update={"messages": tuple(messages)}), person("ua", texts=["你好吗", "好"])]
    table = lengths(conversations, language="zh")
    every = by(table.rows, "task", "side", "role").items()
    rows = {key: (row.messages, row.per_message, row.per_conversation) for key, row in every}
    assert rows["all", "simulated", "user"] == (1, 2, 2)
    assert rows["all", "simulated", "assistant"] == (2, 2, None)  # half of what it says is no length of it
    assert (rows["all", "people", "user"], rows["all", "people", "assistant"]) == ((1, 3, 3), (1, 1, 1))
    assert table.notes[-1] == "1 messages are not to be had in Chinese: they have no length here."
    assert "are not comparable" in lengths(conversations).notes[-1]


def test_a_reply_is_made_up_in_both_published_shapes_and_cannot_tell_is_not(simulated, person):
    def sim(made_up):
        return {"hallucination": {"hallucination": made_up, "memo": ""}}

    conversations = [
        simulated("uaua", messages={1: sim(True), 3: sim(False)}),
        simulated("ua", messages={1: sim(False)}),
        simulated("ua"),
        person("uaua", messages={1: {"hallucination": "无法判断"}, 3: {"hallucination": "是"}}),
        person("uaua", messages={1: {"hallucination": "无法判断"}, 3: {"hallucination": "否"}}),
    ]
    table = hallucination(conversations)
    rows = {
        key: (row.n, row.of, row.made_up, row.cannot_tell, row.share)
        for key, row in by(table.rows, "task", "side", "per").items()
    }
    assert rows["all", "simulated", "turn"] == (3, 4, 1, 0, pytest.approx(1 / 3))
    assert rows["all", "simulated", "conversation"] == (2, 3, 1, 0, 0.5)
    assert rows["all", "people", "turn"] == (4, 4, 1, 2, 0.25)
    assert rows["preparing gifts", "people", "conversation"] == (2, 2, 1, 1, 0.5)
    assert table.notes[0] == "1 of 3 conversations of simulated users have no judged reply."
    assert hallucination([simulated()]).notes == ("No reply is judged: there is no label `hallucination`.",)


def test_a_side_or_task_without_a_judged_reply_is_counted_and_has_no_share(simulated, person):
    judged = simulated(messages={1: {"hallucination": "no"}})
    rows = by(hallucination([judged, person("uaua"), person("ua", task="旅行规划")]).rows, "task", "side", "per")
    people = rows["all", "people", "conversation"]
    assert (people.n, people.of, people.made_up, people.share) == (0, 2, 0, None)
    assert (rows["all", "people", "turn"].n, rows["all", "people", "turn"].of) == (0, 3)
    assert rows["travel planning", "people", "conversation"].of == 1


@pytest.mark.parametrize("nothing", [None, "", " ", "N/A", "not judged", "null", "none", float("nan")])
def test_a_mark_that_says_not_judged_is_no_judgement(simulated, nothing):
    conversations = [
        simulated(messages={1: {"hallucination": "no"}}),
        simulated(messages={1: {"hallucination": nothing}}),
    ]
    row = by(hallucination(conversations).rows, "task", "side", "per")["all", "simulated", "conversation"]
    assert (row.n, row.of, row.share) == (1, 2, 0)


def test_satisfaction_counts_by_the_place_of_the_reply_and_by_assistant(person):
    def points(*values):
        return {2 * place + 1: {"satisfaction": one} for place, one in enumerate(values) if one}

    conversations = [
        person("uaua", chat_model="a", messages=points("1", "5")),
        person("uaua", chat_model="b", messages=points("4", None)),
        person("ua", chat_model="b", messages=points("six")),
    ]
    turns = by(satisfaction_by_turn(conversations).rows, "turn")
    assert (turns[1,].n, turns[1,].mean, turns[1,].share_1, turns[1,].share_4) == (2, 2.5, 0.5, 0.5)
    assert (turns[2,].n, turns[2,].mean, turns[2,].share_5) == (1, 5, 1)
    assert (turns[1,].of, turns[2,].of) == (3, 2)
    models = by(satisfaction_by_assistant(conversations).rows, "assistant")
    assert (models["all",].conversations, models["all",].n, models["all",].mean) == (2, 3, pytest.approx(10 / 3))
    assert (models["a",].n, models["a",].mean, models["a",].share_1) == (2, 3, 0.5)
    assert (models["b",].conversations, models["b",].n, models["b",].mean) == (1, 1, 4)
    assert (models["b",].of_conversations, models["b",].of, models["all",].of) == (2, 3, 5)
    assert (
        satisfaction_by_turn(conversations).notes[-1]
        == "1 of 3 conversations of people have no reply with a satisfaction."
    )
    for table in (satisfaction_by_turn([person()]), satisfaction_by_assistant([person()])):
        assert table.rows == ()
        assert table.notes[0].startswith("No reply has a satisfaction")


def test_no_conversation_no_user_and_another_kind_are_said_and_break_nothing(simulated):
    other = Conversation(id="x", scenario={"kind": "messages"}, messages=(Message(role="user", text="hi"),))
    bare = Conversation(id="y", scenario={"kind": "recllmsim", "task": "gifts"})
    table = basic_counts([other, bare])
    assert table.rows == ()
    assert table.notes == (
        "2 conversations are about no task with a profile: left out.",
        "There is no task-oriented conversation.",
    )
    assert basic_counts([simulated()]).notes[-1] == "There is no conversation of people."
    silent = lengths([simulated("a", texts=["only a reply"]), simulated("")])
    assert (silent.rows[0].role, silent.rows[0].per_message, silent.rows[0].per_conversation) == ("user", None, 0)
    assert silent.notes[-1] == "No user wrote anything, so there is no length of a user's message."


def test_the_open_data_has_these_counts(open_data):
    conversations = recllmsim.read(open_data / "recllmsim")
    rows = by(basic_counts(conversations).rows, "task", "side")
    assert (rows["all", "simulated"].conversations, rows["all", "simulated"].messages) == (233, 1741)
    assert (rows["all", "people"].conversations, rows["all", "people"].users) == (254, 118)
    message_counts = {key: row.messages for key, row in by(lengths(conversations).rows, "task", "side", "role").items()}
    assert (message_counts["all", "simulated", "user"], message_counts["all", "people", "user"]) == (870, 1121)


def test_a_side_without_any_satisfaction_is_told_and_not_counted_among_the_replies(simulated, person):
    conversations = [simulated("uaua"), person("uaua", messages={1: {"satisfaction": "5"}})]
    [row] = satisfaction_by_turn(conversations).rows
    assert (row.turn, row.n, row.of) == (1, 1, 1)
    assert (
        satisfaction_by_turn(conversations)
        .notes[-1]
        .startswith("1 of 1 conversations of simulated users have no reply")
    )


def test_satisfaction_of_two_sides_is_never_pooled_and_a_model_s_is_not_called_the_user_s(simulated, person):
    satisfied = {1: {"satisfaction": "5"}}
    conversations = [simulated("ua", messages=satisfied), person("ua", messages={1: {"satisfaction": "1"}})]
    for table in (satisfaction_by_turn(conversations), satisfaction_by_assistant(conversations)):
        assert [(row.side, row.n, row.mean) for row in table.rows] == [("simulated", 1, 5), ("people", 1, 1)]
        assert table.notes[-2:] == (
            "Satisfaction: 1 to 5.",
            "Trust in satisfaction: simulated: not calibrated; people: people's.",
        )
    assert satisfaction_by_turn(conversations[1:]).notes[0] == "Satisfaction: 1 to 5, given by the user for each reply."


def test_an_assistant_without_any_satisfaction_is_a_row_of_its_own(person):
    conversations = [person(chat_model="a", messages={1: {"satisfaction": "5"}}), person(chat_model="b")]
    row = by(satisfaction_by_assistant(conversations).rows, "assistant")["b",]
    assert (row.conversations, row.of_conversations, row.n, row.of, row.mean) == (0, 1, 0, 1, None)


def test_labels_of_conversations_that_the_tables_leave_out_are_told(simulated):
    others = [simulated().model_copy(update={"scenario": {"kind": "messages"}, "labels": labels})
            for labels in ({"satisfaction": 4}, {})]  # fmt: skip
    assert basic_counts([simulated(), *others]).notes[:2] == (
        "2 conversations are about no task with a profile: left out.",
        "1 of those left out have labels: `duologue compare` compares two sides by them.",
    )
