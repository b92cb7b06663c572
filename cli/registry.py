"""The commands by name: their groups, and the modules that hold them, imported when one is called."""

import functools
import textwrap
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from .options.model_fields import spread

WIDTH = 80
"""Columns of the list of commands."""


GROUPS: dict[str, tuple[str, ...]] = {
    "make": ("simulate", "test", "scenarios", "fork", "replay", "demo"),
    "look": ("show", "check", "convert"),
    "measure": ("compare", "next-turn", "validity", "agreement"),
    "label": ("annotate", "label"),
    "serve": ("serve-user",),
    "keep": ("runs list", "doctor"),
    "papers": ("papers",),
}
"""Every command, in the order of the help: the words after `duologue`, by their heading in the list of commands.

`runs list` is the function `list_command` of the module `cli.runs.list`; `SUBJECTS` has the folders of the others.
"""

COMMANDS = tuple(name for names in GROUPS.values() for name in names)

FOLDERS = {
    "runs": "List run folders.",
}
"""Words that have commands below them, with their summaries."""

SUBJECTS: dict[str, tuple[str, ...]] = {
    "testing": ("test", "scenarios", "fork", "replay"),
    "labels": ("annotate", "label", "agreement"),
    "people": ("compare", "next-turn", "validity"),
    "hosts": ("serve-user",),
}
"""Folders of commands that are called without the name of their folder."""


class CommandGroup(TyperGroup):
    """Commands of `GROUPS`, each imported when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The next words of a command line."""
        return list(_next_words(self._words()))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command or group of a word; None if no command has it."""
        words = (*self._words(), cmd_name)
        name = " ".join(words)
        if cmd_name not in _next_words(self._words()):
            return None
        return _group(name) if name in FOLDERS else _command(name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of a line."""
        self.commands = (
            {name: self.get_command(ctx, name) for name in self.list_commands(ctx)} if self._odd(args) else {}
        )
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help: the commands by group, then the options."""
        formatter.write(self.get_usage(ctx) + "\n\n")
        formatter.write(textwrap.fill(self.help or "", WIDTH) + "\n\n")
        names = self.list_commands(ctx)
        wide = max(map(len, names))
        groups = ["" if self._words() else _heading(name) for name in names]
        before = ""
        for name, group in zip(names, groups, strict=True):
            heading = f"{'' if group == before else group:<8}" if group else ""
            summary = (self.get_command(ctx, name).help or "").partition("\n")[0]
            formatter.write(f"  {heading}{name:<{wide}}  {summary}\n")
            before = group
        formatter.write("\n")
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is not None:
                formatter.write(f"  {', '.join(param.opts):<21}{record[1].partition(',')[0]}\n")

    def _odd(self, args: list[str]) -> bool:
        """Whether the first word is not a command: typer looks into `commands` for a similar one."""
        return bool(args) and args[0] not in _next_words(self._words())

    def _words(self) -> tuple[str, ...]:
        return (self.name,) if self.name in FOLDERS else ()


def _next_words(before: tuple[str, ...]) -> dict[str, None]:
    """The words that may follow these, in order."""
    names = [tuple(name.split()) for name in COMMANDS]
    return {words[len(before)]: None for words in names if words[: len(before)] == before}


def _heading(word: str) -> str:
    return next(group for group, names in GROUPS.items() if any(name.split()[0] == word for name in names))


@functools.cache
def _group(name: str) -> Any:
    """The group of commands below a word."""
    group = typer.Typer(cls=CommandGroup, help=FOLDERS[name], no_args_is_help=True, add_completion=False)
    group.callback()(lambda: None)
    command = typer.main.get_command(group)
    command.name = name
    return command


@functools.cache
def _command(name: str) -> Any:
    """The command of a name, its module imported."""
    folders = [folder for folder, names in SUBJECTS.items() if name in names]
    module = ".".join(("", *folders, *name.replace("-", "_").split()))
    function = getattr(import_module(module, __package__), f"{module.rpartition('.')[2]}_command")
    if isinstance(function, typer.Typer):
        command = typer.main.get_command(function)
    else:
        app = typer.Typer(add_completion=False)
        app.command(name.split()[-1])(spread(function))
        command = typer.main.get_command(app)
    command.name = name.split()[-1]
    command.help = "\n\n".join(" ".join(part.split()) for part in (command.help or "").split("\n\n"))
    return command
