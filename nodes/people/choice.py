"""The choice of the next stored turn: the best fit, in the same source conversation while that one fits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from math import inf, log
from typing import Any, Self

from ...data.identity import digest
from ...data.records import Role
from ...data.rules import plain_words
from ...errors import SettingError, of_extra
from .memory import FIELDS, Memory
from .slots import FilledText, TurnContext, filled
from .turns import PeopleTurn, asked_in

TRIED = 200
"""Most turns whose slots are looked at, the best first."""

DRAWN = 64
"""Of how many turns, the best ones, one is drawn."""


@dataclass(frozen=True)
class ChoiceWeights:
    """How much each likeness counts, and how firmly a source conversation is followed.

    SettingError for a weight below 0.
    """

    wish: float = 1.0
    person: float = 0.1
    heard: float = 0.5
    asked: float = 0.2
    own: float = 0.3
    talk: float = 0.2
    reply: float = 0.3
    theme: float = 0.2
    task: float = 0.5
    """For a conversation with the same task, by its name."""
    refers: float = 0.5
    """For the share of a turn's references that this conversation has too."""
    place: float = 0.4
    """For standing as late in its conversation as it would stand here."""
    stay: float = 0.5
    """Added for the next turn of the last turn's source conversation."""
    same_person: float = 0.1
    """Added for a turn of another conversation of that same user."""
    spread: float = 0.1
    """Temperature of the draw among the turns that fit best; also the advantage of another turn that ends the source
    conversation."""

    @classmethod
    def of(cls, role: Role) -> Self:
        """The weights of a user, or those of an assistant, whose reply depends mostly on the last message."""
        if role == "user":
            return cls()
        return cls(
            heard=1.0, own=0.1, talk=0.5, reply=1.0, theme=1.0, refers=0.2, place=0.1, stay=0.1, same_person=0, spread=0
        )

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all weights, which a spec may give: `people:SRC?stay=0.3`."""
        return tuple(weight.name for weight in fields(cls))

    def __post_init__(self) -> None:
        for weight in fields(self):
            value = getattr(self, weight.name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < inf:
                raise SettingError(f"people: {weight.name} must be a number, 0 or more, not {value!r}")


@dataclass(frozen=True)
class PeopleMoment:
    """The state of a conversation as the role sees it whose turn it is."""

    wish: str
    """What the user wants; empty for the assistant, which does not know it, as is `person`."""
    person: str
    task: str
    """Name of the task; empty without one."""
    messages: tuple[tuple[Role, str], ...]
    """All messages so far, each with its role."""
    heard: tuple[str, ...]
    """The other role's messages since this role's last turn."""
    tried: frozenset[str]
    """The words of each message of this role, and of each rejected draft of this turn."""
    used: frozenset[int]
    """Numbers of the turns that this role has used."""
    place: int
    """Number of turns that this role has had."""
    before: int | None
    """Number of this role's last turn; None if it has used none of this memory."""
    draw: int
    """A random integer."""

    def own(self, role: Role) -> list[str]:
        """The role's messages."""
        return [text for speaking, text in self.messages if speaking == role]

    def texts(self, role: Role) -> dict[str, Sequence[str]]:
        """The texts that the turns are compared with, by field."""
        return {
            "wish": [self.wish] if self.wish else [],
            "person": [self.person] if self.person else [],
            "heard": self.heard,
            "asked": [question for text in self.heard for question in asked_in(text)],
            "own": self.own(role),
            "talk": [text for _, text in self.messages],
            "reply": self.heard,
            "theme": [*(text for _, text in self.messages), *([self.wish] if self.wish else [])],
        }


@dataclass(frozen=True)
class Choice:
    """A turn that comes next."""

    turn: PeopleTurn
    texts: tuple[FilledText, ...]
    """Its messages, their slots filled."""


def chosen(memory: Memory, moment: PeopleMoment, allowed: Sequence[bool], weights: ChoiceWeights) -> Choice | None:
    """The turn that comes next; None if none of those that are allowed fits."""
    scores = scores_of(memory, moment, weights)
    numbers = [n for n, ok in enumerate(allowed) if ok and is_new(memory, n, moment)]
    following = _following(memory, moment)
    for tried, number in enumerate(in_order(numbers, scores, following, moment.draw, weights.spread)):
        if tried == TRIED:
            break
        texts = _filled(memory, number, moment)
        if texts is not None and moment.tried.isdisjoint(plain_words(text.text) for text in texts):
            return Choice(memory.turns[number], texts)
    return None


def scores_of(memory: Memory, moment: PeopleMoment, weights: ChoiceWeights) -> Any:
    """A score for each turn: how well it fits here."""
    numpy = of_extra("numpy", "stats")
    texts = moment.texts(memory.role)
    likenesses = memory.likenesses(texts)
    scores = sum(getattr(weights, name) * likenesses[name] for name in FIELDS)
    if context := [*texts["talk"], *texts["wish"], *texts["person"]]:
        scores = scores + weights.refers * memory.kept_references(context)
    if moment.task:
        tasks = numpy.array([memory.donors[turn.donor].task == moment.task for turn in memory.turns])
        scores = scores + weights.task * tasks
    places = numpy.array([turn.place for turn in memory.turns])
    scores = scores + weights.place / (1.0 + abs(places - moment.place))
    if moment.before is not None:
        last = memory.turns[moment.before]
        user = memory.donors[last.donor].user
        same = numpy.array([memory.donors[turn.donor].user == user for turn in memory.turns])
        scores = scores + weights.same_person * same
        following = _following(memory, moment)
        if following is not None:
            scores[following] += weights.stay
    return scores


def _following(memory: Memory, moment: PeopleMoment) -> int | None:
    """The next unused turn of the last turn's source conversation; None if there is none."""
    if moment.before is None:
        return None
    after = memory.after(moment.before)
    return next((number for number in after if memory.usable[number] and is_new(memory, number, moment)), None)


def _filled(memory: Memory, number: int, moment: PeopleMoment) -> tuple[FilledText, ...] | None:
    """The messages of a turn with their slots filled; None if one does not fit.

    An assistant's messages have no slots.
    """
    turn = memory.turns[number]
    if memory.role == "assistant":
        return tuple(FilledText(message.text) for message in turn.messages)
    donor = memory.donors[turn.donor]
    context = TurnContext(
        moment.wish, moment.person, _joined(text for _, text in moment.messages), _joined(moment.own("user"))
    )
    own = _joined(message.text for message in turn.before if message.role == "user")
    before = _joined(message.text for message in turn.before)
    donor_context = TurnContext(donor.wish, donor.person, before, own, donor.stated)
    follows = moment.before is not None and memory.turns[moment.before].donor == turn.donor
    texts = [filled(message.text, context, donor_context, follows=follows) for message in turn.messages]
    return tuple(text for text in texts if text is not None) if all(text is not None for text in texts) else None


def _joined(texts: Any) -> str:
    return "\n".join(texts)


def is_new(memory: Memory, number: int, moment: PeopleMoment) -> bool:
    """Whether none of a turn's messages was sent or tried before."""
    return number not in moment.used and moment.tried.isdisjoint(memory.keys[number])


def in_order(numbers: Sequence[int], scores: Any, following: int | None, draw: int, spread: float) -> Iterator[int]:
    """The turns in the order in which to try them.

    The next one of the source conversation is first where it fits about as well as the best. The others are drawn: a
    better fit is more likely to be early.
    """
    ranked = sorted(numbers, key=lambda number: (-float(scores[number]), number))
    if following is not None and following in ranked and scores[following] >= scores[ranked[0]] - spread:
        ranked.remove(following)
        yield following
    drawn = {number: float(scores[number]) + spread * _gumbel(draw, number) for number in ranked[:DRAWN]}
    yield from sorted(drawn, key=lambda number: (-drawn[number], number))
    yield from ranked[DRAWN:]


def _gumbel(draw: int, number: int) -> float:
    """A number drawn from Gumbel's distribution.

    If such numbers are added to scores that are divided by a temperature, the maximum is a draw from their softmax.
    """
    uniform = (int(digest("turn", draw, number)[:12], 16) + 0.5) / 16**12
    return -log(-log(uniform))
