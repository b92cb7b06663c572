"""Chat models that a command asks about many things: options, plan, progress, and missing answers."""

import itertools
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from ...data.text.model_tokens import OF_MESSAGE, tokens_about
from ...errors import SettingError
from ..options.run import RunOptions, options_of_run
from ..options.shared import journal_in
from ..output.overwriting import check_apart
from ..planning.costs import CallCosts
from ..planning.plan import Plan, go_on, models_asked, models_of_cast, tell_calls
from .interrupts import ask_all
from .run import say_hosts, say_uncounted

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...runs.asking.questions import Asking, ModelAnswer
    from ...runs.engine.control import Control

    A = TypeVar("A", bound=ModelAnswer)

R = TypeVar("R")

OPTIONS = options_of_run("plan", "record", "replay_calls")
"""Options that say how models are asked: a field of `RunOptions` each."""

JournalOption: TypeAlias = Annotated[Path | None, journal_in("this file", "FILE")]
MOST_CALLS = 3
"""For one thing: what cannot be read is asked for again."""
ANSWER_TOKENS = 60
"""Tokens of an answer, about."""
RULE = (
    "every request as it would be sent, four characters a token (a Chinese one each), and about "
    f"{ANSWER_TOKENS} tokens of an answer; nothing is asked again, and reasoning is not foreseen"
)


def check_journal(journal: Path | None, sources: Iterable[Path], models: Sequence[str], option: str) -> None:
    """DataError for a file of answers that is one of the sources; SettingError where no model is asked."""
    check_apart(journal, *sources)
    if journal is not None and not models:
        raise SettingError(f"--journal keeps replies of chat models: give one with {option}")


def ask_models(
    askings: "Mapping[str, Asking[Any, A]]",
    what: str,
    *,
    journal: Path | None,
    options: RunOptions,
) -> "dict[str, list[A]]":
    """The answers of each model about each item, one model after the other, under one set of bounds.

    `what`: the items, such as `turns`. A plan is printed in place of that (`--plan`), and ends the command; so does Ctrl-C.
    """
    from ...nodes.calls.prices import asked_model

    if not askings and not options.plan:
        return {}
    missing = {spec: list(asking.missing(journal).values()) for spec, asking in askings.items()}
    count = sum(map(len, missing.values()))
    plan = Plan(count, what, count, MOST_CALLS * count, "each one question to a model", calls_models=True)
    models = [model for asking in askings.values() if (model := asked_model(asking.model)) is not None]
    if options.plan:
        tell_calls(plan, _costs(askings, missing), RULE, as_json=options.as_json)
        raise typer.Exit
    control = options.control()
    control.spending.refuse_unknown(models)
    say_hosts(asking.model for asking in askings.values())
    go_on(plan, quiet=options.as_json, yes=options.yes)
    conduct = options.conduct(control)

    def answers(spec: str, on_answer: "Callable[[A], None]") -> "Coroutine[Any, Any, list[A]]":
        return askings[spec].answers(
            answers_file=journal, concurrency=options.concurrency or "auto", conduct=conduct, on_answer=on_answer
        )

    left = "nothing is kept without --journal" if journal is None else f"the replies are in {journal}"
    return ask_each(
        askings, answers, control, f"{{}} of {count} {what} asked about", max_time=options.max_time, left=left
    )


def begun(casts: Iterable[Any], plan: Plan, options: RunOptions, *others: Any) -> "Control":
    """The control that bounds the asking of casts and other models.

    Before that it is printed where calls go, and how many there are.
    """
    from ...nodes.calls.prices import asked_model

    control = options.control()
    priced = [query for model in others if (query := asked_model(model)) is not None]
    for cast in casts:
        control.spending.refuse_unknown([*models_asked(cast), *priced])
        say_hosts([*models_of_cast(cast), *others])
        say_uncounted(cast, options)
    go_on(plan, quiet=options.as_json, yes=options.yes)
    return control


def ask_each(
    specs: Iterable[str],
    answers: "Callable[[str, Callable[[Any], None]], Coroutine[Any, Any, R]]",
    control: "Control",
    line: str,
    *,
    max_time: float | None,
    left: str,
) -> "dict[str, R]":
    """What each spec answers, one after the other, with a line that counts the answers; it ends as `ask_all`.

    `answers` is called with a spec, and with what is to be called with each of its answers.
    """

    async def work(show: Callable[[str], None]) -> "dict[str, R]":
        number = itertools.count(1)
        return {spec: await answers(spec, lambda _: show(line.format(next(number)))) for spec in specs}

    return ask_all(work, control, line.format(0), max_time=max_time, left=left)


def _costs(askings: "Mapping[str, Asking[Any, Any]]", missing: Mapping[str, Sequence[Any]]) -> CallCosts:
    """About what it takes to ask about the missing things; nothing is called."""
    from ...nodes.calls.prices import asked_model

    costs = CallCosts()
    for spec, asking in askings.items():
        model = asked_model(asking.model)
        for thing in missing[spec]:
            costs.add(model, sum(map(tokens_about, asking.texts(thing))) + 2 * OF_MESSAGE, ANSWER_TOKENS)
    return costs
