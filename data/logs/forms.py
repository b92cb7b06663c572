"""The forms of logs that are read, in the order in which they are tried."""

from ..formats import message_rows, messages
from ..formats.detection import Format
from ..formats.provider_messages import write_anthropic
from . import (
    autogen,
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
    session_traces,
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
    autogen.FORMAT,
    chat_apps.FORMAT,
    chatgpt.FORMAT,
    claude.FORMAT,
    coding_sessions.FORMAT,
    codex_rollouts.FORMAT,
    session_traces.FORMAT,
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

WRITTEN: tuple[Format, ...] = (
    Format(
        "anthropic",
        "messages of Anthropic's Messages API, read as `messages`",
        lambda _: False,
        messages.FORMAT.read,
        write_anthropic,
        "written only: read as `messages`",
    ),
    Format(
        "csv",
        "a table with a row for each message, read as `tables`",
        lambda _: False,
        message_tables.FORMAT.read,
        message_rows.write,
        "written only: read as `tables`",
    ),
)
"""Forms that are written, and recognised as another one."""
