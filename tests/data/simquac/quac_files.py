"""Small data sets of questions about sections."""

from pathlib import Path

from duologue.data import Conversation, Message, simquac
from duologue.data.grounding import NO_ANSWER, ground

SECTION = "Three keepers lived there. The last keeper left in 1968. A ship, the Mary Ann, sank in 1970."


def data_set(path: Path, topics: int = 2) -> Path:
    paragraphs = []
    for number in range(topics):
        section = f"Light {number} was old. {SECTION}"
        pairs = [
            ("When did the last keeper leave?", "in 1968"),
            ("Why?", NO_ANSWER),
            ("Which ship sank?", "the Mary Ann"),
        ]
        messages = [
            message
            for question, answer in pairs
            for message in (
                Message(role="user", text=question),
                Message(role="assistant", text=answer, spans=ground(answer, section).spans),
            )
        ]
        topic = simquac.Topic(title=f"Light {number}", header="Keepers", section=section)
        paragraphs.append(Conversation(id=str(number), scenario=topic.scenario(), messages=tuple(messages)))
    assert simquac.write(paragraphs, path) == []
    return path
