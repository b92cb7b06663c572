"""The command `duologue`: its commands by name, its own options, and the exit code of whatever happens.

0: done, and passed; 1: begun, and not passed or not complete; 2: input that cannot be used, in one line on stderr; 70: a
bug, whose traceback is in a file that the line names.
"""

import functools
import io
import os
import sys
import textwrap
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from importlib import import_module
from tempfile import NamedTemporaryFile
from traceback import format_exception
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..data.identity import VERSION
from ..data.text.terminal import plain, plain_logs
from ..data.tracing import requested, switched_off, untraced, variables
from ..errors import DuologueError, SettingError, from_ctrl_c
from .options import option
from .printing import json_alone, put, say, shown
from .running import end_on_signals, interrupted

BAD_INPUT, BUG = 2, 70
WIDTH = 80
"""Columns of the list of commands."""

COMMANDS = {
    "test": "Measure how often an agent succeeds with simulated users.",
    "simulate": "Simulate conversations into a run folder.",
    "scenarios": "Design scenarios from the tools of an agent.",
    "demo": "Simulate three short conversations without a key.",
    "show": "Write conversations as one HTML page.",
    "check": "Check conversations by fixed rules.",
    "convert": "Write conversations, or scenarios, in another format.",
    "compare": "Compare simulated users with people.",
    "next-turn": "Compare simulated next turns with those of people.",
    "validity": "Measure the validity of simulated users.",
    "annotate": "Label conversations by models or functions.",
    "label": "Label conversations by hand, on a page in the browser.",
    "agreement": "Measure the agreement of two labels, or of votes.",
    "papers": "Print the tables of the papers.",
    "serve-user": "Serve simulated users to your harness as models.",
    "runs": "List run folders with success, cost and turn seconds.",
    "doctor": "Print versions, extras, hosts and the data sent to them.",
}
"""Every command with its summary, in the order of the help; `next-turn` is the function `next_turn_command` of the module
`cli.next_turn`, which is imported when it is called."""


class Commands(TyperGroup):
    """The commands of `COMMANDS`, each imported when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name; None if no command has it."""
        return command_of(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of a line, where typer looks into `commands` for one that is spelt alike."""
        if args and args[0] not in COMMANDS:
            self.commands = {name: command_of(name) for name in COMMANDS}
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help: the commands, then the options, without an import of the former."""
        formatter.write(f"{self.get_usage(ctx)}\n\n{textwrap.fill(self.help or '', WIDTH)}\n\n")
        for name, summary in COMMANDS.items():
            formatter.write(f"  {name:<12}{summary}\n")
        formatter.write("\n")
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is not None:
                formatter.write(f"  {', '.join(param.opts):<14}{record[1]}\n")

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """The context of a command line; typer itself would end the command at Ctrl-C without a line."""
        return _aborting(super().make_context, *arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        """The result of the command."""
        return _aborting(super().invoke, ctx)


def _aborting(function: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
    try:
        return function(*arguments, **more)
    except KeyboardInterrupt:
        raise typer.Abort from None


@functools.cache
def command_of(name: str) -> Any:
    """The command of a name, its module imported."""
    module = name.replace("-", "_")
    function = getattr(import_module(f".{module}", __package__), f"{module}_command")
    one = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    one.command(name)(function)
    command = typer.main.get_command(one)
    command.name = name
    return command


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(requested: bool) -> None:
    if requested:
        put(f"duologue {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    ctx: typer.Context,
    version: Annotated[bool, option("Print the version.", "--version", callback=_version, is_eager=True)] = False,
    domain: Annotated[
        list[str] | None, option("Register a domain that is not installed.", metavar="MODULE:NAME")
    ] = None,
    log_format: Annotated[
        list[str] | None, option("Read a log format of your own, such as till:FORMAT.", metavar="MODULE:NAME")
    ] = None,
    trace: Annotated[bool, option("Send traces where variables such as LANGSMITH_TRACING say.", "--trace")] = False,
) -> None:
    """Simulate conversations between a user and an assistant, write them in published data set formats, measure them."""
    from ..data import domains

    ctx.with_resource(_traced_only(trace))
    for name, paths, register in (
        ("--domain", domain, domains.register),
        ("--log-format", log_format, domains.register_format),
    ):
        _register(name, paths or [], register)


def _traced_only(trace: bool) -> ExitStack:
    """Until it is left, nothing is traced but with `--trace`, where the environment asks for it; a line says so."""
    stack = ExitStack()
    asked = requested()
    if trace and not asked:
        say("--trace: the environment asks for no tracing: set LANGSMITH_TRACING=true and LANGSMITH_API_KEY")
    if asked and trace:
        say(f"traces are sent as {', '.join(asked)} asks for, prompts, sections and replies whole")
    elif asked:
        say(f"{', '.join(asked)} asks for traces; they are off: give --trace to send them")
    stack.enter_context(untraced(False) if trace else variables(switched_off(os.environ)))
    return stack


def _register(option: str, paths: list[str], register: Callable[..., object]) -> None:
    """Register the objects of import paths for this command."""
    for path in paths:
        from ..nodes.settings.import_path import imported

        try:
            register(imported(path, option), replace=True)
        except SettingError as error:
            line = str(error)
            raise SettingError(line if line.startswith(option) else f"{option} {path}: {line}") from None


def main() -> None:
    """Run the command and end the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Half a surrogate pair in a file, or Chinese on a plain terminal, must not end the command.
            stream.reconfigure(errors="backslashreplace")
    end_on_signals()
    try:
        # Code of one's own may print, also where it is imported before the options are read.
        with plain_logs(shown), json_alone() if "--json" in sys.argv else nullcontext():
            result = parser()(standalone_mode=False)
    except typer.TyperException as error:
        sys.exit(_refused(error))
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(_failed("interrupted", interrupted()))
    except typer.Exit as exit:
        sys.exit(exit.exit_code)
    except BrokenPipeError:
        sys.exit(1)
    except (DuologueError, OSError) as error:
        sys.exit(_failed(_line(error), error.exit_code if isinstance(error, DuologueError) else BAD_INPUT))
    except Exception as error:
        sys.exit(_failed("interrupted", interrupted()) if from_ctrl_c(error) else _crashed(error))
    sys.exit(result if isinstance(result, int) else 0)


@functools.cache
def parser() -> Any:
    """The parser of the command line, made once in a process."""
    return typer.main.get_command(app)


def _refused(error: Any) -> int:
    """Say what of the command line cannot be used; gives the exit code."""
    message = " ".join(error.format_message().replace(": Value error, ", ": ").split())
    if type(error).__name__ == "NoArgsIsHelpError":  # typer does not export it
        put(error.format_message().rstrip("\n"), end="\n" * bool(message))  # empty where the help was printed already
    elif message:
        command = getattr(getattr(error, "ctx", None), "command_path", "duologue")
        name = getattr(error, "option_name", "")
        if command != "duologue" and any(name in param.opts for param in parser().params):
            return _failed(f"{name} stands before the command: duologue {name} ... {command.split()[-1]} ...")
        return _failed(f"{message} ({command} --help lists the options)")
    return int(error.exit_code)


def _failed(line: str, code: int = BAD_INPUT) -> int:
    print(f"duologue: {shown(line)}", file=sys.stderr)
    return code


def _crashed(error: Exception) -> int:
    """Report a bug: the traceback goes to a file, which the line on stderr names."""
    from ..nodes.settings.redaction import error_line, redacted

    with NamedTemporaryFile("w", prefix="duologue-", suffix=".log", delete=False, encoding="utf-8") as file:
        file.write(redacted("".join(format_exception(error))))
    why = plain(error_line(error)[:200])
    return _failed(f"a bug, not your input: {why}: please report it with the traceback in {file.name}", BUG)


def _line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'standard output or the system'}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__
