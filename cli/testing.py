"""`duologue test`: how often an agent succeeds with simulated users."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..data import record_lines
from ..errors import SettingError
from .output import print_json, say, stdout
from .running import OUT, Concurrency, Resume, run_into


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
    max_turns: Annotated[int | None, typer.Option(min=1, help="Most exchanges. Default: the cast's.")] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Exit with 1 if the share of successes is lower.")
    ] = None,
    concurrency: Concurrency = 8,
    out: Annotated[
        Path | None, typer.Option(help="Run folder. Default: the next free one of the cast in out/.")
    ] = None,
    resume: Resume = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")] = False,
) -> int:
    """Simulate conversations about scenarios and count how often they reach their goal."""
    from .. import runs
    from ..analysis.success import successes
    from ..graphs import casts
    from ..graphs.sources import ScenarioFile
    from ..nodes.limits import Limits

    if (name is None) == (cast is None):
        raise SettingError("give one cast: duologue test CAST --scenarios FILE (or --cast CAST)")
    if resume and out is None:
        raise SettingError("--resume needs --out: say which run to continue")
    factory = casts.find(cast or name or "")
    given = dict(map(_setting, settings or ()))
    made = factory(**given)
    planned = ScenarioFile(scenarios=scenarios, repeats=repeats).read(factory.checked(given), seed)
    folder = out or runs.new_folder(OUT, factory.name.rpartition(":")[2])
    limits = Limits(seed=seed, max_turns=max_turns)
    summary = run_into(
        made,
        list(planned.states),
        folder,
        limits,
        planned.source,
        concurrency=concurrency,
        resume=resume,
        quiet=as_json,
    )
    result = successes([*record_lines.read_run(folder), *record_lines.cut_short(folder)])
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
        if result.unscored:
            say(f"{result.unscored} conversations have no score: a failure of the endpoint or a node cut them short")
        print(f"run: {folder}")
    missed = threshold is not None and result.success.value < threshold
    return 1 if missed or summary.finished < summary.planned else 0


def _setting(text: str) -> tuple[str, Any]:
    """A setting's name and value: JSON where it is JSON, else a text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise SettingError(f"--set {text}: write NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
