"""Faults of a conversation that a user would notice, by rule, and its satisfaction: our own baseline.

The words of Chinese are pairs of characters, so no dictionary is needed.

The signs that count were chosen on the open part of RecLLMSim's newer study. Their concordance with people's
preferences between two of their conversations is 0.645, 95 % interval 0.564 to 0.718 (155 pairs of 57 people). The
command is `duologue validity human_exp_V2 --user offline --assistant none --part all`. The signs were written with these people in sight, so
expect less of others.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from ..records import Message, Record
from ..text.languages import HAN
from ..text.values import written_values
from .guards import plain_words

MOST = 5.0
"""The highest satisfaction; the lowest is 1."""
SAME = 0.8
"""Share of a turn's words, all of which are in the user's earlier turns, from which on it counts as a repetition."""
FEWEST = 3
"""Words that a turn needs to be the same as an earlier one."""

_SENTENCE = re.compile(r"(?<=[!?])\s+|(?<=\.)\s+|(?<=[。！？])|\n+")
_WORD = re.compile(r"[^\W\d_]+")


class UserNotices(Record):
    """What a user would notice of a conversation; each from 0 to 1, 0 being the best."""

    unheeded: float
    """Of the values that the user named (what holds a digit), the share that no later reply holds."""
    repeated: float
    """Of the user's turns but the first, the share that only repeat the values or the words of earlier turns."""
    padding: float
    """Of the replies' characters, the share in sentences that stood, word for word, in an earlier reply or earlier in
    this one."""
    gave_up: float
    """1 if the user gave up."""

    @property
    def satisfaction(self) -> float:
        """5 less `unheeded`, `repeated`, `padding` and `gave_up`, so 1 to 5."""
        return MOST - (self.unheeded + self.repeated + self.padding + self.gave_up)


def noticed(messages: Sequence[Message], stop: str | None = None) -> UserNotices:
    """What the user would notice of these messages; `stop`: why the conversation ended."""
    stored = [message for message in messages if message.stored]
    return UserNotices(
        unheeded=_share_without(stored),
        repeated=_repeated([message.text for message in stored if message.role == "user"]),
        padding=_padding([message.text for message in stored if message.role == "assistant"]),
        gave_up=float(stop == "user_gave_up"),
    )


def _share_without(messages: Iterable[Message]) -> float:
    """Of values named by the user before the last reply, the share that is missing from all later replies."""
    named, open_ones = set[str](), set[str]()
    share = 0.0
    for message in messages:
        values = written_values(message.text)
        if message.role == "user":
            named |= values
            open_ones |= values
            continue
        open_ones -= values
        if named:
            share = len(open_ones) / len(named)
    return share


def _repeated(turns: Sequence[str]) -> float:
    if len(turns) < 2:
        return 0.0
    words, values = set(words_in(turns[0])), set(written_values(turns[0]))
    again = 0
    for text in turns[1:]:
        own, named = words_in(text), written_values(text)
        told_again = bool(named) and named <= values
        again += told_again or (len(own) >= FEWEST and len(own & words) >= SAME * len(own))
        words |= own
        values |= named
    return again / (len(turns) - 1)


def _padding(replies: Iterable[str]) -> float:
    before = set[str]()
    whole = padded = 0
    for text in replies:
        for sentence in _sentences(text):
            key = plain_words(sentence)
            whole += len(sentence)
            padded += len(sentence) * (key in before)
            before.add(key)
    return padded / whole if whole else 0.0


@lru_cache(maxsize=20_000)
def _sentences(text: str) -> tuple[str, ...]:
    """Sentences by their marks alone, those with a word or a number in them."""
    return tuple(part.strip() for part in _SENTENCE.split(text) if plain_words(part))


@lru_cache(maxsize=20_000)
def words_in(text: str) -> frozenset[str]:
    """Words in lower case; of Chinese each pair of neighbouring characters."""
    words: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        han = HAN.findall(word)
        words |= {one + other for one, other in pairwise(han)} if han else {word}
    return frozenset(words)
