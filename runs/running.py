"""A run in a folder: missing conversations are simulated, here or by Ray, and the data set is written."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any

from ..data.files.json import write_json
from ..data.files.paths import working_folder_restored
from ..data.records import Conversation
from ..errors import SettingError
from ..graphs import Cast
from ..graphs.casts.checks import check_scenarios
from ..graphs.graph import Compiled, cast_of
from ..nodes.calls.gate import EndpointError
from ..nodes.limits import Limits
from ..nodes.state import Planned
from .engine.conduct import Conduct, calling
from .engine.control import Control
from .engine.conversing import Concurrency, Watch, converse_all, name_of, planned
from .engine.figures import RunFigures
from .engine.progress import counted, shown
from .engine.reports import notes_on
from .folder import manifests
from .folder.leftovers import PROMPTS
from .folder.merging import keep_user_calls, remove_calls
from .folder.run_folder import RunFolder
from .folder.summary import Summary, written
from .journals.calls import CallFile
from .on_ray import PARTS, on_ray
from .parts import Shard
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
    shard = None if conduct.shard is None else Shard.read(conduct.shard)
    plan = plan if shard is None else shard.part(plan)
    if conduct.ray is not None and (talk is not cast or watch is not None or keep is not None):
        raise SettingError("ray: a compiled graph, watch and keep are of this process: leave them out, or ray")
    control = conduct.controlled()
    limits = (limits or cast.limits).or_else(cast.limits)
    stopped: EndpointError | None = None
    manifest = manifests.of_run(cast, plan, limits, source) | ({} if shard is None else {"shard": list(shard)})
    with RunFolder.open(out, manifest, resume=resume) as folder:
        write_json(folder.path / PROMPTS, {name: page.source for name, page in cast.pages.items()}, end="\n")
        again, anew = set[str](), set[str]()
        if resume:
            again, anew = to_repeat(folder, limits, retry_failed=conduct.retry_failed)
        folder.simulate_again(again & {name_of(state) for state in plan})
        run = _Run(talk, folder, plan, limits, control, conduct, concurrency, resume, again, anew)
        try:
            with working_folder_restored():  # paths of the run are relative to it
                if conduct.ray is None:
                    await run.here(watch, keep, figures)
                else:
                    await run.on_ray(conduct.ray, figures)
        except EndpointError as error:  # no call can succeed: the run ends here, and its folder is in order
            stopped = error
        except BaseException:
            for last in (folder.merge, partial(written, folder, plan, {})):
                with suppress(ValueError, OSError):  # write what is finished, but report what ended the run
                    last()
            raise
        control.over()
        folder.merge()
        summary = written(folder, plan, run.failed)
        run.close(complete=summary.complete)
        ending = str(stopped) if stopped is not None else control.ending
        return replace(summary, notes=[*summary.notes, *run.notes], stopped=ending, stopped_by=stopped)


@dataclass
class _Run:
    """The simulation of an open run folder."""

    talk: Cast | Compiled
    folder: RunFolder
    plan: Sequence[Planned]
    limits: Limits
    control: Control
    conduct: Conduct
    concurrency: Concurrency
    resume: bool
    again: Collection[str]
    """Finished conversations that are simulated again."""
    anew: Collection[str]
    """Those of them whose kept replies are not used."""
    failed: dict[str, str] = field(default_factory=dict[str, str])
    """Why each conversation failed."""
    notes: list[str] = field(default_factory=list[str])

    def is_missing(self, state: Planned) -> bool:
        """Whether a conversation of the plan is not finished, or is to be simulated again."""
        return name_of(state) not in self.folder.done or name_of(state) in self.again

    async def here(
        self, watch: Watch | None, keep: Callable[[Conversation], None] | None, figures: RunFigures | None
    ) -> None:
        """Simulate what is missing in this process."""
        missing = [state for state in self.plan if self.is_missing(state)]
        with self._journal() as file:
            self._take_up(file, missing)
            with self._bounded(len(missing)) as own:
                watch, keep = counted((figures, own), watch, keep)

                def over(conversation: Conversation) -> None:
                    self._write(conversation)
                    if file is not None:
                        file.forget(conversation.id)
                    if keep is not None:
                        keep(conversation)

                try:
                    async with calling(
                        self.control, file, check=self.folder.check, replies_of=self.conduct.replies_of
                    ) as calls:
                        await converse_all(
                            self.talk,
                            missing,
                            self.limits,
                            over,
                            concurrency=self.concurrency,
                            watch=watch,
                            calls=calls,
                            control=self.control,
                        )
                finally:
                    for calls in self.control.services:
                        if file is not None and calls.replies.store is file:
                            self.notes += notes_on(calls, file)

    async def on_ray(self, address: str, figures: RunFigures | None) -> None:
        """Have Ray simulate the parts in which something is missing."""
        if self.resume:
            spent_before(self.control.spending, cast_of(self.talk), self.folder.conversations(), self.again, None)
        missing = [state for state in self.plan if self.is_missing(state)]
        wanted = {name_of(state) for state in missing}
        with self._bounded(len(missing)) as own:
            _, count = counted((figures, own), None, None)

            def keep(conversation: Conversation) -> None:
                if conversation.id in wanted:
                    self._write(conversation)
                    if count is not None:
                        count(conversation)

            cast, folder = cast_of(self.talk), self.folder.path.absolute()
            await on_ray(cast, self.plan, folder, address, self.limits, self.control, self.is_missing, keep)

    def close(self, *, complete: bool) -> None:
        """Remove the call journal of a complete run, unless it is to be kept, and the folders of its parts."""
        if complete:
            rmtree(self.folder.path / PARTS, ignore_errors=True)
        if not complete or self.conduct.replay_calls is not None or self.conduct.keep_calls is True:
            return
        (keep_user_calls if self.conduct.keep_calls else remove_calls)(self.folder.path)

    def _write(self, conversation: Conversation) -> None:
        self.folder.keep(conversation)
        if not conversation.finished:
            self.failed[conversation.id] = (
                conversation.failure.error if conversation.failure else str(conversation.stop)
            )

    def _journal(self) -> AbstractContextManager[CallFile | None]:
        done = frozenset(self.folder.done - set(self.again))
        return self.conduct.calls(self.folder.path, resume=self.resume, done=done)

    def _take_up(self, file: CallFile | None, missing: Sequence[Planned]) -> None:
        """Begin with the content of journal and folder."""
        if file is not None:
            file.begin_anew(self.anew)
            for name, role in said_nothing(self.folder) if self.resume else ():
                file.ask_again(name, role)
        if self.resume:
            conversations: Iterable[Conversation] = self.folder.conversations()
            if any(state.get("replays") for state in missing):
                conversations = map(without_recorded_calls, conversations)
            spent_before(self.control.spending, cast_of(self.talk), conversations, self.again, file)

    @contextmanager
    def _bounded(self, missing: int) -> Iterator[RunFigures | None]:
        """Inside, time is bounded, and progress is shown."""
        with (
            self.control.within(self.conduct.max_seconds),
            shown(missing, self.control, self.conduct.progress) as figures,
        ):
            yield figures
