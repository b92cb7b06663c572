"""The words sent to models: one page per prompt and language, each with a name and a digest."""

from .pages import Library, Page, PromptError, library, shipped

__all__ = ["Library", "Page", "PromptError", "library", "shipped"]
