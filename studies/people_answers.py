"""People's answers on the labelling page, exported from their folder, imported into it, or put into a copy."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..data.labels import answers as answer_files
from ..data.labels.answers import LabelAnswer
from ..data.labels.definition import LabelDefinition
from ..data.labels.side_by_side import QUIZ, STUDY, Study, strange
from ..data.loading import Loaded, load
from ..errors import DataError
from ..prompts.label_pages import labels_named
from ..runs.labels.answers import AnswerFiles, answers_of, name_of
from ..runs.labels.people import write_labelled_by_people
from .sources import Notify, StudySource, conversations_of, logged, path_of

if TYPE_CHECKING:  # it needs the extra `stats`
    from ..analysis.tables import TablesReport


class ImportedAnswers(NamedTuple):
    """The numbers of answers that a file has, and of those that were new."""

    answers: int
    new: int


def export_answers(
    folder: str | Path,
    path: str | Path,
    *,
    labels: Sequence[str] | None = None,
    labels_dir: str | Path | None = None,
) -> int:
    """Write everybody's answers into a file, `duologue label --write` as a function; gives their number.

    `path`: a file of JSON lines. `labels`: names of those to write; None: answers to a side-by-side study.
    DataError for a folder without answers.
    """
    definitions = _defined(labels, labels_dir)
    names = (STUDY, QUIZ) if definitions is None else definitions
    answers = [answer for of_person in _everybodys(folder).values() for answer in of_person if answer.label in names]
    answer_files.write_answers(answers, Path(path))
    return len(answers)


def import_answers(
    path: str | Path,
    folder: str | Path,
    *,
    source: StudySource | None = None,
    labels: Sequence[str] | None = None,
    labels_dir: str | Path | None = None,
    by: str = "",
    notify: Notify = logged,
) -> ImportedAnswers:
    """Put the answers of a file into a folder, each under its person, `duologue label --read` as a function.

    `labels`: names of those that the answers are about; None: a side-by-side study. `by`: the person, where the file does
    not name one. `source`: the conversations; `notify` is called with a line about answers on others, which are stored
    too. DataError for an answer that its definition does not allow; then none is stored.
    """
    path, definitions = Path(path), _defined(labels, labels_dir)
    answers = _of_one_file_each(answer_files.read_answers(path, by, definitions), path)
    for number, answer in enumerate(answers, start=1):
        if problem := _problem(answer, definitions):
            raise DataError(f"{path}: answer {number}: {problem}")
    if source is not None:
        _note_others(answers, path, source, notify)
    new = 0
    for person in dict.fromkeys(answer.by for answer in answers):
        with AnswerFiles(folder, person) as stored:
            for answer in answers:
                if answer.by == person and stored.standing.get(answer.key) != answer:
                    stored.put(answer)
                    new += 1
    return ImportedAnswers(len(answers), new)


def copy_with_answers(
    source: str | Path | Loaded,
    folder: str | Path,
    out: str | Path,
    *,
    labels: Sequence[str],
    labels_dir: str | Path | None = None,
    notify: Notify = logged,
) -> int:
    """Write a copy of a data set with people's labels, `duologue label --out` as a function.

    Gives the number of labelled things; `notify` is called with a line on each kind of answer that is left out. DataError for
    a folder without answers about the data.
    """
    definitions, answers = _defined(labels, labels_dir) or {}, _everybodys(folder)
    loaded = source if isinstance(source, Loaded) else load(source)
    things, notes = write_labelled_by_people(loaded, answers, definitions, Path(out))
    for note in notes:
        notify(note)
    return things


def study_preferences(
    folder: str | Path, study: str | Path | None = None, *, without: Collection[str] = ()
) -> "TablesReport":
    """What people prefer in a side-by-side study, `duologue papers recllmsim preference` as a function.

    `folder`: their answers; `study`: its file, for the names of its two systems. `without`: preferences to
    leave out, such as `ann:t1`. DataError for a folder without such answers, or without one of these.
    """
    from ..analysis.labels.preference import SIDES, preferences

    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder: give the folder of --answers")
    by_person = answers_of(folder)
    if not any(answer.label == STUDY for of_person in by_person.values() for answer in of_person):
        raise DataError(f"{folder}: holds no answers to a side-by-side study: give the folder of --answers")
    side_by_side = None if study is None else Study.of(Path(study))
    names = SIDES if side_by_side is None else (side_by_side.first.name, side_by_side.second.name)
    return preferences(by_person, names, without=without)


def _defined(labels: Sequence[str] | None, folder: str | Path | None) -> dict[str, LabelDefinition] | None:
    """The definitions by name; None for a study, whose conversations each have their own."""
    if labels is None:
        return None
    return {label.name: label for label in labels_named(labels, None if folder is None else Path(folder))}


def _everybodys(folder: str | Path) -> dict[str, list[LabelAnswer]]:
    answers = answers_of(folder)
    if not any(answers.values()):
        raise DataError(f"{folder}: holds no answers: label first, or name their folder with --answers")
    return answers


def _of_one_file_each(answers: Sequence[LabelAnswer], path: Path) -> list[LabelAnswer]:
    """The answers under names that a person's file may have."""
    of_file = {answer.by: name_of(answer.by) for answer in answers}
    if len(set(of_file.values())) < len(of_file):
        raise DataError(f"{path}: two people would have the same file: give them names of A-Z a-z 0-9 _ -")
    return [answer.model_copy(update={"by": of_file[answer.by]}) for answer in answers]


def _problem(answer: LabelAnswer, labels: Mapping[str, LabelDefinition] | None) -> str:
    """Why an answer is not one of these labels, or of a study (None); empty if it is."""
    if labels is None and answer.label not in (STUDY, QUIZ):
        return f"is about {answer.label!r}, no study: leave it out"
    if labels is None and (problem := strange(answer.value)):
        return f"{problem}: write it of the two groups"
    if labels is not None and answer.label not in labels:
        return f"is about {answer.label!r}: name it in --labels too"
    if labels is not None and (problems := labels[answer.label].problems(answer.value)):
        parts = labels[answer.label].parts
        others = set(answer.value) - set(parts)
        return f"{problems[0]}: mend it" + (
            f"; beside by, conversation and message it has {', '.join(parts)}" if others else ""
        )
    return "" if answer.by else "does not name its person: give --as NAME"


def _note_others(answers: Sequence[LabelAnswer], path: Path, source: StudySource, notify: Notify) -> None:
    """Call `notify` with a line about the answers on conversations that the source does not have."""
    conversations = conversations_of(source, notify)
    present = {conversation.id for conversation in conversations}
    others = [answer.conversation for answer in answers if answer.conversation not in present]
    if others:
        notify(
            f"{path}: {others[0]!r} and so on, in all {len(others)}, are not in "
            f"{path_of(conversations) or 'the source'}: kept all the same"
        )
