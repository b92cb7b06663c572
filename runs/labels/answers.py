"""A folder of people's answers: a file of JSON lines for each person, which only grows."""

import re
from collections.abc import Container, Iterator
from pathlib import Path

from pydantic import ValidationError

from ...data.files.journals import WRITER
from ...data.files.json import dumps
from ...data.files.paths import content, make_folder
from ...data.labels.answers import Item, LabelAnswer, LabelKey, standing
from ...errors import DataError, SettingError, at, first_invalid
from ..journals.journal import AppendedFile, BusyError, Closing, making

MOST_BYTES = 500_000_000
"""Maximum bytes of a person's file."""


class AnswerFiles(Closing):
    """One person's answers, open for more.

    Each is on the disk when `put` returns.

    RunError if the person has them open in another window, or the folder cannot be written.
    """

    def __init__(self, folder: str | Path, by: str) -> None:
        if not WRITER.fullmatch(by):
            raise SettingError(f"--as {by!r}: a name has 1 to 64 of A-Z a-z 0-9 _ -: give another")
        self.folder, self.by = Path(folder), by
        with making(self.folder):
            make_folder(self.folder)
        path = self.folder / f"{by}.jsonl"
        try:
            self._file = AppendedFile(path, alone_in=path)
        except BusyError:
            raise BusyError(
                f"{path}: {by} has another page open: end that `duologue label --as {by}`, or give another name"
            ) from None
        self._file.cut_torn_line()
        self._answers = list(answers_in(path))
        self._order = [answer.key for answer in self._answers if not answer.undone]

    @property
    def standing(self) -> dict[LabelKey, LabelAnswer]:
        """This person's answers that stand, by what they are about."""
        return standing(self._answers)

    def last(self, among: Container[LabelKey] | None = None) -> LabelAnswer | None:
        """The answer that was given last, of those that stand and are about one of these things."""
        answers = self.standing
        keys = (key for key in reversed(self._order) if key in answers and (among is None or key in among))
        return next((answers[key] for key in keys), None)

    def others(self) -> list[LabelAnswer]:
        """The standing answers of other people so far."""
        return [answer for by, answers in answers_of(self.folder).items() if by != self.by for answer in answers]

    def put(self, answer: LabelAnswer) -> None:
        """Write an answer down."""
        self._file.append(dumps(answer.plain()) + "\n")
        self._answers.append(answer)
        if not answer.undone:
            self._order.append(answer.key)

    def undo(self, among: Container[LabelKey] | None = None) -> Item | None:
        """Take back the last answer about one of these things; gives the thing, None without one."""
        if (last := self.last(among)) is None:
            return None
        item = Item(label=last.label, conversation=last.conversation, message=last.message, path=last.path)
        self.put(item.taken_back(self.by))
        return item

    def close(self) -> None:
        """Close the file, so that the person may go on in another window."""
        self._file.close()


def name_of(by: str) -> str:
    """The name under which a person's answers of another program are kept: what no name may have becomes `-`.

    >>> name_of("ann@example.org")
    'ann-example-org'
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", by)[:64]


def answers_of(folder: str | Path) -> dict[str, list[LabelAnswer]]:
    """The answers that stand, by person.

    DataError for a line that is not an answer.
    """
    return {
        path.stem: list(standing(answers_in(path)).values())
        for path in sorted(Path(folder).glob("*.jsonl"))
        if WRITER.fullmatch(path.stem)
    }


def answers_in(path: Path) -> Iterator[LabelAnswer]:
    """Every line of a person's file in order; a last line that was cut off is left out."""
    text = content(path, MOST_BYTES).decode("utf-8", "replace")
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        try:
            answer = LabelAnswer.model_validate_json(line)
        except ValidationError as error:
            reason = first_invalid(error).message
            raise DataError(
                f"{at(path, f'line {number}')}: is not an answer ({reason}): mend or remove the line"
            ) from None
        yield answer
