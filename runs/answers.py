"""A folder of people's answers: a file of JSON lines for each person, which only grows."""

import re
from collections.abc import Container, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from ..data.formats.journals import WRITER
from ..data.formats.jsonfiles import dumps
from ..data.formats.regular_files import content
from ..data.labelling import Answer, Item, Key, standing
from ..errors import DataError, SettingError, at
from .journal import Appended, BusyError, RunError

MOST_BYTES = 500_000_000
"""Most bytes of a person's file."""


class Answers:
    """One person's answers, open for more. Each is on the disk when `put` returns.

    RunError if the person has them open in another window, or the folder cannot be written.
    """

    def __init__(self, folder: str | Path, by: str) -> None:
        if not WRITER.fullmatch(by):
            raise SettingError(f"--as {by!r}: a name has 1 to 64 of A-Z a-z 0-9 _ -: give another")
        self.folder, self.by = Path(folder), by
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{self.folder}: cannot be made ({error.strerror}): choose another folder") from None
        path = self.folder / f"{by}.jsonl"
        try:
            self._file = Appended(path, alone_in=path)
        except BusyError:
            raise BusyError(
                f"{path}: {by} has another page open: end that `duologue label --as {by}`, or give another name"
            ) from None
        self._file.cut_torn_line()
        self._given = list(answers_in(path))
        self._order = [answer.key for answer in self._given if not answer.undone]

    @property
    def standing(self) -> dict[Key, Answer]:
        """This person's answers that stand, by what they are about."""
        return standing(self._given)

    def last(self, among: Container[Key] | None = None) -> Answer | None:
        """The answer that was given last, of those that stand and are about one of these things."""
        kept = self.standing
        found = (key for key in reversed(self._order) if key in kept and (among is None or key in among))
        return next((kept[key] for key in found), None)

    def others(self) -> list[Answer]:
        """What other people have answered so far, of what stands."""
        return [answer for by, answers in answers_of(self.folder).items() if by != self.by for answer in answers]

    def put(self, answer: Answer) -> None:
        """Write an answer down."""
        self._file.append(dumps(answer.plain()) + "\n")
        self._given.append(answer)
        if not answer.undone:
            self._order.append(answer.key)

    def undo(self, among: Container[Key] | None = None) -> Item | None:
        """Take the last answer about one of these things back, and give what it was about; None if there is none."""
        if (last := self.last(among)) is None:
            return None
        item = Item(label=last.label, conversation=last.conversation, message=last.message, path=last.path)
        self.put(item.undone(self.by))
        return item

    def close(self) -> None:
        """Close the file, so that the person may go on in another window."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def name_of(by: str) -> str:
    """The name under which a person's answers of another program are kept: what no name may have becomes `-`.

    >>> name_of("ann@example.org")
    'ann-example-org'
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", by)[:64]


def answers_of(folder: str | Path) -> dict[str, list[Answer]]:
    """The answers that stand, by person; DataError for a line that is none."""
    return {
        path.stem: list(standing(answers_in(path)).values())
        for path in sorted(Path(folder).glob("*.jsonl"))
        if WRITER.fullmatch(path.stem)
    }


def answers_in(path: Path) -> Iterator[Answer]:
    """Every line of a person's file in order; a last line that was cut off is left out."""
    text = content(path, MOST_BYTES).decode("utf-8", "replace")
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        try:
            answer = Answer.model_validate_json(line)
        except ValidationError as error:
            reason = error.errors()[0]["msg"]
            raise DataError(f"{at(path, f'line {number}')}: is no answer ({reason}): mend or remove the line") from None
        yield answer
