"""What a rule-based speaker reads of a prompt: material, dialogue, notes, and the words that tell most."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import dropwhile
from typing import Any

from langchain_core.messages import BaseMessage

_MATERIAL = ("title", "background", "header", "section")
_SITUATION = ("</task>", "</profile>")
GOAL_MARKS = ("task", "goal", "request", "intent", "objective", "aim")
"""Marks around a user's goal, of which a prompt template uses one."""
KNOWN_MARKS = ("profile", "facts", "knowledge", "persona")
"""Marks around a user's knowledge and profile."""
QUOTED = re.compile(r"[“\"「](.{2,80}?)[”\"」]")
"""A phrase in quotes, such as that for a goodbye in a note."""


@dataclass(frozen=True)
class ParsedPrompt:
    """The parts of the messages of a call, from the view of the role whose turn it is.

    `turns`: whether this role said it, and the text of each message, which are also in `own` and `others`.
    """

    material: str
    """All texts that are not this role's own."""
    turns: tuple[tuple[bool, str], ...]
    own: tuple[str, ...]
    others: tuple[str, ...]
    answered: tuple[str, ...]
    """The messages of this role before the other role's last message."""
    note: str
    """Our notes in the last message."""
    behaviour: str
    """The lines about this role's behaviours, of a system prompt."""

    def marked(self, tag: str) -> str:
        """The text between the first pair of marks of a tag."""
        start = self.material.find(f"<{tag}>")
        end = self.material.find(f"</{tag}>", start)
        return self.material[start + len(tag) + 2 : end].strip() if 0 <= start < end else ""

    def marked_any(self, tags: Sequence[str]) -> list[str]:
        """The texts between the marks of these tags, without empty ones."""
        return list(filter(None, map(self.marked, tags)))


def prompt_of(messages: Sequence[BaseMessage]) -> ParsedPrompt:
    """The parts of the messages; the conversation begins after the situation and its acknowledgement."""
    texts = [(message.type, str(message.text)) for message in messages]
    turns = [(speaker == "ai", text.strip()) for speaker, text in texts if speaker in ("ai", "human")]
    heard = [text for is_own, text in turns if not is_own]
    system = "\n".join(text for speaker, text in texts if speaker == "system")
    dialogue = [(is_own, text if is_own else _words_of_other(text)) for is_own, text in _dialogue(turns)]
    dialogue = [(is_own, text) for is_own, text in dialogue if text]
    last = max((number for number, (is_own, _) in enumerate(dialogue) if not is_own), default=0)
    return ParsedPrompt(
        material="\n".join([*heard, system]),
        turns=tuple(dialogue),
        own=tuple(text for is_own, text in dialogue if is_own),
        others=tuple(text for is_own, text in dialogue if not is_own),
        answered=tuple(text for is_own, text in dialogue[:last] if is_own),
        note=" ".join(text for within, text in _split("".join(heard[-1:]), "note") if within).strip(),
        behaviour="".join(text for within, text in _split(system, "behaviour") if within),
    )


def _dialogue(turns: Sequence[tuple[bool, str]]) -> Sequence[tuple[bool, str]]:
    """The turns from this role's first message after the situation's acknowledgement; all turns without a situation."""
    marked = [not is_own and any(mark in text for mark in _SITUATION) for is_own, text in turns]
    if not any(marked):
        first = turns[0][1] if turns and not turns[0][0] else ""
        marks_first = any(f"</{tag}>" in first for tag in (*GOAL_MARKS, *KNOWN_MARKS))  # as a page of one's own does
        return list(dropwhile(lambda turn: not turn[0], turns[1:])) if marks_first else turns
    last = max(number for number, is_marked in enumerate(marked) if is_marked)
    scripted = {text for is_own, text in turns[:last] if is_own}
    return list(dropwhile(lambda turn: not turn[0] or turn[1] in scripted, turns[last + 1 :]))


def _words_of_other(text: str) -> str:
    for tag in ("note", "quote"):
        text = "".join(piece for within, piece in _split(text, tag) if not within)
    last = max(text.rfind(f"</{tag}>") for tag in _MATERIAL)
    return text[text.find(">", last) + 1 :].strip() if last >= 0 else text.strip()


def _split(text: str, tag: str) -> Iterator[tuple[bool, str]]:
    """The pieces of the text, and whether each is between the marks of the tag; takes linear time."""
    opening, closing, after = f"<{tag}>", f"</{tag}>", 0
    while (start := text.find(opening, after)) >= 0 and (end := text.find(closing, start)) >= 0:
        yield False, text[after:start]
        yield True, text[start + len(opening) : end]
        after = end + len(closing)
    yield False, text[after:]


READ = 6_000
"""Maximum characters of a text that the task-oriented speakers read; the rest is ignored."""

_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W_]+(?:['’][^\W_]+)?")


@cache
def vocabulary(name: str) -> Any:
    """The phrases, patterns and word lists of a JSON file in this folder."""
    return json.loads(files("duologue.nodes.models.offline").joinpath(f"{name}.json").read_text(encoding="utf-8"))


_STOP = frozenset(vocabulary("simquac")["stop_words"].split())


def words(text: str) -> list[str]:
    """Every word in lower case; a Chinese character is a word."""
    return [word.casefold() for word in _WORD.findall(text)]


def content_words(text: str) -> list[str]:
    """Stems of a text's words without stop words."""
    return [stem(word) for word in words(text) if word not in _STOP]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The word without a common English ending: enough to match `released` with `release`."""
    for ending, minimum in (("ies", 3), ("ing", 4), ("ed", 4), ("es", 4), ("s", 3), ("e", 4)):
        if word.endswith(ending) and len(word) - len(ending) >= minimum:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def rotated(items: Sequence[str], draw: int) -> list[str]:
    """The items in the same cyclic order, starting at a position that depends on the draw."""
    start = draw % max(1, len(items))
    return [*items[start:], *items[:start]]


def phrase(templates: Sequence[str], draw: int, **gaps: str) -> str:
    """The template chosen by the draw, with its variables filled; variables in their values are not."""
    return re.sub(r"\{(\w+)\}", lambda gap: gaps.get(gap[1], gap[0]), templates[draw % len(templates)])


def sentences(text: str) -> list[str]:
    """The sentences of a text, split by punctuation only: fast, and good enough for a baseline."""
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+|(?<=[。！？])|\n+", text[:READ]) if part.strip()]


def short(text: str, most: int) -> str:
    """At most `most` words of a text, or three times as many Chinese characters."""
    pieces = text.split()
    return " ".join(pieces[:most])[: most * (12 if len(pieces) > 1 else 3)].strip(" .,;:!?。，；：！？")


class WordRanking:
    """BM25 (k 1.2, b 0.6) over short texts; the weight of a word is log(1 + (N - n + 0.5) / (n + 0.5))."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.counts = [Counter(content_words(text)) for text in texts]
        self.lengths = [sum(count.values()) for count in self.counts]
        self.mean = sum(self.lengths) / max(1, len(texts)) or 1.0
        self.frequency = Counter(word for count in self.counts for word in count)

    def weight(self, word: str) -> float:
        """Inverse document frequency of a word: higher for rare words, highest for unknown ones."""
        texts_with_word = self.frequency[word]
        return math.log(1 + (len(self.counts) - texts_with_word + 0.5) / (texts_with_word + 0.5))

    def score(self, number: int, query: Sequence[str]) -> float:
        """Score of one text for the query's words."""
        count, norm = self.counts[number], 1 - 0.6 + 0.6 * self.lengths[number] / self.mean
        shared = [word for word in dict.fromkeys(query) if count[word]]
        return sum(self.weight(word) * count[word] * (1.2 + 1) / (count[word] + 1.2 * norm) for word in shared)
