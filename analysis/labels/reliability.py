"""Reliability of a label that is shown: people's own, measured against people's, or not calibrated.

The source of a label follows from its data set (`LabelNotes.by_people`) or from its name (`style_human` is people's,
about the subject of `style`). Any other label is a model's, or of unknown origin. It is measured by
people's labels of the same conversations, where the data has them; else it is not calibrated. Sides are never pooled.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ...data import domains
from ...data.labels.reading import SCORES, SIDES, AnnotationSide, label_keys, peoples_keys, side_of
from ...data.loading import annotated_in
from ...data.recllmsim.published_labels import HUMAN
from ...data.records import Conversation, Record
from ...errors import DataError, MissingExtraError
from .score_sources import ScoreOrigin

By: TypeAlias = Literal["people", "model", "rule", "not told"]
"""The source of a label: people, a model, a rule that can be run again, or unknown."""

TRUST_IN = "Trust in "
"""The beginning of a line on the reliability of a label."""

PEOPLES, COMPUTED, NOT_CALIBRATED = "people's", "computed", "not calibrated"
"""Marks."""
UNTOLD = f"{TRUST_IN}the label: {NOT_CALIBRATED}."
"""The line where the caller does not name the data of the label."""
ONE_VOTE = "a single vote: only the result of the votes is measured"
NO_PEOPLE = "no label of people of the same conversations in this data"


class Trust(Record):
    """How far one label, or one part of it, can be trusted on one side."""

    label: str
    part: str = ""
    side: AnnotationSide
    by: By
    against: str = ""
    """People's label by which it is measured; empty if it is not."""
    n: int = 0
    """Conversations or messages that have both."""
    coefficient: Literal["", "kappa", "AC1"] = ""
    """Cohen's kappa; Gwet's AC1 where kappa is undefined, or one of the two labels has one value only."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    """Bounds of the 95 % interval, over users."""
    always: float | None = None
    """The accuracy of always saying people's commonest value."""
    note: str = ""
    """Why it has no number."""

    @property
    def mark(self) -> str:
        """It in a few words, to stand beside the label."""
        if self.by == "people":
            return PEOPLES
        if self.by == "rule":
            return COMPUTED
        if self.value is None:
            return NOT_CALIBRATED
        bounds = "" if self.low is None or self.high is None else f" ({self.low:.2f}…{self.high:.2f})"
        return f"{'κ' if self.coefficient == 'kappa' else self.coefficient} {self.value:.2f}{bounds}, n {self.n}"

    @property
    def meaning(self) -> str:
        """The mark in a sentence."""
        if self.by == "people":
            return "Given by people."
        if self.by == "rule":
            return "Computed by a rule from the record: no model judged it."
        who = "A model's" if self.by == "model" else "Its source is unknown"
        if self.value is None:
            return f"{who}{' label' if self.by == 'model' else ''}; not calibrated: {self.note or NO_PEOPLE}."
        name = "Cohen's kappa" if self.coefficient == "kappa" else "Gwet's AC1"
        always = "" if self.always is None else f"; always saying their commonest value is right of {self.always:.2f}"
        return f"{name} with {self.against}, people's, on {self.n} ({self.side}), with its 95 % interval{always}."


@dataclass
class Trusts:
    """The trust of every label of a set of conversations, by side."""

    sides: tuple[AnnotationSide, ...] = ()
    """Those that the set has."""
    annotated: frozenset[str] = frozenset()
    """Keys that annotators wrote into the source (`Loaded.annotated`)."""
    _people: set[tuple[AnnotationSide, bool, str]] = field(default_factory=set)
    """Side, whether of messages, and key of what people gave."""
    _there: set[tuple[AnnotationSide, bool, str]] = field(default_factory=set)
    """The same of every label."""
    _measured: dict[tuple[AnnotationSide, str, str], Trust] = field(default_factory=dict)
    _missing: dict[str, str] = field(default_factory=dict)
    """Why a label that people gave too is not measured."""
    _scores: dict[tuple[AnnotationSide, str], ScoreOrigin] = field(default_factory=dict)
    _references: dict[str, str] = field(default_factory=dict)
    """People's label, or the part of it, that measures a label."""

    @classmethod
    def of(cls, conversations: Iterable[Conversation], annotated: Collection[str] = ()) -> "Trusts":
        """Of these conversations, which are read once; only those are held that have both people's labels and others.

        `annotated`: keys that annotators wrote into their source; what was loaded (`Loaded`) has them itself.
        """
        trusts = cls(annotated=annotated_in(conversations).union(annotated))
        seen: dict[AnnotationSide, None] = {}
        both: dict[tuple[str, str], list[Conversation]] = {}
        by_people: set[tuple[AnnotationSide, bool, str]] = set()
        refuted: set[tuple[AnnotationSide, bool, str]] = set()
        for conversation in conversations:
            side, domain = side_of(conversation), domains.of(conversation)
            seen[side] = None
            keys: set[str] = set()
            for labels, of_messages in (
                (label_keys(conversation, trusts.annotated), False),
                *((label_keys(message, trusts.annotated), True) for message in conversation.messages),
            ):
                peoples = peoples_keys(conversation) if labels else ()
                for key in labels:
                    keys.add(key)
                    is_human = (HUMAN in key or key in peoples) and key not in trusts.annotated
                    (by_people if is_human else refuted).add((side, of_messages, key))
            for pair in _pairs(keys, domain.label_notes.same):
                trusts._references[pair[1]] = pair[0]
                if pair[0].partition(".")[0] not in trusts.annotated:
                    both.setdefault(pair, []).append(conversation)
            trusts.add_scores(conversation)
        trusts.sides = tuple(side for side in SIDES if side in seen or side in trusts.sides)
        trusts._people, trusts._there = by_people - refuted, by_people | refuted
        for (reference, label), of_both in both.items():
            trusts._measure(reference, label, of_both)
        return trusts

    def reference(self, key: str, part: str = "") -> tuple[str, str] | None:
        """Key and part of people's label that measures this one; None without one."""
        for name, of_part in ((f"{key}.{part}", ""), (key, part)):
            if human_label := self._references.get(name):
                human_key, _, named = human_label.partition(".")
                return human_key, named or of_part
        return None

    def add_scores(self, conversation: Conversation) -> None:
        """Count the scores of one more conversation, which is not kept."""
        if SCORES not in conversation.labels:
            return
        side = side_of(conversation)
        self.sides = self.sides if side in self.sides else (*self.sides, side)
        for name, score in ScoreOrigin.of(conversation).items():
            self._scores.setdefault((side, name), ScoreOrigin()).add(score)

    def of_label(
        self, side: AnnotationSide, key: str, part: str = "", *, of_messages: bool | None = None, of_vote: bool = False
    ) -> Trust | None:
        """The trust of a label or a part of it; None for a fact of the source.

        `of_messages`: whether a message has it, None where that is not known. `of_vote`: of a single vote, which is not
        measured: only the result of the votes is.
        """
        notes = domains.label_notes()
        if key in notes.facts:
            return None
        key = notes.beside.get(key, key)
        levels = (True, False) if of_messages is None else (of_messages,)
        if any((side, level, key) in self._people for level in levels):
            return Trust(label=key, part=part, side=side, by="people")
        measured = self._measured.get((side, key, part))
        if measured is not None and not of_vote:
            return measured
        by: By = "model" if key in self.annotated else "not told"
        note = ONE_VOTE if of_vote else self._missing.get(key, "")
        return Trust(label=key, part=part, side=side, by=by, note=note)

    def of_score(self, side: AnnotationSide, name: str) -> Trust:
        """The trust of a scorer's score: computed by a rule, or judged by a model."""
        origin = self._scores.get((side, name), ScoreOrigin())
        if origin.by == "rule":
            return Trust(label=name, side=side, by="rule")
        if (measured := origin.measured()) is not None:
            return Trust(label=name, side=side, by=origin.by, against=f"{name}{HUMAN}", **measured)
        return Trust(label=name, side=side, by=origin.by)

    def mark_of_score(self, name: str) -> str:
        """The marks of a score for all sides that have it; empty if none has."""
        return together({side: self.of_score(side, name).mark for side in self.sides if (side, name) in self._scores})

    def mark_of_label(
        self, key: str, part: str = "", sides: Iterable[str] = (), *, of_messages: bool | None = None
    ) -> str:
        """The marks of a label for these sides as one text, by default for all that the set has.

        Each side is named where they differ.
        """
        return self._marks(sides, lambda side: self.of_label(side, key, part, of_messages=of_messages))

    def note(self, key: str, sides: Iterable[str] = (), *, of_messages: bool | None = None) -> str:
        """The reliability of a label as a line for the table that is computed from it.

        Empty where no side has the data.
        """
        having = {side for side, level, name in self._there if name == key and of_messages in (None, level)}
        mark = self.mark_of_label(key, sides=[*(sides or having)], of_messages=of_messages) if sides or having else ""
        return f"{TRUST_IN}{key}: {mark}." if mark else ""

    def named(self, name: str, side: AnnotationSide) -> Trust | None:
        """The trust of an annotation by its name in tables.

        `solving order` is the name of the label `solving`, part `order`.
        """
        for key, part in {(key, part) for of, key, part in self._measured if of == side}:
            if name == " ".join(filter(None, (key, part))).replace("_", " "):
                return self.of_label(side, key, part)
        for of, _, key in self._people:
            worded = key.replace("_", " ")
            if of == side and (name == worded or name.startswith(f"{worded} ")):
                return self.of_label(side, key)
        if name in {key.replace("_", " ") for key in domains.label_notes().facts}:
            return None
        key = next((key for key in self.annotated if name.startswith(key.replace("_", " "))), "")
        return Trust(label=name, side=side, by="model" if key else "not told")

    def mark_of_name(self, name: str, sides: Iterable[str] = ()) -> str:
        """As `mark_of_label`, of an annotation by its name in tables."""
        return self._marks(sides, lambda side: self.named(name, side))

    def _marks(self, sides: Iterable[str], trust_of: Callable[[AnnotationSide], Trust | None]) -> str:
        chosen = tuple(sides) or self.sides
        by_side = {side: trust_of(side) for side in self.sides if side in chosen}
        return together({side: trust.mark for side, trust in by_side.items() if trust is not None})

    def _measure(self, reference: str, label: str, conversations: list[Conversation]) -> None:
        key, _, part = label.partition(".")
        try:
            from .agreement.report import agreement

            rows = agreement(conversations, between=[(reference, label)]).rows
        except MissingExtraError:
            self._missing[key] = f"{reference} has people's labels: install the extra 'stats' to see how far it agrees"
            return
        except DataError:  # labels of two forms, which nothing compares
            self._missing[key] = f"{reference} has no part in common with it"
            return
        for row in rows:
            of_part = part or row.part
            self._measured[row.side, key, of_part] = measured_trust(row, key, of_part)


def measured_trust(row: Any, key: str, part: str) -> Trust:
    """The trust that follows from a row of agreement with people's label."""
    # With one value on either side kappa is 0 whatever the other says, and has no interval.
    kappa = row.kappa is not None and (row.kappa != 0 or row.kappa_low is not None)
    coefficient: Mapping[str, Any] = (
        {"coefficient": "kappa", "value": row.kappa, "low": row.kappa_low, "high": row.kappa_high}
        if kappa or row.ac1 is None
        else {"coefficient": "AC1", "value": row.ac1, "low": row.ac1_low, "high": row.ac1_high}
    )
    return Trust(label=key, part=part, side=row.side, by="not told", against=row.label, n=row.n, always=row.base_rate,
                 note="" if coefficient["value"] is not None else row.note, **coefficient)  # fmt: skip


def together(marks: Mapping[Any, str]) -> str:
    """Marks by side as one text; empty for none."""
    if len(set(marks.values())) == 1:
        (mark,) = set(marks.values())
        return mark
    return "; ".join(f"{side}: {mark}" for side, mark in marks.items())


def _pairs(keys: Collection[str], same: Mapping[str, str]) -> list[tuple[str, str]]:
    """People's label, and the label that is measured by it, of a conversation that has both keys."""
    pairs = [(key, key.replace(HUMAN, "", 1)) for key in keys if HUMAN in key and key.replace(HUMAN, "", 1) in keys]
    return pairs + [
        (reference, label)
        for label, reference in same.items()
        if label.partition(".")[0] in keys and reference.partition(".")[0] in keys
    ]
