"""The plan of a command: printed in place of its work (`--plan`), or before much of it."""

import sys
from typing import TYPE_CHECKING

import typer

from ..options.run import RunOptions
from ..streams import print_json, put, say

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...runs.plan import CallPlan

UNTOLD = 50
"""Most conversations, or profiles, that are made without a word about their number."""


def print_plan(plan: "CallPlan", options: RunOptions) -> int:
    """Print what would be asked and what that takes; gives the exit code."""
    if options.as_json:
        print_json(plan.plain())
    else:
        put(*plan.lines)
    return 0


def go_on(plan: "CallPlan", options: RunOptions) -> None:
    """Print a large plan on stderr; at a terminal ask whether to go on, and end the command if not.

    It does not ask where the command is not at a terminal, its output is for a program or `--yes` is given, nor where
    nothing is called.
    """
    if plan.count <= UNTOLD:
        return
    say(plan.line)
    asks = plan.calls_models and not options.as_json and not options.yes and at_terminal()
    if asks and not typer.confirm("go on?", err=True):
        say("nothing was done; --yes does not ask, and fewer scenarios make fewer calls")
        raise typer.Exit(1)


def at_terminal() -> bool:
    """Whether the command can ask: its input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()
