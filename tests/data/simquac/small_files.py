"""Small data sets for tests, as QuAC has them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from duologue.data import Conversation, Message, Span, simquac
from duologue.data.simquac import Topic


def saved(value: Any, name: str = "set.json") -> Path:
    """A file with this value."""
    path = Path(name)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def again(conversations: Iterable[Conversation]) -> Any:
    """What a file says that these conversations were written to."""
    path = Path("again.json")
    simquac.write(conversations, path)
    return json.loads(path.read_text(encoding="utf-8"))


def exactly(value: Any) -> str:
    """The value with the order of its keys, and 1, 1.0 and true told apart."""
    return json.dumps(value)


def qa(question: str = "How?", *given_answers: tuple[str, int], **more: Any) -> dict[str, Any]:
    return {"question": question, "answers": [{"text": t, "answer_start": s} for t, s in given_answers]} | more


def paragraph(section: str = "It rises slowly.", *qas: dict[str, Any], **more: Any) -> dict[str, Any]:
    head = {"title": "Bread", "section_title": "Sourdough", "background": "Food."}
    return {"context": f"{section} CANNOTANSWER"} | head | {"qas": list(qas)} | more


def data_set(*given_paragraphs: dict[str, Any]) -> dict[str, Any]:
    return {"data": [{"paragraphs": list(given_paragraphs)}]}


def talk(*pairs: tuple[str, Message], section: str = "It rises slowly.") -> Conversation:
    topic = Topic(title="Bread", background="Food.", header="Sourdough", section=section)
    messages = [message for question, answer in pairs for message in (Message(role="user", text=question), answer)]
    return Conversation(id="a", scenario=topic.scenario(), messages=tuple(messages))


def answered(*spans: tuple[str, int]) -> Message:
    return Message(
        role="assistant",
        text="\n".join(text for text, _ in spans),
        spans=tuple(Span(text=text, start=start) for text, start in spans),
    )
