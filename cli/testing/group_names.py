"""Names of groups of failures by a model: the option, and asking for them after a test."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from ..options.run import RunOptions
from ..options.sections import OUTPUT
from ..options.shared import option
from ..running.beginning import say_hosts
from ..running.interrupts import ask
from ..streams import say

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...analysis.outcomes import Crashes
    from ...analysis.testing.result import Successes
    from ...data.records import Conversation
    from ...runs.engine.control import Control
    from ...runs.labels.failure_names import FailureNaming

NameGroups: TypeAlias = Annotated[
    str | None,
    option(
        "Give each group of failures a further name, by a chat model or a function of a conversation and a label.",
        section=OUTPUT,
        metavar="MODEL|MODULE:NAME",
    ),
]


def named_groups(
    result: "Successes",
    naming: "FailureNaming | None",
    sides: "Sequence[Iterable[Conversation]]",
    folder: Path,
    options: RunOptions,
    control: "Control",
    crashes: "Crashes",
) -> "Successes":
    """The result whose groups have further names; unchanged without `naming`, and where the run had to end.

    `sides`: the conversations of the result, and those of the version that it is compared with. `folder`: of the run.
    """
    from ...studies.testing.group_names import examples_of, with_names

    if naming is None or not (examples := examples_of(result, sides, crashes)):
        return result
    if control.ending is not None:
        say(f"groups are not named by {naming.by}: {control.ending}")
        return result
    say_hosts(naming.models)

    async def work(show: Callable[[str], None]) -> "tuple[Successes, str]":
        number = itertools.count(1)
        return await with_names(
            result,
            naming,
            examples,
            folder=folder,
            conduct=options.conduct(control),
            concurrency=options.concurrency or "auto",
            watch=lambda _: show(f"{next(number)} of {len(examples)} groups named"),
        )

    left = "the names that came are kept"
    named = ask(work, control, f"0 of {len(examples)} groups named", max_time=options.max_time, left=left)
    if named is None:
        say(f"groups are not named by {naming.by}: interrupted; {left}")
        return result
    result, problem = named
    say(*[problem] * bool(problem))
    return result
