"""The labels of one conversation on its page, and those by which a list is filtered."""

import re
from html import unescape

from duologue.data import Conversation, Message
from duologue.data.records import Label
from duologue.data.summaries import title_of
from duologue.views import conversation_page
from duologue.views.labels import choices_of

ROW = re.compile(
    r'<th scope="row" dir="auto">(.*?)</th><td dir="auto">(.*?)</td>(?:<td><small class="trust"[^>]*>(.*?)</small>)?'
)


def talk(labels=None, extra=None, of_reply=None):
    messages = (Message(role="user", text="Hi"), Message(role="assistant", text="Hello", labels=of_reply or {}))
    about = {"kind": "messages", "digest": "0"}
    return Conversation(id="c0", scenario=about, messages=messages, labels=labels or {}, extra=extra or {})


def rows(labels):
    cells = ROW.findall(conversation_page(talk(labels)))
    return [tuple(unescape(cell.replace("<wbr>", "")) for cell in row) for row in cells]


def voted(final, *votes):
    return Label(value={"mood": final}, votes=[{"mood": vote} for vote in votes], by=("people",))


def test_a_part_called_like_its_label_is_the_label_and_another_one_is_named_behind_a_dot():
    labels = {"mood_human": voted("good", "good"), "rating": {"Detail Level": 4, "ease": 5}, "satisfaction_V1": 3}
    assert rows(labels) == [
        ("mood_human", "good", "people"),
        ("rating.Detail Level", "4", ""),
        ("rating.ease", "5", ""),
        ("satisfaction_V1", "3", ""),
    ]


def test_a_tie_has_a_line_of_its_own_before_the_votes_and_one_vote_only_where_it_says_more():
    assert [row[:2] for row in rows({"mood_human": voted(None, "good", "bad")})] == [
        ("mood_human", "tie"),
        ("mood_human, vote 1", "good"),
        ("mood_human, vote 2", "bad"),
    ]
    assert [row[:2] for row in rows({"mood": voted("good", "good")})] == [("mood", "good")]
    assert [row[:2] for row in rows({"mood": voted("good", "bad")})] == [("mood", "good"), ("mood, vote 1", "bad")]


def test_what_stands_beside_votes_and_values_is_kept():
    labels = {
        "mood": {"mood": "good", "reason": "thanks"},
        "hallucination": {"hallucination": "yes", "memo": "x"},
    }
    assert [row[:2] for row in rows(labels)] == [
        ("mood", "good"),
        ("mood.reason", "thanks"),
        ("hallucination", "yes"),
        ("hallucination.memo", "x"),
    ]


def test_a_list_is_filtered_by_values_and_not_by_texts_or_the_success():
    labels = {
        "mood": Label(value="good", votes=("good", "bad")),
        "summary": "words " * 40,
        "scores": {"success": {"value": True}, "polite": {"value": 4.0}},
    }
    reply = {"tone": ["warm", "clear"], "nobody": ""}
    found = choices_of(talk(labels, of_reply=reply))
    assert found == {"mood": ["good"], "scores.polite": ["4"], "tone": ["warm", "clear"]}


def test_the_title_of_the_source_is_the_title_of_the_page():
    conversation = talk(extra={"title": "My <b> parcel"})
    assert '<h1 dir="auto">My &lt;b&gt; parcel</h1>' in conversation_page(conversation)
    assert title_of(talk(extra={"title": " "})) == "Hi"
    assert title_of(talk(extra={"title": 7})) == "Hi"
    assert len(title_of(talk(extra={"title": "word " * 90}))) < 100
