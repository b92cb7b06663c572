"""Topics to talk about, and what a run folder keeps of the talks."""

import pytest

from duologue import data
from duologue.data.simquac import Topic

SECTIONS = [
    "Three keepers lived there (with a dog). The last one left in 1968. Ships still pass at night.",
    "The harbour was built in 1823. It froze over in 1895, and trade moved to Southport.",
    "Maria Holt wrote the guide in 1930. Two editions were printed in London.",
]


@pytest.fixture
def topics():
    """So many topics, each with a title of its own."""

    def make_topics(count=6):
        return [
            Topic(title=f"Place {n}", background="A place.", header=f"History {n}", section=SECTIONS[n % 3])
            for n in range(count)
        ]

    return make_topics


@pytest.fixture
def lines():
    """The conversations of a run folder by id, each as its line without times."""

    def read(path):
        return {
            conversation.id: data.record_lines.line(conversation.without_timing())
            for conversation in data.record_lines.read(path / "conversations.jsonl")
        }

    return read
