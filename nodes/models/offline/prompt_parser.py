"""What an offline speaker is sent, taken apart: the material, the talk, our notes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from langchain_core.messages import BaseMessage

_MATERIAL = ("title", "background", "header", "section")
_SITUATION = ("</task>", "</profile>")


@dataclass(frozen=True)
class Prompt:
    """The messages of a call, as the side that is to speak reads them."""

    material: str
    """All that is not this side's own words."""
    own: tuple[str, ...]
    others: tuple[str, ...]
    """What this side said, and the other one."""
    answered: tuple[str, ...]
    """What this side said before the other one's last words."""
    note: str
    """Our notes in the last message."""

    def marked(self, tag: str) -> str:
        """What stands between the marks of a tag, the first of its kind."""
        start = self.material.find(f"<{tag}>")
        end = self.material.find(f"</{tag}>", start)
        return self.material[start + len(tag) + 2 : end].strip() if 0 <= start < end else ""


def prompt_of(messages: Sequence[BaseMessage]) -> Prompt:
    """The parts of what is sent; a talk about a situation begins behind it and what acknowledges it."""
    turns = [(m.type == "ai", str(m.text).strip()) for m in messages if m.type in ("ai", "human")]
    heard = [text for mine, text in turns if not mine]
    talk = [(mine, text if mine else _words_of_other(text)) for mine, text in _talk(turns)]
    talk = [(mine, text) for mine, text in talk if text]
    last = max((place for place, (mine, _) in enumerate(talk) if not mine), default=0)
    return Prompt(
        material="\n".join([*heard, *(str(m.text) for m in messages if m.type == "system")]),
        own=tuple(text for mine, text in talk if mine),
        others=tuple(text for mine, text in talk if not mine),
        answered=tuple(text for mine, text in talk[:last] if mine),
        note=" ".join(text for within, text in _split("".join(heard[-1:]), "note") if within).strip(),
    )


def _talk(turns: Sequence[tuple[bool, str]]) -> Sequence[tuple[bool, str]]:
    """The turns from the first own words on that acknowledge no situation; all of them where there is none."""
    situations = [n for n, (mine, text) in enumerate(turns) if not mine and any(mark in text for mark in _SITUATION)]
    if not situations:
        return turns
    scripted = {text for mine, text in turns[: situations[-1]] if mine}
    return list(dropwhile(lambda turn: not turn[0] or turn[1] in scripted, turns[situations[-1] + 1 :]))


def _words_of_other(text: str) -> str:
    """A message without our notes and material: what the other side said."""
    for tag in ("note", "quote"):
        text = "".join(piece for within, piece in _split(text, tag) if not within)
    last = max(text.rfind(f"</{tag}>") for tag in _MATERIAL)
    return text[text.find(">", last) + 1 :].strip() if last >= 0 else text.strip()


def _split(text: str, tag: str) -> Iterator[tuple[bool, str]]:
    """The text's pieces, and whether each stands between the marks. By offsets: the time grows with the length."""
    opening, closing, behind = f"<{tag}>", f"</{tag}>", 0
    while (start := text.find(opening, behind)) >= 0 and (end := text.find(closing, start)) >= 0:
        yield False, text[behind:start]
        yield True, text[start + len(opening) : end]
        behind = end + len(closing)
    yield False, text[behind:]
