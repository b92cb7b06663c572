"""The command line: a thin face."""

from .app import app, main

__all__ = ["app", "main"]
