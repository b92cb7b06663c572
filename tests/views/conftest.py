"""A conversation with drafts, spans and edges, hostile texts to put into it, and what a browser would read."""

import os
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from duologue.data import Attempt, Conversation, Message, Span
from duologue.data.executed_graph import SPEAKERS
from duologue.data.records import NodeInfo, PromptRecord, Provenance, Timing, Unsaid, labels_from
from duologue.data.simquac import Topic

SECTION = "Three keepers lived there. The last one left in 1968."
HOSTILE = {
    "script": "<script>document.title='hit'</script>",
    "handler": "\"><img src=x onerror=document.title='hit'>",
    "tags": "</p></li></section></article></main></body></html>",
    "style": "</style><style>*{display:none}",
    "closing script": "</script></template><!-- <script>document.title='hit'</script>",
    "svg": "</title></text></svg><svg onload=document.title='hit'>",
    "jinja": "{{ 7 * 7 }} {% raw %} ${x}",
    "mermaid": "graph TD; a-->b; click a call()",
    "address": "javascript:document.title='hit'",
    "right to left": "\u202eright to left\u202c \u2066x",
    "lines": "\u2028 \u2029 \x0b",
    "long": "x" * 100_000,
    "half": "\ud800 half \x00",
}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def missing(what):
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def executable():
    """The path of a Chromium; None if there is none."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


@pytest.fixture(scope="module")
def browser():
    """A real browser; a machine without one skips the test, but in CI fails it."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed: make env")
    path = executable()
    if path is None:
        missing("chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Tags(HTMLParser):
    """What a browser would make of the page: its tags and its visible text."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.ids, self.targets, self.text, self.policy = [], [], [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag == "wbr" and not attrs:  # where a line may be broken
            return
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.targets += [unquote(attributes["href"].removeprefix("#"))] if tag == "a" else []
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="session")
def tags():
    return Tags


@pytest.fixture(scope="session")
def talk():
    """A conversation whose every text is the one given."""

    def make(text="Three keepers", topic=None, **more):
        topic = topic or Topic(title="The lighthouse", background="b", header="Keepers", section=SECTION)
        rejected = Attempt(number=1, text=text, raw=f"<think>{text}</think>{text}", cleaned=("reasoning",), verdict="rejected", reason="not_in_section",
                           prompt=PromptRecord(name="assistant/reminder", digest="d1", text=text, quote=text))  # fmt: skip
        accepted = rejected.model_copy(update={"number": 2, "verdict": "accepted", "reason": None})
        conversation = Conversation(
            id="0123456789abcdef",
            scenario=topic.scenario(),
            messages=(
                Message(role="user", text=text),
                Message(
                    role="assistant",
                    text=text,
                    spans=(Span(text="Three keepers", start=0),),
                    attempts=(rejected, accepted),
                ),
                Message(role="user", text="And when?", stored=False),
            ),
            unsaid=(Unsaid(role="assistant", after=3, attempts=(rejected,)),),
            stop="user_ended",
            timing=Timing(seconds=1.5),
        )
        return conversation.model_copy(update=more)

    return make


@pytest.fixture(scope="session")
def ran():
    """What a graph leaves in its record, with a further node of this name."""

    def make(name):
        nodes = {place: NodeInfo(name="x", label="x") for place in SPEAKERS}
        nodes[name] = NodeInfo(name="x", label="x", after="turn_recorder")
        return Provenance(cast="simquac", nodes=nodes)

    return make


@pytest.fixture(scope="session")
def hostile(talk, ran):
    """A conversation all of whose texts are hostile: title, reasons, prompt names, nodes and keys too."""

    def make(text):
        topic = Topic(title=text, background=text, header=text, section=f"Three keepers {text}")
        plain = talk(text, topic)
        attempt = (
            plain.messages[1]
            .attempts[0]
            .model_copy(
                update={
                    "reason": text,
                    "notes": (text,),
                    "cleaned": (text,),
                    "prompt": PromptRecord(name=text, digest=text, text=text, quote=text),
                }
            )
        )
        answer = plain.messages[1].model_copy(update={"attempts": (attempt, plain.messages[1].attempts[1])})
        return plain.model_copy(
            update={
                "id": text,
                "scenario": {
                    **plain.scenario,
                    "profile": {text: [text, "x y"]},
                    "preference": f"{text}: {text}",
                    text: text,
                },
                "messages": (plain.messages[0], answer, plain.messages[2]),
                "provenance": ran(text),
                "labels": labels_from({text: text}),
            }
        )

    return make


@pytest.fixture(params=HOSTILE.values(), ids=HOSTILE)
def hostile_text(request):
    return request.param
