"""`duologue papers`: the tables of the papers, a group of commands each."""

import typer

from . import recllmsim
from .options.model_fields import spread
from .simquac import simquac

papers_command = typer.Typer(help="Print the tables of the papers.", no_args_is_help=True, add_completion=False)
papers_command.add_typer(simquac, name="simquac")

_recllmsim = typer.Typer(help=(recllmsim.__doc__ or "").partition(": ")[2], no_args_is_help=True, add_completion=False)
for name, function in recllmsim.COMMANDS.items():
    _recllmsim.command(name)(spread(function))
papers_command.add_typer(_recllmsim, name="recllmsim")
