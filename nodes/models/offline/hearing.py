"""What an offline speaker is sent, taken apart: which side it is, the material, the talk, our notes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from langchain_core.messages import BaseMessage

Side: TypeAlias = Literal["student", "teacher", "task_user", "task_assistant", "inventor"]

_MATERIAL = ("title", "background", "header", "section")
_SITUATION = ("task", "profile")


def marked(text: str, tag: str) -> str:
    """What stands between the marks of a tag, the first of its kind."""
    start = text.find(f"<{tag}>")
    end = text.find(f"</{tag}>", start)
    return text[start + len(tag) + 2 : end].strip() if 0 <= start < end else ""


def notes_of(text: str) -> list[str]:
    """What stands between <note> and </note>, every time that it does."""
    return [piece for within, piece in _split(text, "note") if within]


def _without(text: str, tag: str) -> str:
    return "".join(piece for within, piece in _split(text, tag) if not within)


def _split(text: str, tag: str) -> Iterator[tuple[bool, str]]:
    """The text's pieces, and whether each stands between the marks. By offsets: the time grows with the length."""
    opening, closing, behind = f"<{tag}>", f"</{tag}>", 0
    while (start := text.find(opening, behind)) >= 0 and (end := text.find(closing, start)) >= 0:
        yield False, text[behind:start]
        yield True, text[start + len(opening) : end]
        behind = end + len(closing)
    yield False, text[behind:]


def words_of_other(text: str) -> str:
    """A message without our notes and material: what the other side said."""
    text = _without(_without(text, "note"), "quote")
    last = max(text.rfind(f"</{tag}>") for tag in _MATERIAL)
    return text[text.find(">", last) + 1 :].strip() if last >= 0 else text.strip()


def side_of(messages: Sequence[BaseMessage]) -> Side:
    """Who is spoken to, by the marks around what is sent.

    A section makes the teacher, other material the student; a task or profile the user with a task; what a
    pool of profiles lacks the inventor of people; nothing of it the assistant.
    """
    heard = "\n".join(str(message.text) for message in messages if message.type in ("human", "system"))
    if marked(heard, "section"):
        return "teacher"
    asked = "\n".join(str(message.text) for message in messages if message.type == "human")
    if any(f"</{tag}>" in heard for tag in _MATERIAL):
        return "student"
    if "</lacking>" in asked:
        return "inventor"
    return "task_user" if any(f"</{tag}>" in asked for tag in _SITUATION) else "task_assistant"


@dataclass(frozen=True)
class Talk:
    """A talk as one of its two sides was sent it."""

    own: tuple[str, ...]
    """What this side said."""
    others: tuple[str, ...]
    """What the other side said, in order and without notes."""
    note: str
    """Our line at the end of the last message."""
    task: str = ""
    profile: str = ""


def talk_of(messages: Sequence[BaseMessage]) -> Talk:
    """The talk without what comes before it: situation, profile and scripted acknowledgements of them."""
    turns = [(m.type == "ai", str(m.text)) for m in messages if m.type in ("ai", "human")]
    begins = _beginning(turns)
    asked = [text for own, text in turns if not own]
    notes = notes_of(asked[-1]) if asked else []
    material = "\n".join(asked)
    return Talk(
        own=tuple(text.strip() for own, text in turns[begins:] if own and text.strip()),
        others=tuple(said for own, text in turns[begins:] if not own and (said := words_of_other(text))),
        note=notes[-1].strip() if notes else "",
        task=marked(material, "task"),
        profile=marked(material, "profile"),
    )


def _beginning(turns: Sequence[tuple[bool, str]]) -> int:
    """Where the talk begins: behind the situation, what acknowledges it, and the rules of behaviour.

    The rules, and a greeting, share a message with the situation or with nothing else: neither is a reply.
    """
    situation = [
        place for place, (own, text) in enumerate(turns) if not own and any(f"</{tag}>" in text for tag in _SITUATION)
    ]
    if not situation:
        return 0
    place = situation[-1] + 1
    scripted = {text.strip() for own, text in turns[: situation[-1]] if own}
    while place < len(turns) and (not turns[place][0] or turns[place][1].strip() in scripted):
        place += 1
    return place
