"""How often each value of each label is given: by side, part and unit, beside its trust."""

import pytest

from duologue.analysis.labels.counts import LabelCounts, label_table
from duologue.analysis.labels.reliability import NOT_CALIBRATED, Trusts
from duologue.data import Conversation, Message


def talk(number, labels=None, of_reply=None):
    messages = (Message(role="user", text="Hi"), Message(role="assistant", text="Hello", labels=of_reply or {}))
    about = {"kind": "messages", "digest": str(number)}
    return Conversation(
        id=f"c{number}", scenario=about, messages=messages, labels=labels or {}, extra={"user": f"u{number}"}
    )


def counted(*talks):
    counts = LabelCounts()
    for conversation in talks:
        counts.add(conversation)
    return counts, counts.rows(Trusts.of(talks))


def short(rows):
    return [(row.label, row.part, row.unit, row.value, row.count, row.of) for row in rows]


def test_values_are_counted_as_the_data_writes_them_the_commonest_first():
    _, rows = counted(*(talk(n, {"mood": value}) for n, value in enumerate(["Good", "bad", "good", True])))
    assert short(rows) == [
        ("mood", "", "conversation", "Good", 2, 4),
        ("mood", "", "conversation", "bad", 1, 4),
        ("mood", "", "conversation", "yes", 1, 4),
    ]
    assert [row.share for row in rows] == [0.5, 0.25, 0.25]
    assert {(row.side, row.trust) for row in rows} == {("not told", NOT_CALIBRATED)}


def test_a_tie_of_votes_is_counted_and_a_vote_is_no_value():
    voted = {"final": {"mood": None}, "1": {"mood": "good"}, "2": {"mood": "bad"}}
    _, rows = counted(talk(0, {"mood_human": voted}), talk(1, {"mood_human": {"final": {"mood": "good"}}}))
    assert short(rows) == [
        ("mood_human", "mood", "conversation", "good", 1, 2),
        ("mood_human", "mood", "conversation", "tie", 1, 2),
    ]
    assert {row.trust for row in rows} == {"people's"}


def test_labels_of_messages_and_of_conversations_of_one_name_are_two_with_their_parts():
    _, rows = counted(talk(0, {"rating": {"ease": 4, "Detail Level": 5}}, {"rating": 3}))
    assert short(rows) == [
        ("rating", "", "message", "3", 1, 1),
        ("rating", "Detail Level", "conversation", "5", 1, 1),
        ("rating", "ease", "conversation", "4", 1, 1),
    ]


def test_several_values_at_once_count_each_and_the_table_says_so():
    _, rows = counted(talk(0, {"intent": ["ask", "thank"]}), talk(1, {"intent": "ask"}))
    assert short(rows) == [
        ("intent", "", "conversation", "ask", 2, 2),
        ("intent", "", "conversation", "thank", 1, 2),
    ]
    assert any("more than 1" in note for note in label_table(rows).notes)


def test_texts_and_objects_are_left_out_and_named():
    counts, rows = counted(talk(0, {"memo": "x" * 80, "mood": "good", "asked": [{"question": "why"}]}))
    assert short(rows) == [("mood", "", "conversation", "good", 1, 1)]
    assert "Not counted, as texts or objects: asked, memo." in label_table(rows, counts.texts).notes


def test_the_short_table_has_the_commonest_values_copyable_names_and_says_what_it_leaves_out():
    talks = [talk(n, {"mood": {"final": {"mood": str(n % 4)}}}) for n in range(9)]
    counts, rows = counted(*talks)
    table = label_table(rows, counts.texts, short=2)
    assert [column.name for column in table.columns] == ["label", "value", "count", "share", "trust"]
    assert [row[:3] for row in table.rows] == [("mood", "0", 3), ("mood", "1", 2)]
    assert table.notes == (
        "Left out: 2 rarer values; --json or --format md has all.",
        "The data does not record who wrote these: people or simulated users.",
    )
    assert [column.name for column in label_table(rows).columns][:4] == ["label", "part", "unit", "side"]
    assert len(label_table(rows).rows) == 4


def test_a_score_is_counted_by_its_value_without_its_reason():
    _, rows = counted(talk(0, {"scores": {"success": {"value": True, "reason": "as asked"}, "polite": 1}}))
    assert short(rows) == [
        ("scores", "polite", "conversation", "1", 1, 1),
        ("scores", "success", "conversation", "yes", 1, 1),
    ]


@pytest.mark.parametrize("labels", [{}, {"quac": "x", "topic_id": "y"}, {"mood": None}, {"mood": ""}])
def test_without_labels_there_is_nothing(labels):
    counts, rows = counted(talk(0, labels))
    assert (rows, counts.texts) == ([], {})
