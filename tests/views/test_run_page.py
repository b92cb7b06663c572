"""A run or a data set as one page; two of them side by side."""

import json
import re
from base64 import b64decode
from zlib import decompress

from duologue.analysis.testing.pairs import compare_pairs
from duologue.data import Conversation, Message, ToolCall
from duologue.data.records import Attempt, labels_from
from duologue.data.simquac import Topic
from duologue.views import pairs_page, run, run_page
from duologue.views.labels import LONGEST


def bodies(page):
    """What the rows of a page unfold into."""
    return [decompress(b64decode(text)).decode() for text in re.findall(r'class="packed">([^<]*)<', page)]


def other_topic(number):
    return Topic(title=f"Topic {number}", background="", header="h", section=f"Words about {number}.")


def test_a_page_lists_every_conversation_with_its_figures_and_holds_each_of_them(talk, tags):
    page = run_page([talk(), talk("y" * 20, other_topic(2), id="b", stop="max_turns")], "two talks")
    text = " ".join("".join(tags(page).text).split())
    for words in (
        "two talks",
        "2 conversations, 2 turns",
        "The lighthouse Keepers",
        "Topic 2",
        "max turns",
        "user ended",
        "not in section 4",
    ):
        assert words in text, words
    one, other = bodies(page)
    assert "The lighthouse" in one
    assert "y" * 20 in other
    assert re.findall(r'data-v="([^"]*)"', page)[:6] == ["2", "3", "2", str(13 / 53), "0", "35"]
    assert ">tokens<" not in page  # nobody tells them


def scored(talk, name, value, repeat=0, scenario=None, **more):
    scores = {"scores": {"success": {"value": value, "reason": "seat is 4, <expected> 5"}}} if value is not None else {}
    return talk(id=name).model_copy(update={"labels": labels_from(scores), "repeat": repeat, **more})


def test_a_run_with_scores_lists_success_with_its_reason_and_filters_it(talk):
    page = run_page([scored(talk, "a", True), scored(talk, "b", False, 1), scored(talk, "c", None, 2)], "x")
    cells = re.findall(r'<td title="([^"]*)">(yes|no|no score)</td>', page)
    failed = "seat is 4, &lt;expected&gt; 5; the user ended it; fault: undecided"
    assert cells == [(failed, "no"), ("seat is 4, &lt;expected&gt; 5", "yes"), ("no scorer gave one", "no score")]
    assert f"{failed}</small>" in page
    assert failed in bodies(page)[0]
    assert '<select name="success" class="choice"><option value="">any</option><option value="no">no</option>' in page
    assert re.findall(r'data-success="([^"]*)"', page) == ["no", "yes", "no score"]
    assert re.findall(r'data-label="repeat" data-v="([^"]*)"', page) == ["2", "1", "3"]


def test_a_run_with_scores_begins_with_its_result(talk, tags):
    hostile = {"title": "<img src=x>"}
    failed = scored(talk, "b", False, 1, scenario=hostile, stop="max_turns")
    page = run_page([scored(talk, "a", True), failed, scored(talk, "c", False, 2)], "x")
    head = page.split("</section>")[0]
    assert "1 of 3 scored conversations succeeded: 0.33 (no interval" in head
    assert 'href="#b' in head
    assert page.index("Settings and counts") > page.index('class="rows"')
    assert "<img" not in page
    text = " ".join("".join(tags(head).text).split())
    assert "whose fault: undecided 2" in text
    assert "seat is 4, <expected> 5; it reached its limit of turns" in text or "seat is 4, <expected> 5;" in text
    assert "succeeded" not in run_page([talk()], "x")


def test_a_score_stands_on_the_page_of_its_conversation_as_one_line(talk, tags):
    (body,) = bodies(run_page([scored(talk, "a", False, 1)], "x"))
    text = " ".join("".join(tags(body).text).split())
    assert "success: no: seat is 4, <expected> 5" in text
    assert "scores success" not in text
    assert "repeat 2" in text


def test_a_run_says_its_models_seed_and_limits(talk):
    manifest = {
        "version": "1.2",
        "planned": ["a", "b", "c"],
        "data": [{"source": "mine.jsonl"}],
        "settings": {
            "cast": "simquac",
            "limits": {"seed": 7, "max_turns": 5},
            "nodes": {
                "user_simulator": {
                    "name": "ChatSpeaker",
                    "model": {"spec": "openai:m", "arguments": {"temperature": 0.5}},
                },
                "assistant": {"name": "ReplaySpeaker", "replays": "f.json"},
            },
        },
    }
    page = run_page([talk()], "x", manifest=manifest)
    facts = dict(re.findall(r"<dt>([^<]*)</dt><dd[^>]*>([^<]*)</dd>", page))
    assert facts | {
        "cast": "simquac", "user": "openai:m?temperature=0.5", "assistant": "replay:f.json", "seed": "7", "limits": "max turns 5",
        "planned": "3", "source": "mine.jsonl", "version": "1.2",
    } == facts  # fmt: skip


def test_the_page_allows_its_own_script_alone_and_no_network(talk, tags):
    page = run_page([talk()], "x")
    policy = tags(page).policy
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[^ ]+'; script-src 'sha256-[^ ]+'; base-uri 'none'; form-action 'none'",
        policy,
    )
    assert not re.search(r"(?:src|href)=\"(?!#)|url\(|@import|<link|<iframe|fetch\(|XMLHttp|eval\(", page)


def test_hostile_texts_stay_text_in_the_list_and_in_what_it_unfolds(hostile, tags, hostile_text):
    chosen = hostile_text.strip() and len(hostile_text) <= LONGEST  # no text and a long one are no value of a label
    words = "plain words" if chosen else "plain words" * 10
    page, plain = (run_page([hostile(text)] * 2, text) for text in (hostile_text, words))
    page.encode("utf-8")
    assert tags(page).tags == tags(plain).tags
    for body, like in zip(bodies(page), bodies(plain), strict=True):
        assert set(tags(body).tags) <= set(tags(like).tags)
    texts = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page, re.S)[1])
    assert len(texts) == 2
    assert hostile_text.encode("utf-8", "replace").decode() in texts[0].encode("utf-8", "replace").decode()


def test_hostile_texts_stay_text_side_by_side(hostile, tags, hostile_text):
    def page(text):
        one = hostile(text)
        other = one.model_copy(update={"messages": one.messages[:-1]})
        return pairs_page(compare_pairs([one], [other], names=(text, f"{text}.")), [one], [other])

    assert tags(page(hostile_text)).tags == tags(page("plain words")).tags
    (body,), (like,) = bodies(page(hostile_text)), bodies(page("plain words"))
    assert set(tags(body).tags) <= set(tags(like).tags)


def test_a_pair_of_versions_stands_side_by_side_from_the_first_message_that_differs():
    def held(*texts):
        messages = [Message(role="assistant" if n % 2 else "user", text=text) for n, text in enumerate(texts)]
        return Conversation(id="a", scenario={"title": "A table"}, messages=messages)

    old, new = held("Hello.", "For when?", "At six.", "Booked."), held("Hello.", "For when?", "At six.", "No.")
    result = compare_pairs([old], [new])
    page = pairs_page(result, [old], [new])
    assert ("Settings and counts" in page) == bool(result.measures)
    (body,) = bodies(page)
    before, _, beside = body.partition('<div class="pair">')
    assert "1 turn before, equal in both" in before
    assert ("Hello." in before, "Hello." in beside) == (True, False)
    assert [beside.count(text) for text in ("At six.", "Booked.", "No.")] == [2, 1, 1]


def test_a_pair_of_versions_that_say_the_same_differs_where_their_calls_do():
    def called(seats):
        calls = (ToolCall(name="book", arguments={"seats": seats}, result={"free": 6 - seats}),)
        draft = Attempt(text="Booked.", verdict="accepted", tool_calls=calls)
        said = (
            Message(role="user", text="A table, please."),
            Message(role="assistant", text="Booked.", attempts=(draft,)),
        )
        return Conversation(id="a", scenario={"title": "A table"}, messages=said)

    (body,) = bodies(pairs_page(compare_pairs([called(2)], [called(4)]), [called(2)], [called(4)]))
    assert "equal in both" not in body
    for words in ("&#34;seats&#34;: 2", "&#34;seats&#34;: 4", "&#34;free&#34;: 4", "&#34;free&#34;: 2"):
        assert words in body


def test_of_a_long_run_the_failed_conversations_are_on_the_page(talk, monkeypatch):
    monkeypatch.setattr(run, "MOST", 2)
    page = run_page([scored(talk, "a", True), scored(talk, "b", True), scored(talk, "c", False)], "x")
    assert re.findall(r'data-success="([^"]*)"', page) == ["no", "yes"]
    assert "1 more are not on this page" in page
    assert "2 of 3 scored conversations succeeded" in page
