"""A person's work under `duologue label`: the items, their questions, and the place of the answers."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from pydantic import BaseModel, ConfigDict
from typing_extensions import override

from ..data import load
from ..data.labels.answers import Item, LabelAnswer, in_order, items_of, model_value
from ..data.labels.definition import LabelDefinition
from ..errors import DataError, at
from ..prompts.label_pages import labels_named
from ..runs.people_labels import AnswerFiles
from ..views.labelling import Shown, labelling_html


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
    user_only: bool = False
    language: Shown = "as stored"
    limit: int | None = None
    seed: int = 0


class View(TypedDict):
    """A person's choice of the view."""

    user_only: bool
    language: Shown


class PersonWork(ABC):
    """One person's work, with the file of their answers open."""

    show_model: Literal["after", "never", "before"] = "never"
    user_only = False
    language: Shown = "as stored"
    has_views = False
    """Whether a person may choose what of a conversation is shown."""

    def __init__(self, answers: AnswerFiles, items: Sequence[Item]) -> None:
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
        self.answers.put(item.answered(value, self.by, model_shown=shown))
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
        items = items_of(self._conversations.values(), list(self._labels.values()))
        if not items:
            names = ", ".join(self._labels)
            raise DataError(f"{at(settings.source)}: has nothing that {names} could label: give another source")
        answers = AnswerFiles(settings.answers, settings.by)
        ordered = in_order(items, settings.seed)
        super().__init__(answers, ordered)
        if settings.limit is not None:  # what is answered counts, so that the same call again goes on where it ended
            waiting = {item.key for item in self.waiting}
            ordered = sorted(ordered, key=lambda item: item.key in waiting)
            self.items = ordered[: settings.limit]
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
