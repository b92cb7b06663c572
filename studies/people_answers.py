"""People's answers on the labelling page: exported, imported, made to labels beside the data, and what they prefer."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..data.labels import answers as answer_files
from ..data.labels.answers import LabelAnswer
from ..data.labels.definition import LabelDefinition
from ..data.labels.side_by_side import QUIZ, STUDY, Study, strange
from ..data.labels.table import LabelTable
from ..data.loading import Loaded, load
from ..errors import DataError
from ..prompts.label_pages import labels_named
from ..runs.people_labels import AnswerFiles, answers_of, file_name, labels_of_people, with_reasons
from .sources import Notify, logged

if TYPE_CHECKING:  # it needs the extra `stats`
    from ..analysis.tables import TablesReport


class ImportedAnswers(NamedTuple):
    """The numbers of answers that a file has, and of those that were new."""

    answers: int
    new: int


def export_answers(
    folder: str | Path, path: str | Path, *, labels: Sequence[str] | None = None, labels_dir: str | Path | None = None
) -> int:
    """Write everybody's answers into a file of JSON lines, `duologue label --write` as a function; gives their number.

    `labels`: names of those to write; None: answers to a side-by-side study. DataError for a folder without answers.
    """
    definitions = _defined(labels, labels_dir)
    names = (STUDY, QUIZ) if definitions is None else definitions
    everybodys = answers_of(folder)
    if not any(everybodys.values()):
        raise DataError(f"{folder}: holds no answers: label first, or name their folder with --answers")
    answers = [answer for of_person in everybodys.values() for answer in of_person if answer.label in names]
    answer_files.write_answers(answers, Path(path))
    return len(answers)


def import_answers(
    path: str | Path,
    folder: str | Path,
    *,
    labels: Sequence[str] | None = None,
    labels_dir: str | Path | None = None,
    by: str = "",
) -> ImportedAnswers:
    """Put the answers of a file into a folder, each under its person, `duologue label --read` as a function.

    `labels`: names of those that the answers are about; None: a side-by-side study. `by`: the person, where the file does
    not name one. DataError for an answer that its definition does not allow; then none is stored.
    """
    path, definitions = Path(path), _defined(labels, labels_dir)
    by_person: dict[str, list[LabelAnswer]] = {}
    named: dict[str, str] = {}
    for number, answer in enumerate(answer_files.read_answers(path, by, definitions), start=1):
        name = file_name(answer.by)
        if problem := _problem(answer, definitions):
            raise DataError(f"{path}: answer {number}: {problem}")
        if named.setdefault(name, answer.by) != answer.by:
            raise DataError(f"{path}: two people would have the same file: give them names of A-Z a-z 0-9 _ -")
        by_person.setdefault(name, []).append(answer.model_copy(update={"by": name}))
    new = 0
    for name, answers in by_person.items():
        with AnswerFiles(folder, name) as stored:
            for answer in answers:
                if stored.standing.get(answer.key) != answer:
                    stored.put(answer)
                    new += 1
    return ImportedAnswers(sum(map(len, by_person.values())), new)


def people_labels(
    source: str | Path | Loaded,
    folder: str | Path,
    out: str | Path | None = None,
    *,
    labels: Sequence[str],
    labels_dir: str | Path | None = None,
    notify: Notify = logged,
) -> LabelTable:
    """People's answers about a data set as labels beside it, `duologue label --out` as a function.

    `out`: a folder for them, which `load` reads as the labelled data. `notify` is called with a line on each kind of answer
    that is left out. DataError for a folder without answers about the data.
    """
    loaded = source if isinstance(source, Loaded) else load(source)
    table, notes = labels_of_people(loaded, Path(folder), _defined(labels, labels_dir) or {})
    for note in notes:
        notify(note)
    if out is not None:
        table.write(Path(out))
    return table


def study_preferences(
    folder: str | Path, study: str | Path | None = None, *, without: Collection[str] = ()
) -> "TablesReport":
    """What people prefer in a side-by-side study, `duologue papers recllmsim preference` as a function.

    `folder`: their answers, or the labels of their reasons by `annotate`; `study`: its file, for the names of its two
    systems. `without`: preferences to leave out, such as `ann:t1`. DataError for a folder without such answers, or
    without one of these.
    """
    from ..analysis.labels.preference import SIDES, preferences

    by_person = with_reasons(Path(folder))
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


def _problem(answer: LabelAnswer, labels: Mapping[str, LabelDefinition] | None) -> str:
    """Why an answer is not one of these labels, or of a study (None); empty if it is."""
    if not answer.by:
        return "does not name its person: give --as NAME"
    if labels is None:
        if answer.label not in (STUDY, QUIZ):
            return f"is about {answer.label!r}, no study: leave it out"
        return f"{problem}: write it of the two groups" if (problem := strange(answer.value)) else ""
    if answer.label not in labels:
        return f"is about {answer.label!r}: name it in --labels too"
    return f"{problems[0]}: mend it" if (problems := labels[answer.label].problems(answer.value)) else ""
