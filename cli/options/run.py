"""Options of a run, for every command that simulates."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ...errors import SettingError
from ..streams import say_in_log
from .durations import seconds
from .sections import BOUNDS, OUTPUT, PACE, REPLIES, WHERE
from .shared import Yes, json_of, option, resume_with
from .tracing import Trace, allowed

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...nodes.calls.gate import Pace
    from ...runs.engine.conduct import Conduct
    from ...runs.engine.control import Control


def number_or_auto(text: str | int) -> int | None:
    """The value of an option that is a number or `auto`, which becomes None."""
    words = str(text).strip().lower()
    if words == "auto":
        return None
    if not words.isdecimal() or not int(words):
        raise SettingError(f"{str(text)!r} is not a positive integer: write one from 1, or auto")
    return int(words)


def above_zero(text: str | float) -> float:
    """A number above 0, as a bound must be; SettingError for anything else."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise SettingError(f"{str(text)!r} is not a bound: give a number above 0")
    return value


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The settings of how to run, each with its option; commands that simulate or ask models have them (`options_of_run`).

    They may change when a run is resumed.
    """

    resume: Annotated[bool, resume_with("simulate only missing conversations")] = False
    yes: Yes = False
    as_json: Annotated[bool, json_of("the summary", section=OUTPUT)] = False
    plan: Annotated[
        bool,
        option(
            "Print the planned calls with estimates of tokens and dollars, and end.",
            "--plan",
            section=BOUNDS,
        ),
    ] = False
    max_cost: Annotated[
        float | None,
        option(
            "Set the maximum of US dollars of the run, by list prices (extra cost).",
            section=BOUNDS,
            parser=above_zero,
            metavar="USD",
        ),
    ] = None
    max_run_tokens: Annotated[
        int | None, option("Set the maximum of tokens of the run, over all calls.", section=BOUNDS, min=1)
    ] = None
    max_time: Annotated[
        float | None,
        option(
            "Set the maximum time of this command: 45s, 90m, 2h.", section=BOUNDS, parser=seconds, metavar="DURATION"
        ),
    ] = None
    """Seconds."""
    concurrency: Annotated[
        int | None,
        option(
            "Run N conversations, and calls, at the same time. auto: find the number that the endpoint accepts.",
            section=PACE,
            parser=number_or_auto,
            metavar="N|auto",
            show_default="auto",
        ),
    ] = None
    """None: as many as the endpoint bears."""
    patience: Annotated[
        float,
        option(
            "Wait this long for an endpoint that has answered in this run and became unreachable.",
            section=PACE,
            parser=seconds,
            metavar="DURATION",
        ),
    ] = 600.0
    """Seconds."""
    shard: Annotated[
        str | None,
        option(
            "Simulate only every N-th conversation of the plan, from the K-th on, into a folder of its own; duologue "
            "convert puts the folders together.",
            section=WHERE,
            metavar="K/N",
        ),
    ] = None
    ray: Annotated[
        str | None,
        option(
            "Have a Ray cluster simulate the parts of the run (extra ray): HOST:PORT, auto, or local for one of this "
            "machine.",
            section=WHERE,
            metavar="ADDRESS",
        ),
    ] = None
    record: Annotated[
        Path | None,
        option(
            "Write every reply of a model to this file, so that the run can be repeated without an endpoint.",
            section=REPLIES,
            metavar="FILE",
        ),
    ] = None
    replay_calls: Annotated[
        Path | None,
        option("Answer every call from a file of --record: no endpoint is called.", section=REPLIES, metavar="FILE"),
    ] = None
    keep_calls: Annotated[
        bool,
        option(
            "Keep calls.jsonl, from which --resume continues, when the run is complete.",
            "--keep-calls",
            section=REPLIES,
        ),
    ] = False
    retry_failed: Annotated[
        bool,
        option(
            "Continue as --resume does, and simulate again conversations that ended by a fault of the user or the "
            "assistant.",
            "--retry-failed",
            section=REPLIES,
        ),
    ] = False
    trace: Trace = False

    @property
    def pace(self) -> "Pace":
        """How calls to an endpoint are made."""
        from ...nodes.calls.gate import Pace

        return Pace(
            concurrency=self.concurrency,
            patience=self.patience,
        )

    def control(self) -> "Control":
        """A new control of a run, with its bounds."""
        from ...nodes.calls.spending import Spending
        from ...runs.engine.control import Control

        # Where prices can be looked up the cost is told, bounded or not.
        priced = self.max_cost is not None or find_spec("genai_prices") is not None
        spending = Spending(max_cost=self.max_cost, max_tokens=self.max_run_tokens, priced=priced)
        return Control(spending, self.pace, notify=say_in_log)

    @contextmanager
    def surroundings(self) -> Iterator[None]:
        """Inside, a command makes its cast and runs: what may leave the machine is allowed and printed.

        A plan and a replay call no endpoint, so their models are made without a key.
        """
        from ...nodes.settings.environment import without_calls

        calls = nullcontext() if self.replay_calls is None and not self.plan else without_calls()
        with allowed(self.trace), calls:
            yield

    def conduct(self, control: "Control") -> "Conduct":
        """How the run is made, under this control."""
        from ...runs.engine.conduct import Conduct

        return Conduct(
            control=control,
            record=self.record,
            replay_calls=self.replay_calls,
            keep_calls=self.keep_calls,
            retry_failed=self.retry_failed,
            shard=self.shard,
            ray=self.ray,
            progress=False,  # the command shows it
        )


_OF_EVERY_COMMAND = frozenset("plan max_cost max_run_tokens max_time concurrency patience trace".split())
"""What every command that calls models has: its plan, bounds, pace, and what may leave the machine."""


def options_of_run(*names: str) -> dict[str, tuple[Any, Any]]:
    """Annotation and default of the options of `RunOptions` that every command has, and of those with these names."""
    return {
        field.name: (field.type, "10m" if field.name == "patience" else field.default)
        for field in fields(RunOptions)
        if field.name in _OF_EVERY_COMMAND or field.name in names
    }
