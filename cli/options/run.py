"""Options of a run, for every command that simulates."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ...errors import SettingError
from .durations import seconds
from .sections import BOUNDS, OUTPUT, PACE, REPLIES, WHERE
from .shared import Yes, json_of, option
from .tracing import Trace, allowed

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...runs.settings import RunSettings


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

    They may change each time that a run goes on.
    """

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
    max_tokens: Annotated[
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
    replies: Annotated[
        Path | None,
        option(
            "Keep the replies of models in this file, and answer from it what was asked before. Default: replies.sqlite "
            "in the run folder.",
            section=REPLIES,
            metavar="FILE",
        ),
    ] = None
    frozen: Annotated[
        bool,
        option("Call no model: a reply that --replies does not hold is an error.", "--frozen", section=REPLIES),
    ] = False
    to: Annotated[
        str | None,
        option(
            "Write the data set in this format, with its card, below the run folder.", section=OUTPUT, metavar="FORMAT"
        ),
    ] = None
    trace: Trace = False

    def settings(self, out: Path | None = None) -> "RunSettings":
        """The settings of a run in this folder."""
        from ...runs.settings import RunSettings

        return RunSettings.of(
            out=out,
            concurrency=self.concurrency or "auto",
            max_cost=self.max_cost,
            max_tokens=self.max_tokens,
            max_time=self.max_time,
            replies=self.replies,
            frozen=self.frozen,
            shard=self.shard,
            ray=self.ray,
            progress=not self.as_json,
        )

    @contextmanager
    def surroundings(self) -> Iterator[None]:
        """Inside, a command makes its cast and runs: what may leave the machine is allowed and printed.

        A plan and a frozen run call no endpoint, so their models are made without a key.
        """
        from ...nodes.settings.environment import without_calls

        calls = nullcontext() if not self.frozen and not self.plan else without_calls()
        with allowed(self.trace), calls:
            yield


_OF_EVERY_COMMAND = frozenset("plan max_cost max_tokens max_time concurrency trace".split())
"""What every command that calls models has: its plan, bounds, pace, and what may leave the machine."""


def options_of_run(*names: str) -> dict[str, tuple[Any, Any]]:
    """Annotation and default of the options of `RunOptions` that every command has, and of those with these names."""
    return {
        field.name: (field.type, field.default)
        for field in fields(RunOptions)
        if field.name in _OF_EVERY_COMMAND or field.name in names
    }
