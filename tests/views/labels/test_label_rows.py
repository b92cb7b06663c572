"""The labels of one conversation on its page: their names, what votes came to, and the same trust as in the list."""

import re
from html import unescape

from duologue.analysis.labels.reliability import Trusts
from duologue.data import Conversation, Message
from duologue.data.summaries import title_of
from duologue.views import conversation_page
from duologue.views.labels.filters import listed_labels
from duologue.views.shown_conversation import ShownConversation

ROW = re.compile(
    r'<th scope="row" dir="auto">(.*?)</th><td dir="auto">(.*?)</td>(?:<td><small class="trust"[^>]*>(.*?)</small>)?'
)


def talk(number=0, labels=None, extra=None):
    messages = (Message(role="user", text="Hi"), Message(role="assistant", text="Hello"))
    about = {"kind": "messages", "digest": str(number)}
    return Conversation(id=f"c{number}", scenario=about, messages=messages, labels=labels or {}, extra={"user": f"u{number}"} | (extra or {}))  # fmt: skip


def rows(labels, *others):
    page = conversation_page(talk(0, labels), trusts=Trusts.of([talk(0, labels), *others]))
    return [tuple(unescape(cell.replace("<wbr>", "")) for cell in row) for row in ROW.findall(page)]


def voted(final, *votes):
    return {"final": {"mood": final}} | {str(n): {"mood": vote} for n, vote in enumerate(votes, start=1)}


def test_a_label_stored_with_its_part_has_the_mark_that_the_list_has():
    talks = [
        talk(n, {"mood": {"final": {"mood": value}}, "mood_human": {"final": {"mood": value}}})
        for n, value in enumerate(["good", "bad"] * 6)
    ]
    trusts = Trusts.of(talks)
    listed = {
        label.name: label.trust for label in listed_labels([ShownConversation(one, trusts) for one in talks], trusts)
    }
    shown = {
        unescape(name.replace("<wbr>", "")): unescape(mark)
        for name, _, mark in ROW.findall(conversation_page(talks[0], trusts=trusts))
    }
    assert listed == shown
    assert listed["mood_human"] == "people's"


def test_a_part_called_like_its_label_is_the_label_and_another_one_is_named_behind_a_dot():
    labels = {"mood_human": voted("good", "good"), "rating": {"Detail Level": 4, "ease": 5}, "satisfaction_V1": 3}
    assert [row[:2] for row in rows(labels)] == [
        ("mood_human", "good"),
        ("rating.Detail Level", "4"),
        ("rating.ease", "5"),
        ("satisfaction_V1", "3"),
    ]


def test_a_tie_has_a_line_of_its_own_before_the_votes():
    assert rows({"mood_human": voted(None, "good", "bad")}) == [
        ("mood_human", "tie", "people's"),
        ("mood_human, vote 1", "good", "people's"),
        ("mood_human, vote 2", "bad", "people's"),
    ]


def test_one_vote_that_says_what_the_label_says_is_no_second_row():
    assert rows({"mood": voted("good", "good")}) == [("mood", "good", "source not told")]
    assert [row[:2] for row in rows({"mood": {"final": "good", "1": "good"}})] == [("mood", "good")]


def test_one_vote_that_was_overruled_is_told():
    assert [row[:2] for row in rows({"mood": voted("good", "bad")})] == [("mood", "good"), ("mood, vote 1", "bad")]


def test_what_stands_beside_votes_and_values_is_kept():
    labels = {
        "mood": voted("good", "good") | {"reason": "thanks"},
        "hallucination": {"hallucination": "yes", "memo": "x"},
    }
    assert [row[:2] for row in rows(labels)] == [
        ("mood", "good"),
        ("mood.reason", "thanks"),
        ("hallucination", "yes"),
        ("hallucination.memo", "x"),
    ]


def test_the_title_of_the_source_is_the_title_of_the_page():
    conversation = talk(0, extra={"messages": {"values": {"title": "My <b> parcel"}}})
    assert '<h1 dir="auto">My &lt;b&gt; parcel</h1>' in conversation_page(conversation)
    assert title_of(talk(0, extra={"messages": {"values": {"title": " "}}})) == "Hi"
    assert title_of(talk(0, extra={"messages": {"values": {"title": 7}}})) == "Hi"
    assert len(title_of(talk(0, extra={"messages": {"values": {"title": "word " * 90}}}))) < 100
