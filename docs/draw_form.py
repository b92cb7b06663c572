"""Draws the forms that a LangGraph server declares for one of its graphs, as a page: the picture in studio.md.

python docs/draw_form.py http://127.0.0.1:2024 simquac form.html
"""

import json
import sys
import urllib.request
from html import escape
from pathlib import Path
from typing import Any

STYLE = """
body{font:15px/1.45 system-ui,sans-serif;color:#1c1e21;margin:1.2rem 2rem;max-width:70rem}
main{display:grid;grid-template-columns:1fr 1fr;gap:2.5rem}h1{font-size:1.15rem;margin:0}h2{font-size:1rem;margin:1rem 0 0}
label{display:block;font-weight:600;margin-top:.7rem}small,.what{color:#5c636b;font-weight:400}small{display:block}
i{display:block;font-style:normal;font-weight:400;border:1px solid #b9c0c8;border-radius:.3rem;padding:.25rem .5rem;min-height:1.4em;
white-space:pre-wrap;overflow-wrap:anywhere}.example{color:#8a929b}b{color:#b4530a}
"""


def asked(url: str, body: dict[str, Any] | None = None) -> Any:
    """The server's answer, as JSON; of a POST if there is a body."""
    encoded = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, encoded, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.load(reply)


def field(name: str, schema: dict[str, Any], required: bool) -> str:
    """A field of a form: title, description, and its default or else an example."""
    default, examples = schema.get("default"), schema.get("examples", [])
    if default not in (None, "", []):
        box = f"<i>{escape(str(default))}</i>"
    else:
        shown = examples[0] if examples else "none"
        text = (
            shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)
        )
        box = f'<i class="example">{"for example: " if examples else ""}{escape(text)}</i>'
    title, about = (
        escape(schema.get("title", name)),
        escape(schema.get("description", "").split("\n\n")[0]),
    )
    return f"<label>{title}{' <b>required</b>' if required else ''}<small>{about}</small>{box}</label>"


def form(title: str, schema: dict[str, Any], most: int = 99) -> str:
    """A schema's fields, below a title; those above `most` are only counted."""
    required, fields = schema.get("required", []), list(schema["properties"].items())
    drawn = "".join(field(name, each, name in required) for name, each in fields[:most])
    more = (
        f'<p class="what">and {len(fields) - most} more</p>'
        if len(fields) > most
        else ""
    )
    return f"<section><h2>{title}</h2>{drawn}{more}</section>"


def main(server: str, graph: str, out: str) -> None:
    """Write the page of a graph's input and context."""
    found = asked(f"{server}/assistants/search", {"graph_id": graph})
    schemas = asked(f"{server}/assistants/{found[0]['assistant_id']}/schemas")
    source = "Drawn by docs/draw_form.py from the server's /assistants/ID/schemas. This is not LangGraph Studio."
    heading = f'<h1>{escape(graph)}</h1><p class="what">{source}</p>'
    body = form("Input", schemas["input_schema"]) + form(
        "Context", schemas["context_schema"], most=9
    )
    page = f"<!doctype html><meta charset=utf-8><title>{escape(graph)}</title><style>{STYLE}</style>{heading}<main>{body}</main>"
    Path(out).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
