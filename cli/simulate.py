"""`duologue simulate CAST`: a run folder full of conversations, with the options that the cast's settings make."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command as made

from .options import command_of, options_of
from .running import LIMITS, OUT, AsJson, Concurrency, Resume, simulated

RUN: dict[str, tuple[Any, Any]] = {
    "concurrency": (Concurrency, 8),
    "out": (
        Annotated[Path | None, typer.Option(help="Run folder. Default: the next free one of the cast in out/.")],
        None,
    ),
    "resume": (Resume, False),
    "as_json": (AsJson, False),
}
"""Options that say how to run: they may change when a run is resumed."""


class CastGroup(TyperGroup):
    """A command for each registered cast, made when it is asked for; `MODULE:FUNCTION` is one too."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the registered casts."""
        from ..graphs import casts

        return list(casts.registered())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a cast by its name or import path; None for a name that no cast has."""
        from ..graphs import casts

        if cmd_name not in casts.registered() and ":" not in cmd_name:
            return None
        return cast_command(cmd_name)


def cast_command(name: str) -> Any:
    """The command of a cast: options for its settings, its scenarios, the limits and the run."""
    from ..graphs import casts

    factory = casts.find(name)
    settings, source = options_of(factory.settings), options_of(factory.source)
    twice = sorted(set(settings) & {*source, *LIMITS, *RUN})
    if twice:
        from ..errors import SettingError

        raise SettingError(f"cast {name}: its setting {twice[0]!r} has the name of an option of every run: rename it")

    def run(values: dict[str, Any]) -> int:
        return simulate_cast(
            factory,
            {key: values[key] for key in settings},
            {key: values[key] for key in source},
            {key: values[key] for key in LIMITS},
            **{key: values[key] for key in RUN},
        )

    app = typer.Typer(add_completion=False)
    function = command_of(name.replace(":", "_"), {**source, **settings, **LIMITS, **RUN}, run, factory.summary)
    app.command(name, help=factory.summary or None)(function)
    command = made(app)
    command.name = name
    return command


def simulate_cast(
    factory: Any,
    settings: dict[str, Any],
    source: dict[str, Any],
    limits: dict[str, Any],
    *,
    concurrency: int,
    out: Path | None,
    resume: bool,
    as_json: bool,
) -> int:
    """Simulate a cast's conversations about the scenarios of its source; gives the exit code."""
    from .. import runs
    from ..errors import SettingError
    from ..nodes.limits import Limits
    from .output import say

    if resume and out is None:
        raise SettingError("--resume needs --out: say which run to continue")
    # What is not given stays unset, so that scenarios, or another way of playing, may decide it.
    fields = factory.settings.model_fields
    given = {name: value for name, value in settings.items() if value != fields[name].default}
    bounds = Limits(**limits)
    checked = factory.checked(given)
    scenarios = factory.source(**{key: value for key, value in source.items() if value is not None}).read(
        checked, bounds.seed
    )
    for note in scenarios.notes:
        say(note)
    cast = factory(**(dict(scenarios.settings) | given))
    folder = out or runs.new_folder(OUT, factory.name.rpartition(":")[2])
    code = simulated(
        cast,
        list(scenarios.states),
        folder,
        bounds,
        scenarios.source,
        concurrency=concurrency,
        resume=resume,
        as_json=as_json,
    )
    return max(code, 1 if scenarios.broken else 0)


simulate = typer.Typer(cls=CastGroup, help="Simulate conversations into a run folder.", no_args_is_help=True)


@simulate.callback()
def casts() -> None:
    """Simulate conversations into a run folder."""
