"""Whose a label is that is shown: people's, a model's, a rule's, or not told.

It follows from the data set (`LabelNotes.by_people`) or from the name (`style_human` is people's, about the subject of
`style`); of a score from the description of its scorer. How far two labels agree is what `agreement` measures.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ...data import domains
from ...data.labels.reading import SCORES, SIDES, AnnotationSide, label_keys, peoples_keys, side_of
from ...data.loading import annotated_in
from ...data.recllmsim.published_labels import HUMAN
from ...data.records import Conversation, Message, Record

By: TypeAlias = Literal["people", "model", "rule", "not told"]

TRUST_IN = "Whose label is "
"""The beginning of a line on the source of a label."""
PEOPLES, COMPUTED, MODELS, NOT_CALIBRATED = "people's", "computed", "a model's", "source not told"
"""Marks."""
UNTOLD = f"{TRUST_IN}it: {NOT_CALIBRATED}."
"""The line where the caller does not name the data of the label."""

_MARKS: Mapping[By, str] = {"people": PEOPLES, "rule": COMPUTED, "model": MODELS, "not told": NOT_CALIBRATED}
_ASKING = frozenset({"model", "judge", "judged", "criterion"})
"""Keys of a scorer's description, or of a part of it, that name a model or a judge."""


class Trust(Record):
    """Whose one label, or one part of it, is on one side."""

    label: str
    part: str = ""
    side: AnnotationSide
    by: By

    @property
    def mark(self) -> str:
        """It in a few words, to stand beside the label."""
        return _MARKS[self.by]

    @property
    def meaning(self) -> str:
        """The mark in a sentence."""
        return {
            "people": "Given by people.",
            "rule": "Computed by a rule from the record: no model judged it.",
            "model": "Given by a model.",
            "not told": "The data does not tell who gave it.",
        }[self.by]


@dataclass
class Trusts:
    """Whose every label of a set of conversations is, by side."""

    sides: tuple[AnnotationSide, ...] = ()
    """Those that the set has."""
    annotated: frozenset[str] = frozenset()
    """Keys that annotators wrote into the source (`Loaded.annotated`)."""
    _people: set[tuple[AnnotationSide, bool, str]] = field(default_factory=set)
    """Side, whether of messages, and key of what people gave."""
    _there: set[tuple[AnnotationSide, bool, str]] = field(default_factory=set)
    """The same of every label."""
    _scores: dict[tuple[AnnotationSide, str], set[By]] = field(default_factory=dict)
    _references: dict[str, str] = field(default_factory=dict)
    """People's label, or the part of it, about the subject of a label."""

    @classmethod
    def of(cls, conversations: Iterable[Conversation], annotated: Collection[str] = ()) -> "Trusts":
        """Of these conversations, which are read once.

        `annotated`: keys that annotators wrote into their source; what was loaded (`Loaded`) has them itself.
        """
        trusts = cls(annotated=annotated_in(conversations).union(annotated))
        others: set[tuple[AnnotationSide, bool, str]] = set()
        for conversation in conversations:
            side = trusts._side(conversation)
            keys: set[str] = set()
            holders: list[Conversation | Message] = [conversation, *conversation.messages]
            for holder in holders:
                labels = label_keys(holder, trusts.annotated)
                peoples = peoples_keys(conversation) if labels else ()
                for key in labels:
                    human = (HUMAN in key or key in peoples) and key not in trusts.annotated
                    (trusts._people if human else others).add((side, holder is not conversation, key))
                keys.update(labels)
            for reference, label in _pairs(keys, domains.of(conversation).label_notes.same):
                trusts._references[label] = reference
            trusts.add_scores(conversation)
        trusts._there = trusts._people | others
        trusts._people -= others
        return trusts

    def add_scores(self, conversation: Conversation) -> None:
        """Count the scores of one more conversation, which is not kept."""
        scores = conversation.labels.get(SCORES)
        for name, score in scores.items() if isinstance(scores, Mapping) else ():
            if isinstance(score, Mapping):
                key = self._side(conversation), name
                self._scores.setdefault(key, set()).add(scored_by(conversation, name, score))

    def reference(self, key: str, part: str = "") -> tuple[str, str] | None:
        """Key and part of people's label about the same; None without one."""
        for name, of_part in ((f"{key}.{part}", ""), (key, part)):
            if human_label := self._references.get(name):
                human_key, _, named = human_label.partition(".")
                return human_key, named or of_part
        return None

    def of_label(
        self, side: AnnotationSide, key: str, part: str = "", *, of_messages: bool | None = None
    ) -> Trust | None:
        """Whose a label or a part of it is; None for a fact of the source.

        `of_messages`: whether a message has it, None where that is not known.
        """
        notes = domains.label_notes()
        if key in notes.facts:
            return None
        key = notes.beside.get(key, key)
        levels = (True, False) if of_messages is None else (of_messages,)
        people = any((side, level, key) in self._people for level in levels)
        by: By = "people" if people else "model" if key in self.annotated else "not told"
        return Trust(label=key, part=part, side=side, by=by)

    def of_score(self, side: AnnotationSide, name: str) -> Trust:
        """Whose a scorer's score is: a judge's, if any was."""
        whose = self._scores.get((side, name), set())
        by: By = "model" if "model" in whose else "rule" if whose == {"rule"} else "not told"
        return Trust(label=name, side=side, by=by)

    def mark_of_score(self, name: str) -> str:
        """The marks of a score for all sides that have it; empty if none has."""
        return together({side: self.of_score(side, name).mark for side in self.sides if (side, name) in self._scores})

    def mark_of_label(
        self, key: str, part: str = "", sides: Iterable[str] = (), *, of_messages: bool | None = None
    ) -> str:
        """The marks of a label for these sides as one text, by default for all; each side is named where they differ."""
        return self._marks(sides, lambda side: self.of_label(side, key, part, of_messages=of_messages))

    def mark_of_name(self, name: str, sides: Iterable[str] = ()) -> str:
        """As `mark_of_label`, of a label by its name in tables, such as `solving order`."""
        keys = {key: key.replace("_", " ") for _, _, key in self._there}
        found = next((key for key, words in keys.items() if name == words or name.startswith(f"{words} ")), name)
        return self._marks(sides, lambda side: self.of_label(side, found))

    def note(self, key: str, sides: Iterable[str] = (), *, of_messages: bool | None = None) -> str:
        """Whose a label is, as a line for the table that is computed from it; empty where no side has it."""
        having = {side for side, level, name in self._there if name == key and of_messages in (None, level)}
        mark = self.mark_of_label(key, sides=[*(sides or having)], of_messages=of_messages) if sides or having else ""
        return f"{TRUST_IN}{key}: {mark}." if mark else ""

    def _side(self, conversation: Conversation) -> AnnotationSide:
        side = side_of(conversation)
        self.sides = tuple(one for one in SIDES if one == side or one in self.sides)
        return side

    def _marks(self, sides: Iterable[str], trust_of: Callable[[AnnotationSide], Trust | None]) -> str:
        chosen = tuple(sides) or self.sides
        by_side = {side: trust_of(side) for side in self.sides if side in chosen}
        return together({side: trust.mark for side, trust in by_side.items() if trust is not None})


def together(marks: Mapping[Any, str]) -> str:
    """Marks by side as one text; empty for none."""
    if len(set(marks.values())) == 1:
        return next(iter(marks.values()))
    return "; ".join(f"{side}: {mark}" for side, mark in marks.items())


def scored_by(conversation: Conversation, name: str, score: Mapping[str, Any]) -> By:
    """A model if the score has tokens of one, or the description of its scorer names one; a rule if there is another."""
    closing = conversation.provenance.nodes.get("closing") if conversation.provenance is not None else None
    scorers = closing.settings.get("scorers") if closing is not None else None
    scorer = scorers.get(name) if isinstance(scorers, Mapping) else None
    of_scenario = conversation.scenario.get(name) if name == "success" else None
    descriptions = [description for description in (scorer, of_scenario) if description is not None]
    if score.get("usage") is not None or not _ASKING.isdisjoint(_keys(descriptions)):
        return "model"
    return "rule" if descriptions else "not told"


def _pairs(keys: Collection[str], same: Mapping[str, str]) -> list[tuple[str, str]]:
    """People's label, and the label about the same, of a conversation that has both keys."""
    pairs = [(key, key.replace(HUMAN, "", 1)) for key in keys if HUMAN in key and key.replace(HUMAN, "", 1) in keys]
    return pairs + [
        (reference, label)
        for label, reference in same.items()
        if label.partition(".")[0] in keys and reference.partition(".")[0] in keys
    ]


def _keys(value: Any) -> Iterator[str]:
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    yield from map(str, value) if isinstance(value, Mapping) else ()
    for one in inner:
        yield from _keys(one)
