"""`duologue demo`: a few conversations without a key, one of them printed with its rejected drafts, and their page."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..data import Conversation, DataError, load, simquac
from ..data.formats.source import MANIFEST
from ..data.records import stop_in_words
from ..data.summaries import count, outline, title_of
from ..studies.pages import show
from . import options
from .printing import print_json, put, stdout
from .running import HowToRun, carried_out, new_run

if TYPE_CHECKING:
    from ..nodes.limits import Limits

INTRODUCTION = """\
A student asks about a section of text that only the teacher sees. The teacher
must answer in words of the section. Indented lines are rejected drafts; the
reason follows. No language model takes part: questions and wrong drafts were
written for the demo and are replayed, and rules find the answers. Validators
judge every draft.
"""

CASTS = ("simquac", "recllmsim")
"""The casts that bring scenarios along."""
REASONS = {
    "enumeration": "a list of questions, and one is allowed",
    "in_background": "words of the background, not of the section",
    "not_in_section": "its own words, not those of the section",
}
"""What the reasons of this demo mean."""


def demo_command(model: options.Model = None, out: options.Out = None, as_json: options.Json = False) -> int:
    """Simulate three short conversations without a key.

    Prints one of them with its rejected drafts, writes the page of all, and shows what to try next. The questions are
    replayed, the answers are found by rules, and the conversations are the same every time. With --model it makes two
    conversations of each cast instead.
    """
    from .. import graphs, nodes
    from ..graphs.scenarios.sources import Scenarios
    from ..nodes.simquac.roles import WrittenDrafts, sample_drafts

    folder = new_run(HowToRun(out=out), "demo")
    if any((folder / part / MANIFEST).exists() for part in ("", *CASTS)):
        raise DataError(f"{folder}: holds a run already: choose another folder with --out")
    if model is not None:
        return by_model(model, folder, as_json)
    drafts, offline = sample_drafts(), graphs.simquac.cast()
    cast = offline.replace(
        user_simulator=WrittenDrafts("user", offline.nodes["user_simulator"], drafts),
        assistant=WrittenDrafts("assistant", offline.nodes["assistant"], drafts),
    )
    topics = {topic.title: topic for topic in simquac.samples()}
    scenarios = graphs.simquac.scenarios([topics[title] for title in drafts])
    limits = nodes.Limits(max_turns=max(map(len, drafts.values())))
    states = Scenarios(scenarios, {"source": "sample topics of Duologue"})
    _simulated(cast, states, folder, limits, as_json)
    loaded = load(folder)
    page = show(folder).write(folder / "page.html")
    shown = loaded.conversations[0]
    if as_json:
        print_json(
            {"out": str(folder), "page": str(page), "conversations": len(loaded.conversations), "shown": shown.id}
        )
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
    for command, what in following(folder):
        stdout.print(Text(f"  # {what}", style="dim"))
        put(f"  {command}")
    return 0


def by_model(model: str, folder: Path, as_json: bool) -> int:
    """Two conversations of each cast with a model on both sides, each of two turns at most, and one page of all."""
    from .. import graphs, nodes

    conversations: list[Conversation] = []
    for name in CASTS:
        make = graphs.casts.find(name)
        held = {"hold": "grammar"} if name == graphs.simquac.NAME and model.startswith("local:") else {}
        settings = {"user": model, "assistant": model, **held}
        scenarios = make.source(limit=2).own(make.checked(settings), 0)
        _simulated(make(**settings), scenarios, folder / name, nodes.Limits(max_turns=2), as_json)
        conversations += load(folder / name).conversations
    page = show(conversations).write(folder / "page.html")
    if as_json:
        print_json({"out": str(folder), "page": str(page), "conversations": len(conversations)})
        return 0
    for conversation in conversations:
        stdout.print(dialogue(conversation), Text(f"{stop_in_words(conversation.stop)}\n", style="dim"))
    stdout.print("Their page, for a browser:")
    put(f"  {page}")
    return 0


def _simulated(cast: Any, scenarios: Any, folder: Path, limits: "Limits", as_json: bool) -> None:
    from ..runs.plan import conversations_planned
    from ..runs.simulate import arun

    carried_out(
        HowToRun(as_json=as_json),
        lambda settings: conversations_planned({"": cast}, scenarios, settings, limits),
        lambda settings: arun({"": cast}, scenarios, settings, limits=limits),
        out=folder,
        casts=[cast],
    )


def dialogue(conversation: Conversation) -> Table:
    """The messages, each below its rejected drafts: these in red, and why they were rejected in yellow."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.title, table.title_justify, table.title_style = Text(heading(conversation)), "left", "bold"
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


def heading(conversation: Conversation) -> str:
    """Title and part of the document."""
    return f"{title_of(conversation)}: {outline(conversation).topic}"


def following(folder: Path) -> list[tuple[str, str]]:
    """Three commands to try next, each with what it does."""
    this = sys.argv[0] if Path(sys.argv[0]).parent != Path() and not Path(sys.argv[0]).is_absolute() else "duologue"
    document = "README.md" if Path("README.md").is_file() else "article.md"
    return [
        (
            f"{this} simulate simquac --topics {document} --limit 3",
            "a document of yours, a topic for each heading; the rules that ask are crude",
        ),
        (
            f"{this} simulate simquac --limit 3 \\\n    --user openai:gpt-4.1-mini --assistant openai:gpt-4.1-mini",
            "with language models; OPENAI_API_KEY and OPENAI_BASE_URL name the endpoint",
        ),
        (f"{this} check {folder}", "what a linter reports about the conversations"),
    ]
