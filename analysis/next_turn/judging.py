"""The scores of single turns: a user's turn at each moment beside the person's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ...data.next_turns import Moment, NextTurn
from ...data.people import user_of
from ...data.records import Record
from ...data.text.languages import Language
from ..realism.measures.words import content_of
from .acts import Act, acts_in, agreement
from .characters import chrf
from .donors import language_of
from .weights import Embed, TextWeights, cosine

RowKind: TypeAlias = Literal["person", "baseline", "published", "user"]
"""The person's own words; a baseline; simulated users of an earlier study; a user that was asked."""
TurnText: TypeAlias = Mapping[str, NextTurn]
"""What is said at each moment, by the moment's key; a moment may be missing."""


class TurnScores(Record):
    """How near to the person one turn is; None where there is nothing to compare."""

    chrf: float | None = None
    words: float | None = None
    """Cosine of the words' TF-IDF weights."""
    embedding: float | None = None
    acts: dict[Act, bool] | None = None
    """For each act whether both perform it, or neither does."""
    left: bool | None = None
    """At the end: whether it leaves, as the person did. At a turn: whether it leaves, though the person went on."""


@dataclass(frozen=True)
class JudgedTurns:
    """A row's turn at a moment."""

    moment: Moment
    next_turn: NextTurn
    scores: TurnScores


@dataclass(frozen=True)
class JudgedRow:
    """A row of the benchmark with each of its turns."""

    name: str
    kind: RowKind
    turns: tuple[JudgedTurns, ...]

    @property
    def keys(self) -> frozenset[str]:
        """The moments at which it could be asked."""
        return frozenset(turn.moment.key for turn in self.turns if turn.next_turn.failure is None)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Each turn as plain JSON values."""
        for turn in self.turns:
            moment, next_turn = turn.moment, turn.next_turn
            yield {
                "row": self.name,
                "conversation": moment.conversation.id,
                "user": user_of(moment.conversation),
                "turn": moment.turn,
                "person": None if moment.ended else moment.text,
                "said": next_turn.text,
                "stopped": next_turn.stopped,
                "scores": turn.scores.model_dump(mode="json"),
                "rejected": next_turn.rejected,
                "failure": next_turn.failure,
            }


@dataclass
class TurnJudge:
    """Scores turns; values that several scores need are computed once."""

    weights: TextWeights
    embed: Embed | None = None
    """A function from texts to vectors; None: no such score."""
    _vectors: dict[str, list[float]] = field(default_factory=dict)
    _before: dict[str, frozenset[str]] = field(default_factory=dict)

    def row(self, name: str, kind: RowKind, moments: Sequence[Moment], turns: TurnText) -> JudgedRow:
        """The row's turns with their scores, in the order of the moments."""
        pairs = [(moment, turns[moment.key]) for moment in moments if moment.key in turns]
        if self.embed is not None:
            self._embed(pairs)
        return JudgedRow(
            name, kind, tuple(JudgedTurns(moment, one, self._scores(moment, one)) for moment, one in pairs)
        )

    def _scores(self, moment: Moment, turn: NextTurn) -> TurnScores:
        if turn.failure is not None:
            return TurnScores()
        if moment.ended or not moment.text.strip():  # no text: an image alone
            return TurnScores(left=turn.stopped)
        language = language_of(moment.conversation)
        before = self._said_before(moment, language) if moment.turn else None
        return TurnScores(
            chrf=chrf(turn.text, moment.text),
            words=1.0 if turn.text == moment.text else self.weights.cosine(turn.text, moment.text, language),
            embedding=self._embedding(turn.text, moment.text),
            acts=agreement(acts_in(moment.text, language, before), acts_in(turn.text, language, before)),
            left=turn.stopped,
        )

    def _embedding(self, text: str, person: str) -> float | None:
        if self.embed is None:
            return None
        if text == person:
            return 1.0
        return cosine(self._vectors[text], self._vectors[person]) if text.strip() else 0.0

    def _embed(self, pairs: Sequence[tuple[Moment, NextTurn]]) -> None:
        """Embed what is new, all of it in one call."""
        candidates = (text for moment, turn in pairs for text in (turn.text, moment.text) if text.strip())
        texts = [text for text in dict.fromkeys(candidates) if text not in self._vectors]
        if texts and self.embed is not None:
            self._vectors.update(zip(texts, self.embed(texts), strict=True))

    def _said_before(self, moment: Moment, language: Language) -> frozenset[str]:
        if moment.key not in self._before:
            words = (content_of(message.text, language) for message in moment.before)
            self._before[moment.key] = frozenset().union(*words)
        return self._before[moment.key]
