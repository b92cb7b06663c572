"""Pages as files: one template environment that escapes every text, and a frame that allows no network."""

import json
import re
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from ..data.records import stop_in_words

_HALF = re.compile("[\\ud800-\\udfff]")

_ARTICLE = re.compile(r'<article class="duologue[^"<>]*" id="[^"<>]*" lang="(\w+)"')
"""The begin of a conversation in our HTML. Texts are escaped, so none of them has one."""


MARK = '<meta name="generator" content="Duologue">'
"""Text in the head of every page of ours."""


def is_page(path: Path) -> bool:
    """Whether the file is a page of ours, by the mark in its head."""
    if not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        return MARK in file.read(2_000)


def page(title: str, body: str, *, script: str = "") -> str:
    """A whole page around a body of HTML.

    Its policy allows only the page's own style and script, named by digest.
    """
    style, code = _style(), source(script) if script else ""
    text = render(
        "page.html",
        language=_language(body),
        title=title,
        style=Markup(style),
        body=Markup(body),
        script=Markup(code),
        policy=Markup(_policy(style, code)),  # of digests and keywords
    )
    return _HALF.sub("?", text)  # half a surrogate pair fits in no file


def _language(body: str) -> str:
    """The language of every conversation in a body of our HTML; English if it has none, or several."""
    languages = set(_ARTICLE.findall(body))
    return languages.pop() if len(languages) == 1 else "en"


def in_notebook(html: str) -> str:
    """HTML with the style of a cell's output.

    It follows the notebook's own theme; elsewhere it is light or dark as the reader's system is.
    """
    return f"<style>{_style()}{source('notebook.css')}</style>{html}"


def _style() -> str:
    return source("drawing.css") + source("style.css")


def render(template: str, **values: Any) -> str:
    """The template's HTML; every value that is not marked as HTML is escaped."""
    return _environment().get_template(template).render(**values)


def embedded(value: Any) -> Markup:
    """JSON for a script element: no character in it can end the element or a line of it."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return Markup(re.sub("[<>&]", lambda match: f"\\u{ord(match[0]):04x}", text))


def anchor_of(name: str) -> str:
    """The name as a browser reads it back from an element's id, so that an address can lead there."""
    return name.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


def fragment(anchor: str) -> str:
    """The anchor as the part of an address after `#`.

    A bar in it is written out, unlike the one before a message's number.
    """
    return quote(anchor, safe="", errors="replace")


@lru_cache(maxsize=16)
def source(name: str) -> str:
    """A template, style or script of this package."""
    return files("duologue.views").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    allowed = "; ".join(f"{kind}-src {_digest(text)}" for kind, text in (("style", style), ("script", script)) if text)
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _number(value: float | int | None, digits: int = 0) -> str:
    """A number with commas between thousands; a dash for None."""
    if value is None:
        return "–"
    text = f"{value:,.{digits}f}" if digits else f"{value:,}"
    return text if text.strip("-0.") else text.removeprefix("-")


def _probability(value: float | None) -> str:
    return "–" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _words(value: object) -> str:
    return str(value).replace("_", " ")


def _breakable(name: str) -> Markup:
    """A name that may go on in the next line behind each `_` and `.` of it."""
    return Markup(re.sub("(?<=[_.])(?=.)", "<wbr>", str(escape(name))))


def _coded(text: str) -> Markup:
    """The text, what stands between two backticks of it as code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _json(value: object) -> str:
    """Indented JSON; a text as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def plural(count: int, singular: str, plural_form: str | None = None) -> str:
    """`1 draft`, `2 drafts`."""
    return f"{count:,} {singular if count == 1 else plural_form or singular + 's'}"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": _number, "p": _probability, "words": _words, "json": _json, "fragment": fragment}
    environment.filters |= {"stopped": stop_in_words, "breakable": _breakable, "coded": _coded}
    environment.globals |= {"plural": plural}
    return environment


def short(text: str, most: int = 40) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"
