"""The command `duologue`: parse, call, print."""

import functools
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..data.identity import VERSION
from ..data.text.terminal import plain_logs
from ..errors import DuologueError, SettingError
from .agreement import agreement
from .annotate import annotate
from .check import check, validators
from .compare import compare
from .convert import convert
from .demo import demo
from .doctor import doctor
from .label import label
from .next_turn import next_turn
from .output import crashed, failed, put, shown
from .profiles import profiles, tasks
from .readers import readers
from .repair import repair
from .runs import runs
from .show import draw, show
from .simulate import simulate
from .stats import stats
from .testers import try_testers
from .testing import measure_success
from .topics import topics
from .tracing import off
from .tune import tune


class Commands(TyperGroup):
    """The commands. Ctrl-C aborts one: typer itself would make an exit of it that says nothing."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """The context of a command line."""
        with _aborting():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        """The result of the command."""
        with _aborting():
            return super().invoke(ctx)


@contextmanager
def _aborting() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Abort from None


app = typer.Typer(
    cls=Commands,
    help="Simulate conversations between a user and an assistant, write them in published data set formats, measure them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.add_typer(simulate, name="simulate")
app.command("test")(measure_success)
app.command()(convert)
app.command()(check)
app.command()(validators)
app.add_typer(repair, name="repair")
app.add_typer(runs, name="runs")
app.add_typer(stats, name="stats")
app.command()(compare)
app.command()(agreement)
app.command("next-turn")(next_turn)
app.command("testers")(try_testers)
app.command()(tune)
app.command()(annotate)
app.command()(label)
app.command()(readers)
app.command()(topics)
app.command()(tasks)
app.add_typer(profiles, name="profiles")
app.command()(draw)
app.command()(show)
app.command()(doctor)


def _version(wanted: bool) -> None:
    if wanted:
        put(f"duologue {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    domain: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="A domain of your own that is not installed, such as hotel.domain:DOMAIN; may be repeated.",
        ),
    ] = None,
) -> None:
    """Simulate conversations between a user and an assistant, write them in published data set formats, measure them."""
    for path in domain or ():
        _register(path)


def _register(path: str) -> None:
    """Register the domain of an import path for this command."""
    from ..data import domains
    from ..nodes.import_path import imported

    value = imported(path, "--domain")
    try:
        domains.register(value, replace=True)
    except SettingError as error:
        raise SettingError(f"--domain {path}: {error}") from None


def main() -> None:
    """Run the command: bad input is one line on stderr and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Half a surrogate pair in a file, or Chinese on a plain terminal, must not end the command.
            stream.reconfigure(errors="backslashreplace")
    try:
        with off(), plain_logs(shown):
            result = _command()(standalone_mode=False)
    except typer.TyperException as error:
        message = error.format_message().replace(": Value error, ", ": ")  # as a parser's own errors come out
        if message:
            command = getattr(getattr(error, "ctx", None), "command_path", "duologue")
            sys.exit(failed(f"{' '.join(message.split())} ({command} --help lists the options)"))
        sys.exit(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        failed("interrupted")
        sys.exit(130)
    except typer.Exit as exit:
        sys.exit(exit.exit_code)
    except BrokenPipeError:
        sys.exit(1)
    except (DuologueError, OSError) as error:
        code = failed(_line(error))
        sys.exit(error.exit_code if isinstance(error, DuologueError) else code)
    except Exception as error:
        sys.exit(crashed(error))
    sys.exit(result if isinstance(result, int) else 0)


@functools.cache
def _command() -> Callable[..., Any]:
    """The parser of every command: made once in a process, because that takes longer than most commands."""
    return typer.main.get_command(app)


def _line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'system'}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__
