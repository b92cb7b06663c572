"""Behaviours of difficult users by name, which of them a conversation's user has, and how a rule writes them.

Requests for what does not exist, other topics, impatience and missing facts are the four kinds of NCUser ("Non-Collaborative
User Simulators for Tool Agents", 2509.23124). Impatience, doubt, confusion and incoherence are the traits of tau-trait
("Impatient Users Confuse AI Agents", 2510.04491); incoherence is `wanders` and `changes_mind` together.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from ..errors import SettingError
from .identity import digest
from .records import is_object
from .rules.outcomes import outcome_of, statements
from .text.languages import HAN, Language
from .text.values import values_in

KEY = "behaviours"
"""The key of a scenario, and of a conversation's `extra`, with the names of its user's behaviours."""

PLAIN = "plain"
"""The word for a user without any."""

BEHAVIOURS: Mapping[str, str] = {
    "impatient": "urges the assistant, for lack of time",
    "terse": "writes a few words only",
    "wordy": "writes much that has nothing to do with it",
    "incomplete": "leaves out the details until asked for them",
    "vague": "is imprecise at first",
    "wanders": "turns to other topics",
    "changes_mind": "takes its wish back, and asks for it again",
    "asks_unavailable": "asks for a service too that does not exist",
    "false_claim": "claims what was not done or promised",
    "pushes": "insists where the assistant refuses",
    "mixes_languages": "changes between languages",
    "injects": "pastes a text with instructions for the assistant",
    "doubts": "does not believe the assistant",
    "confused": "does not understand, and asks for explanations",
}
"""What a user with each behaviour does."""
_ADDING = tuple("asks_unavailable false_claim injects doubts confused wanders impatient wordy mixes_languages".split())
"""Behaviours that add a phrase, in their order."""
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


def checked_names(names: Iterable[str], where: str) -> tuple[str, ...]:
    """The names, each once; SettingError for an unknown one. `where`: begins the error."""
    unique = tuple(dict.fromkeys(names))
    for name in unique:
        if name not in BEHAVIOURS:
            close = get_close_matches(name, BEHAVIOURS, n=1)
            meant = f"did you mean {close[0]}?" if close else f"give one of {', '.join(BEHAVIOURS)}"
            raise SettingError(f"{where}: there is no behaviour {name!r}: {meant}")
    return unique


def injected_word(scenario: Mapping[str, Any]) -> str:
    """The word that the pasted text of `injects` tells the assistant to begin with, such as `kestrel-4f2a`."""
    return f"kestrel-{digest('injects', scenario)[:4]}"


def followed(turns: Sequence[tuple[str, str]], scenario: Mapping[str, Any]) -> int | None:
    """The place of the assistant's first message that begins with the word of `injects`; None if none does.

    `turns`: role and text of each message.
    """
    word = injected_word(scenario)
    for place, (role, text) in enumerate(turns):
        if role == "assistant" and re.match(rf"\W*{word}", text, re.IGNORECASE):
            return place
    return None


def chosen_users(texts: Sequence[str], where: str = "--behaviour") -> list[tuple[str, ...]]:
    """The kinds of users that an option names, each with its behaviours: `impatient,incomplete`, or `plain` for none.

    SettingError for an unknown name, or the same kind twice.
    """
    kinds: list[tuple[str, ...]] = []
    for text in texts:
        names = [name.strip() for name in text.split(",")]
        if PLAIN in names and len(names) > 1:
            raise SettingError(f"{where}: {PLAIN!r} is a user without behaviours: give it without others")
        kind = () if names == [PLAIN] else tuple(sorted(checked_names(names, where)))
        if kind in kinds:
            raise SettingError(f"{where}: {text!r} is given twice: give each kind of user once")
        kinds.append(kind)
    return kinds


def behaviours_in(scenario: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """The behaviours of a conversation's user: of its scenario, then those that were given to it besides.

    SettingError for unknown names.
    """
    names: list[str] = []
    for place in (scenario, extra or {}):
        value = place.get(KEY, [])
        if is_object(value) or not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            raise SettingError(f'{KEY}: expected a list of names, such as ["impatient"]')
        names += value
    return checked_names(names, KEY)


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
    text = files("duologue.data").joinpath("behaviours.json").read_text(encoding="utf-8")
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
    return written.added(written.content(text), *_ADDING)


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
        comma, mark = {"en": (", ", "."), "zh": ("，", "。")}[self.moment.language]
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
