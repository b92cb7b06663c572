"""The forms of logs that are read, in the order in which they are tried."""

from ..formats.detection import Format
from . import (
    chatgpt,
    claude,
    dialogue_turns,
    inspect_logs,
    langchain_states,
    langfuse,
    langsmith,
    message_tables,
    mlflow_traces,
    opentelemetry,
    request_lines,
    training_rows,
    trajectories,
)

FORMS: tuple[Format, ...] = (
    langsmith.FORMAT,
    opentelemetry.FORMAT,
    langfuse.FORMAT,
    mlflow_traces.FORMAT,
    inspect_logs.FORMAT,
    trajectories.FORMAT,
    chatgpt.FORMAT,
    claude.FORMAT,
    langchain_states.FORMAT,
    dialogue_turns.FORMAT,
    training_rows.FORMAT,
    request_lines.RESPONSES,
    request_lines.COMPLETIONS,
    message_tables.FORMAT,
)
"""A form whose sign is surer stands before one that its files would fit too."""
