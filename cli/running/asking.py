"""Commands that ask models: plan, bounds, progress, and what is said where they are interrupted."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from ...errors import SettingError
from ..options.run import RunOptions, options_of_run
from ..options.shared import journal_in
from ..output.overwriting import check_apart
from ..output.plans import go_on, print_plan
from ..streams import say
from .beginning import say_hosts, uncounted
from .interrupts import ask_all

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...runs.ask import Asking, CallPlan, ModelAnswer
    from ...runs.engine.control import Control

    M = TypeVar("M", bound=ModelAnswer)

OPTIONS = options_of_run("record", "replay_calls")
"""Options that say how models are asked: a field of `RunOptions` each."""

JournalOption: TypeAlias = Annotated[Path | None, journal_in("this file", "FILE")]


def check_journal(journal: Path | None, sources: Iterable[Path], models: Sequence[str], option: str) -> None:
    """DataError for a file of replies that is one of the sources; SettingError where no model is asked."""
    check_apart(journal, *sources)
    if journal is not None and not models:
        raise SettingError(f"--journal keeps replies of chat models: give one with {option}")


def ask_models(
    askings: "Mapping[str, Asking[Any, M]]",
    what: str,
    *,
    journal: Path | None,
    options: RunOptions,
) -> "dict[str, list[M]]":
    """The answers of each model about each item, one model after the other, under one set of bounds.

    `what`: the items, such as `turns`. A plan is printed in place of that (`--plan`), and ends the command; so does Ctrl-C.
    """
    from ...runs.ask import questions_planned

    if not askings and not options.plan:
        return {}
    plan = questions_planned(askings.values(), what, journal)
    control = begun(plan, options, models=[asking.model for asking in askings.values()])
    conduct = options.conduct(control)

    async def work(show: Callable[[str], None]) -> "dict[str, list[M]]":
        number = itertools.count(1)
        return {
            name: await asking.answers(
                replies=journal,
                concurrency=options.concurrency or "auto",
                conduct=conduct,
                on_answer=lambda _: show(f"{next(number)} of {plan.count} {what} asked about"),
            )
            for name, asking in askings.items()
        }

    left = "nothing is kept without --journal" if journal is None else f"the replies are in {journal}"
    return ask_all(work, control, f"0 of {plan.count} {what} asked about", max_time=options.max_time, left=left)


def begun(plan: "CallPlan", options: RunOptions, casts: Iterable[Any] = (), models: Iterable[Any] = ()) -> "Control":
    """The control that bounds the asking of casts and other models.

    Before that it is printed where calls go, and how many there are; with `--plan` the command ends with the plan.
    """
    if options.plan:
        raise typer.Exit(print_plan(plan, options))
    control = bounded(options, casts, models)
    go_on(plan, options)
    return control


def bounded(options: RunOptions, casts: Iterable[Any], models: Iterable[Any] = ()) -> "Control":
    """As `begun`, where the number of calls is unknown."""
    from ...nodes.calls.spending import asked_model
    from ...runs.planning.conversations import models_of_cast

    casts, models = list(casts), list(models)
    models += [model for cast in casts for model in models_of_cast(cast)]
    queries = dict.fromkeys(query for model in models if (query := asked_model(model)) is not None)
    control = options.control()
    control.spending.refuse_unknown(list(queries))
    say_hosts(models)
    for cast in casts:
        say(*uncounted(cast, options))
    return control
