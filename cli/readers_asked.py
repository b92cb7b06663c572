"""`duologue readers`: the readers that are models, asked with all that a run has, and their answers kept."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..data.formats import record_lines
from ..data.formats.detection import CONVERSATIONS
from ..data.formats.folders import make_folder
from ..data.formats.jsonfiles import read_lines, write_lines
from ..data.simquac import Question
from ..errors import DataError, SettingError, at
from .interrupts import INTERRUPTED, STOPPED, run
from .output import say, stderr
from .overwriting import check_unread
from .planning import Plan, go_on, models_asked, models_of_cast
from .run_options import RunOptions
from .running import say_hosts, say_uncounted

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..analysis.readers import Results
    from ..graphs import Cast
    from ..runs.reading import Answers

ANSWERS = "answers.jsonl"
READERS = "retriever, features, hf:PATH, teacher:SPEC, openai:NAME, PROVIDER:NAME, agent:URL or MODULE:NAME"
"""What `--reader` takes."""


def hugging_face(spec: str) -> Callable[[Sequence[Question]], list[str | None]]:
    """The model of `hf:PATH`, or `hf:PATH?marker=true`."""
    from ..nodes.models.hugging_face import HuggingFaceReader

    path, _, arguments = spec.partition("?")
    if arguments not in ("", "marker=true", "marker=false"):
        raise SettingError(f"--reader {spec}: after ? only marker=true is known")
    if not Path(path.removeprefix("hf:")).is_dir():
        say(f"{path}: no folder of that name, so it is asked for on the Hugging Face hub")
    return HuggingFaceReader.of(path, marker=arguments == "marker=true")


def cast_of(spec: str, prompts: Path | None, seed: int, attempts: int | None) -> "Cast":
    """The reader or teacher of a spec; SettingError for what is none."""
    from ..graphs import reading

    if ":" not in spec and spec != "offline":
        raise SettingError(f"--reader {spec}: is none: give {READERS}")
    if spec.removeprefix("teacher:").startswith(("replay:", "people:")):
        raise SettingError(f"--reader {spec}: says what a file says and reads nothing: give {READERS}")
    folder = None if prompts is None else str(prompts)
    if spec == "offline" or spec.startswith("teacher:"):
        return reading.teacher(spec.removeprefix("teacher:"), prompts=folder, seed=seed, attempts=attempts)
    return reading.reader(spec, prompts=folder, seed=seed, attempts=attempts)


def ask(
    casts: "Mapping[str, Cast]",
    sets: Mapping[str, Sequence[Question]],
    folder: Path | None,
    options: RunOptions,
    results: "Results",
    given: str = "",
) -> None:
    """Ask each cast about each data set, one after the other, under one set of bounds.

    `given`: what readers are given beside the question, which is part of the names of the folders.
    """
    from ..runs.next_turn import folder_name
    from ..runs.reading import aread

    places = {
        (spec, name): None if folder is None else folder / folder_name(f"{spec} {name} {given}".strip())
        for spec in casts
        for name in sets
    }
    control = options.control()
    for each in casts.values():
        control.spending.refuse_unknown(models_asked(each))
        say_hosts(each)
        say_uncounted(each, options)
    go_on(_plan(casts, sets, places), quiet=options.as_json, yes=options.yes)
    conduct = options.conduct(control)
    found: dict[tuple[str, str], Answers] = {}

    async def work() -> None:
        for spec, each in casts.items():
            for name, questions in sets.items():
                status.update(f"{spec}: {len(questions)} questions of {name}")
                found[spec, name] = await aread(
                    each, questions, out=places[spec, name], concurrency=options.concurrency or "auto", conduct=conduct
                )

    with stderr.status("asking") as status:
        try:
            run(work(), control, lambda: 0, options.max_time)
        except (KeyboardInterrupt, asyncio.CancelledError):
            control.ending = STOPPED
    for note in control.spending.notes:
        say(note)
    if control.ending == STOPPED:
        kept = "nothing is kept without --answers" if folder is None else "the same command goes on"
        say(f"interrupted: {kept}")
        raise typer.Exit(INTERRUPTED)
    if control.ending is not None:
        say(f"ended early: {control.ending}")
    for (spec, name), (answers, failures) in found.items():
        results.add(spec, name, sets[name], answers, failures=failures)


def _plan(
    casts: "Mapping[str, Cast]",
    sets: Mapping[str, Sequence[Question]],
    places: Mapping[tuple[str, str], Path | None],
) -> Plan:
    """How many questions are left to ask, at most."""
    count = most = 0
    for (spec, name), place in places.items():
        done = 0 if place is None or not place.is_dir() else len(record_lines.found_in(place))
        left = max(0, len(sets[name]) - done)
        count, most = count + left, most + left * casts[spec].limits.answer_attempts
    asked = any(models_asked(each) or not models_of_cast(each) for each in casts.values())
    return Plan(count, "questions", count, most, "each one answer", asked)


def check_kept(folder: Path | None) -> None:
    """DataError if the folder for answers holds other files, and nothing of this command."""
    check_unread(folder)
    if folder is None or not folder.exists():
        return
    if not folder.is_dir():
        raise DataError(f"{at(folder)}: is a file: --answers needs a folder")
    kept = folder / ANSWERS
    if kept.is_file():
        first = next(read_lines(kept), (1, None))[1]
        if first is not None and not (isinstance(first, dict) and {"reader", "answer", "references"} <= first.keys()):
            raise DataError(f"{at(kept)}: is no list of answers of this command: choose another folder")
    elif any(folder.iterdir()) and not any((each / CONVERSATIONS).exists() for each in folder.iterdir()):
        raise DataError(f"{at(folder)}: holds other files: give --answers a folder of its own")


def write_answers(results: "Results", folder: Path) -> Path:
    """Every answer, a line each, in place of an earlier list."""
    make_folder(folder)
    write_lines(folder / ANSWERS, (one.model_dump(mode="json") for one in results.answered))
    return folder / ANSWERS
