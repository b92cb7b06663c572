"""A person's work under `duologue label`: labels of conversations, or a side-by-side study, the quiz first."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from pydantic import BaseModel, ConfigDict
from typing_extensions import override

from ..data import load
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
from ..data.labels.table import WHOLE, Item, LabelAnswer, holder_of, items_of
from ..errors import DataError, at
from ..prompts.label_pages import labels_named
from ..runs.people_labels import AnswerFiles, next_batch
from ..views.labelling import Shown, labelling_html, quiz_html, side_by_side_html


class LabellingSettings(BaseModel):
    """The settings that the command hands to the page, as a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: Path | None = None
    labels: tuple[str, ...] = ()
    labels_dir: Path | None = None
    study: Path | None = None
    answers: Path
    by: str
    show_model: Literal["after", "never", "before"] = "after"
    limit: int | None = None
    seed: int = 0


class View(TypedDict):
    """A person's choice of the view."""

    user_only: bool
    language: Shown


class PersonWork(ABC):
    """One person's work, with the file of their answers open."""

    show_model: Literal["after", "never", "before"] = "never"
    has_views = False
    """Whether a person may choose what of a conversation is shown."""

    def __init__(self, answers: AnswerFiles, items: Sequence[Item]) -> None:
        self.answers, self.items = answers, list(items)
        self.notes: tuple[str, ...] = ()

    @property
    def waiting(self) -> list[Item]:
        """What has no answer yet, in order."""
        done = self.answers.standing
        return [item for item in self.items if item.key not in done or not item.is_of(done[item.key])]

    @property
    def last(self) -> LabelAnswer | None:
        """The last answer that still stands."""
        return self.answers.last({item.key for item in self.items})

    def undo(self) -> Item | None:
        """Take it back, and give what it was about; None if nothing was answered."""
        return self.answers.undo({item.key for item in self.items})

    @abstractmethod
    def definition(self, item: Item) -> LabelDefinition:
        """The label definition of an item."""

    @abstractmethod
    def html(self, item: Item, view: View) -> str:
        """The HTML of an item."""

    def stored(self, item: Item, value: Mapping[str, Any]) -> dict[str, Any]:
        """An answer as it is saved."""
        return dict(value)

    def form_value(self, item: Item, value: Mapping[str, Any]) -> dict[str, Any]:
        """A saved answer as the form shows it."""
        return dict(value)

    def model_value(self, item: Item) -> dict[str, Any] | None:
        """The value that the data itself holds for an item."""
        return None

    def question(self, item: Item, part: str | None) -> int | None:
        """Number of the question that a part is about, where an item has several."""
        return None

    def refusal(self) -> str:
        """Why this person may not go on; empty if they may."""
        return ""

    def go_on(self) -> None:  # noqa: B027 - most work has no more
        """Find more to do, where everything is answered."""

    def answer(self, item: Item, value: Mapping[str, Any]) -> None:
        """Save an answer; DataError if it is not a value of the label, which the page prevents."""
        if problems := self.definition(item).problems(value):
            raise DataError(f"{item.label}: {'; '.join(problems)}")
        shown = self.show_model == "before" and self.model_value(item) is not None
        value = self.stored(item, value)
        self.answers.put(item.answered(value, self.answers.by, model_shown=shown))
        if not self.waiting:
            self.go_on()

    def later(self, item: Item) -> None:
        """Put an item behind all others."""
        self.items.remove(item)
        self.items.append(item)


class LabelWork(PersonWork):
    """Labels of conversations, or of their messages."""

    has_views = True

    def __init__(self, settings: LabellingSettings) -> None:
        """DataError if there is nothing to label."""
        assert settings.source is not None
        self._labels = {label.name: label for label in labels_named(settings.labels, settings.labels_dir)}
        loaded = load(settings.source)
        self._conversations = {one.id: one for one in loaded}
        items = items_of(self._conversations.values(), list(self._labels.values()), settings.seed)
        if not items:
            names = ", ".join(self._labels)
            raise DataError(f"{at(settings.source)}: has nothing that {names} could label: give another source")
        answers = AnswerFiles(settings.answers, settings.by)
        super().__init__(answers, items)
        if settings.limit is not None:  # what is answered counts, so that the same call again goes on where it ended
            waiting = {item.key for item in self.waiting}
            self.items = sorted(items, key=lambda item: item.key in waiting)[: settings.limit]
        self.show_model = settings.show_model

    @override
    def definition(self, item: Item) -> LabelDefinition:
        return self._labels[item.label]

    @override
    def html(self, item: Item, view: View) -> str:
        return labelling_html(
            self._conversations[item.conversation],
            message=None if item.message == WHOLE else item.message,
            role="user" if view["user_only"] else None,
            language=view["language"],
            background=not self.definition(item).blind,
        )

    @override
    def model_value(self, item: Item) -> dict[str, Any] | None:
        return self.definition(item).value_in(holder_of(self._conversations[item.conversation], item.message))


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
