"""The command `duologue`: options in, calls to the other rooms, results printed."""

from .commands import app, main

__all__ = ["app", "main"]
