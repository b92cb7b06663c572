"""The command `duologue`: parse, call, print."""

import functools
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated, Any

import typer

from ..data.identity import VERSION
from ..data.text.terminal import plain_logs
from ..errors import DuologueError, SettingError, from_ctrl_c
from .options import completions
from .options.shared import option
from .options.tracing import off
from .registry import CommandGroup
from .streams import SKIPS_BROKEN, crashed, failed, json_alone, put, shown


class Commands(CommandGroup):
    """The commands, where Ctrl-C aborts one.

    typer itself would end the command without a line.
    """

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
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(requested: bool) -> None:
    if requested:
        put(f"duologue {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, option("Print the version.", "--version", callback=_version, is_eager=True)] = False,
    domain: Annotated[
        list[str] | None,
        option(
            "Register a domain that is not installed; may be repeated.",
            metavar="MODULE:NAME",
            autocompletion=completions.domains,
        ),
    ] = None,
    log_format: Annotated[
        list[str] | None,
        option(
            "Read a log format of your own that is not installed, such as till:FORMAT; may be repeated.",
            metavar="MODULE:NAME",
            autocompletion=completions.log_formats,
        ),
    ] = None,
    skip_broken: Annotated[
        bool,
        option("Leave out broken lines and elements of sources, and count them; else such a source is refused."),
    ] = False,
) -> None:
    """Simulate conversations between a user and an assistant, write them in published data set formats, measure them."""
    from ..data import domains

    SKIPS_BROKEN.set(skip_broken)
    _register("--domain", domain, domains.register)
    _register("--log-format", log_format, domains.register_format)


def _register(option: str, paths: list[str] | None, register: Callable[..., object]) -> None:
    """Register the objects of import paths for this command."""
    if not paths:
        return
    from ..nodes.settings.import_path import imported

    for path in paths:
        try:
            register(imported(path, option), replace=True)
        except SettingError as error:
            line = str(error)
            raise SettingError(line if line.startswith(option) else f"{option} {path}: {line}") from None


def main() -> None:
    """Run the command: bad input is one line on stderr and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Half a surrogate pair in a file, or Chinese on a plain terminal, must not end the command.
            stream.reconfigure(errors="backslashreplace")
    try:
        # Code of one's own may print, also where it is imported before the options are read.
        with off(), plain_logs(shown), json_alone() if "--json" in sys.argv else nullcontext():
            result = _command()(standalone_mode=False)
    except typer.TyperException as error:
        message = error.format_message().replace(": Value error, ", ": ")  # as a parser's own errors come out
        if type(error).__name__ == "NoArgsIsHelpError":  # typer does not export it
            put(message.rstrip("\n"), end="\n" * bool(message))  # empty where the help was printed already
        elif message:
            context = getattr(error, "ctx", None)
            command = getattr(context, "command_path", "duologue")
            words, option = _words(context), getattr(error, "option_name", "")
            line = _misplaced(words, option)
            sys.exit(failed(line or f"{' '.join(message.split())} ({command} --help lists the options)"))
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
        if from_ctrl_c(error):
            failed("interrupted")
            sys.exit(130)
        sys.exit(crashed(error))
    sys.exit(result if isinstance(result, int) else 0)


@functools.cache
def _command() -> Any:
    """The parser of the command line, made once in a process."""
    return typer.main.get_command(app)


def _words(context: Any) -> str:
    """The words of the command of a context, without the program's name."""
    words: list[str] = []
    while context is not None and context.parent is not None:
        words.insert(0, context.info_name)
        context = context.parent
    return " ".join(words)


def _misplaced(words: str, option: str) -> str:
    """The line about an option of `duologue` itself that stands behind a command; empty for others."""
    own = next((param for param in _command().params if option in param.opts), None) if words else None
    value = "" if own is None or own.is_flag else " MODULE:NAME"
    return f"{option} stands before the command: duologue {option}{value} {words} ..." if own is not None else ""


def _line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'standard output or the system'}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__
