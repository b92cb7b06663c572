"""Names of keys and columns of logs and tables, in English and Chinese.

Of several that are there the first counts.

Names of roles, which are values, are in `formats.turns`.
"""

from collections.abc import Iterable, Mapping

from .logged_lines import IDS

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
