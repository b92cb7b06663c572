"""`duologue simulate CAST`: simulate conversations into a run folder.

A cast's settings become options.
"""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command as click_command

from ..errors import SettingError
from .options.limits import LIMITS
from .options.model_fields import extended, options_of, spread
from .options.run import RunOptions, options_of_run
from .options.sections import CAST, SCENARIOS
from .options.shared import cast_named, out_to
from .running.run import OUT, limits_with, report, simulated
from .streams import put, say, skips_broken


def out_named(name: str) -> dict[str, tuple[Any, Any]]:
    """The option of the run folder; by default one of this name with the next free number."""
    help_text = f"this run folder. Default: out/{name}-N with the next free number."
    return {"out": (Annotated[Path | None, out_to(help_text)], None)}


RUN: dict[str, tuple[Any, Any]] = {
    **out_named("CAST"),
    **options_of_run(*RunOptions.__dataclass_fields__),
}
"""Options that say how to run: the run folder, and a field of `RunOptions` each."""


def run_options(values: dict[str, Any]) -> RunOptions:
    """The options of `RUN` among the values of a command's options."""
    return RunOptions(**{key: values[key] for key in RUN if key != "out"})


def surrounded(function: Callable[..., int]) -> Callable[..., int]:
    """The command's function, called in the surroundings that its options of `RUN` make."""

    @wraps(function)
    def run(**values: Any) -> int:
        options = run_options(values)
        with options.surroundings():
            return function(**values)

    return run


class CastGroup(TyperGroup):
    """A command for each registered cast, made on demand, and for any `MODULE:FUNCTION` that returns a cast."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments with the value of `--cast` in the cast's place, where none stands there."""
        if args and args[0].startswith("-"):
            args = _cast_first(args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the registered casts."""
        from ..graphs import casts

        return list(casts.registered())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a cast by its name or import path; SettingError if no cast has the name."""
        from ..graphs import casts

        if cmd_name not in casts.registered() and ":" not in cmd_name:
            casts.find(cmd_name)  # says which casts there are, and which was meant
        return cast_command(cmd_name)


class CastCommand(TyperCommand):
    """The command of one cast, where the line about an unknown option offers the cast's own too."""

    own_options: tuple[str, ...] = ()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments that are left."""
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            unknown: Any = error
            if hasattr(unknown, "possibilities"):
                unknown.possibilities = sorted({*(unknown.possibilities or ()), *self.own_options})
            raise


def _cast_first(args: list[str]) -> list[str]:
    """`--cast NAME` or `--cast=NAME` as the first argument `NAME`; the same arguments if there is none."""
    for number, argument in enumerate(args):
        if argument == "--cast" and number + 1 < len(args):
            return [args[number + 1], *args[:number], *args[number + 2 :]]
        if argument.startswith("--cast="):
            return [argument.removeprefix("--cast="), *args[:number], *args[number + 1 :]]
    return args


def cast_command(name: str) -> Any:
    """The command of a cast: options for its settings, its scenarios, the limits and the run."""
    from ..graphs import casts
    from ..graphs.casts.registry import SHIPPED

    factory = casts.find(name)
    settings, source = options_of(factory.settings, CAST), options_of(factory.source, SCENARIOS)
    clashing = sorted(set(settings) & {*source, *LIMITS, *RUN})
    if clashing:
        raise SettingError(
            f"cast {name}: its setting {clashing[0]!r} has the name of an option of every run: rename it"
        )

    @extended({**source, **settings, **LIMITS, **RUN})
    @surrounded
    def run(**values: Any) -> int:
        of_settings, of_source, of_limits = ({key: values[key] for key in keys} for keys in (settings, source, LIMITS))
        return simulate_cast(factory, of_settings, of_source, of_limits, values["out"], run_options(values))

    app = typer.Typer(add_completion=False)
    app.command(name, cls=CastCommand, help=factory.summary or None)(spread(run))
    command: Any = click_command(app)
    command.name = name
    if name not in SHIPPED:  # whose settings are too many for a line
        command.own_options = tuple(f"--{setting.replace('_', '-')}" for setting in settings)
    return command


def simulate_cast(
    factory: Any,
    settings: dict[str, Any],
    source: dict[str, Any],
    limits: dict[str, Any],
    out: Path | None,
    options: RunOptions,
) -> int:
    """Simulate a cast's conversations on the scenarios of its source; gives the exit code."""
    from .. import runs
    from .output.overwriting import check_outside

    # Settings at their default stay unset, so that the scenarios may decide them, such as the language.
    fields = factory.settings.model_fields
    changed = {name: value for name, value in settings.items() if value != fields[name].default}
    checked = factory.checked(changed)
    given = {key: value for key, value in source.items() if value is not None}
    scenarios = factory.source(**given, skip_broken=skips_broken()).read(checked, limits["seed"])
    cast = factory(**(dict(scenarios.settings) | changed))
    say(*scenarios.notes)
    folder = out or runs.new_folder(OUT, factory.name.rpartition(":")[2])
    check_outside(folder, source.get("scenarios"))
    code = report(simulated({"": cast}, scenarios, folder, limits_with(cast, limits), options), options)
    if to_be_shown(folder, options):
        at_folder = quote(str(folder))
        put(f"look:    duologue show {at_folder}", f"         duologue check {at_folder}")
    return max(code, 1 if scenarios.broken else 0)


def to_be_shown(folder: Path, options: RunOptions) -> bool:
    """Whether a command has written conversations, and may name commands that show them."""
    from ..data.formats.source import CONVERSATIONS

    stored = folder / CONVERSATIONS
    return not options.as_json and not options.plan and stored.is_file() and stored.stat().st_size > 0


HELP = """Simulate conversations into a run folder.

A cast defines who takes part, and by which rules: choose one of the list below, or give MODULE:FUNCTION, your own
function that returns a cast."""

simulate_command = typer.Typer(
    cls=CastGroup, help=HELP, no_args_is_help=True, subcommand_metavar="CAST [OPTIONS]", add_completion=False
)


@simulate_command.callback(help=HELP)
def casts(
    cast: Annotated[str | None, cast_named(" in place of the argument: a name, or MODULE:FUNCTION.")] = None,
) -> None:
    """The group itself; each cast adds its command.

    `CastGroup` puts the value of `--cast` in the cast's place.
    """
