"""People's answers on the labelling page: a file for each person, the batches of a side-by-side study, and their labels."""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from ..data.files.json import dumps
from ..data.files.paths import content, make_folder
from ..data.identity import digest
from ..data.labels.definition import LabelDefinition
from ..data.labels.side_by_side import STUDY, is_asked
from ..data.labels.table import (
    WHY,
    Item,
    LabelAnswer,
    LabelKey,
    LabelRow,
    LabelTable,
    is_table,
    standing,
)
from ..data.loading import Loaded, load
from ..data.records import Conversation, Label, Message
from ..data.rules.guards import plain_words
from ..errors import DataError, SettingError, at, first_invalid
from ..prompts.label_pages import labels_named
from .store import AppendedFile, BusyError, making

log = logging.getLogger(__name__)

MOST_BYTES = 500_000_000
"""Maximum bytes of a person's file."""

# A person's file


WRITER = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The name of who answers, which is part of its file's name."""


class AnswerFiles:
    """One person's answers, open for more: each is on the disk when `put` returns.

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
            self._file = AppendedFile(path)
        except BusyError:
            raise BusyError(
                f"{path}: {by} has another page open: end that `duologue label --as {by}`, or give another name"
            ) from None
        self._answers = list(_answers_in(path))

    @property
    def standing(self) -> dict[LabelKey, LabelAnswer]:
        """This person's answers that stand, by what they are about."""
        return standing(self._answers)

    def last(self, among: Container[LabelKey]) -> LabelAnswer | None:
        """The answer that was given last, of those that stand and are about one of these things."""
        answers = self.standing
        keys = (one.key for one in reversed(self._answers) if not one.undone)
        return next((answers[key] for key in keys if key in answers and key in among), None)

    def others(self) -> list[LabelAnswer]:
        """The standing answers of other people so far."""
        return [answer for by, answers in answers_of(self.folder).items() if by != self.by for answer in answers]

    def put(self, answer: LabelAnswer) -> None:
        """Write an answer down."""
        self._file.append(dumps(answer.plain()) + "\n")
        self._answers.append(answer)

    def undo(self, among: Container[LabelKey]) -> Item | None:
        """Take back the last answer about one of these things; gives the thing, None without one."""
        if (last := self.last(among)) is None:
            return None
        item = Item(label=last.label, conversation=last.conversation, message=last.message)
        self.put(LabelAnswer(**item.model_dump(), by=self.by, undone=True))
        return item

    def close(self) -> None:
        """Close the file, so that the person may go on in another window."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def answers_of(folder: str | Path) -> dict[str, list[LabelAnswer]]:
    """The answers that stand, by person; DataError for a line that is not an answer."""
    return {path.stem: list(standing(_answers_in(path)).values()) for path in _files(Path(folder))}


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.jsonl")) if WRITER.fullmatch(path.stem)]


def _answers_in(path: Path) -> Iterator[LabelAnswer]:
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


# The batches of a side-by-side study


def next_batch(
    batches: Sequence[Sequence[Item]], answers: AnswerFiles, labellers: int, most: int | None = None
) -> list[Item]:
    """The open conversations of the next batch of a person, at most `most`: those that too few others have answered.

    First comes the batch in which the person has begun, then those that others have, then the rest in an order by the
    hash of the person's name: people who come at once rarely meet. If two do, a conversation has an answer more than it
    needs. `labellers`: how many people each conversation is to have. Empty if nothing is left.
    """
    own = answers.standing
    given = Counter(other.key for other in answers.others())

    def place(number: int) -> tuple[bool, bool, str]:
        keys = [item.key for item in batches[number]]
        return not any(map(own.__contains__, keys)), not any(map(given.__contains__, keys)), digest(answers.by, number)

    def is_open(item: Item) -> bool:
        answered = item.key in own and item.is_of(own[item.key])
        return not answered and given[item.key] < labellers

    found = (list(filter(is_open, batches[number])) for number in sorted(range(len(batches)), key=place))
    return next((items[:most] for items in found if items), [])


# What people's answers come to


def people_labels(
    source: str | Path | Loaded,
    folder: str | Path,
    out: str | Path | None = None,
    *,
    labels: Sequence[str],
    labels_dir: str | Path | None = None,
) -> LabelTable:
    """Everybody's answers about a data set as a table of labels, `duologue label --out` as a function.

    The value is that of the answers by the published rule, with null where they tie. `out`: a folder for the table, which
    `load` reads as the labelled data. Each kind of answer that is left out is logged. DataError if no answer is about the
    data.
    """
    conversations = source if isinstance(source, Loaded) else load(source)
    defined = {label.name: label for label in labels_named(labels, None if labels_dir is None else Path(labels_dir))}
    there = {one.id: one for one in conversations}
    answers: dict[LabelKey, list[LabelAnswer]] = defaultdict(list)
    lost: Counter[str] = Counter()
    for _, of_person in sorted(answers_of(folder).items()):
        for answer in of_person:
            if (label := defined.get(answer.label)) is not None:
                problem = _unfit(answer, label, there.get(answer.conversation))
                lost[problem] += 1
                if not problem:
                    answers[answer.key].append(answer)
    notes = [f"answers {problem}: {number}, left out" for problem, number in sorted(lost.items()) if problem]
    if not answers:
        raise DataError(
            f"{conversations.path}: no answer in {folder} is about one of its {len(there)} conversations"
            f"{''.join(f'; {note}' for note in notes)}: give the data that people labelled"
        )
    order = {name: number for number, name in enumerate(there)}
    rows = [
        LabelRow.voted(given[0], defined[key[0]], [one.value for one in given], [one.by for one in given])
        for key, given in sorted(answers.items(), key=lambda pair: (order[pair[0][1]], str(pair[0])))
    ]
    for note in notes:
        log.warning("%s", note)
    table = LabelTable(conversations.path, defined, rows, people=True)
    if out is not None:
        table.write(Path(out))
    return table


def _unfit(answer: LabelAnswer, label: LabelDefinition, conversation: Conversation | None) -> str:
    """Why an answer is no label of the conversations; empty if it is one."""
    if conversation is None:
        return "about conversations that are not there"
    if not answer.is_in(conversation, label):
        return "about texts that have changed since"
    return "that are not values of their label's definition" if label.problems(answer.value) else ""


# The reasons of a side-by-side study


def reasons_in(folder: Path) -> Loaded:
    """People's reasons in the answers to a study, each a conversation of one message; DataError without any."""
    reasons = [
        reason
        for by, answers in (answers_of(folder) if folder.is_dir() else {}).items()
        for answer in answers
        if answer.label == STUDY and (reason := _reason(by, answer)) is not None
    ]
    if not reasons:
        raise DataError(
            f"{folder}: holds no answers to a side-by-side study with a reason: give the folder of `duologue label --study`"
        )
    return Loaded(folder, "answers", tuple(reasons))


def _reason(by: str, answer: LabelAnswer) -> Conversation | None:
    """A person's reason; None where no word was written."""
    text = answer.value.get(WHY)
    if not isinstance(text, str) or not plain_words(text):
        return None
    return Conversation(
        id=f"{by}/{answer.conversation}",
        scenario={"kind": STUDY, "user": by, WHY: text},
        messages=(Message(role="user", text=text),),
        labels={name: Label(value=value) for name, value in answer.value.items() if not is_asked(name)},
    )


def with_reasons(folder: Path) -> dict[str, list[LabelAnswer]]:
    """The answers to a study by person; of a folder of labels of their reasons, the answers with these labels."""
    if not is_table(folder):
        return answers_of(folder)
    table = LabelTable.read(folder)
    labelled = {
        one.id: {name: label.value for name, label in one.labels.items()}
        for one in table.put_into(reasons_in(table.source))
    }
    return {
        by: [
            one.model_copy(update={"value": {**one.value, **labelled.get(f"{by}/{one.conversation}", {})}})
            for one in answers
        ]
        for by, answers in answers_of(table.source).items()
    }
