"""The forms of logs that are read, in the order in which they are tried: a surer sign stands first."""

from ..formats.source import Format
from . import dialogues, exports, inspect, requests, states, traces

FORMS: tuple[Format, ...] = (
    traces.LANGSMITH,
    traces.OPENTELEMETRY,
    traces.LANGFUSE,
    traces.MLFLOW,
    inspect.FORMAT,
    exports.TAU2,
    exports.CHATGPT,
    exports.CLAUDE,
    states.FORMAT,
    dialogues.DIALOGUES,
    dialogues.ROWS,
    requests.FORMAT,
    dialogues.TABLES,
)
