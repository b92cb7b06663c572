"""The forms of logs that are read, in the order in which they are tried."""

from ..formats.detection import Format
from . import (
    chat_apps,
    chatgpt,
    claude,
    codex_rollouts,
    coding_sessions,
    dialogue_turns,
    gemini,
    inspect_logs,
    langchain_states,
    langfuse,
    langsmith,
    message_tables,
    message_trees,
    mlflow_traces,
    opentelemetry,
    part_messages,
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
    chat_apps.FORMAT,
    chatgpt.FORMAT,
    claude.FORMAT,
    coding_sessions.FORMAT,
    codex_rollouts.FORMAT,
    gemini.FORMAT,
    langchain_states.FORMAT,
    part_messages.FORMAT,
    message_trees.FORMAT,
    dialogue_turns.FORMAT,
    training_rows.FORMAT,
    request_lines.STREAMS,
    request_lines.RESPONSES,
    request_lines.COMPLETIONS,
    message_tables.FORMAT,
)
"""A form whose sign is surer stands before one that its files would fit too."""
