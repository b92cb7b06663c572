"""The batches of a side-by-side study, and who has which.

It is known only from the files of answers. A line of its own in a person's file holds the conversations of a batch that
the person has begun. It stands until the batch is taken from them.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from ...data.labels.answers import Item, LabelAnswer
from ...errors import DataError
from ..journals.journal import AppendedFile, BusyError, RunError
from .answers import AnswerFiles, answers_of

BATCH = "batch"
"""Label of the line that says what a person has begun."""
OF = "conversations"
"""Key of the ids of its conversations that are the person's."""
LOCK = ".batches"
"""File whose lock is held while a batch is taken: of two people who come at once, one is the first."""
PATIENCE = 200
"""How often that lock is tried, a twentieth of a second apart and more."""


class BegunBatch(NamedTuple):
    """A person's batch that is begun and not finished."""

    by: str
    answered: int
    """Conversations that they have answered, of those that they have begun."""
    of: int


class Batches:
    """The batches of a study, and who has begun which."""

    def __init__(self, folder: Path, batches: Sequence[Sequence[Item]], labellers: int) -> None:
        """`batches`: the conversations of each; `labellers`: how many people each conversation is to have."""
        self.folder, self._batches, self._labellers = folder, batches, labellers
        self._items = {item.conversation: item for batch in batches for item in batch}

    def of(self, answers: Iterable[LabelAnswer]) -> list[Item]:
        """The conversations that one person has begun, by their answers that stand."""
        begun = [answer for answer in answers if answer.label == BATCH]
        names = dict.fromkeys(name for answer in begun for name in self._names(answer))
        return [self._items[name] for name in names if name in self._items]

    def _names(self, answer: LabelAnswer) -> list[str]:
        names = answer.value.get(OF)
        return [str(name) for name in names] if isinstance(names, list) else []

    def take(self, answers: AnswerFiles, most: int | None = None) -> list[Item]:
        """Begin the first batch with work for this person; gives its open conversations, at most `most`.

        These are conversations that too few others have answered or begun; none if no batch has any. RunError if others
        take batches all the time.
        """
        with _alone(self.folder):
            people = {by: _Person(self, person_answers) for by, person_answers in answers_of(self.folder).items()}
            labeller = people.pop(answers.by)
            for number, batch in enumerate(self._batches):
                todo = [
                    item
                    for item in batch
                    if not labeller.has(item) and sum(one.has(item) for one in people.values()) < self._labellers
                ][:most]
                if todo:
                    line = Item(label=BATCH, conversation=f"batch {number}")
                    names = [item.conversation for item in todo]
                    answers.put(line.answered({OF: names}, answers.by))
                    return todo
        return []

    def begun(self) -> list[BegunBatch]:
        """The batches that are begun and not finished, by person."""
        people = {by: _Person(self, answers) for by, answers in answers_of(self.folder).items()}
        begun = [BegunBatch(by, sum(map(one.answered, one.begun)), len(one.begun)) for by, one in people.items()]
        return [person for person in begun if person.answered < person.of]

    def release(self, by: str) -> BegunBatch:
        """Take a person's unfinished batch from them, so that others get it; their answers stay.

        DataError if there is nothing of that; RunError if their page is open.
        """
        begun = next((person for person in self.begun() if person.by == by), None)
        if begun is None:
            raise DataError(f"{self.folder}: {by} has begun no batch that is not finished: there is nothing to release")
        with AnswerFiles(self.folder, by) as answers:
            for answer in [answer for answer in answers.standing.values() if answer.label == BATCH]:
                answers.put(Item(label=BATCH, conversation=answer.conversation).taken_back(by))
        return begun


class _Person:
    """What one person has answered and begun."""

    def __init__(self, batches: Batches, answers: Sequence[LabelAnswer]) -> None:
        self._answers = {answer.key: answer for answer in answers}
        self.begun = batches.of(answers)
        self._soon = {item.key for item in self.begun}

    def answered(self, item: Item) -> bool:
        """Whether they have answered it as it is now."""
        return item.key in self._answers and item.is_of(self._answers[item.key])

    def has(self, item: Item) -> bool:
        """Whether they have answered it, or begun its batch."""
        return item.key in self._soon or self.answered(item)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    for _ in range(PATIENCE):
        try:
            lock = AppendedFile(folder / LOCK, alone_in=folder / LOCK)
        except BusyError:
            time.sleep(0.05)
            continue
        with closing(lock):
            yield
        return
    raise RunError(f"{folder}: others are taking batches all the time: begin once more")
