"""A conversation as a page: everything in it, nothing of it markup."""

import re

import pytest

from duologue import data
from duologue.data import Conversation, Message, Span
from duologue.data.simquac import Topic
from duologue.views import conversation_html, conversation_page, load_ipython_extension
from duologue.views.conversation import pieces

SECTION = "Three keepers lived there. The last one left in 1968."


def test_the_page_tells_the_section_the_dialogue_and_every_draft_with_its_reason_and_prompt(talk, tags):
    text = " ".join("".join(tags(conversation_page(talk())).text).split())
    for phrase in (
        "The lighthouse", "Keepers", "; the user ended it", "1.5 s", "draft 1: rejected, not in section", "removed: reasoning",
        "assistant/reminder d1", "<think>Three keepers</think>Three keepers", "not in the published history", "nothing said",
    ):  # fmt: skip
        assert phrase in text, phrase


def test_spans_and_messages_are_linked_both_ways(talk, tags):
    page = tags(conversation_page(talk()))
    name = "0123456789abcdef"
    assert set(page.targets) == {name, *(f"{name}/{number}" for number in range(3)), f"{name}@0"}
    assert set(page.targets) <= set(page.ids)


def test_pieces_are_the_section_again_with_the_messages_of_each():
    messages = [
        Message(role="assistant", text="x", spans=(Span(text="Three keepers lived", start=0),)),
        Message(
            role="assistant", text="x", spans=(Span(text="keepers lived there", start=6), Span(text="zzz", start=500))
        ),
    ]
    parts = pieces(SECTION, messages)
    assert "".join(piece.text for piece in parts) == SECTION
    assert [(piece.text, piece.messages) for piece in parts if piece.messages] == [
        ("Three ", (0,)),
        ("keepers lived", (0, 1)),
        (" there", (1,)),
    ]


def test_hostile_text_stays_text(talk, tags, hostile_text):
    def shown(text):
        topic = Topic(title=text, background=text, header=text, section=f"Three keepers {text}")
        return conversation_page(talk(text, topic))

    page = shown(hostile_text)
    page.encode("utf-8")
    assert tags(page).tags == tags(shown("plain")).tags  # not one tag or attribute more or less
    assert "49" not in re.sub(r"\d{5,}", "", page) or "7 * 7" in page
    if hostile_text.isprintable():
        assert hostile_text in "".join(tags(page).text)


def test_hostile_names_of_prompts_reasons_nodes_and_keys_stay_text(hostile, tags, hostile_text):
    page = tags(conversation_page(hostile(hostile_text)))
    plain = tags(conversation_page(hostile("plain words")))
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in plain.tags}
    assert set(page.tags) <= set(plain.tags)


def test_the_page_asks_nothing_of_a_network_and_runs_no_script(talk, tags):
    page = conversation_page(talk())
    assert tags(page).policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src" not in page
    assert not re.search(r"(?:src|href)=\"(?!#)|url\(|@import|<script|<link|<iframe", page)


def test_conversations_of_any_source_have_a_page(open_data, tags):
    for name in ("quac_subset.json", "sim_quac.json", "teacher_sim_topics.txt"):
        for conversation in data.load(open_data / "simquac" / name).conversations[:10]:
            page = tags(conversation_page(conversation))
            assert set(page.targets) <= set(page.ids)
            assert len(page.ids) == len(set(page.ids))
    chat = Conversation(id="a", scenario={"kind": "messages"}, messages=(Message(role="user", text="hi"),))
    assert ">hi</h1>" in conversation_html(chat)


def test_a_notebook_shows_conversations_once_the_views_are_loaded(talk):
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    load_ipython_extension(shell)
    shown, _ = shell.display_formatter.format(talk())
    assert shown["text/html"].startswith("<style>")
    assert "The lighthouse" in shown["text/html"]


def test_the_page_of_another_kind_shows_what_its_scenario_says(tags):
    scenario = {
        "kind": "recllmsim", "task": "travel planning", "task_context": "Plan a month in summer.", "season": "summer",
        "profile": {"habits": ["hiking", "slow food"], "daily_interests": ["chess", "tea"], "age": 21},
    }  # fmt: skip
    messages = (Message(role="user", text="I like Hiking and chess; chessboards too."),)
    html = conversation_page(Conversation(id="a", scenario=scenario, messages=messages))
    text = " ".join("".join(tags(html).text).split())
    for words in ("travel planning", "Plan a month in summer.", "chess, tea", "season", "slow food"):
        assert words in text, words
    assert text.index("Plan a month") < text.index("slow food") < text.index("chess, tea") < text.index("season")


def test_the_graph_that_ran_stands_below_the_dialogue(talk, ran):
    html = conversation_page(talk(provenance=ran("moderator")))
    assert html.index("</ol>") < html.index("<svg")
    assert "regenerate 1" in html


@pytest.mark.parametrize(
    ("message", "words"), [("I would like a room", "the user gave up"), ("我想订一个房间", "用户放弃了")]
)
def test_why_it_ended_is_said_in_the_language_of_the_conversation(message, words):
    talk = Conversation(id="a", scenario={}, messages=(Message(role="user", text=message),), stop="user_gave_up")
    assert f"; {words};" in conversation_html(talk)
