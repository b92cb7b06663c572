"""How a run is made: its pace, its bounds, and the files of its calls.

Nothing here changes what is simulated.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from ...errors import DuologueError, SettingError
from ...nodes.calls.gate import Pace
from ...nodes.calls.service import Calls, kept_in, store_outside
from ...nodes.calls.spending import Spending
from ...nodes.calls.store import SharedReplies
from ...nodes.foreign import THREADS, heartbeat
from ...nodes.settings.environment import without_calls
from ..journals.calls import CALLS, CallFile
from .control import Control, default_control
from .progress import is_shown

SYNCED = 0.2
"""Seconds after which a reply is safe from a power failure; it is safe from a killed process at once."""


@dataclass(frozen=True, kw_only=True)
class Conduct:
    """How a run is made.

    It may differ each time that the run is resumed.

    Example::

        >>> from duologue import runs
        >>> runs.Conduct(record="calls.jsonl").keep_calls
        False
    """

    pace: Pace | None = None
    """How fast, and with how much patience, endpoints are called."""
    max_cost: float | None = None
    """Maximum cost of the run in US dollars (extra `cost`)."""
    max_run_tokens: int | None = None
    """Maximum tokens of the run."""
    max_seconds: float | None = None
    """Maximum seconds of this call. At each of these bounds what is under way ends in order, as `budget`."""
    control: Control | None = None
    """Keeps rate limiter and budgets, and can end the run before its plan is done."""
    record: str | Path | None = None
    """A file for every reply of a model, to replay the run from; it is kept."""
    replay_calls: str | Path | None = None
    """Such a file, which answers every call: no model is called."""
    keep_calls: bool | Literal["user"] = False
    """Keep the run folder's call journal when the run is complete. `user`: only the replies to its users."""
    replies_of: Path | None = None
    """The call journal of an earlier run: where its user was sent the same, its reply is taken."""
    retry_failed: bool = False
    """On resume, simulate again conversations that ended by a fault of a role, such as a user whose every draft was
    rejected."""
    shard: str | None = None
    """`K/N`: only every N-th conversation of the plan, from the K-th on, in a folder of its own (`runs.put_together`)."""
    ray: str | None = None
    """The address of a Ray cluster (extra `ray`) that simulates the parts of a run in a folder, such as `HOST:6379`,
    `auto`, or `local` for one of this machine."""
    progress: bool | None = None
    """Whether to show how far the run is: in the cell of a notebook, else on stderr, at a terminal in one line that is
    replaced each second, in a log in a line each minute. None: in a notebook, once the run has taken a second."""

    def __post_init__(self) -> None:
        if self.record is not None and self.replay_calls is not None:
            raise SettingError("record and replay_calls: give one of them, as a replayed run makes no calls to record")

    def check_in_turns(self) -> None:
        """SettingError for what does not fit several runs that are made in turns."""
        if self.ray or self.record or self.replay_calls:
            raise SettingError("conduct: versions are simulated in turns: leave out ray, record and replay_calls")

    def controlled(self) -> Control:
        """The control of a run: the given one, or a new one with this pace and these bounds."""
        control = self.control
        if control is None and self.pace is None and self.max_cost is None and self.max_run_tokens is None:
            control = default_control()
        elif control is None:
            spending = Spending(max_cost=self.max_cost, max_tokens=self.max_run_tokens)
            control = Control(spending, self.pace or Pace())
        if is_shown(self.progress) and find_spec("genai_prices") is not None:
            control.spending.priced = True  # where prices can be looked up the cost is shown, bounded or not
        return control

    @cached_property
    def lasting(self) -> "Conduct":
        """The same for many small runs, whose pace and bounds it holds together, such as the answers of a user."""
        control = self.controlled()
        control.lasting = True
        return replace(self, control=control)

    @contextmanager
    def calls(
        self,
        folder: Path | None = None,
        *,
        name: str = CALLS,
        resume: bool = False,
        done: frozenset[str] = frozenset(),
    ) -> Iterator[CallFile | None]:
        """The file of a run's calls: the one to replay, the one to record, or the journal of its folder.

        A recorded run in a folder has both: each reply is in the journal, from which the run is resumed, and in the
        record. None without a folder, and inside `kept_in`, whose store comes first. `name`: that of the journal.
        RunError for a file that cannot be used.
        """
        if self.replay_calls is not None:
            yield CallFile.replaying(self.replay_calls)
            return
        record = None if self.record is None else Path(self.record)
        begun = set[Path]() if self.control is None else self.control.records
        if record is not None:
            if not resume and record not in begun and record.exists() and record.stat().st_size:
                raise SettingError(f"{record}: is there already: name a new file for the calls, or remove it")
            begun.add(record)
        paths = [record.resolve()] if record is not None else []  # a link that one names oneself is followed
        if folder is not None and (paths or store_outside() is None):
            paths.insert(0, folder / name)
        with ExitStack() as opened:
            files = []
            for path in paths:
                files.append(CallFile.recording(path, done=done))
                opened.callback(files[-1].close)
            if len(files) == 2:
                files[0].copy = files[1]
            yield files[0] if files else None


@asynccontextmanager
async def calling(
    control: Control,
    file: CallFile | None,
    *,
    max_seconds: float | None = None,
    check: Callable[[], object] | None = None,
    replies_of: Path | None = None,
) -> AsyncIterator[Calls]:
    """Inside, models are called under the control, for at most so many seconds, and replies are kept in the file.

    `replies_of`: the call journal of an earlier run, with which users share replies.
    Written replies are synced to the disk in small batches, and `check` tests the run's folder. If either fails the run
    ends, since replies that are paid after it might be lost. The error is raised at the end, if no other is.
    """
    earlier = None if replies_of is None else SharedReplies([CallFile.read(replies_of)])
    calls = control.call_service(file, shared=earlier)
    asyncio.get_running_loop().set_default_executor(THREADS)  # no call without an end keeps the process alive
    beat = asyncio.create_task(heartbeat())
    try:
        with control.within(max_seconds):
            async with _synced(file, calls, check):
                yield calls
    finally:
        beat.cancel()


@asynccontextmanager
async def _synced(file: CallFile | None, calls: Calls, check: Callable[[], object] | None) -> AsyncIterator[None]:
    over = asyncio.Event()

    async def sync() -> None:
        while (file is not None or check is not None) and not over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), SYNCED)
            try:
                if check is not None:
                    check()
                if file is not None:
                    await asyncio.to_thread(file.sync)
            except DuologueError as error:
                calls.stopped = calls.stopped or error
                if calls.on_room is not None:
                    calls.on_room()  # wakes whoever waits for a conversation to end
                raise

    task = asyncio.create_task(sync())
    try:
        yield
    except BaseException:
        over.set()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # is the one that is raised here, or says less than it
        raise
    over.set()
    await task


@contextmanager
def recorded_calls(path: str | Path, *, record: bool = False) -> Iterator[CallFile]:
    """Inside, calls of models are answered from a file that was recorded, or with `record` made and kept in it.

    For tests: an agent test whose models answered once runs again without an endpoint, and its models are made without
    a key. A model that an agent of your own makes of `openai:NAME` or `ChatOpenAI` gets a placeholder inside.
    """
    file = CallFile.recording(Path(path).resolve()) if record else CallFile.replaying(path)
    try:
        with ExitStack() as inside:
            inside.enter_context(kept_in(file))
            if not record:
                inside.enter_context(without_calls())
            yield file
    finally:
        file.close()
