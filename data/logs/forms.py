"""The forms of logs that are read, in the order in which they are tried."""

from ..formats.detection import Format
from . import chatgpt, completions, langsmith, opentelemetry

FORMS: tuple[Format, ...] = (
    langsmith.FORMAT,
    opentelemetry.FORMAT,
    chatgpt.FORMAT,
    completions.FORMAT,
)
"""A form whose sign is surer stands before one that its files would fit too."""
