"""The runs of a search, each in a folder of its own with its judgement; and the search's folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from ...data.files.folders import make_folder
from ...data.files.json_files import read_json, write_json
from ...data.formats import record_lines
from ...data.identity import VERSION, digest
from ...data.people.splits import UserPart, of_part
from ...data.records import Conversation
from ...data.tuning import JudgedTrial, Judgement
from ...nodes.settings.redaction import redacted
from ..engine.conduct import Conduct
from ..engine.control import Control
from ..engine.conversing import Concurrency
from ..journals.journal import RunError, making
from ..running import arun
from .access_to_test_set import digest_of, opened
from .search_space import Space
from .simulators import Simulator, plain

TRIALS = "trials.jsonl"
SETTINGS = "settings.json"


Objective: TypeAlias = Callable[[Sequence[Conversation], UserPart, Judgement | None], Judgement]
"""The distance of simulated conversations to the people of a part, such as `analysis.realism.objective.Against(people)`; it
is handed the judgement of the settings as they were, on the same people, where there is one."""


@dataclass
class TrialRuns:
    """The runs of a search, each in a folder of its own, and their judgements."""

    simulator: Simulator
    objective: Objective
    folder: Path
    seed: int
    concurrency: Concurrency
    conduct: Conduct

    @property
    def control(self) -> Control:
        """The control that ends the search."""
        return self.conduct.controlled()

    async def conversations(
        self, values: dict[str, Any], part: UserPart, where: str, pages: Path | None = None
    ) -> list[Conversation] | None:
        """The conversations of a complete run, continued where it ended; None if it ended early."""
        cast, scenarios, limits = self.simulator.build(values, part, self.seed, pages)
        folder = self.folder / where
        make_folder(folder.parent)
        summary = await arun(
            cast,
            scenarios,
            folder,
            limits=limits,
            concurrency=self.concurrency,
            resume=folder.exists(),
            source=scenarios.source,
            conduct=self.conduct,
        )
        if summary.stopped_by is not None:
            raise summary.stopped_by
        if summary.stopped is not None:
            return None
        return record_lines.read_run(folder)

    async def judged(
        self, values: dict[str, Any], pages: Path | None, people: list[Conversation]
    ) -> JudgedTrial | None:
        """Start and best against the test split; None if their runs ended early.

        What was judged before in this folder is read, and opens nothing.
        """
        changed = texts_of(pages) if pages is not None else {}
        what = tuple(digest("settings", *settings)[:12] for settings in (({}, {}), (values, changed)))
        path = (
            self.folder / "test" / f"judged-{what[1]}-{digest_of([one for one in people if of_part(one, 'test')])}.json"
        )
        if path.is_file():
            try:
                return JudgedTrial.model_validate(read_json(path))
            except ValidationError:
                raise RunError(f"{path}: is not a judgement: remove it, and the test split is accessed again") from None
        start = await self.conversations({}, "test", f"test/{what[0]}")
        best = await self.conversations(values, "test", f"test/{what[1]}", pages) if start is not None else None
        if start is None or best is None:
            return None
        opening, _ = opened(self.folder, what, people)
        first = self.objective(start, "test", None)
        judged = JudgedTrial(opening=opening, start=first, best=self.objective(best, "test", first))
        write_json(path, judged.model_dump(mode="json"), end="\n")
        return judged


def about(simulator: Simulator, space: Space, people: list[Conversation], seed: int) -> dict[str, Any]:
    """The description of a search, which must stay the same for it to go on."""
    return {
        "cast": simulator.cast,
        "settings": {name: shown(value) for name, value in sorted(simulator.settings.items())},
        "limits": dict(simulator.limits),
        "limit": simulator.limit,
        "scenarios": None if simulator.scenarios is None else str(simulator.scenarios),
        "people": digest_of(people),
        "space": plain(space),
        "seed": seed,
        "version": VERSION,
    }


def shown(value: Any) -> Any:
    """A setting as JSON has it, without credentials."""
    if isinstance(value, str):
        return redacted(value)
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def folder_of(out: Path, description: dict[str, Any], resume: bool) -> Path:
    """The folder of a search with its description.

    RunError if it cannot be used.
    """
    path = out / SETTINGS
    if out.is_dir() and any(out.iterdir()) and not resume:
        raise RunError(f"{out}: is not empty: go on with --resume, or choose another folder")
    with making(out):
        make_folder(out)
    if path.is_file():
        had = read_json(path)
        for name, value in description.items():
            if not isinstance(had, dict) or had.get(name) != value:
                raise RunError(f"{out}: was made with another {name}: choose another --out folder, or go on with that")
    elif (out / TRIALS).exists():
        raise RunError(f"{out}: has no {SETTINGS}, which holds the settings of {TRIALS}: choose another folder")
    else:
        write_json(path, description, end="\n")
    return out


def texts_of(folder: Path) -> dict[str, str]:
    """The pages of a folder by the names of their files."""
    files = sorted(file for file in folder.rglob("*.md") if file.name != "README.md")
    return {file.relative_to(folder).as_posix(): file.read_text("utf-8") for file in files}
