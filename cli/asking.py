"""Chat models that a command asks about many things: the options, the plan before anything is paid, progress, and what
a model said nothing of.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from ..data.text.model_tokens import OF_MESSAGE, tokens_about
from ..errors import DataError, SettingError
from .annotation_plans import cost_about, costs
from .interrupts import INTERRUPTED, STOPPED, run
from .output import print_json, put, say, stderr
from .planning import Plan, go_on
from .run_options import KEPT_CALLS, LEAVING, MONEY_AND_TIME, PACES, RunOptions

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..runs.asking import Answer, Asking
    from ..runs.control import Control

    A = TypeVar("A", bound=Answer)

OPTIONS: dict[str, tuple[Any, Any]] = {
    **MONEY_AND_TIME,
    **PACES,
    **{name: KEPT_CALLS[name] for name in ("record", "replay_calls")},
    **LEAVING,
}
"""Options that say how models are asked: a field of `RunOptions` each."""

Kept: TypeAlias = Annotated[
    Path | None,
    typer.Option("--kept", metavar="FILE", help="Keep what chat models say here; the same command goes on from there."),
]
MOST_CALLS = 3
"""For one thing: what cannot be read is asked for again."""
SAID = 60
"""Tokens of an answer, about."""
RULE = (
    "every request as it would be sent, four characters a token (a Chinese one each), and about "
    f"{SAID} tokens of an answer; nothing is asked again, and reasoning is not foreseen"
)


def check_kept(kept: Path | None, models: Sequence[str], option: str) -> None:
    """SettingError for a file of a chat model's answers where no model is asked."""
    if kept is not None and not models:
        raise SettingError(f"--kept keeps what a chat model says: give one with {option}")


def ask_models(
    asked: "Mapping[str, Asking[Any, A]]",
    what: str,
    *,
    kept: Path | None,
    options: RunOptions,
) -> "dict[str, list[A]]":
    """What each model, by its spec, says of each thing, one model after the other, under one set of bounds.

    `what`: the things, such as `turns`. A plan is told in place of that (`--plan`), and ends the command; so does Ctrl-C.
    """
    from ..nodes.calls.prices import asked_model
    from ..nodes.models.specs import endpoint_host

    if not asked and not options.plan:
        return {}
    missing = {spec: list(each.missing(kept).values()) for spec, each in asked.items()}
    count = sum(map(len, missing.values()))
    plan = Plan(count, what, count, MOST_CALLS * count, "each one question to a model", asked=True)
    models = [model for each in asked.values() if (model := asked_model(each.model)) is not None]
    if options.plan:
        _tell_plan(plan, asked, missing, as_json=options.as_json)
        raise typer.Exit
    control = options.control()
    control.spending.refuse_unknown(models)
    for host in sorted({host for each in asked.values() if (host := endpoint_host(each.model))}):
        say(f"calls go to {host}")
    go_on(plan, quiet=options.as_json, yes=options.yes)
    return _answers(asked, f"{{}} of {count} {what} asked about", kept, options, control)


def silent(said: "Sequence[Answer]", spec: str, what: str, one: str, *, they: str) -> int:
    """Say of how many things a model says nothing, and what that means (`they`); gives their number.

    DataError if it says nothing at all; `one`: a thing, such as `turn`.
    """
    failed = [each for each in said if each.error]
    if failed and len(failed) == len(said):
        raise DataError(f"{what} {spec}: says nothing of any {one}: {failed[0].error}")
    if failed:
        say(f"{spec}: says nothing of {len(failed)} of {len(said)} {one}s, which {they}: {failed[0].error}")
    return len(failed)


def _answers(
    asked: "Mapping[str, Asking[Any, A]]", line: str, kept: Path | None, options: RunOptions, control: "Control"
) -> "dict[str, list[A]]":
    conduct = options.conduct(control)
    found: dict[str, list[A]] = {}
    told = 0

    async def work() -> None:
        for spec, each in asked.items():
            found[spec] = await each.answers(
                kept=kept, concurrency=options.concurrency or "auto", conduct=conduct, watch=tell
            )

    with stderr.status(line.format(0)) as status:

        def tell(_: object) -> None:
            nonlocal told
            told += 1
            status.update(line.format(told))

        try:
            run(work(), control, lambda: 0, options.max_time)
        except (KeyboardInterrupt, asyncio.CancelledError):
            control.ending = STOPPED
    for note in control.spending.notes:
        say(note)
    if control.ending == STOPPED:
        say("interrupted: " + ("nothing is kept without --kept" if kept is None else f"what was said is in {kept}"))
        raise typer.Exit(INTERRUPTED)
    if control.ending is not None:
        say(f"ended early: {control.ending}")
    return found


def _tell_plan(
    plan: Plan, asked: "Mapping[str, Asking[Any, Any]]", missing: Mapping[str, Sequence[Any]], *, as_json: bool
) -> None:
    """Print how much there is to ask; nothing is called."""
    from ..nodes.calls.prices import asked_model

    sent, said, cost, unknown = 0, 0, 0.0, None
    for spec, each in asked.items():
        model = asked_model(each.model)
        for thing in missing[spec]:
            tokens = sum(map(tokens_about, each.texts(thing))) + 2 * OF_MESSAGE
            sent, said = sent + tokens, said + SAID
            one, why = cost_about(model, tokens, SAID)
            cost, unknown = cost + one, unknown or why
    if as_json:
        print_json(
            {
                plan.what: plan.count,
                "calls": {"usual": plan.usual, "most": plan.most},
                "tokens": {"input": sent, "output": said},
                "cost": None if unknown else cost,
                "cost_unknown": unknown,
                "rule": RULE,
            }
        )
        return
    put(plan.line)
    for told in costs((sent, said), None if unknown else cost, unknown, RULE):
        put(told)
