"""`duologue papers`: the tables of the papers, a group of commands each."""

import typer

from . import recllmsim
from .options.model_fields import spread

GROUPS = {"recllmsim": recllmsim}
"""Modules of commands by their word: each has `COMMANDS` by name, and its docstring is the summary."""

papers_command = typer.Typer(help="Print the tables of the papers.", no_args_is_help=True, add_completion=False)

for word, module in GROUPS.items():
    group = typer.Typer(help=(module.__doc__ or "").partition(": ")[2], no_args_is_help=True, add_completion=False)
    for name, function in module.COMMANDS.items():
        group.command(name)(spread(function))
    papers_command.add_typer(group, name=word)
