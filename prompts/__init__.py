"""Prompt pages, the texts that are sent to models, each with a name and a digest."""

from .pages import Library, Page, PromptError, library, shipped

__all__ = ["Library", "Page", "PromptError", "library", "shipped"]
