"""Assistants with seeded faults: a good one and three with one fault each, to measure whether users detect them.

They are functions of messages, by rule, without a model: the spec of the good one is
`duologue.nodes.seeded_faults:good`. They serve six kinds of errands, in English and Chinese; in a conversation about
anything else they plan by restating the user's wishes.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any, TypeAlias

from ..data.rules.notices import words_in
from ..data.text.languages import Language, language_of
from ..data.text.values import written_values
from .scorers import Score
from .state import State, history
from .success import KEY

Messages: TypeAlias = Sequence[Mapping[str, Any]]

TIMES = 3
"""Minimum ratio of the characters of the wordy assistant's reply to those of the good one's."""
SHARE = 0.5
"""Minimum share of a wish's words that the last reply has to contain."""

_NUMERALS = "一二三四五六七八九"


_DATA = json.loads(files("duologue.nodes").joinpath("seeded_faults.json").read_text(encoding="utf-8"))
_SLOTS = {slot: re.compile(one["pattern"], re.IGNORECASE) for slot, one in _DATA["slots"].items()}
"""By slot the pattern of its values in a message. In the data it also has its name in a question."""
_ERRANDS: Sequence[Mapping[str, Any]] = _DATA["errands"]
"""What the assistants can do: the `words` that identify it, the slots that it `needs`, and the report (`done`)."""
_SAID: Mapping[Language, Mapping[str, str]] = _DATA["sentences"]
"""What the assistants say in a language. What the wordy one adds neither asks, refuses nor reports something as done."""


def good(messages: Messages) -> str:
    """Asks for missing values, then reports the task as done, with every value of the user."""
    return _reply(_user_texts(messages))


def forgetful(messages: Messages) -> str:
    """Replies as the good one, but only to the user's last message."""
    return _reply(_user_texts(messages)[-1:])


def wordy(messages: Messages) -> str:
    """The good one's reply between the same long sentences, at least three times as many characters."""
    texts = _user_texts(messages)
    core, said = _reply(texts), _SAID[language_of("\n".join(texts)) or "en"]
    parts = [said["before"], core, said["after"]]
    while sum(map(len, parts)) < TIMES * len(core):
        parts.append(said["more"])
    return said["gap"].join(parts)


def wrong(messages: Messages) -> str:
    """Replies as the good one, but reports the task as done with other values than the user's."""
    return _reply(_user_texts(messages), other)


PLANTED: Mapping[str, str] = {one.__name__: f"{__name__}:{one.__name__}" for one in (good, forgetful, wordy, wrong)}
"""The spec of each by its name, the reference first."""


def heeded(state: State) -> Score | None:
    """Whether the last reply keeps each of the user's turns before it: all its values, and half of its words.

    None for a scenario with a `success` of its own. It is written for these assistants, which plan by restating: an
    assistant that answers in other words would fail it.
    """
    if KEY in state["scenario"]:
        return None
    messages = history(state)
    last = max((number for number, message in enumerate(messages) if message["role"] == "assistant"), default=None)
    if last is None:
        return Score(False, "the assistant wrote nothing")
    held_words, held_values = words_in(messages[last]["text"]), written_values(messages[last]["text"])
    for text in (message["text"] for message in messages[:last] if message["role"] == "user"):
        if lacking := sorted(written_values(text) - held_values):
            return Score(False, f"the last reply lacks {lacking[0]!r}")
        words = words_in(text)
        if len(words & held_words) < SHARE * len(words):
            return Score(False, f"the last reply is not about {' '.join(text.split())[:60]!r}")
    return Score(True, "the last reply keeps every wish")


def other(value: str) -> str:
    """Another value of the same form, with another last digit or numeral; for words, another plan.

    >>> other("2026-05-31"), other("18:30"), other("4 people"), other("三天")
    ('2026-05-30', '18:32', '3 people', '二天')
    """
    digits = list(re.finditer(rf"\d|[{_NUMERALS}两十]", value))
    if not digits:
        return _SAID[language_of(value) or "en"]["other"]
    last = digits[-1]
    before, digit = value[: last.start()], last.group()
    if not digit.isascii():
        changed = {"两": "三", "一": "二", "十": "九"}.get(digit) or _NUMERALS[_NUMERALS.find(digit) - 1]
    elif before.endswith("-3"):  # the end of a month
        changed = "1" if digit == "0" else "0"
    else:
        changed = str(int(digit) - 1) if int(digit) > 1 else "2"
    return before + changed + value[last.end() :]


def _user_texts(messages: Messages) -> list[str]:
    return [str(message["content"]) for message in messages if message["role"] == "user"]


def _reply(texts: Sequence[str], alter: Callable[[str], str] = str) -> str:
    whole = "\n".join(texts)
    language: Language = language_of(whole) or "en"
    said = _SAID[language]
    errand = next((one for one in _ERRANDS if re.search(one["words"][language], whole, re.IGNORECASE)), None)
    values, is_news = _values(texts)
    # If a later message has no value, it is not an errand: then each message is a wish.
    if errand is None or any(not _values([text])[0] for text in texts[1:]):
        wishes = _listed([alter(wish) for wish in map(_in_one, texts) if wish], said)
        return said["plan"].format(wishes=wishes) if wishes else said["what"]
    missing = [slot for slot in errand["needs"] if slot not in values]
    if missing and is_news:
        return said["ask"].format(slots=_listed([_DATA["slots"][slot]["name"][language] for slot in missing], said))
    named = _listed([alter(values[slot]) for slot in errand["needs"] if slot in values], said)
    return said["done"].format(done=errand["done"][language], values=named or "-")


def _values(texts: Sequence[str]) -> tuple[dict[str, str], bool]:
    values: dict[str, str] = {}
    is_news = len(texts) < 2
    for number, text in enumerate(texts):
        for slot, pattern in _SLOTS.items():
            for value in pattern.findall(text):
                is_news |= number == len(texts) - 1 and values.get(slot) != value
                values[slot] = value
    return values, is_news


def _in_one(wish: str) -> str:
    return re.sub(r"\s*[.!?。！？;；:：\n]+\s*(?=\S)", ", ", wish.strip()).rstrip(" .,!?。，、！？;；:：")


def _listed(items: Sequence[str], said: Mapping[str, str]) -> str:
    return said["last"].join(filter(None, (said["comma"].join(items[:-1]), *items[-1:])))
