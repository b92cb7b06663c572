"""The style of the rule-based task user: rates of things that people do or leave out.

The default rates change nothing.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from ....data.identity import digest
from .word_weights import phrase

_END = re.compile(r"[。.！!？?…~～\s]+$")
_INNER = re.compile(r"[。！](?=.)|[.!](?=\s+\S)")
_CLAUSE = re.compile(r"[，,；;：:]")


class StyleRates(BaseModel):
    """Shares, 0 to 1.

    A share of the users holds for a whole conversation: it is drawn by task and profile.
    """

    greeting: float = 1.0
    """Of the users, those who begin with a greeting and an introduction; the others begin with their goal."""
    whole: float = 1.0
    """Of the users, those who state the whole goal in their first message; the others state two or three clauses of it,
    without those about the assistant."""
    request: float = 0.0
    """Of the users, those who end their first message with a plain request, such as for advice."""
    wishes: float = 1.0
    """Of the task's further wishes, those that the user brings up."""
    frames: float = 1.0
    """Of the wishes, those that are put as a question; the others stand by themselves, in the words of the task."""
    reactions: float = 1.0
    """Of the messages, those that begin with a word on the reply, where it is of use."""
    personal: float = 1.0
    """Of the messages, those that contain a fact of the profile."""
    follow_up: float = 0.0
    """Of the questions for which the task has no further wish, those about something that the last reply named."""
    haste: float = 0.0
    """The share by which a user's patience is shorter."""
    marks: float = 1.0
    """Of the users, those who end their sentences with a mark."""
    thanks: float = 0.0
    """Of the messages after the first, those that begin with thanks."""
    exclaim: float = 0.0
    """Of the messages, those that end with an exclamation mark."""


class OfflineStyle(StyleRates):
    """The style of a user with these rates."""

    def holds(self, name: str, *of: object) -> bool:
        """Whether this is one of the share of that name; a rate of 1 holds always, one of 0 never."""
        return bool(int(digest("manner", name, *of)[:12], 16) / 16**12 < getattr(self, name))

    def opening(self, goal: str, phrases: Mapping[str, Any], who: str, draw: int) -> str:
        """The first message."""
        if not self.holds("whole", who):
            goal = self._part(goal, phrases, who)
        if self.holds("request", who):
            goal = f"{goal}{_comma(phrases)}{phrase(phrases['asking'], int(digest('asking', who)[:6], 16))}"
        return phrase(phrases["openings"], draw, x=goal) if self.holds("greeting", who) else f"{goal}{_mark(phrases)}"

    def _part(self, goal: str, phrases: Mapping[str, Any], who: str) -> str:
        """Two or three clauses of a longer text from a drawn one on, half of them without `I want to`."""
        clauses = [clause.strip() for clause in _CLAUSE.split(goal) if clause.strip()]
        clauses = [clause for clause in clauses if not re.search(phrases["helper"], clause)]
        first, more, bare = (int(digest("part", part, who)[:6], 16) for part in ("first", "more", "bare"))
        begun = clauses[first % max(1, len(clauses) - 1) :][: 2 + more % 2]
        if bare % 2:
            begun[:1] = [shorter for clause in begun[:1] if (shorter := re.sub(phrases["leads"], "", clause))]
        return _comma(phrases).join(begun) or goal

    def own_wishes(self, requirements: Sequence[str], who: str) -> list[str]:
        """The wishes that the user brings up."""
        return [text for text in requirements if self.holds("wishes", who, text)]

    def wish(self, text: str, phrases: Mapping[str, Any], who: str, draw: int) -> str:
        """A wish, as a question or by itself."""
        framed = self.holds("frames", who, text)
        return phrase(phrases["requests"], draw, x=text) if framed else f"{text}{_mark(phrases)}"

    def patience(self, turns: int) -> int:
        """The number of messages after which the user leaves, shortened by `haste`."""
        return max(1, round(turns * (1 - self.haste)))

    def written(self, text: str, phrases: Mapping[str, Any], who: str, number: int) -> str:
        """The message as this user writes it; `number`: of the user's messages before it."""
        if number and self.holds("thanks", who, number):
            text = f"{phrase(phrases['thanks'], number)}{phrases['space']}{text}"
        if not self.holds("marks", who):
            text = _INNER.sub(_comma(phrases).strip(), _END.sub("", text))
        if self.holds("exclaim", who, number):
            text = _END.sub("", text) + ("！" if not phrases["space"] else "!")
        return text


def _comma(phrases: Mapping[str, Any]) -> str:
    return ", " if phrases["space"] else "，"


def _mark(phrases: Mapping[str, Any]) -> str:
    return "." if phrases["space"] else "。"
