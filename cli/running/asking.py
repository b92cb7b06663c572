"""Commands that ask models: plan, bounds, progress, and what is said where they are interrupted."""

import itertools
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from ...errors import SettingError
from ..options.run import RunOptions, options_of_run
from ..options.shared import journal_in
from ..output.overwriting import check_apart
from ..output.plans import go_on, print_plan
from ..streams import say, say_in_log, stderr
from .beginning import say_hosts, uncounted
from .interrupts import ending_in_order

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...runs.ask import Asking, ModelAnswer
    from ...runs.plan import CallPlan
    from ...runs.settings import RunSettings

    M = TypeVar("M", bound=ModelAnswer)

R = TypeVar("R")

OPTIONS = options_of_run("replies", "frozen")
"""Options that say how models are asked: a field of `RunOptions` each."""

JournalOption: TypeAlias = Annotated[Path | None, journal_in("this file", "FILE")]


def check_journal(journal: Path | None, sources: Iterable[Path], models: Sequence[str], option: str) -> None:
    """DataError for a file of replies that is one of the sources; SettingError where no model is asked."""
    check_apart(journal, *sources)
    if journal is not None and not models:
        raise SettingError(f"--journal keeps replies of chat models: give one with {option}")


def ask_models(
    askings: "Mapping[str, Asking[Any, M]]", what: str, *, journal: Path | None, options: RunOptions
) -> "dict[str, list[M]]":
    """The answers of each model about each item, one model after the other, under one set of bounds.

    `what`: the items, such as `turns`. A plan is printed in place of that (`--plan`), and ends the command; so does Ctrl-C.
    """
    from ...runs.ask import questions_planned

    if not askings and not options.plan:
        return {}
    plan = questions_planned(askings.values(), what)
    conduct = begun(plan, options, models=[asking.model for asking in askings.values()])

    async def work(show: Callable[[str], None]) -> "dict[str, list[M]]":
        number = itertools.count(1)
        return {
            name: await asking.answers(
                conduct.with_(replies=journal),
                on_answer=lambda _: show(f"{next(number)} of {plan.count} {what} asked about"),
            )
            for name, asking in askings.items()
        }

    left = "nothing is kept without --journal" if journal is None else f"the replies are in {journal}"
    return asked(work, conduct, f"0 of {plan.count} {what} asked about", left)


def begun(
    plan: "CallPlan", options: RunOptions, casts: Iterable[Any] = (), models: Iterable[Any] = ()
) -> "RunSettings":
    """The pace and bounds under which casts and other models are asked.

    Before that it is printed where calls go, and how many there are; with `--plan` the command ends with the plan.
    """
    if options.plan:
        raise typer.Exit(print_plan(plan, options))
    conduct = bounded(options, casts, models)
    go_on(plan, options)
    return conduct


def bounded(options: RunOptions, casts: Iterable[Any], models: Iterable[Any] = ()) -> "RunSettings":
    """As `begun`, where the number of calls is unknown."""
    from ...nodes.calls.spending import asked_model
    from ...runs.plan import models_of_cast

    casts, models = list(casts), list(models)
    models += [model for cast in casts for model in models_of_cast(cast)]
    queries = dict.fromkeys(query for model in models if (query := asked_model(model)) is not None)
    conduct = options.settings().with_(progress=False).shared(say_in_log)
    conduct.calls().spending.refuse_unknown(list(queries))
    say_hosts(models)
    for cast in casts:
        say(*uncounted(cast, options))
    return conduct


def asked(
    work: "Callable[[Callable[[str], None]], Coroutine[Any, Any, R]]", conduct: "RunSettings", begins: str, left: str
) -> R:
    """The result of work that asks models, with a line of progress, which it may change; Ctrl-C ends the command.

    `begins`: the line at first; `left`: what an interrupted command leaves.
    """
    from ...runs.loop import blocking

    with stderr.status(begins) as status, ending_in_order(left):
        result: R = blocking(work(status.update))
    calls = conduct.calls()
    say(*calls.spending.notes, *([f"ended early: {calls.ending}"] if calls.ending else []))
    return result
