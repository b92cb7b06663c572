"""Tuning a simulator: trials of its settings are judged against people, the best once on the test split.

A folder holds `trials.jsonl` with a line for each trial and the run folder of each in `trials/`. `openings.jsonl` is
the ledger of test-set access, and `tune.json` the result.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...data import load
from ...data.files.json_files import write_json
from ...data.identity import digest
from ...data.people.splits import UserPart, of_part, user_of
from ...data.records import Conversation
from ...data.tuning import Judgement, TuningResult, TuningTrial
from ...errors import DataError, DuologueError, SettingError, at, of_extra
from ...nodes.models.providers import takes_seed
from ...nodes.settings.redaction import error_line, redacted
from ..asking.store import codec_of
from ..engine.conduct import Conduct
from ..engine.conversing import Concurrency
from ..engine.event_loop import waiting
from ..journals.journal import Journal, RunError
from ..planning.conversations import models_of_cast, own_callers
from .page_search import Pages, PageSearch, searched
from .search_space import EXTRA, Space, proposed, start_of
from .simulators import Simulator, plain
from .trials import TRIALS, Objective, TrialRuns, about, folder_of, shown

__all__ = ["RESULT", "TRIALS", "Objective", "Simulator", "TrialWatch", "atune", "tune"]

RESULT = "tune.json"
PAGES = "pages"
"""Folder of the best pages, as `--prompts` takes it."""

PARTS: tuple[UserPart, ...] = ("learn", "select", "test")
FEWEST = 2
"""Minimum users of a split: a single user shows nothing about people."""


TrialWatch = Callable[[TuningTrial], None]
"""Called with each trial as soon as it is judged."""


async def atune(
    simulator: Simulator,
    objective: Objective,
    space: Space,
    *,
    out: str | Path,
    trials: int = 30,
    pages: PageSearch | None = None,
    judge: bool = True,
    noise_runs: int = 0,
    seed: int = 0,
    resume: bool = False,
    concurrency: Concurrency = "auto",
    conduct: Conduct | None = None,
    watch: TrialWatch | None = None,
) -> TuningResult:
    """As `tune`, whose parameters, result and errors it has, to be awaited."""
    conduct = conduct or Conduct()
    control = conduct.controlled()
    people = list(load(simulator.people))
    users = ready(simulator, people, space, trials=trials, pages=pages, judge=judge)
    if noise_runs and (conduct.record or conduct.replay_calls) is not None:
        cast = simulator.build({}, "select", seed)[0]
        if own_callers(cast) or not all(map(takes_seed, models_of_cast(cast))):
            option = "--record" if conduct.record is not None else "--replay-calls"
            raise SettingError(
                f"{option}: the user or the assistant takes no seed, so runs for the noise would get the replies of the trial: "
                "give --noise-runs 0"
            )
    description = about(simulator, space, people, seed)
    with ExitStack() as opened_files:
        folder = folder_of(Path(out), description, resume)
        journal = Journal.open(folder / TRIALS, CODEC, busy=folder)
        opened_files.callback(journal.close)
        runs = TrialRuns(
            simulator, objective, folder, seed, concurrency, replace(conduct, control=control, max_seconds=None)
        )
        with control.within(conduct.max_seconds):
            search = _Search(space, runs, journal, seed, watch)
            done = await search.trials(trials)
            start, best = _start(done), _best(done)
            page_outcome = Pages() if pages is None else await searched(pages, runs, best.values, start)
            pages_folder = folder / PAGES if page_outcome.changed else None
            judged, nearer = None, bool(best.number) or page_outcome.changed
            repeats = await _repeats(runs, noise_runs) if nearer else ()
            if judge and nearer and control.ending is None:
                judged = await runs.judged(best.values, pages_folder, people)
        notes = [f"ended early: {control.ending}; continue with --resume"] if control.ending else []
        if judge and not nearer and control.ending is None:
            notes.append("no settings are nearer to people than the given ones: the test split was not used")
        tuned = TuningResult(
            cast=simulator.cast,
            people=simulator.people.resolve().name,
            users=users,
            seed=seed,
            space=plain(space),
            trials=tuple(done),
            best=best.number,
            settings={name: shown(value) for name, value in simulator.settings_with(best.values, "test").items()},
            limits=simulator.limits_with(best.values),
            pages=page_outcome.changed,
            page_judgements=page_outcome.judgements,
            repeats=repeats,
            judged=judged,
            command=redacted(simulator.command(best.values, pages_folder)),
            notes=(*notes, *page_outcome.notes),
        )
        write_json(folder / RESULT, tuned.model_dump(mode="json"), end="\n")
        return tuned


@waiting(atune)
def tune() -> None:
    """Search for the settings of a simulator that come nearest to people, and test them on other people.

    The users are in three splits for good. The retrieval corpus of a user may hold those of `learn`; the trials are
    rated by those of `select`. On those of `test` only start and best are compared; then the corpus holds all users of
    the other two.

    Args:
        simulator: The simulator to tune.
        objective: Distance of conversations from people.
        space: The names and values to search over (`runs.tuning.search_space.space_of`); empty: only templates.
        out: The folder for the trials, their runs and the result.
        trials: Number of settings to try, after the given ones.
        pages: A search for prompt templates after that.
        judge: Whether to use the test split; the ledger in `out` counts each access.
        noise_runs: Number of simulations of the given settings with other seeds, if others are nearer. Their spread is
            the noise of one simulator.
        seed: Seed of all runs and of the search.
        resume: Continue in `out`: stored trials are not simulated again, and there may be more.
        concurrency: Number of conversations at the same time, or `auto`.
        conduct: Pace and bounds of the calls, as for `simulate`; the bounds hold over all trials of this call.
        watch: Called with each trial.

    Returns:
        The result, which is also in `out`.

    Raises:
        RunError: The folder holds another search.
        SettingError: A name cannot be searched.
        MissingExtraError: The extra `tune` is missing.
    """


def ready(
    simulator: Simulator,
    people: Sequence[Conversation],
    space: Space,
    *,
    trials: int = 30,
    pages: PageSearch | None = None,
    judge: bool = True,
) -> dict[str, int]:
    """How many of the people's users are in each part.

    Before any trial is simulated: DataError if a part has too few, MissingExtraError without what searches,
    SettingError for a name that cannot be searched.
    """
    users: dict[str, int] = {part: len({user_of(one) for one in people if of_part(one, part)}) for part in PARTS}
    for part, count in users.items():
        if count < FEWEST and (judge or part != "test"):
            raise DataError(
                f"{at(simulator.people)}: {count} of its users {'is' if count == 1 else 'are'} in the part {part!r}, and a "
                f"search needs {FEWEST} or more in each of {', '.join(PARTS)}: give conversations of more users"
            )
    for module, is_needed in (("optuna", space and trials), ("gepa", pages)):
        if is_needed:
            of_extra(module, EXTRA)
    if space:
        simulator.check(space)
    return users


@dataclass
class _Search:
    """The trials of settings, one after the other."""

    space: Space
    runs: TrialRuns
    journal: Journal[TuningTrial]
    seed: int
    watch: TrialWatch | None
    done: list[TuningTrial] = field(default_factory=list)

    async def trials(self, count: int) -> list[TuningTrial]:
        """The start and so many trials, without those that were ended early; those of the journal are read back."""
        self.journal.refresh()
        stored_trials = {trial.number: trial for trial in self.journal.iterate()}
        for number in range(1 + (count if self.space else 0)):
            trial = stored_trials.get(number) or await self._tried(number)
            if trial is None:
                break
            self.done.append(trial)
            if number not in stored_trials:
                self.journal.append(trial)
                if self.watch is not None:
                    self.watch(trial)
        return self.done

    async def _tried(self, number: int) -> TuningTrial | None:
        values = self._values(number) if number else {}
        try:
            conversations = await self.runs.conversations(values, "select", f"trials/{number:03}")
        except DuologueError as error:
            if not number or not isinstance(error, (DataError, SettingError)):
                raise
            return TuningTrial(number=number, values=values, failed=redacted(error_line(error)))
        if conversations is None:
            return None
        if not conversations:
            return TuningTrial(number=number, values=values, failed="no conversation was finished")
        start = self.done[0].judgement if self.done else None
        judgement = self.runs.objective(conversations, "select", start)
        return TuningTrial(number=number, values=values, conversations=len(conversations), judgement=judgement)

    def _values(self, number: int) -> dict[str, Any]:
        """The values to try next: they depend on the seed, the number, and what was tried before."""
        start = start_of(self.space)
        tried = [
            (trial.values if trial.number else start, trial.judgement.value if trial.judgement is not None else None)
            for trial in self.done
        ]
        return proposed(self.space, tried, int(digest("tune", self.seed, number)[:8], 16))


async def _repeats(runs: TrialRuns, count: int) -> tuple[float, ...]:
    """Values of further runs of the settings as they were, with other seeds; fewer if they ended early."""
    values: list[float] = []
    for number in range(1, count + 1):
        own = replace(runs, seed=int(digest("noise run", runs.seed, number)[:8], 16))
        conversations = (
            await own.conversations({}, "select", f"repeats/{number:03}") if not runs.control.ending else None
        )
        if not conversations:
            break
        values.append(runs.objective(conversations, "select", None).value)
    return tuple(values)


def _start(done: Sequence[TuningTrial]) -> Judgement:
    if not done:
        raise RunError("ended before the first trial was complete: continue with --resume")
    if done[0].judgement is None:
        raise RunError(f"the settings as they are cannot be judged: {done[0].failed}")
    return done[0].judgement


def _best(done: Sequence[TuningTrial]) -> TuningTrial:
    """The trial with the lowest value, the first of equal ones."""
    judged = [(trial.judgement.value, trial.number, trial) for trial in done if trial.judgement is not None]
    return min(judged, key=lambda entry: entry[:2])[2]


CODEC = codec_of(
    TuningTrial,
    lambda trial: str(trial.number),
    "is not a trial of a search: choose another folder",
    lambda trial: True,
)
