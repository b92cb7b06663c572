"""A conversation as a page: everything in it, nothing of it markup."""

import re
from html.parser import HTMLParser

import pytest

from duologue import data
from duologue.data import Attempt, Conversation, Message, Span
from duologue.data.records import Prompt, Unsaid
from duologue.data.simquac import Topic
from duologue.views import conversation_html, conversation_page, load_ipython_extension
from duologue.views.conversation import pieces

SECTION = "Three keepers lived there. The last one left in 1968."
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</p></section></article></body></html>",
    "</style><style>*{display:none}",
    "{{ 7 * 7 }} {% raw %} ${x}",
    "graph TD; a-->b; click a call()",
    "javascript:alert(1)",
    "\u202eright to left\u202c \u2066x",
    "x" * 100_000,
    "\ud800 half \x00",
]


class Tags(HTMLParser):
    """What a browser would make of the page: its tags and its visible text."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.ids, self.targets, self.text = [], [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        known = dict(attrs)
        self.ids += [known["id"]] if "id" in known else []
        self.targets += [known["href"].removeprefix("#")] if tag == "a" else []

    def handle_data(self, data):
        self.text.append(data)


def talk(text="Three keepers", topic=None, **more):
    topic = topic or Topic(title="The lighthouse", background="b", header="Keepers", section=SECTION)
    rejected = Attempt(number=1, text=text, raw=f"<think>{text}</think>{text}", cleaned=("reasoning",), verdict="rejected", reason="not_in_section",
                       prompt=Prompt(name="assistant/reminder", digest="d1", text=text, quote=text))  # fmt: skip
    accepted = rejected.model_copy(update={"number": 2, "verdict": "accepted", "reason": None})
    return Conversation(
        id="0123456789abcdef",
        scenario=topic.scenario(),
        messages=(
            Message(role="user", text=text),
            Message(
                role="assistant", text=text, spans=(Span(text="Three keepers", start=0),), attempts=(rejected, accepted)
            ),
            Message(role="user", text="And when?", stored=False),
        ),
        unsaid=(Unsaid(role="assistant", after=3, attempts=(rejected,)),),
        stop="user_ended",
        timing={"seconds": 1.5, "nodes": {"assistant": {"runs": 2, "seconds": 1.25}}},
        **more,
    )


def test_the_page_tells_the_section_the_dialogue_and_every_draft_with_its_reason_and_prompt():
    text = " ".join("".join(Tags(conversation_page(talk())).text).split())
    for told in (
        "The lighthouse", "Keepers", "ended with user_ended", "1.5 s", "draft 1: rejected, not in section", "taken off: reasoning",
        "assistant/reminder d1", "<think>Three keepers</think>Three keepers", "not in the published history", "nothing said", "1.250",
    ):  # fmt: skip
        assert told in text, told


def test_spans_and_messages_are_linked_both_ways():
    page = Tags(conversation_page(talk()))
    assert set(page.targets) == {"c0123456789abcdef-m1", "c0123456789abcdef-0"}
    assert set(page.targets) <= set(page.ids)


def test_pieces_are_the_section_again_with_the_messages_of_each():
    messages = [
        Message(role="assistant", text="x", spans=(Span(text="Three keepers lived", start=0),)),
        Message(
            role="assistant", text="x", spans=(Span(text="keepers lived there", start=6), Span(text="zzz", start=500))
        ),
    ]
    found = pieces(SECTION, messages)
    assert "".join(piece.text for piece in found) == SECTION
    assert [(piece.text, piece.messages) for piece in found if piece.messages] == [
        ("Three ", (0,)),
        ("keepers lived", (0, 1)),
        (" there", (1,)),
    ]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_stays_text(text):
    topic = Topic(title=text, background=text, header=text, section=f"Three keepers {text}")
    page = conversation_page(talk(text, topic))
    page.encode("utf-8")
    plain = conversation_page(
        talk("plain", Topic(title="plain", background="plain", header="plain", section="Three keepers plain"))
    )
    assert Tags(page).tags == Tags(plain).tags  # not one tag or attribute more or less
    assert "49" not in re.sub(r"\d{5,}", "", page) or "7 * 7" in page
    if text.isprintable():
        assert text in "".join(Tags(page).text)


def test_the_page_asks_nothing_of_a_network_and_runs_no_script():
    page = conversation_page(talk())
    assert "default-src 'none'" in page
    assert not re.search(r"(?:src|href)=\"(?!#)|url\(|@import|<script|<link|<iframe", page)


def test_conversations_of_any_source_have_a_page(open_data):
    for name in ("quac_subset.json", "sim_quac.json", "teacher_sim_topics.txt"):
        for conversation in data.load(open_data / "simquac" / name).conversations[:10]:
            page = Tags(conversation_page(conversation))
            assert set(page.targets) <= set(page.ids)
            assert len(page.ids) == len(set(page.ids))
    chat = Conversation(id="a", scenario={"kind": "messages"}, messages=(Message(role="user", text="hi"),))
    assert "Conversation a" in conversation_html(chat)


def test_a_notebook_shows_conversations_once_the_views_are_loaded():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    load_ipython_extension(shell)
    shown, _ = shell.display_formatter.format(talk())
    assert shown["text/html"].startswith("<style>")
    assert "The lighthouse" in shown["text/html"]


def test_the_command_writes_the_page_of_the_conversation_asked_for(monkeypatch, capsys, tmp_path):
    from duologue.cli import main

    data.record_lines.write([talk(), talk().model_copy(update={"id": "0123ffff"})], "r.jsonl")

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["duologue", "show", "r.jsonl", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr()

    assert run("--id", "0123f", "--out", "page.html")[0] == 0
    assert "0123ffff" in (tmp_path / "page.html").read_text()
    code, told = run("--id", "0123")
    assert (code, "2 conversations begin with '0123'" in told.err) == (2, True)
    code, told = run("--id", "nope")
    assert (code, "has no conversation 'nope'" in told.err) == (2, True)
