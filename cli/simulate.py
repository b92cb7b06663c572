"""`duologue simulate CAST`: a run folder full of conversations."""

import typer

from .simulate_recllmsim import recllmsim
from .simulate_simquac import simquac

simulate = typer.Typer(help="Simulate conversations into a run folder.", no_args_is_help=True)


@simulate.callback()
def casts() -> None:
    """Simulate conversations into a run folder."""


simulate.command("simquac")(simquac)
simulate.command("recllmsim")(recllmsim)
