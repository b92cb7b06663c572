"""The retrieval corpus of a speaker: the turns of one role in stored conversations, ready to be compared."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...data.identity import digest
from ...data.people.draws import drawn_users
from ...data.people.splits import of_part
from ...data.records import Conversation, Role
from ...data.rules import plain_words
from ...data.text.languages import Language, language_of
from ...errors import DataError, at, of_extra
from ..speakers.replay import replayed, version_of
from .likeness import TermRows, WordLikeness, alike
from .names import is_personal
from .options import PeopleOptions
from .turns import PeopleTurn, SourceConversation, SourceTurn, asked_in, donors_of, turns_of

log = logging.getLogger(__name__)

FIRST = 200
"""Turns that tell the language."""
NEARLY = 0.8
"""Likeness of the words of two turns from which on they count as nearly the same."""

FIELDS = ("wish", "person", "heard", "asked", "own", "talk", "reply", "theme")
"""Fields by which a turn is compared. First the user's wish and person, the other role's last words and the questions
in them, the role's own earlier words, and all earlier words. Then the turn's words with the other role's last words
here (`reply`), and with all words and the wish here (`theme`)."""


@dataclass(frozen=True)
class Memory:
    """Turns of one role that may be used again, ready to be compared."""

    role: Role
    source: str
    """Name of the file or folder."""
    digest: str
    """Of all usable conversations of the source, as their turns are used."""
    donors: tuple[SourceConversation, ...] = field(repr=False)
    turns: tuple[PeopleTurn, ...] = field(repr=False)
    words: WordLikeness = field(repr=False)
    rows: dict[str, TermRows] = field(repr=False)
    """For each of `FIELDS` a row for each turn."""
    bound: TermRows = field(repr=False)
    """For each turn the weights of its words that stand in earlier messages or in the scenario: its references."""
    usable: tuple[bool, ...] = field(repr=False)
    """Whether each turn may be said again."""
    keys: tuple[frozenset[str], ...] = field(repr=False)
    """The words of the messages of each turn, without case and punctuation."""
    places: dict[tuple[str, int], int] = field(repr=False)
    """The number of the turn by conversation and message."""

    @property
    def longest(self) -> int:
        """Turns of the conversation with the most."""
        return max(turn.place for turn in self.turns) + 1

    @property
    def language(self) -> Language | None:
        """The commonest language of the turns; None if it cannot be detected."""
        return language_of("\n".join(message.text for turn in self.turns[:FIRST] for message in turn.messages))

    @classmethod
    def of(
        cls,
        conversations: Sequence[Conversation],
        role: Role,
        options: PeopleOptions,
        source: str,
    ) -> "Memory":
        """The memory of these conversations; DataError if no turn of the role is left."""
        if not conversations:
            raise DataError(f"{source}: holds no conversation whose turns could be used again")
        conversations = [conversation for conversation in conversations if of_part(conversation, options.part)]
        if not conversations:
            raise DataError(f"{source}: has no conversation of the part {options.part!r} of its users: use part=all")
        if len(conversations) > options.most:
            drawn = drawn_users(conversations, options.most, 0)
            log.warning(
                "people:%s: turns of %d of %d conversations are used, those of %d of %d users: at most %d are (most=N)",
                source,
                len(drawn.conversations),
                len(conversations),
                drawn.users,
                drawn.of_users,
                options.most,
            )
            conversations = list(drawn.conversations)
        donors = donors_of(conversations, mask=options.mask)
        turns = tuple(turns_of(donors, role))
        if not turns:
            raise DataError(f"{source}: none of its conversations has a message of the {role}")
        groups, texts = _groups(donors, turns, role)
        words = WordLikeness(texts)
        rows = {name: words.rows(groups[name]) for name in FIELDS}
        own = words.rows(groups["theme"])
        usable = tuple(_usable(turns, donors, own, options))
        if not any(usable):
            raise DataError(
                f"{source}: no turn of the {role} is left with min_users={options.min_users} and mask={options.mask}: "
                "ask for fewer users"
            )
        return cls(
            role=role,
            source=source,
            digest=digest(
                [(donor.id, [(message.role, message.text) for message in donor.messages]) for donor in donors]
            )[:16],
            donors=tuple(donors),
            turns=turns,
            words=words,
            rows=rows,
            bound=own.multiply(words.rows(groups["known"]) > 0).tocsr(),
            usable=usable,
            keys=tuple(frozenset(plain_words(message.text) for message in turn.messages) for turn in turns),
            places={
                (donors[turn.donor].id, message.number): n for n, turn in enumerate(turns) for message in turn.messages
            },
        )

    def after(self, number: int) -> range:
        """The numbers of the turns that follow in the same conversation."""
        end = number + 1
        while end < len(self.turns) and self.turns[end].donor == self.turns[number].donor:
            end += 1
        return range(number + 1, end)

    def likenesses(self, texts: dict[str, Sequence[str]]) -> dict[str, Any]:
        """For each of `FIELDS` how alike each turn is to these texts, 0 to 1."""
        queries = self.words.queries([texts[name] for name in FIELDS])
        return {name: alike(self.rows[name], queries[[number]]) for number, name in enumerate(FIELDS)}

    def kept_references(self, context: Sequence[str]) -> Any:
        """For each turn the share of its references that these texts contain; 1 for a turn without references."""
        numpy = of_extra("numpy", "stats")
        present = self.words.queries([context]) > 0
        whole = numpy.asarray(self.bound.sum(axis=1)).ravel()
        there = numpy.asarray(self.bound.multiply(present).sum(axis=1)).ravel()
        return numpy.where(whole > 0, there / numpy.where(whole > 0, whole, 1.0), 1.0)


def remembered(path: Path, role: Role, options: PeopleOptions) -> Memory:
    """The memory of a path, built once in a process for each set of options.

    It is built again if the files have changed.
    """
    return _built(path, version_of(path), role, options)


@lru_cache(maxsize=4)
def _built(path: Path, version: str, role: Role, options: PeopleOptions) -> Memory:
    loaded = replayed(path)
    if not loaded.conversations:
        raise DataError(f"{at(path)}: holds no conversation whose turns could be used again")
    return Memory.of(loaded.conversations, role, options, path.resolve().name)


def _groups(
    donors: Sequence[SourceConversation], turns: Sequence[PeopleTurn], role: Role
) -> tuple[dict[str, list[list[int]]], list[str]]:
    """For each field, and for the context before each turn, the numbers of the texts; and these texts, each once."""
    numbers: dict[str, int] = {}
    groups: dict[str, list[list[int]]] = {name: [] for name in (*FIELDS, "known")}
    for turn in turns:
        donor = donors[turn.donor]
        # What the user wants and is, the assistant does not know.
        wish, person = ([donor.wish], [donor.person]) if role == "user" else ([], [])
        before = list(map(_text, turn.before))
        texts = {
            "wish": wish,
            "person": person,
            "heard": list(map(_text, turn.heard)),
            "asked": [question for message in turn.heard for question in asked_in(message.text)],
            "own": [message.text for message in turn.before if message.role == role],
            "talk": before,
            "reply": list(map(_text, turn.messages)),
            "theme": list(map(_text, turn.messages)),
            "known": [*before, *wish, *person],
        }
        for name, group in texts.items():
            groups[name].append([numbers.setdefault(text, len(numbers)) for text in group if text])
    return groups, list(numbers)


def _text(message: SourceTurn) -> str:
    return message.text


def _usable(
    turns: Sequence[PeopleTurn], donors: Sequence[SourceConversation], own: TermRows, options: PeopleOptions
) -> list[bool]:
    """Whether each turn may be said again."""
    private = options.mask or options.min_users > 1
    usable = [bool(turn.text.strip()) or not private for turn in turns]
    if private:  # an image may show anything
        usable = [
            ok and not any(message.parts for message in turn.messages) for ok, turn in zip(usable, turns, strict=True)
        ]
    if options.min_users > 1:
        for number, turn in enumerate(turns):
            if usable[number] and is_personal(turn.text):
                near = alike(own, own[[number]]) >= NEARLY
                users = {donors[other.donor].user for other, close in zip(turns, near, strict=True) if close}
                usable[number] = len(users) >= options.min_users
    return usable
