"""`duologue test`: how often an agent succeeds with simulated users."""

import json
import types
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

import typer

from ..data import record_lines
from ..errors import SettingError
from .output import print_json, say, stdout
from .planning import Yes
from .running import OUT, Concurrency, Resume, limits_with, run_into

AtMost: TypeAlias = int | None
"""A limit; None: the cast's own."""


def measure_success(
    name: Annotated[str | None, typer.Argument(metavar="CAST", help="A registered cast, or MODULE:FUNCTION.")] = None,
    cast: Annotated[str | None, typer.Option("--cast", help="The same as CAST.")] = None,
    scenarios: Annotated[
        Path | None, typer.Option(help="JSON lines, an object for each scenario, its 'kind' among its keys.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Conversations about each scenario.")] = 1,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the cast; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the run.")] = 0,
    max_turns: Annotated[AtMost, typer.Option(min=1, help="Most exchanges. Default: the cast's.")] = None,
    question_attempts: Annotated[
        AtMost, typer.Option(min=1, help="Most calls for a turn of the user. Default: the cast's.")
    ] = None,
    answer_attempts: Annotated[
        AtMost, typer.Option(min=1, help="Most calls for a turn of the assistant. Default: the cast's.")
    ] = None,
    max_tokens: Annotated[
        AtMost, typer.Option(min=1, help="Most tokens of a conversation, over all calls. Default: the cast's.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Exit with 1 if the share of successes is lower.")
    ] = None,
    concurrency: Concurrency = 8,
    out: Annotated[
        Path | None, typer.Option(help="Run folder. Default: the next free one of the cast in out/.")
    ] = None,
    resume: Resume = False,
    yes: Yes = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")] = False,
) -> int:
    """Simulate conversations about scenarios and count how often they reach their goal."""
    from .. import runs
    from ..analysis.success import successes
    from ..graphs import casts
    from ..graphs.sources import ScenarioFile

    if (name is None) == (cast is None):
        raise SettingError("give one cast: duologue test CAST --scenarios FILE (or --cast CAST)")
    if resume and out is None:
        raise SettingError("--resume needs --out: say which run to continue")
    factory = casts.find(cast or name or "")
    values = dict(_setting(text, factory.settings) for text in settings or ())
    made = factory(**values)
    planned = ScenarioFile(scenarios=scenarios, repeats=repeats).read(factory.checked(values), seed)
    folder = out or runs.new_folder(OUT, factory.name.rpartition(":")[2])
    limits = limits_with(
        made,
        {
            "seed": seed,
            "max_turns": max_turns,
            "question_attempts": question_attempts,
            "answer_attempts": answer_attempts,
            "max_tokens": max_tokens,
        },
    )
    summary = run_into(
        made,
        list(planned.states),
        folder,
        limits,
        planned.source,
        concurrency=concurrency,
        resume=resume,
        quiet=as_json,
        yes=yes,
    )
    result = successes(chain(record_lines.iterate_run(folder), record_lines.cut_short(folder)))
    if as_json:
        print_json({"out": str(folder), "cast": factory.name, "repeats": repeats, **result.model_dump(mode="json")})
    else:
        stdout.print(result.table().rich())
        rate = result.success
        stdout.print(
            f"{result.successes} of {result.conversations} conversations succeeded: "
            f"{rate.value:.2f} (95 % interval {rate.low:.2f} to {rate.high:.2f})"
        )
        stdout.print(", ".join(f"pass^{k} {value:.2f}" for k, value in result.pass_hat.items()))
        for failure in result.failures[:3]:
            say(f"failed: {failure.id}: {failure.scenario}: {failure.reason} ({failure.stop}, fault: {failure.fault})")
        print(f"run: {folder}")
        say(f"duologue show {folder} writes its conversations as a page (--id ID: a single one)")
    if result.unscored:
        say(
            f"{result.unscored} of {result.conversations + result.unscored} conversations have no score, "
            f"the first because: {result.unscored_because}"
        )
    missed = threshold is not None and result.success.value < threshold
    return 1 if missed or result.unscored or summary.finished < summary.planned else 0


def _setting(text: str, model: Any) -> tuple[str, Any]:
    """A setting's name and value: the text as it is for a setting that is a text, else JSON where it is JSON."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise SettingError(f"--set {text}: write NAME=VALUE")
    field = model.model_fields.get(name)
    if field is not None and _is_text(field.annotation):
        return name, value
    try:
        parsed = json.loads(value)
    except ValueError:
        return name, value
    return name, value if parsed is not None and field is not None and _may_be_text(field.annotation) else parsed


def _is_text(annotation: Any) -> bool:
    """Whether the values of a setting are texts or paths."""
    if get_origin(annotation) is Literal:
        return all(isinstance(value, str) for value in get_args(annotation))
    return annotation in (str, Path)


def _may_be_text(annotation: Any) -> bool:
    """Whether the values of a setting are texts or None."""
    members = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    return all(member is types.NoneType or _is_text(member) for member in members)
