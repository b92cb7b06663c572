"""Markdown of a reply as HTML: only Markdown's own tags, only web links, nothing that is loaded."""

import re
from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

LONGEST = 20_000
"""Characters of the longest text that is read as Markdown: some texts take a parser time that grows as their square."""
DEEPEST = 20
"""Most lists and quotations inside each other, each list counting twice: the parser leaves out what is deeper."""

_SIGNS = re.compile(r"[*_`~<\[|]|^ {0,3}(?:#{1,6}\s|>|[-+]\s|\d{1,9}[.)]\s|-{3,}|={3,})", re.MULTILINE)
"""What every Markdown has somewhere: most texts have none of it and need no parser."""
_PLAIN = frozenset(("paragraph_open", "paragraph_close", "inline", "text", "softbreak"))
_WEB = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)


def rendered(text: str) -> Markup | None:
    """The text's Markdown as HTML; None without any, and for a text that is too long or deep to parse.

    A link leads to an address of http, https or mailto; any other stays as it is written. An image is its description
    and its address, HTML is text.
    """
    if len(text) > LONGEST or not _SIGNS.search(text):
        return None
    parser = _parser()
    environment: dict[str, Any] = {}
    tokens = parser.parse(text, environment)
    for token in tokens:  # the page's policy allows no style in a tag
        if token.type in ("th_open", "td_open") and token.attrs.pop("style", "") == "text-align:right":
            token.attrs["class"] = "n"
    used = {token.type for token in tokens} | {child.type for token in tokens for child in token.children or ()}
    if used <= _PLAIN or any(token.level >= DEEPEST - 1 for token in tokens):
        return None
    return Markup(parser.renderer.render(tokens, parser.options, environment))


class _Renderer(RendererHTML):
    """Links that send no referrer, images as words."""

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        """The image's description and its address; it is not loaded."""
        token = tokens[idx]
        words = [str(part) for part in (token.content, token.attrGet("src")) if part]
        return f'<span class="what">[{escape(": ".join(words))}]</span>'

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        """The beginning of a link."""
        return f'<a href="{escape(tokens[idx].attrGet("href"))}" rel="noopener noreferrer" target="_blank">'

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        """A heading: bold words, since the headings of the page are its own."""
        return '<p class="heading">'

    def heading_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        """The end of a heading."""
        return "</p>\n"

    def table_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        """A table, which scrolls where it is too wide."""
        return '<div class="wide"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        """The end of a table."""
        return "</table></div>\n"


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("js-default", {"html": False, "breaks": True, "maxNesting": DEEPEST}, renderer_cls=_Renderer)
    parser.validateLink = lambda url: _WEB.match(url) is not None  # type: ignore[method-assign]
    return parser
