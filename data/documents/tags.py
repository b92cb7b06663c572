"""Tags of HTML inside Markdown.

Tags that only lay out are left out; any other, such as `<title>`, is text.
"""

import html
import re

from .blocks import Block, heading, paragraph, unwrapped

INLINE = frozenset(
    "a abbr b bdi bdo big cite code del dfn em font i img ins kbd mark picture q s samp small source span strike "
    "strong sub sup tt u var wbr".split()
)
APART = frozenset(
    "article blockquote br caption center dd details div dl dt figcaption figure footer header hr li main ol p pre "
    "section summary table tbody td tfoot th thead tr ul".split()
)
"""Tags that end a paragraph."""
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")

_TAG = re.compile(r"</?([a-zA-Z][\w-]*)(?:[\s/][^<>]*)?>")
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')""", re.IGNORECASE)


def without_tags(text: str) -> str:
    """The text of an inline tag: nothing, an image's alternative text, or the tag itself if it is not layout."""
    if text.startswith("<!--"):
        return ""
    match = _TAG.match(text)
    name = match[1].lower() if match else ""
    if name == "img":
        return _alternative(text)
    if name == "br":
        return " "
    return "" if name in INLINE or name in APART or name in HEADINGS else text


def tagged_blocks(text: str) -> list[Block]:
    """The headings and paragraphs of a piece of HTML inside Markdown, without comments."""
    text = _without_comments(text)
    blocks: list[Block] = []
    pieces: list[str] = []
    end, level = 0, 0

    def flush() -> None:
        whole = unwrapped(html.unescape("".join(pieces)).split("\n"))
        blocks.extend(heading(whole, level) if level else paragraph(whole))
        pieces.clear()

    for tag in _TAG.finditer(text):
        name = tag[1].lower()
        pieces.append(text[end : tag.start()])
        end = tag.end()
        if name in HEADINGS:
            flush()
            level = 0 if tag[0].startswith("</") else int(name[1])
        elif name in APART:
            if level:
                pieces.append(" ")
            else:
                flush()
        elif name == "img":
            pieces.append(html.escape(_alternative(tag[0]), quote=False))
        elif name not in INLINE:
            pieces.append(html.escape(tag[0], quote=False))
    pieces.append(text[end:])
    flush()
    return blocks


def _alternative(tag: str) -> str:
    match = _ALT.search(tag)
    return html.unescape(match[1] or match[2] or "") if match else ""


def _without_comments(text: str) -> str:
    rest, end = "", 0
    while (start := text.find("<!--", end)) >= 0 and (close := text.find("-->", start + 4)) >= 0:
        rest += text[end:start]
        end = close + 3
    return rest + text[end:]
