"""`duologue demo`: a few conversations without a key, one of them printed with its rejected drafts, and their page."""

import json
from importlib.resources import files
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..data import Conversation, DataError, load, simquac
from ..data.formats.source import MANIFEST
from ..data.summaries import count, outline, title_of
from ..studies.pages import show
from . import options
from .printing import print_json, put, stdout
from .running import HowToRun, carried_out, new_run

INTRODUCTION = """\
A student asks about a section of text that only the teacher sees. The teacher
must answer in words of the section. Indented lines are rejected drafts; the
reason follows. No language model takes part: questions and wrong drafts were
written for the demo and are replayed, and rules find the answers. Validators
judge every draft.
"""

NEXT = (
    "duologue simulate simquac --topics README.md --limit 3     # a document of yours, a topic for each heading",
    "duologue simulate simquac --limit 3 --user openai:gpt-4.1-mini --assistant openai:gpt-4.1-mini",
)
REASONS = {
    "enumeration": "a list of questions, and one is allowed",
    "in_background": "words of the background, not of the section",
    "not_in_section": "its own words, not those of the section",
}
"""What the reasons of this demo mean."""


def demo_command(out: options.Out = None, as_json: options.Json = False) -> int:
    """Simulate three short conversations without a key.

    Prints one of them with its rejected drafts, writes the page of all, and shows what to try next. The questions are
    replayed, the answers are found by rules, and the conversations are the same every time.
    """
    from .. import graphs, nodes
    from ..graphs.scenarios.sources import Scenarios
    from ..runs.plan import conversations_planned
    from ..runs.simulate import arun

    folder = new_run(HowToRun(out=out), "demo")
    if (folder / MANIFEST).exists():
        raise DataError(f"{folder}: holds a run already: choose another folder with --out")
    drafts, offline = sample_drafts(), graphs.simquac.cast()
    cast = offline.replace(
        user_simulator=written("user", offline.nodes["user_simulator"]),
        assistant=written("assistant", offline.nodes["assistant"]),
    )
    topics = {topic.title: topic for topic in simquac.samples()}
    scenarios = graphs.simquac.scenarios([topics[title] for title in drafts])
    limits = nodes.Limits(max_turns=max(map(len, drafts.values())))
    states = Scenarios(scenarios, {"source": "sample topics of Duologue"})
    carried_out(
        HowToRun(as_json=as_json),
        lambda settings: conversations_planned({"": cast}, states, settings, limits),
        lambda settings: arun({"": cast}, states, settings, limits=limits),
        out=folder,
        casts=[cast],
    )
    loaded = load(folder)
    page = show(folder).write(folder / "page.html")
    shown = loaded.conversations[0]
    if as_json:
        print_json({"out": str(folder), "page": str(page), "conversations": len(loaded), "shown": shown.id})
        return 0
    counts = count(loaded)
    rejected = sum(side.rejected for side in counts.sides)
    stdout.print(INTRODUCTION, soft_wrap=True)
    stdout.print(dialogue(shown))
    stdout.print(
        f"\n{counts.conversations} conversations, {counts.exchanges} turns, {rejected} rejected drafts. "
        "Their page, for a browser:"
    )
    put(f"  {page}")
    stdout.print("\nNext:")
    put(*(f"  {line}" for line in NEXT), f"  duologue check {folder}")
    return 0


def sample_drafts() -> dict[str, list[dict[str, list[str]]]]:
    """The drafts by title and turn, those of each role in the order of its attempts, in our own words."""
    text = files("duologue.data").joinpath("samples", "demo.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def written(role: str, otherwise: Any) -> Any:
    """A node that says the drafts that were written for the topic and the turn, then those of another speaker."""
    from ..nodes.state import attempt_number

    drafts = sample_drafts()

    async def speaker(state: Any, runtime: Any) -> Any:
        turns, turn = drafts.get(state["scenario"].get("title"), []), state.get("turn", 0)
        lines, attempt = turns[turn][role] if turn < len(turns) else [], attempt_number(state)
        if attempt <= len(lines):
            return {"drafts": [{"text": lines[attempt - 1]}]}
        return await otherwise(state, runtime)

    return speaker


def dialogue(conversation: Conversation) -> Table:
    """The messages, each below its rejected drafts: these in red, and why they were rejected in yellow."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.title, table.title_justify, table.title_style = (
        Text(f"{title_of(conversation)}: {outline(conversation).topic}"),
        "left",
        "bold",
    )
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for message in conversation.messages:
        for draft in message.rejected:
            reason = draft.reason or "rejected"
            meaning = REASONS.get(reason)
            words = Text.assemble(
                (draft.text.strip() or "(nothing)", "red"),
                (f"\nrejected, {reason.replace('_', ' ')}{f': {meaning}' if meaning else ''}", "yellow"),
            )
            table.add_row(Text(message.role, style="red"), Padding(words, (0, 0, 0, 2)))
        name = Text(message.name or message.role, style="cyan" if message.role == "user" else "green")
        table.add_row(name, Text(message.text))
    return table
