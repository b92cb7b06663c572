"""Stored conversations as sources of turns, and the choice of the turn that comes next in a conversation.

A turn's score is a sum of likenesses, each 0 to 1: the cosine of TF-IDF weights of words. Several texts together, such as
all messages before a turn, are one text.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import log
from pathlib import Path
from sys import intern
from typing import Annotated, Any, NamedTuple, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ...data import domains
from ...data.identity import digest
from ...data.people import MOST_DRAWN, UserPart, drawn_users, of_part, topic_key, user_of
from ...data.records import Conversation, Part, Role
from ...data.rules import plain_words
from ...data.scenarios import is_log, stated_in
from ...data.text.languages import Language, language_of
from ...data.text.words import texts_in, words_of
from ...errors import DataError, SettingError, first_invalid, of_extra
from ..settings.redaction import redacted
from ..speakers.replay import replayed, version_of
from .slots import Context, FilledText, filled

ORIGIN = "people"
"""Key of a message's `extra` for where its words come from: `source`, `digest`, `conversation`, `message`."""

_WISH = ("goal", "task_context", "title", "header", "task", "first_message", "persona")
"""Keys of scenarios that say what the user wants, in the order in which they are read."""


class SourceMessage(NamedTuple):
    """A message of a source conversation, and its number among all messages of it, from 0."""

    number: int
    role: Role
    text: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class SourceConversation:
    """A stored conversation whose turns are used again."""

    id: str
    user: str
    topic: str | None
    """Equal for conversations about the same context; None if it is unknown."""
    wish: str
    """The user's goal, in words; empty if the source does not contain it."""
    person: str
    """The source's facts about the user."""
    stated: str
    """Of a log, whose scenario has no facts: all that its user states, for values that another scenario replaces."""
    messages: tuple[SourceMessage, ...]

    @classmethod
    def of(cls, conversation: Conversation) -> "SourceConversation":
        """A conversation as a source."""
        name, user, topic = conversation.id, user_of(conversation), topic_key(conversation)
        wish, person = wish_in(conversation.scenario), person_in(conversation.scenario)
        stated = "\n".join(stated_in(conversation)) if is_log(conversation) else ""
        messages = tuple(
            SourceMessage(number, said.role, said.text, said.parts)
            for number, said in enumerate(conversation.messages)
            if said.stored and (said.text.strip() or said.parts)
        )
        return cls(name, user, topic, wish, person, stated, messages)


@dataclass(frozen=True, eq=False)
class PeopleTurn:
    """The messages of one role in one turn; `heard` are the other role's right before, `before` all earlier ones."""

    source: SourceConversation
    place: int
    """Its number among the turns of this role, from 0."""
    messages: tuple[SourceMessage, ...]
    heard: tuple[SourceMessage, ...]
    before: tuple[SourceMessage, ...]

    @property
    def text(self) -> str:
        """Its messages, a line break between them."""
        return "\n".join(message.text for message in self.messages)


def turns_of(source: SourceConversation, role: Role) -> list[PeopleTurn]:
    """The turns of one role, in their order."""
    turns: list[PeopleTurn] = []
    before: tuple[SourceMessage, ...] = ()
    heard: tuple[SourceMessage, ...] = ()
    for speaking, group in groupby(source.messages, key=lambda message: message.role):
        messages = tuple(group)
        if speaking == role:
            turns.append(PeopleTurn(source, len(turns), messages, heard, before))
        heard = messages
        before += messages
    return turns


def wish_in(scenario: Mapping[str, Any]) -> str:
    """The user's goal in the words of the scenario, without the parts that only the other role sees."""
    texts = [text for key in _WISH if isinstance(text := scenario.get(key), str) and text.strip()]
    return "\n".join(dict.fromkeys(texts)) or domains.of(scenario).title(scenario)


def person_in(scenario: Mapping[str, Any]) -> str:
    """The scenario's facts about the user, a line for each; empty if it has none."""
    facts = [value for _, value in domains.of(scenario).facts(scenario)]
    return "\n".join([*facts, *texts_in(scenario.get("facts", ""))])


def origin_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The recorded origin of a message's words (`ORIGIN`); empty without one."""
    origin = (message.get("extra") or {}).get(ORIGIN)
    return origin if isinstance(origin, Mapping) else {}


WEIGHTS: Mapping[Role, Mapping[str, float]] = {
    "user": {"scenario": 1.0, "heard": 0.5, "words": 0.4, "stay": 0.5, "spread": 0.1},
    "assistant": {"scenario": 0.0, "heard": 1.0, "words": 1.0, "stay": 0.1, "spread": 0.0},
}
"""How much each likeness counts: of what the user wants and is (`scenario`, which an assistant does not know), of the
other role's last words (`heard`), and of the turn's own words with all that is known here (`words`). `stay`: for the next
turn of the last turn's source, and as much for a place as late in the conversation. `spread`: temperature of the draw."""
TRIED = 200
"""Most turns that are looked at in a choice, the best first."""
DRAWN = 64
"""Of how many turns, the best ones, one is drawn."""

_Factor: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class PeopleOptions(BaseModel):
    """Which stored turns may be used again, and what counts in the choice among them; SettingError for a wrong value.

    The last five are factors of what `WEIGHTS` has: 1 leaves it as it is, 0 takes it out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    unseen: bool = False
    """Leave out the conversations about the same context as the one that is simulated (`Domain.topic_key`)."""
    part: UserPart = "all"
    """Only the conversations of this part of the users: the split of `compare --part`."""
    licence: Annotated[str, BeforeValidator(str)] = ""
    """The licence of the source, for the card of the data set; empty: not stated."""
    most: int = Field(MOST_DRAWN, ge=1)
    """Maximum of conversations that turns are taken from; of more, those of users drawn by digest."""
    examples: int = Field(3, ge=1, le=20)
    """Maximum of few-shot examples at a turn; only with `like`."""
    scenario: _Factor = 1.0
    heard: _Factor = 1.0
    words: _Factor = 1.0
    stay: _Factor = 1.0
    spread: _Factor = 1.0

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            first, names = first_invalid(error), ", ".join(PeopleOptions.model_fields)
            what = redacted(f"{first.path}={first.value}")
            raise SettingError(f"people: {what}: {first.message}; the options are {names}") from None

    def plain(self) -> dict[str, Any]:
        """The options that differ from their defaults, without the number of examples."""
        return self.model_dump(exclude_defaults=True, exclude={"examples"})


class PeopleMoment(NamedTuple):
    """A conversation as the role sees it whose turn it is; the assistant knows neither `wish` nor `person`.

    `place`: number of turns that the role has had; `used` and `before`: numbers of those, and of the last of those, that
    are of this memory; `draw`: a random integer.
    """

    wish: str
    person: str
    messages: Sequence[tuple[Role, str]]
    heard: Sequence[str]
    """The other role's messages since this role's last turn."""
    tried: frozenset[str]
    """The words of each message of this role, and of each rejected draft of this turn."""
    used: frozenset[int]
    place: int
    before: int | None
    draw: int


@lru_cache(maxsize=50_000)  # a text is in the groups of all later turns; its words are shared, which saves memory
def _words_of(text: str) -> list[str]:
    """The words of a text; one empty word for a text without any, so that such texts are alike."""
    return [*map(intern, words_of(text, language_of(text) or "en"))] or [""]


def _words(texts: Sequence[str]) -> list[str]:
    return [word for text in texts if text for word in _words_of(text)]


def _alike(rows: Any, row: Any) -> Any:
    return (rows @ row.T).toarray().ravel().clip(0.0, 1.0)


class Memory:
    """The turns of one role in stored conversations, ready to be compared.

    DataError if none of these conversations, or of their turns, is left with the options.
    """

    def __init__(self, conversations: Sequence[Conversation], role: Role, options: PeopleOptions, source: str) -> None:
        self.role, self.source = role, source
        sources = [SourceConversation.of(one) for one in _some(conversations, options, source)]
        self.donors = [donor for donor in sources if donor.messages]
        self.turns = [turn for donor in self.donors for turn in turns_of(donor, role)]
        if not self.turns:
            raise DataError(f"{source}: none of its conversations has a message of the {role}")
        groups = [self._texts_of(turn) for turn in self.turns]
        each = {text: (text,) for of_turn in groups for group in of_turn.values() for text in group if text}
        extraction = of_extra("sklearn.feature_extraction.text", "stats")
        self._vectors = extraction.TfidfVectorizer(analyzer=_words, sublinear_tf=True).fit(each.values())
        self._rows = {name: self._vectors.transform([of_turn[name] for of_turn in groups]) for name in groups[0]}
        # The weights of words that stand in earlier messages or in the scenario: the turn's references.
        self._bound = self._rows["own"].multiply(self._rows["known"] > 0).tocsr()
        self.digest = digest([(one.id, [(said.role, said.text) for said in one.messages]) for one in self.donors])[:16]
        self.keys = [frozenset(plain_words(message.text) for message in turn.messages) for turn in self.turns]
        """The words of the messages of each turn, without case and punctuation."""
        self.numbers = {
            (turn.source.id, message.number): n for n, turn in enumerate(self.turns) for message in turn.messages
        }
        """The number of the turn by conversation and message."""

    def _texts_of(self, turn: PeopleTurn) -> dict[str, list[str]]:
        # What the user wants and is, the assistant does not know.
        scenario = [turn.source.wish, turn.source.person] if self.role == "user" else []
        heard, before, own = ([message.text for message in group] for group in (turn.heard, turn.before, turn.messages))
        return {"scenario": scenario, "heard": heard, "own": own, "known": [*before, *scenario]}

    @property
    def longest(self) -> int:
        """Turns of the conversation with the most."""
        return max(turn.place for turn in self.turns) + 1

    @property
    def language(self) -> Language | None:
        """The commonest language of the turns; None if it cannot be detected."""
        return language_of("\n".join(turn.text for turn in self.turns[:200]))

    def after(self, number: int) -> range:
        """The numbers of the turns that follow in the same conversation."""
        end = number + 1
        while end < len(self.turns) and self.turns[end].source is self.turns[number].source:
            end += 1
        return range(number + 1, end)

    def _is_new(self, number: int, moment: PeopleMoment) -> bool:
        return number not in moment.used and moment.tried.isdisjoint(self.keys[number])

    def _following(self, moment: PeopleMoment) -> int | None:
        after = () if moment.before is None else self.after(moment.before)
        return next((number for number in after if self._is_new(number, moment)), None)

    def _scores(self, moment: PeopleMoment, options: PeopleOptions) -> Any:
        numpy = of_extra("numpy", "stats")
        weights = {name: getattr(options, name) * weight for name, weight in WEIGHTS[self.role].items()}
        scenario = [moment.wish, moment.person]
        known_texts = [*(text for _, text in moment.messages), *scenario]
        wanted, heard, known = self._vectors.transform([scenario, moment.heard, known_texts])
        scores = weights["scenario"] * _alike(self._rows["scenario"], wanted)
        scores += weights["heard"] * _alike(self._rows["heard"], heard)
        scores += weights["words"] * (_alike(self._rows["own"], heard) + _alike(self._rows["own"], known))
        if any(known_texts):  # the share of its references that are known here; 1 for a turn without references
            there, whole = (rows.sum(axis=1).A1 for rows in (self._bound.multiply(known > 0), self._bound))
            scores += weights["words"] * numpy.divide(there, whole, out=numpy.ones_like(whole), where=whole > 0)
        distance = abs(numpy.array([turn.place for turn in self.turns]) - moment.place)
        scores += weights["stay"] / (1.0 + distance)
        if (following := self._following(moment)) is not None:
            scores[following] += weights["stay"]
        return scores

    def ranked(self, moment: PeopleMoment, allowed: Iterable[int], options: PeopleOptions) -> list[int]:
        """The numbers of the allowed and new turns in the order in which to try them, drawn so that a better fit is early.

        The next one of the source conversation is first where it fits about as well as the best.
        """
        scores, spread = self._scores(moment, options), options.spread * WEIGHTS[self.role]["spread"]
        numbers = [number for number in allowed if self._is_new(number, moment)]
        best = sorted(numbers, key=lambda number: (-float(scores[number]), number))
        drawn = {number: float(scores[number]) + spread * _gumbel(moment.draw, number) for number in best[:DRAWN]}
        order = [*sorted(drawn, key=lambda number: (-drawn[number], number)), *best[DRAWN:]]
        following = self._following(moment)
        if following in best and scores[following] >= scores[best[0]] - spread:
            order = [following, *(number for number in order if number != following)]
        return order[:TRIED]

    def chosen(
        self, moment: PeopleMoment, allowed: Iterable[int], options: PeopleOptions
    ) -> tuple[PeopleTurn, list[FilledText]] | None:
        """The turn that comes next, its messages with their slots filled; None if none of the allowed ones fits."""
        for number in self.ranked(moment, allowed, options):
            texts = self._filled(number, moment)
            if texts is not None and moment.tried.isdisjoint(plain_words(text.text) for text in texts):
                return self.turns[number], texts
        return None

    def _filled(self, number: int, moment: PeopleMoment) -> list[FilledText] | None:
        """The messages of a turn with their slots filled; None if one does not fit; an assistant's have no slots."""
        turn = self.turns[number]
        if self.role == "assistant":
            return [FilledText(message.text) for message in turn.messages]
        said = "\n".join(text for _, text in moment.messages)
        own = "\n".join(text for role, text in moment.messages if role == "user")
        before = "\n".join(message.text for message in turn.before)
        here = Context(moment.wish, moment.person, said, own)
        there = Context(turn.source.wish, turn.source.person, before, stated=turn.source.stated)
        follows = moment.before is not None and self.turns[moment.before].source is turn.source
        texts = [filled(message.text, here, there, follows=follows) for message in turn.messages]
        fitting = [text for text in texts if text is not None]
        return fitting if len(fitting) == len(texts) else None


def _gumbel(draw: int, number: int) -> float:
    """A draw from Gumbel's distribution: the maximum of scores by a temperature plus these is one from their softmax."""
    uniform = (int(digest("turn", draw, number)[:12], 16) + 0.5) / 16**12
    return -log(-log(uniform))


def _some(conversations: Sequence[Conversation], options: PeopleOptions, source: str) -> Sequence[Conversation]:
    conversations = [one for one in conversations if of_part(one, options.part)]
    if not conversations:
        raise DataError(f"{source}: holds no conversation of part={options.part} of its users")
    if len(conversations) <= options.most:
        return conversations
    drawn = drawn_users(conversations, options.most, 0)
    logging.getLogger(__name__).warning(
        "people:%s: turns of %d of %d conversations are used, those of %d of %d users: at most %d are (most=N)",
        *(source, len(drawn.conversations), len(conversations), drawn.users, drawn.of_users, options.most),
    )
    return drawn.conversations


def remembered(path: Path, role: Role, options: PeopleOptions) -> Memory:
    """The memory of a path, built once in a process for the options that it depends on, again if the files change."""
    of_memory = options.model_dump(include={"part", "most"})
    return _built(path, version_of(path), role, PeopleOptions(**of_memory))


@lru_cache(maxsize=4)
def _built(path: Path, version: str, role: Role, options: PeopleOptions) -> Memory:
    return Memory(replayed(path).conversations, role, options, path.resolve().name)
