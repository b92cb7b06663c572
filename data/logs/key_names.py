"""Names of keys and columns of logs and tables, in English and Chinese, and what they say: whose a row is, and when.

Of several that are there the first counts.

Names of roles, which are values, are in `formats.turns`.
"""

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from ..records import as_object

IDS = ("conversation_id", "thread_id", "session_id", "chat_id", "dialog_id", "dialogue_id", "conversation_hash")
"""Keys that name the conversation of a line."""
NUMBERS = ("Conversation_no", "Turn_no")
"""Columns of QReCC and TopiOCQA: the number of the conversation, and that of the question in it."""

LISTS = (
    "turns", "utterances", "dialogue", "dialog", "log", "conversation", "conversations", "messages", "history",
    "trajectory", "对话", "消息", "聊天记录",
)  # fmt: skip
"""Of the list of turns; the first one that holds turns counts."""

SPEAKERS = (
    "speaker", "role", "sender", "author", "from", "interlocutor", "participant",
    "角色", "说话人", "说话者", "发言人", "发送人", "发送者",
)  # fmt: skip
TEXTS = ("text", "utterance", "content", "value", "message", "内容", "文本", "消息", "话语")
CELLS = ("content", "text", "message", "utterance", "value", "body", "内容", "文本", "消息", "话语")
"""Of a message's text in a table; a table's `content` goes before its other columns."""

CONVERSATIONS = (
    *IDS, "conversation", "thread", "session", "chat", "dialogue", "dialog", "convo_id", "ticket_id",
    "对话id", "对话_id", "对话编号", "会话id", "会话_id", "会话编号", "对话", "会话", "工单号",
)  # fmt: skip
"""Of the conversation's name in a table."""
NAMES = (*IDS, "convo_id", "original dialog id", "id", "对话ID", "对话id", "对话编号", "会话ID", "会话id", "会话编号")
"""Of a dialogue's name."""
TIMES = (
    "timestamp",
    "time",
    "created_at",
    "datetime",
    "sent_at",
    "date",
    "时间",
    "时间戳",
    "发送时间",
    "创建时间",
    "日期",
)

ANSWERS: Mapping[str, tuple[str, ...]] = {
    "instruction": ("output", "response", "chosen"),
    "query": ("response", "answer", "chosen"),
    "prompt": ("completion", "response", "chosen"),
    "question": ("answer", "response", "chosen"),
    "message": ("reply", "answer", "response"),
    "指令": ("输出", "回答", "回复"),
    "问题": ("回答", "答案", "回复"),
    "用户": ("助手", "客服", "机器人"),
    "Question": ("Answer", "Truth_answer"),
    "conversations": ("chosen",),
    "messages": ("chosen",),
}
"""Columns of questions, each with the columns in which its answer may stand."""
BY_ROLE = "用户"
"""The column that may also hold a name: it is a question's only in a row without a key of roles."""
INPUTS = {"instruction": "input", "指令": "输入"}
"""Columns of instructions, each with that of what they are about."""


def first_of(names: Iterable[str], present: Iterable[str]) -> str:
    """The first of the names that is present; empty without one."""
    own = set(present)
    return next((name for name in names if name in own), "")


def identifier(value: Mapping[str, Any]) -> str:
    """The id of the conversation that a line or its metadata names; empty without one."""
    for holder in (value, as_object(value.get("metadata"))):
        for key in IDS:
            if isinstance(name := holder.get(key), str | int) and not isinstance(name, bool) and str(name):
                return str(name)
    return ""


def in_time(turns: list[dict[str, Any]], column: str) -> list[dict[str, Any]]:
    """The messages by their times; as they stand where a time is missing or not readable."""
    times = [_time(turn.get(column)) for turn in turns]
    if not column or any(time is None for time in times) or len(set(map(type, times))) > 1:
        return turns
    try:
        order = sorted(range(len(turns)), key=lambda number: times[number])  # type: ignore[arg-type,return-value]
    except TypeError:  # with a time zone and without
        return turns
    return [turns[number] for number in order]


def oldest_first(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages in reverse, where each is as new as the next one or newer; else as they stand."""
    column = first_of(TIMES, list(turns[0]) if turns else [])
    if not column or in_time(turns[::-1], column) != turns[::-1]:
        return turns
    first, last = (_time(turn.get(column)) for turn in (turns[0], turns[-1]))
    return turns if first is None or first == last else turns[::-1]


def _time(value: Any) -> float | datetime | None:
    try:
        number = float(value)  # also of a text: seconds
        return number if math.isfinite(number) else None
    except (TypeError, ValueError, OverflowError):
        pass
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
