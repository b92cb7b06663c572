"""What `duologue label --study` has a person work on: the quiz, then one batch after the other."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typing_extensions import override

from ..data import load
from ..data.labels.answers import Item
from ..data.labels.definition import LabelDefinition
from ..data.labels.side_by_side import (
    QUIZ,
    STUDY,
    ReplyPair,
    Study,
    batches_of,
    by_label,
    comparisons,
    quiz,
    unswitched,
)
from ..errors import DataError
from ..runs.people_labels import AnswerFiles, next_batch
from ..views.labelling import quiz_html, side_by_side_html
from .labelling import LabellingSettings, LabelWork, PersonWork, View


class StudyWork(PersonWork):
    """A side-by-side study: the quiz first, then one batch after the other."""

    def __init__(self, settings: LabellingSettings) -> None:
        """DataError for a study that cannot be made."""
        assert settings.study is not None
        self.study = Study.of(settings.study)
        compared, notes = compared_in(self.study)
        self._compared = {conversation.id: conversation for conversation in compared}
        self._limit = settings.limit
        answers = AnswerFiles(settings.answers, settings.by)
        self._batches = [
            [Item(label=STUDY, conversation=name, seen=self._compared[name].seen) for name in batch]
            for batch in batches_of(self.study, compared)
        ]
        self._quiz = Item(label=QUIZ, conversation=QUIZ, seen=quiz().seen)
        answered = [item for batch in self._batches for item in batch if item.key in answers.standing]
        super().__init__(answers, [self._quiz, *answered] if self.study.pass_mark else answered)
        if not self.waiting:
            self.go_on()
        self.notes = tuple(notes)

    @override
    def definition(self, item: Item) -> LabelDefinition:
        return quiz().definition() if item == self._quiz else self._compared[item.conversation].definition()

    @override
    def html(self, item: Item, view: View) -> str:
        if item == self._quiz:
            return quiz_html(quiz())
        return side_by_side_html(self._compared[item.conversation], switched=self._switched(item))

    def _switched(self, item: Item) -> bool:
        return self._compared[item.conversation].switched(self.study.seed)

    @override
    def stored(self, item: Item, value: Mapping[str, Any]) -> dict[str, Any]:
        if item == self._quiz:
            return dict(value)
        return {**unswitched(value, switched=self._switched(item)), "switched": self._switched(item)}

    @override
    def form_value(self, item: Item, value: Mapping[str, Any]) -> dict[str, Any]:
        if item == self._quiz:
            return dict(value)
        names = {"first": "B", "second": "A"} if self._switched(item) else {"first": "A", "second": "B"}
        return {
            name: choice if name == "why" else names.get(choice, choice)
            for name, choice in value.items()
            if name != "switched"
        }

    @override
    def question(self, item: Item, part: str | None) -> int | None:
        number = (part or "").partition(" ")[0]
        return int(number) if item != self._quiz and number.isdecimal() else None

    @override
    def refusal(self) -> str:
        if not self.study.pass_mark or self._quiz in self.waiting:
            return ""
        share = quiz().share(self.answers.standing[self._quiz.key].value)
        if share >= self.study.pass_mark:
            return ""
        return (
            f"{share:.0%} of the quiz was answered right, {self.study.pass_mark:.0%} are needed. Thank you for trying."
        )

    @override
    def go_on(self) -> None:
        if self.refusal():
            return
        self.items = self.items[: self._limit]
        most = None if self._limit is None else self._limit - len(self.items)
        if not self.waiting and most != 0:
            self.items += next_batch(self._batches, self.answers, self.study.labellers, most)


def compared_in(study: Study) -> tuple[list[ReplyPair], list[str]]:
    """The conversations that the two sides of a study share, and notes; DataError without any."""
    assert study.first.source is not None
    first = load(study.first.source).conversations
    label = study.second.label
    second = by_label(first, label) if label is not None else load(study.second.source or Path()).conversations
    compared, notes = comparisons(first, second)
    if not compared:
        raise DataError(f"{study.first.name} and {study.second.name} have no question in common: give other sources")
    return compared, notes


def work_of(settings: LabellingSettings) -> PersonWork:
    """The work of these settings."""
    return StudyWork(settings) if settings.study is not None else LabelWork(settings)
