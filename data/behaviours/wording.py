"""The behaviours as rules that change a message: for users that no prompt reaches, as the rule-based and retrieval-based ones."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ..rules.outcomes import outcome_of, statements
from ..text.languages import HAN, Language
from ..text.values import values_in

TERSE = 6
"""Most words of a terse message; a Chinese character is half a word."""

PUSHES = 3
"""Messages with which a user insists before it accepts a refusal."""

_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?](?=\w)[^.!?。！？\n]*)*[.!?。！？]*\s*")
_DETAIL = re.compile(
    r",?(?:\s+(?:on|to|at|for|by|from|in|of|until|till|before|after|with|number|no\.?))*\s+\S*\d\S*"
    r"(?:\s+(?!(?:on|to|at|for|by|from|in|of|and|or|until|with|before|after|please)\b)[a-z]+){0,2}(?=[\s.,;!?]|$)",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?。！？…\s]+$")


@dataclass(frozen=True)
class UserMoment:
    """What a user knows when it writes a message."""

    turns: Sequence[tuple[str, str]]
    """Role and text of each message so far."""
    goal: str
    language: Language
    draw: int
    """A number that chooses among phrases."""
    word: str = ""
    """The word of `injects`."""
    ends: bool = False
    """Whether the message takes leave: it stays as it is, unless the user insists first."""

    @property
    def own(self) -> list[str]:
        """The user's messages so far."""
        return [text for role, text in self.turns if role == "user"]

    @property
    def refused(self) -> bool:
        """Whether the last message refuses."""
        return bool(self.turns) and self.turns[-1][0] == "assistant" and outcome_of(self.turns[-1][1]) == "refused"


@cache
def _phrases(language: Language) -> dict[str, Any]:
    text = files("duologue.data.behaviours").joinpath("phrases.json").read_text(encoding="utf-8")
    return dict(json.loads(text)[language])


def behaved(text: str, names: Sequence[str], moment: UserMoment) -> str:
    """The message as a user with these behaviours writes it.

    The goal stays: what is left out, taken back or put vaguely is said later.
    """
    written = _Writing(moment, frozenset(names))
    if not text.strip():
        return text
    if "pushes" in names and moment.refused and written.times("pushes") < PUSHES:
        return written.added(written.phrase("pushes", written.number), "impatient", "mixes_languages")
    if moment.ends:
        return text
    text = written.content(text)
    return written.added(
        text,
        "asks_unavailable",
        "false_claim",
        "injects",
        "doubts",
        "confused",
        "wanders",
        "impatient",
        "wordy",
        "mixes_languages",
    )


class _Writing:
    """One message that is being written."""

    def __init__(self, moment: UserMoment, names: frozenset[str]) -> None:
        self.moment, self.names = moment, names
        self.phrases = _phrases(moment.language)
        self.number = len(moment.own)

    def phrase(self, name: str, turn: int | None = None) -> str:
        """A phrase, by the number of the message and the user's draw."""
        choices = self.phrases[name]
        goal = _END.sub("", self.moment.goal)
        chosen = choices[(self.moment.draw if turn is None else turn) % len(choices)]
        return str(chosen).replace("{x}", self.moment.word if name == "injects" else goal)

    def times(self, name: str) -> int:
        """How many of the user's messages so far hold a phrase of a behaviour."""
        number = len(self.phrases[name])
        phrases = [self.phrase(name, place) for place in range(number)]
        return sum(any(phrase in text for phrase in phrases) for text in self.moment.own)

    def content(self, text: str) -> str:
        """The text with what behaviours leave out, take back or put vaguely."""
        if "changes_mind" in self.names and self.number in (1, 2):
            return self.phrase("withdraws") if self.number == 1 else self.phrase("returns")
        if self.number == 0:
            if "incomplete" in self.names:
                text = self.incomplete(text)
            elif "vague" in self.names:
                text = self.vague(text)
        elif {"incomplete", "vague"} & self.names and self.withheld(text):
            text = f"{text}{self.phrases['space']}{self.phrase('exact')}"
        return self.terse(text) if "terse" in self.names else text

    def incomplete(self, text: str) -> str:
        """The first message without its details; a plea for help where nothing is left, or where it has none."""
        left = _DETAIL.sub("", text) if self.moment.language == "en" and values_in(text) else ""
        return left if words_in(left) >= 5 and values_in(left) < values_in(text) else self.phrase("help")

    def vague(self, text: str) -> str:
        """The first message without its details, and a word that it is imprecise."""
        left = _DETAIL.sub("", text) if self.moment.language == "en" else text
        comma = ", " if self.moment.language == "en" else "，"
        mark = "." if self.moment.language == "en" else "。"
        return f"{_END.sub('', left if words_in(left) >= 4 else text)}{comma}{self.phrase('vague')}{mark}"

    def withheld(self, text: str) -> bool:
        """Whether something of the goal has not been said yet."""
        own = "\n".join([*self.moment.own, text]).casefold()
        details = values_in(self.moment.goal)
        goal = _END.sub("", self.moment.goal).casefold()
        # In Chinese the first message leaves out the whole goal, and a fact may have the same values.
        by_details = details and self.moment.language == "en"
        return bool(details - values_in(own)) if by_details else goal not in own

    def terse(self, text: str) -> str:
        """The statements of a message without courtesies, or its first sentence; a fact is never cut."""
        if words_in(text) <= TERSE:
            return text
        stated = " ".join(statements([text])) or text
        goal = _END.sub("", self.moment.goal)
        if goal and goal in stated:
            return f"{goal}{'.' if self.moment.language == 'en' else '。'}"
        return next(iter(_SENTENCE.findall(stated)), stated).strip() if not values_in(stated) else stated

    def added(self, text: str, *order: str) -> str:
        """The text with the phrases of those behaviours that add some."""
        pieces = [text]
        for name in order:
            if name not in self.names or not self.is_time(name):
                continue
            if name == "wordy":
                first = self.moment.draw + self.number
                pieces = [self.phrase(name, first), *pieces, self.phrase(name, first + 1)]
            elif name in ("doubts", "confused"):
                pieces = [self.phrase(name, self.number), *pieces]
            else:
                pieces.append(self.phrase("mixed" if name == "mixes_languages" else name, self.number))
        return str(self.phrases["space"].join(pieces))

    def is_time(self, name: str) -> bool:
        """Whether a behaviour that adds a phrase does so in this message."""
        if name in ("impatient", "wordy", "mixes_languages"):
            return True
        if name in ("doubts", "confused", "wanders"):
            return self.number > 0 and (self.number - 1) % 3 == 0
        return not self.times(name)


def words_in(text: str) -> float:
    """Words of a text; a Chinese character is half a word."""
    return len(HAN.sub(" ", text).split()) + len(HAN.findall(text)) / 2
