"""Parser of the messages to an offline speaker: material, dialogue, and our notes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from langchain_core.messages import BaseMessage

_MATERIAL = ("title", "background", "header", "section")
_SITUATION = ("</task>", "</profile>")
GOAL_MARKS = ("task", "goal", "request", "intent", "objective", "aim")
"""Marks around what a user wants, of which a page uses one."""
KNOWN_MARKS = ("profile", "facts", "knowledge", "persona")
"""Marks around what a user knows and is."""


@dataclass(frozen=True)
class Prompt:
    """The parts of the messages of a call, from the view of the side that speaks next."""

    material: str
    """All texts that are not this side's own."""
    own: tuple[str, ...]
    """The messages of this side."""
    others: tuple[str, ...]
    """The messages of the other side."""
    answered: tuple[str, ...]
    """The messages of this side before the other side's last message."""
    note: str
    """Our notes in the last message."""

    def marked(self, tag: str) -> str:
        """The text between the first pair of marks of a tag."""
        start = self.material.find(f"<{tag}>")
        end = self.material.find(f"</{tag}>", start)
        return self.material[start + len(tag) + 2 : end].strip() if 0 <= start < end else ""

    def marked_any(self, tags: Sequence[str]) -> list[str]:
        """The texts between the marks of these tags, without empty ones."""
        return list(filter(None, map(self.marked, tags)))


def prompt_of(messages: Sequence[BaseMessage]) -> Prompt:
    """The parts of the messages. The dialogue begins after the situation and its acknowledgement."""
    texts = [(message.type, str(message.text)) for message in messages]
    turns = [(speaker == "ai", text.strip()) for speaker, text in texts if speaker in ("ai", "human")]
    heard = [text for mine, text in turns if not mine]
    dialogue = [(mine, text if mine else _words_of_other(text)) for mine, text in _dialogue(turns)]
    dialogue = [(mine, text) for mine, text in dialogue if text]
    last = max((number for number, (mine, _) in enumerate(dialogue) if not mine), default=0)
    return Prompt(
        material="\n".join([*heard, *(text for speaker, text in texts if speaker == "system")]),
        own=tuple(text for mine, text in dialogue if mine),
        others=tuple(text for mine, text in dialogue if not mine),
        answered=tuple(text for mine, text in dialogue[:last] if mine),
        note=" ".join(text for within, text in _split("".join(heard[-1:]), "note") if within).strip(),
    )


def _dialogue(turns: Sequence[tuple[bool, str]]) -> Sequence[tuple[bool, str]]:
    """The turns from this side's first message after the situation's acknowledgement; all turns without a situation."""
    marked = [not mine and any(mark in text for mark in _SITUATION) for mine, text in turns]
    if not any(marked):
        first = turns[0][1] if turns and not turns[0][0] else ""
        marks_first = any(f"</{tag}>" in first for tag in (*GOAL_MARKS, *KNOWN_MARKS))  # as a page of one's own does
        return list(dropwhile(lambda turn: not turn[0], turns[1:])) if marks_first else turns
    last = max(number for number, is_marked in enumerate(marked) if is_marked)
    scripted = {text for mine, text in turns[:last] if mine}
    return list(dropwhile(lambda turn: not turn[0] or turn[1] in scripted, turns[last + 1 :]))


def _words_of_other(text: str) -> str:
    """The other side's text in a message, without our notes and material."""
    for tag in ("note", "quote"):
        text = "".join(piece for within, piece in _split(text, tag) if not within)
    last = max(text.rfind(f"</{tag}>") for tag in _MATERIAL)
    return text[text.find(">", last) + 1 :].strip() if last >= 0 else text.strip()


def _split(text: str, tag: str) -> Iterator[tuple[bool, str]]:
    """The pieces of the text, and whether each is between the marks of the tag. Linear in the length of the text."""
    opening, closing, after = f"<{tag}>", f"</{tag}>", 0
    while (start := text.find(opening, after)) >= 0 and (end := text.find(closing, start)) >= 0:
        yield False, text[after:start]
        yield True, text[start + len(opening) : end]
        after = end + len(closing)
    yield False, text[after:]
