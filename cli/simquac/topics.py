"""`duologue topics`: what `simulate simquac --topics` makes of a document, a folder or a file, before it is simulated."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from ...data import simquac
from ...data.simquac import MAX_BYTES, MAX_SECTION_BYTES, Background
from ..options.shared import json_of, option
from ..streams import print_json, put, say, stdout

WORDS, NAME = 60, 24
"""Most columns of the table for a section's first words, and for a title or a heading."""


def topics_command(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SRC",
            help="A document (.md, .txt, .html, .docx), a folder of documents, or any other file that --topics takes.",
        ),
    ],
    background: Annotated[
        Background,
        option(
            "Take the background from a document: the text between its title and the next heading, only that text's first paragraph, or none."
        ),
    ] = "lead",
    max_section_bytes: Annotated[
        int,
        option("Set the maximum of bytes of a section of a document; a longer one is split.", min=200, metavar="N"),
    ] = MAX_SECTION_BYTES,
    max_topic_bytes: Annotated[
        int, option("Set the maximum of bytes of text in a topic.", min=1, metavar="N")
    ] = MAX_BYTES,
    as_json: Annotated[bool, json_of("the whole topics, and the notes")] = False,
) -> int:
    """Print the topics that documents are split into.

    `simulate simquac --topics SRC` takes the same ones.
    """
    topic_set = simquac.topic_set(
        source, max_bytes=max_topic_bytes, background=background, max_section_bytes=max_section_bytes
    )
    for note in topic_set.notes:
        say(_plain(note))
    if as_json:
        fields = ("id", "title", "background", "header", "section")
        print_json(
            {
                "source": str(source),
                "topics": [
                    {field: getattr(topic, field) for field in fields}
                    | {"characters": len(topic.section), "background_characters": len(topic.background)}
                    for topic in topic_set.topics
                ],
                "notes": list(topic_set.notes),
            }
        )
        return 0
    stdout.print(_table(topic_set.topics))
    count = len(topic_set.topics)
    put(f"{count} {'topic' if count == 1 else 'topics'}; lengths are in characters")
    return 0


def _plain(text: str) -> str:
    """The text on one line, without characters that a terminal would obey."""
    return "".join(character if character.isprintable() else "�" for character in " ".join(text.split()))


def _table(topics: Sequence[simquac.Topic]) -> Table:
    """A line for each topic, as wide as the terminal."""
    rows = [
        (
            _cut(topic.title, NAME),
            _cut(topic.header, NAME),
            f"{len(topic.background):,}",
            f"{len(topic.section):,}",
            topic.section[: 4 * WORDS],
        )
        for topic in topics
    ]
    names = ("title", "heading", "background", "section")
    used = sum(max(len(name), *(cell_len(str(row[number])) for row in rows)) + 2 for number, name in enumerate(names))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(name, justify="right" if name in ("background", "section") else "left", no_wrap=True)
    table.add_column("first words", no_wrap=True)
    for title, header, background, size, section in rows:
        table.add_row(title, header, background, size, _cut(section, min(WORDS, max(12, stdout.width - used))))
    return table


def _cut(text: str, width: int) -> Text:
    """The text on one line of at most `width` columns."""
    line = Text(_plain(text))
    line.truncate(width, overflow="ellipsis")
    return line
