"""`duologue simquac readers`: the readers that are models, asked with all that a run has, and their answers kept."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.files.json import read_lines, write_lines
from ...data.files.paths import make_folder
from ...data.formats.source import CONVERSATIONS
from ...data.simquac import ReadingQuestion
from ...errors import DataError, SettingError, at
from ..options.run import RunOptions
from ..output.overwriting import check_unread
from ..running.asking import begun
from ..running.interrupts import ask_all

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...analysis.simquac.readers import Results
    from ...graphs import Cast
    from ...graphs.simquac import Hold
    from ...runs.reading import ReadingAnswers

ANSWERS = "answers.jsonl"
HOLDS: "dict[str, Hold | None]" = {"teacher": None, "grammar": "grammar", "likelihood": "likelihood"}
"""Prefixes of a teacher, with how it is held to the section."""
READERS = "retriever, first, teacher:MODEL, grammar:MODEL, likelihood:MODEL, openai:NAME, PROVIDER:NAME, agent:URL or MODULE:NAME"
"""What `--model` takes."""


def cast_of(spec: str, prompts: Path | None, seed: int, attempts: int | None) -> "Cast":
    """The reader or teacher of an identifier; SettingError for anything else."""
    from ...graphs import single_turn

    if ":" not in spec and spec != "offline":
        raise SettingError(f"--model {spec}: is not a model that reads: give {READERS}")
    kind, _, model = spec.partition(":")
    if (model if kind in HOLDS else spec).startswith(("replay:", "people:")):
        raise SettingError(f"--model {spec}: replays a file and reads nothing: give {READERS}")
    folder = None if prompts is None else str(prompts)
    if spec == "offline" or kind in HOLDS:
        held = HOLDS.get(kind)
        return single_turn.teacher(model or spec, hold=held, prompts=folder, seed=seed, attempts=attempts)
    return single_turn.reader(spec, prompts=folder, seed=seed, attempts=attempts)


def ask(
    casts: "Mapping[str, Cast]",
    sets: Mapping[str, Sequence[ReadingQuestion]],
    folder: Path | None,
    options: RunOptions,
    results: "Results",
    conditions: str = "",
) -> None:
    """Ask each cast about each data set, one after the other, under one set of bounds.

    `conditions`: what readers see beside the question, which is part of the names of the folders.
    """
    from ...runs.people.next_turn import folder_name
    from ...runs.reading import answers_planned, aread

    places = {
        (spec, name): None if folder is None else folder / folder_name(f"{spec} {name} {conditions}".strip())
        for spec in casts
        for name in sets
    }
    works = {f"{spec}, {name}": (casts[spec], sets[name], place) for (spec, name), place in places.items()}
    control = begun(answers_planned(works), options, casts.values())
    conduct = options.conduct(control)

    async def work(show: Callable[[str], None]) -> "dict[tuple[str, str], ReadingAnswers]":
        answers_of: dict[tuple[str, str], ReadingAnswers] = {}
        for spec, reader in casts.items():
            for name, questions in sets.items():
                show(f"{spec}: {len(questions)} questions of {name}")
                answers_of[spec, name] = await aread(
                    reader,
                    questions,
                    out=places[spec, name],
                    concurrency=options.concurrency or "auto",
                    conduct=conduct,
                )
        return answers_of

    left = "nothing is kept without --journal" if folder is None else "continue with the same command"
    answers_of = ask_all(work, control, "asking", max_time=options.max_time, left=left)
    for (spec, name), (answers, failures) in answers_of.items():
        results.add(spec, name, sets[name], answers, failures=failures)


def check_journal(folder: Path | None) -> None:
    """DataError if the folder for answers holds other files, and nothing of this command."""
    check_unread(folder)
    if folder is None or not folder.exists():
        return
    if not folder.is_dir():
        raise DataError(f"{at(folder)}: is a file: --journal needs a folder")
    answers = folder / ANSWERS
    if answers.is_file():
        first = next(read_lines(answers), (1, None))[1]
        if first is not None and not (isinstance(first, dict) and {"reader", "answer", "references"} <= first.keys()):
            raise DataError(f"{at(answers)}: is not a list of answers of this command: choose another folder")
    elif any(folder.iterdir()) and not any((path / CONVERSATIONS).exists() for path in folder.iterdir()):
        raise DataError(f"{at(folder)}: holds other files: give --journal a folder of its own")


def write_answers(results: "Results", folder: Path) -> Path:
    """Every answer, a line each, in place of an earlier list."""
    make_folder(folder)
    write_lines(folder / ANSWERS, (one.model_dump(mode="json") for one in results.answered))
    return folder / ANSWERS
