"""`duologue demo`: a few conversations without a key, one of them printed with its rejected drafts, and their page."""

import sys
from pathlib import Path
from typing import Annotated

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..data import Conversation, DataError, load, simquac
from ..data.formats.source import MANIFEST
from ..data.records import stop_in_words
from ..data.summaries import outline, title_of
from .options.run import RunOptions
from .options.shared import json_of, model_for, out_to
from .running.run import OUT, ended, run_into
from .streams import print_json, put, stdout

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


def demo_command(
    out: Annotated[
        Path | None,
        out_to("this folder: the run and its page. Default: out/demo-N with the next free number."),
    ] = None,
    model: Annotated[
        str | None,
        model_for("for both sides of two conversations of each cast, such as local:smollm2 (make demo-model)."),
    ] = None,
    as_json: Annotated[bool, json_of("the paths of the run and its page")] = False,
) -> int:
    """Simulate three short conversations without a key.

    Prints one of them with its rejected drafts, writes the page of all, and shows what to try next. The questions are
    replayed, the answers are found by rules, and the conversations are the same every time. With --model it makes two
    conversations of each cast instead.
    """
    from .. import graphs, nodes, runs, views
    from ..nodes.simquac.roles import WrittenDrafts, sample_drafts

    folder = out or runs.new_folder(OUT, "demo")
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
    source = {"source": "sample topics of Duologue"}
    options = RunOptions(as_json=as_json)
    control = options.control()
    summary = run_into(cast, list(scenarios), folder, limits, source, options, control)
    if control.ending is not None:  # interrupted: there may be nothing to show
        return ended(summary, control, options)
    loaded = load(folder)
    page = views.write_run(loaded.conversations, folder / "page.html", folder.name, manifest=loaded.manifest)
    shown = loaded.conversations[0]
    if as_json:
        print_json(
            {"out": str(folder), "page": str(page), "conversations": len(loaded.conversations), "shown": shown.id}
        )
        return 0
    rejected = sum(side.rejected for side in summary.counts.sides)
    stdout.print(INTRODUCTION, soft_wrap=True)
    stdout.print(dialogue(shown))
    stdout.print(
        f"\n{summary.finished} conversations, {summary.counts.exchanges} turns, {rejected} rejected drafts. "
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
    from .. import graphs, nodes, views

    conversations: list[Conversation] = []
    for name in CASTS:
        make, options = graphs.casts.find(name), RunOptions(as_json=as_json)
        held = {"hold": "grammar"} if name == graphs.simquac.NAME and model.startswith("local:") else {}
        settings = {"user": model, "assistant": model, **held}
        scenarios, control = make.source(limit=2).own(make.checked(settings), 0), options.control()
        states, limits = list(scenarios.states), nodes.Limits(max_turns=2)
        summary = run_into(make(**settings), states, folder / name, limits, scenarios.source, options, control)
        if control.ending is not None:
            return ended(summary, control, options)
        conversations += load(folder / name).conversations
    page = views.write_run(conversations, folder / "page.html", folder.name)
    if as_json:
        print_json({"out": str(folder), "page": str(page), "conversations": len(conversations)})
        return 0
    for conversation in conversations:
        stdout.print(dialogue(conversation), Text(f"{stop_in_words(conversation.stop)}\n", style="dim"))
    stdout.print("Their page, for a browser:")
    put(f"  {page}")
    return 0


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
