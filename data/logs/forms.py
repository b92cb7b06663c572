"""The forms of logs that are read, in the order in which they are tried."""

from ..formats.detection import Format
from . import dialogues, exports, inspect, langfuse, langsmith, mlflow, opentelemetry, requests, rows, states, tau2

FORMS: tuple[Format, ...] = (
    langsmith.FORMAT,
    opentelemetry.FORMAT,
    langfuse.FORMAT,
    mlflow.FORMAT,
    inspect.FORMAT,
    tau2.FORMAT,
    exports.CHATGPT,
    exports.CLAUDE,
    states.FORMAT,
    dialogues.FORMAT,
    rows.FORMAT,
    requests.FORMAT,
    rows.TABLES,
)
"""A form whose sign is surer stands before one that its files would fit too."""
