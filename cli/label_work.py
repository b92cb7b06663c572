"""What `duologue label` has a person work on: what is shown, what is asked, and where the answers go."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from pydantic import BaseModel, ConfigDict
from typing_extensions import override

from ..analysis.trust import Trusts
from ..data import load
from ..data.labelling import Answer, Item, in_order, items_of, model_value
from ..data.labels import LabelDefinition
from ..data.side_by_side import (
    ONBOARDING,
    STUDY,
    Comparison,
    Study,
    batches_of,
    by_label,
    comparisons,
    passed,
    unmet,
    unswitched,
)
from ..errors import DataError, at
from ..prompts.label_pages import labels_named
from ..runs.annotation_journal import annotated_keys
from ..runs.answers import Answers, answers_of
from ..views.labelling import Shown, data_trust, labelling_html
from ..views.side_by_side import side_by_side_html

BATCH = "batch"
"""Label of the line that says which batch a person has taken."""


class Settings(BaseModel):
    """What the command gives to the page, as a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: Path | None = None
    labels: tuple[str, ...] = ()
    labels_dir: Path | None = None
    study: Path | None = None
    answers: Path
    by: str
    show_model: Literal["after", "never", "before"] = "after"
    user_only: bool = False
    language: Shown = "as stored"
    limit: int | None = None
    seed: int = 0


class View(TypedDict):
    """What a person has chosen to see."""

    user_only: bool
    language: Shown


class Work(ABC):
    """One person's work, with the file of their answers open."""

    show_model: Literal["after", "never", "before"] = "never"
    user_only = False
    language: Shown = "as stored"
    has_views = False
    """Whether a person may choose what of a conversation is shown."""

    def __init__(self, answers: Answers, items: Sequence[Item]) -> None:
        self.answers, self.items = answers, list(items)
        self.notes: tuple[str, ...] = ()

    @property
    def by(self) -> str:
        """Who works."""
        return self.answers.by

    @property
    def waiting(self) -> list[Item]:
        """What has no answer yet, in order."""
        done = self.answers.standing
        return [item for item in self.items if item.key not in done or not item.is_of(done[item.key])]

    @property
    def last(self) -> Answer | None:
        """What was answered last, of what stands."""
        return self.answers.last({item.key for item in self.items})

    def undo(self) -> Item | None:
        """Take it back, and give what it was about; None if nothing was answered."""
        return self.answers.undo({item.key for item in self.items})

    @abstractmethod
    def definition(self, item: Item) -> LabelDefinition:
        """What is asked about an item."""

    @abstractmethod
    def html(self, item: Item, view: View) -> str:
        """What is shown of it."""

    def stored(self, item: Item, value: Mapping[str, Any]) -> dict[str, Any]:
        """An answer as it is saved."""
        return dict(value)

    def given(self, item: Item, value: Mapping[str, Any]) -> dict[str, Any]:
        """A saved answer as it was given."""
        return dict(value)

    def model_value(self, item: Item) -> dict[str, Any] | None:
        """What the data says itself about an item."""
        return None

    def model_trust(self, item: Item) -> str:
        """How far to trust what the data says."""
        return ""

    def refusal(self) -> str:
        """Why this person may not go on; empty if they may."""
        return ""

    def go_on(self) -> None:  # noqa: B027 - most work has no more
        """Find more to do, where everything is answered."""

    def answer(self, item: Item, value: Mapping[str, Any]) -> None:
        """Save an answer; DataError if it is no value of the label, which the page does not let happen."""
        if problems := self.definition(item).problems(value):
            raise DataError(f"{item.label}: {'; '.join(problems)}")
        shown = self.show_model == "before" and self.model_value(item) is not None
        self.answers.put(item.answered(self.stored(item, value), self.by, model_shown=shown))
        if not self.waiting:
            self.go_on()

    def later(self, item: Item) -> None:
        """Put an item behind all others."""
        self.items.remove(item)
        self.items.append(item)


class LabelWork(Work):
    """Labels of conversations, or of their messages."""

    has_views = True

    def __init__(self, settings: Settings) -> None:
        """DataError if there is nothing to label."""
        assert settings.source is not None
        self._labels = {label.name: label for label in labels_named(settings.labels, settings.labels_dir)}
        self._conversations = {one.id: one for one in load(settings.source).conversations}
        self._trusts = Trusts.of(self._conversations.values(), annotated_keys(settings.source))
        items = items_of(self._conversations.values(), list(self._labels.values()))
        if not items:
            names = ", ".join(self._labels)
            raise DataError(f"{at(settings.source)}: has nothing that {names} could label: give another source")
        answers = Answers(settings.answers, settings.by)
        ordered = in_order(items, self._labels, self._conversations, answers.others(), settings.seed)
        super().__init__(answers, ordered[: settings.limit])
        self.show_model, self.user_only, self.language = settings.show_model, settings.user_only, settings.language

    @override
    def definition(self, item: Item) -> LabelDefinition:
        return self._labels[item.label]

    @override
    def html(self, item: Item, view: View) -> str:
        return labelling_html(
            self._conversations[item.conversation],
            message=item.message,
            role="user" if view["user_only"] else None,
            language=view["language"],
            background=not self.definition(item).blind,
        )

    @override
    def model_value(self, item: Item) -> dict[str, Any] | None:
        return model_value(self.definition(item), self._conversations[item.conversation], item)

    @override
    def model_trust(self, item: Item) -> str:
        conversation, of_message = self._conversations[item.conversation], item.message is not None
        return data_trust(self.definition(item), conversation, self._trusts, of_message=of_message)


class StudyWork(Work):
    """A side-by-side study: trial conversations first, then one batch after the other."""

    def __init__(self, settings: Settings) -> None:
        """DataError for a study that cannot be made."""
        assert settings.study is not None
        self.study = Study.of(settings.study)
        compared, notes = compared_in(self.study)
        self._compared = {each.id: each for each in compared}
        trials = [trial.conversation for trial in self.study.onboarding]
        if unknown := [name for name in trials if name not in self._compared]:
            raise DataError(f"{settings.study}: onboarding: {unknown[0]!r} is no conversation that both sides have")
        for trial in self.study.onboarding:
            if problem := unmet(trial, self._compared[trial.conversation]):
                raise DataError(f"{settings.study}: onboarding: {problem}")
        self._batches = batches_of(self.study, compared)
        self._limit = settings.limit
        answers = Answers(settings.answers, settings.by)
        super().__init__(answers, [self._item(ONBOARDING, name) for name in trials])
        self.notes = tuple(notes)
        if not self.waiting:
            self.go_on()

    @override
    def definition(self, item: Item) -> LabelDefinition:
        return self._compared[item.conversation].definition()

    @override
    def html(self, item: Item, view: View) -> str:
        return side_by_side_html(self._compared[item.conversation], switched=self._switched(item))

    def _item(self, label: str, name: str) -> Item:
        return Item(label=label, conversation=name, seen=self._compared[name].seen)

    def _switched(self, item: Item) -> bool:
        return self._compared[item.conversation].switched(self.study.seed, self.by)

    @override
    def stored(self, item: Item, value: Mapping[str, Any]) -> dict[str, Any]:
        return {**unswitched(value, switched=self._switched(item)), "switched": self._switched(item)}

    @override
    def given(self, item: Item, value: Mapping[str, Any]) -> dict[str, Any]:
        names = {"first": "B", "second": "A"} if self._switched(item) else {"first": "A", "second": "B"}
        return {
            name: said if name == "why" else names.get(said, said) for name, said in value.items() if name != "switched"
        }

    @override
    def refusal(self) -> str:
        if any(item.label == ONBOARDING for item in self.waiting):
            return ""
        said = {key[1]: answer.value for key, answer in self.answers.standing.items() if key[0] == ONBOARDING}
        share = passed(self.study, said)
        if share >= self.study.pass_mark:
            return ""
        return (
            f"{share:.0%} of the expected answers to the trial conversations were given, {self.study.pass_mark:.0%} are "
            "needed. Thank you for trying."
        )

    @override
    def go_on(self) -> None:
        # The rest of a batch that was begun, else the first batch that has too few people.
        if self.refusal() or (self._limit is not None and len(self.items) >= self._limit):
            return
        mine = _batches_taken(self.answers.standing.values())
        for number in [*sorted(mine), *(n for n in range(len(self._batches)) if n not in mine)]:
            if number not in mine:
                others = sum(number in _batches_taken(given) for by, given in self._others() if by != self.by)
                if others >= self.study.labellers:
                    continue
                taken = Item(label=BATCH, conversation=f"batch {number}")
                self.answers.put(taken.answered({BATCH: number}, self.by))
            there = {item.key for item in self.items}
            added = [self._item(STUDY, name) for name in self._batches[number]]
            self.items += [item for item in added if item.key not in there]
            if self._limit is not None:
                self.items = self.items[: self._limit]
            if self.waiting or len(self.items) == self._limit:
                return

    def _others(self) -> list[tuple[str, list[Answer]]]:
        return list(answers_of(self.answers.folder).items())


def _batches_taken(answers: Any) -> set[int]:
    return {int(answer.value[BATCH]) for answer in answers if answer.label == BATCH}


def compared_in(study: Study) -> tuple[list[Comparison], list[str]]:
    """What the two sides of a study have in common, and notes; DataError if that is nothing."""
    assert study.first.source is not None
    first = load(study.first.source).conversations
    label = study.second.label
    second = by_label(first, label) if label is not None else load(study.second.source or Path()).conversations
    compared, notes = comparisons(first, second)
    if not compared:
        raise DataError(f"{study.first.name} and {study.second.name} have no question in common: give other sources")
    return compared, notes


def work_of(settings: Settings) -> Work:
    """The work of these settings."""
    return StudyWork(settings) if settings.study is not None else LabelWork(settings)


def opened(path: Path) -> Work:
    """The work of a settings file."""
    return work_of(Settings.model_validate_json(path.read_bytes()))
