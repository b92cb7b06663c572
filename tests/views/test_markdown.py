"""Markdown of replies: what is laid out, and that no text of a model becomes a tag, a script, a foreign link or a request."""

import re
import sys

import pytest

from duologue.data import Conversation, Message, Span
from duologue.views import conversation_html, conversation_page
from duologue.views.markdown import LONGEST, rendered

HOSTILE = (
    "**x** <script>alert(1)</script>",
    "**x** <img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x) [y](file:///etc/passwd) [z](/etc/passwd) [w](other.html) [v](//evil.example/x)",
    "[x]: javascript:alert(1)\n\n[x] **y**",
    "<javascript:alert(1)> **y**",
    "![](http://x.example/y.png)",
    '![x" onerror="alert(1)](http://x.example/y.png)',
    "![x](javascript:alert(1)) **y**",
    '[x](http://x.example/"onmouseover="alert(1)) ',
    '[x](http://x.example/ "t\\" onmouseover=\\"alert(1)")',
    '```x" onclick="alert(1)\ncode\n```',
    "`<script>alert(1)</script>`",
    "# <svg onload=alert(1)>",
    "| <b> | `<i>` |\n|:-:|--:|\n| <script> | x |",
)
ALLOWED = {
    "p", "br", "strong", "em", "s", "code", "pre", "ul", "ol", "li", "a", "span", "div", "blockquote", "hr",
    "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


def reply(text, **more):
    return Conversation(
        id="a",
        scenario={"kind": "x"},
        messages=(Message(role="user", text=text), Message(role="assistant", text=text, **more)),
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_reply_has_only_tags_of_markdown_and_links_to_the_web(text, tags):
    html = str(rendered(text) or "")  # without Markdown that is allowed it is shown as it is
    page = tags(html)
    assert {tag for tag, _ in page.tags} <= ALLOWED
    assert {name for _, names in page.tags for name in names} <= {"href", "rel", "target", "class", "start"}
    for target in page.targets:
        assert target.startswith(("http://x.example/", "mailto:"))
    assert html.count("<a ") == html.count(' rel="noopener noreferrer" target="_blank">')
    whole = tags(conversation_html(reply(text)))
    assert not {tag for tag, _ in whole.tags} & {"img", "script", "svg", "iframe", "b", "i"}
    assert not re.search(r"\ssrc=|\son[a-z]+=\"", re.sub(r">[^<]*<", "><", conversation_html(reply(text))))


def test_what_replies_write_is_laid_out():
    html = rendered("## Day 1\n\n1. *Walk*\n2. ~~Run~~\n\n[site](https://a.example/?x=1&y=2) <me@a.example>\nnext line")
    for part in (
        '<p class="heading">Day 1</p>', "<ol>", "<em>Walk</em>", "<s>Run</s>", "<br>",
        '<a href="https://a.example/?x=1&amp;y=2" rel="noopener noreferrer" target="_blank">site</a>', 'href="mailto:me@a.example"',
    ):  # fmt: skip
        assert part in html, part


@pytest.mark.parametrize(
    "text", ["plain words", "two\nlines", "5 - 3 = 2", "C# and a-b", "", "snake_case_name", "2 * 3"]
)
def test_a_text_without_markdown_stays_as_it_is(text):
    assert rendered(text) is None


def test_the_text_as_it_was_written_is_on_the_page(tags):
    page = conversation_html(reply("**bold** <b>"))
    assert "<strong>bold</strong>" in page
    assert "**bold** &lt;b&gt;" in page.partition("as it was written")[2]
    assert page.count("<strong>") == 1  # the user's words stay as they were typed


def test_spans_win_over_markdown():
    assert "<strong>" not in conversation_html(reply("**bold**", spans=(Span(text="bold", start=0),)))


BOMBS = {
    "emphasis": "*a **b ", "stars and lines": "*_", "brackets": "[", "links": "[a](", "images": "![", "quotations": "> ", "lists": "- ",
    "pairs": "[]", "strikes": "~~a ~", "table": "a|b\n-|-\n", "signs": "&lt;`", "angles": "<a ",
}  # fmt: skip


@pytest.mark.untraced
@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_no_text_keeps_the_parser_busy(bomb):
    """Work is counted, not timed: calls of functions for each character. A fifth of the longest text shows the growth."""
    some = (bomb * LONGEST)[: LONGEST // 5]
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        rendered(some)
    finally:
        sys.setprofile(before)
    assert calls < 400 * len(some)
    longest = (bomb * LONGEST)[:LONGEST]
    assert len(rendered(longest) or "") < 100 * LONGEST
    assert rendered(longest + "*x*") is None  # longer ones are not parsed


def test_a_chinese_conversation_has_chinese_labels(tags):
    about = {"kind": "recllmsim", "task": "旅行规划", "task_context": "你想出门三四天。", "preference": "1. 性别：女"}
    messages = (Message(role="user", text="你好，我想去旅行。"), Message(role="assistant", text="**好的**，去哪里？"))
    chinese = conversation_page(Conversation(id="旅行/1", scenario=about, messages=messages))
    text = "".join(tags(chinese).text)
    for word in ("用户", "助手", "任务情境", "偏好", "原文"):
        assert word in text, word
    assert ("task context" in text, 'lang="zh"' in chinese) == (False, True)
    assert {"旅行/1", "旅行/1/0", "旅行/1/1"} <= set(tags(chinese).ids)
    english = conversation_page(reply("Hello there"))
    assert ("User" in english, "用户" in english) == (True, False)
    assert ('<html lang="zh">' in chinese, '<html lang="en">' in english) == (True, True)
