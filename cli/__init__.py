"""The command line: a thin face."""

from .commands import app, main

__all__ = ["app", "main"]
