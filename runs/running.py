"""A run in a folder: missing conversations are simulated, here or elsewhere, and the data set is written."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..data.files.json import write_json
from ..data.files.paths import working_folder_restored
from ..data.records import Conversation, Role
from ..errors import SettingError
from ..graphs import Cast
from ..graphs.casts.checks import check_scenarios
from ..graphs.graph import Compiled, cast_of
from ..nodes.calls.gate import EndpointError
from ..nodes.limits import Limits
from ..nodes.settings.tracing import requested
from ..nodes.state import Planned
from .divided.board import Board
from .divided.processes import in_processes
from .divided.ray_tasks import on_ray
from .divided.shards import BETWEEN, Shard, run_shard
from .divided.sharing import A_SECOND, Division, at_once, division, shards_of, shared
from .engine.conduct import Conduct
from .engine.control import Control
from .engine.conversing import Concurrency, Watch, name_of, planned
from .engine.figures import RunFigures
from .engine.progress import counted, shown
from .engine.reports import WorkerReport
from .folder import manifests
from .folder.leftovers import PROMPTS
from .folder.merging import keep_user_calls, merge_calls, remove_calls, split_calls
from .folder.run_folder import RunFolder
from .folder.summary import Summary, written
from .journals.calls import CALLS, CallFile
from .resuming import said_nothing, spent_before, to_repeat, without_recorded_calls


async def arun(
    talk: Cast | Compiled,
    scenarios: Iterable[Planned],
    out: str | Path,
    *,
    limits: Limits | None = None,
    concurrency: Concurrency = "auto",
    resume: bool = False,
    watch: Watch | None = None,
    keep: Callable[[Conversation], None] | None = None,
    figures: RunFigures | None = None,
    source: Mapping[str, Any] | None = None,
    conduct: Conduct | None = None,
) -> Summary:
    """Simulate into a run folder; writes the data set and its card at the end.

    Only the plan stays in memory, not the finished conversations: a run may be of any size. At the end the folder's
    records are in the order of the plan, a line for each conversation.

    Args:
        talk: Who takes part and by which rules, or a compiled graph.
        scenarios: Initial states.
        out: The run folder.
        limits: Limits in place of the cast's.
        concurrency: Number of conversations at the same time, or `auto`.
        resume: Continue with missing conversations, from the replies in the folder's call journal. A conversation that
            ended at a limit of tokens or a budget is simulated again if that is higher now. So is a call after the end
            that a model failed to answer.
        watch: Called with every state, in the process that simulates, which is this one if `watch` or `keep` is given.
        keep: Called with each conversation, in that process.
        figures: Count the conversations in each process.
        source: The origin of the scenarios for the manifest: `source`, `licence`, `licence_id`.
        conduct: Pace and bounds of the calls, as for `simulate`.

    Returns:
        The summary of the run.
    """
    cast = cast_of(talk)
    plan = planned(cast, scenarios)
    check_scenarios(cast, plan)
    conduct = conduct or Conduct()
    if talk is not cast and (conduct.engine is not None or (conduct.processes or 1) > 1):
        raise SettingError("a compiled graph is simulated in this process: give its cast, or leave processes out")
    control = conduct.controlled()
    limits = (limits or cast.limits).or_else(cast.limits)
    stopped: EndpointError | None = None
    manifest = manifests.of_run(cast, plan, limits, source)
    with RunFolder.open(out, manifest, resume=resume) as folder:
        write_json(folder.path / PROMPTS, {name: page.source for name, page in cast.pages.items()}, end="\n")
        again, anew = set[str](), set[str]()
        if resume:
            again, anew = to_repeat(folder, limits, retry_failed=conduct.retry_failed)
        folder.simulate_again(again & {name_of(state) for state in plan})
        missing = [state for state in plan if name_of(state) not in folder.done or name_of(state) in again]
        run = _Run(talk, folder, missing, limits, control, conduct, concurrency, resume, again, anew)
        divided = None
        if control.turns is None and talk is cast:  # runs take turns in one process
            watched = watch is not None or keep is not None
            divided = division(cast, missing, limits, conduct, concurrency, watched=watched)
        try:
            with working_folder_restored():  # paths of the run are relative to it
                if divided is None:
                    await run.here(watch, keep, figures)
                else:
                    await run.elsewhere(divided, figures)
        except EndpointError as error:  # no call can succeed: the run ends here, and its folder is in order
            stopped = error
        except BaseException:
            for last in (folder.merge, partial(merge_calls, folder.path), partial(written, folder, plan, {})):
                with suppress(ValueError, OSError):  # write what is finished, but report what ended the run
                    last()
            raise
        control.over()
        folder.merge()
        summary = written(folder, plan, run.report.failed)
        run.close(complete=summary.complete)
        ending = str(stopped) if stopped is not None else control.ending
        notes = [*summary.notes, *run.report.notes(run.calls)]
        return replace(summary, notes=notes, stopped=ending, stopped_by=stopped)


@dataclass
class _Run:
    """The simulation of an open run folder."""

    talk: Cast | Compiled
    folder: RunFolder
    missing: Sequence[Planned]
    limits: Limits
    control: Control
    conduct: Conduct
    concurrency: Concurrency
    resume: bool
    again: Collection[str]
    """Finished conversations that are simulated again."""
    anew: Collection[str]
    """Those of them whose kept replies are not used."""
    report: WorkerReport = field(default_factory=WorkerReport)
    calls: str = CALLS
    """Name of the file that keeps the calls."""

    async def here(
        self, watch: Watch | None, keep: Callable[[Conversation], None] | None, figures: RunFigures | None
    ) -> None:
        with self._journal() as file:
            self._take_up(file)
            self.calls = file.path.name if file is not None else CALLS
            with self._bounded() as own:
                watch, keep = counted((figures, own), watch, keep)
                try:
                    await run_shard(
                        self.talk,
                        self.missing,
                        self.limits,
                        self.folder,
                        file,
                        self.control,
                        failed=self.report.failed,
                        concurrency=self.concurrency,
                        watch=watch,
                        keep=keep,
                        replies_of=self.conduct.replies_of,
                    )
                finally:
                    for calls in self.control.services:
                        if calls.replies.store is file:
                            self.report.count_calls(calls, file)

    async def elsewhere(self, divided: Division, figures: RunFigures | None) -> None:
        """Simulate in other processes, which this one leads."""
        silent = list[tuple[str, Role]]()
        if self.resume:
            with self._journal() as file:
                silent = self._take_up(file)
        with self._bounded() as own:
            board = Board(self.control, (figures, own))

            board.sum()
            if not self.control.begins:  # what was spent before has reached a bound
                return
            whole = Shard(
                folder=self.folder.path.absolute(),
                here=Path.cwd(),
                spec=divided.spec,
                states=list(self.missing),
                limits=self.limits,
                pace=self.control.pace,
                concurrency=self.concurrency,
                priced=self.control.spending.priced or self.control.spending.max_cost is not None,
                silent=tuple(silent),
                traced=bool(requested()),
                domains=divided.domains,
                formats=divided.formats,
                cast=manifests.digest_of(cast_of(self.talk)),
                replies_of=self.conduct.replies_of and self.conduct.replies_of.resolve(),
                between=A_SECOND if divided.engine == "ray" else BETWEEN,
            )
            at_a_time = at_once(divided.processes or 1, len(self.missing), self.concurrency)
            shards = shards_of(whole, divided.engine, at_a_time)
            split_calls(self.folder.path, {name_of(state): shard.name for shard in shards for state in shard.states})
            try:
                if divided.engine == "ray":
                    await on_ray(shards, divided.processes, self.conduct.ray_address, board, self.folder.check)
                else:
                    board.workers = len(shards)
                    shares = [shared(shard, len(shards), position) for position, shard in enumerate(shards)]
                    await in_processes(shares, board, self.folder.check)
            finally:
                self.report = board.whole
                self.control.elsewhere = tuple

    def close(self, *, complete: bool) -> None:
        """Remove the call journal of a complete run, unless it is to be kept; merge it otherwise."""
        if not complete or self.conduct.replay_calls is not None or self.conduct.keep_calls is True:
            merge_calls(self.folder.path)
        elif self.conduct.keep_calls:
            keep_user_calls(self.folder.path)
        else:
            remove_calls(self.folder.path)

    def _journal(self) -> AbstractContextManager[CallFile | None]:
        done = frozenset(self.folder.done - set(self.again))
        return self.conduct.calls(self.folder.path, resume=self.resume, done=done)

    def _take_up(self, file: CallFile | None) -> list[tuple[str, Role]]:
        """Begin with the content of journal and folder; gives the turns whose last replies had no text."""
        silent = list(said_nothing(self.folder)) if self.resume and file is not None else []
        if file is not None:
            file.begin_anew(self.anew)
            for name, role in silent:
                file.ask_again(name, role)
        if self.resume:
            conversations: Iterable[Conversation] = self.folder.conversations()
            if any(state.get("replays") for state in self.missing):
                conversations = map(without_recorded_calls, conversations)
            spent_before(self.control.spending, cast_of(self.talk), conversations, self.again, file)
        return silent

    @contextmanager
    def _bounded(self) -> Iterator[RunFigures | None]:
        """Inside, time is bounded, and progress is shown."""
        with (
            self.control.within(self.conduct.max_seconds),
            shown(len(self.missing), self.control, self.conduct.progress) as figures,
        ):
            yield figures
