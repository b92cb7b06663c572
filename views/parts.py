"""Parts of messages on a page, each a line of text. A page asks nothing of a network: what has an address is a link."""

from collections.abc import Sequence

from markupsafe import Markup

from ..data.attachments import reference
from ..data.records import Part
from .pages import render


def parts_html(parts: Sequence[Part]) -> Markup:
    """The parts of a message, a draft or a tool's result; nothing for none."""
    if not parts:
        return Markup()
    shown = [(reference(part), _link(part)) for part in parts]
    return Markup(render("parts.html", shown=shown, words=[part.text for part in parts if part.text]))


def _link(part: Part) -> str:
    """The address of a part that a reader may open; empty if it has none on the web."""
    url = part.url or ""
    return url if url.lower().startswith(("https://", "http://")) else ""
