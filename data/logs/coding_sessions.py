"""Sessions of Claude Code: its transcripts (`~/.claude/projects/.../SESSION.jsonl`) and what `--output-format stream-json` prints.

A line has `type`, `sessionId` or `session_id`, and mostly a `message` of Anthropic's form. In a transcript `uuid` and
`parentUuid` make a tree; the parts of one reply are lines with the same `message.id`, between which results may stand.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from ..attempts import as_object, is_object
from ..files.json_files import read_lines
from ..files.json_values import elements
from ..formats import messages
from ..formats.detection import Contents, Format, Source
from ..formats.message_parts import turns_of_parts
from .message_trees import ancestors

_SIDES = ("user", "assistant")
_LOOK = 50
"""Lines in which the first message is looked for."""

_TOKENS = {
    "input_tokens": ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    "output_tokens": ("output_tokens",),
}


def read(path: str | Path) -> Contents:
    """A conversation for each session: the branch that ends in its last message.

    Notes count what is left out: messages of other branches and of helper agents, summaries, and other lines.
    """
    sessions: dict[str, list[Mapping[str, Any]]] = {}
    left: Counter[str] = Counter()
    lines = [value for _, value in elements(path)]
    name = next(filter(None, map(_session, lines)), "")
    for value in lines:
        name = _session(value) or name  # what a stream prints of the user names none
        if why := _aside(value):
            left[why] += 1
        else:
            sessions.setdefault(name, []).append(value)
    values = []
    for name, own in sessions.items():
        branch = _branch(own)
        left["of other branches"] += sum(map(_is_message, own)) - sum(map(_is_message, branch))
        replies = list(_replies(branch))
        turns = [turn for reply in replies for turn in turns_of_parts(reply["role"], reply["content"], reply["more"])]
        if turns:
            usage = {key: sum(reply["usage"].get(key, 0) for reply in replies) for key in _TOKENS}
            model = next((reply["model"] for reply in replies if reply["model"]), None)
            more = ({"model": model} if model else {}) | ({"usage": usage} if any(usage.values()) else {})
            values.append((f"session {name}", ({"id": name} if name else {}) | more | {"messages": turns}))
    notes = tuple(f"{count} line{'' if count == 1 else 's'} {why} left out" for why, count in left.items() if count)
    return Contents(tuple(messages.of_values(path, values)), notes)


def _session(value: Any) -> str:
    line = as_object(value)
    return str(line.get("sessionId") or line.get("session_id") or "")


def _aside(value: Any) -> str:
    """Why a line does not belong to the conversation; empty if it does."""
    if not is_object(value) or value.get("type") not in (*_SIDES, "system"):
        return "of other kinds"
    if value.get("isSidechain") is True or value.get("parent_tool_use_id"):
        return "of helper agents"
    if value.get("isCompactSummary") is True or value.get("isMeta") is True:
        return "of summaries and remarks"
    return "" if _is_message(value) or "uuid" in value else "of other kinds"


def _is_message(line: Mapping[str, Any]) -> bool:
    return line.get("type") in _SIDES and is_object(line.get("message"))


def _branch(lines: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The lines from which the last message follows; all of them where they are no tree."""
    by_id = {name: line for line in lines if (name := _name(line))}
    places = {name: number for number, line in enumerate(lines) if (name := _name(line))}
    if not any(line.get("parentUuid") in by_id for line in lines if isinstance(line.get("parentUuid"), str)):
        return lines
    leaf = next((_name(line) for line in reversed(lines) if _is_message(line) and _name(line)), "")

    def parent(name: str) -> object:
        before = by_id[name].get("parentUuid") or by_id[name].get("logicalParentUuid")
        if before and not (isinstance(before, str) and before in by_id):  # it was left out
            return next((one for line in reversed(lines[: places[name]]) if (one := _name(line))), None)
        return before

    names = set(ancestors(leaf, parent, by_id))
    return [line for line in lines if _name(line) in names]


def _name(line: Mapping[str, Any]) -> str:
    name = line.get("uuid")
    return name if isinstance(name, str) else ""


def _replies(lines: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each message with its content; the pieces of one reply together, at the place of the first."""
    by_id: dict[str, dict[str, Any]] = {}
    replies: list[dict[str, Any]] = []
    for line in lines:
        if not _is_message(line):
            continue
        message = line["message"]
        content = message.get("content")
        blocks = content if isinstance(content, list) else [content] if isinstance(content, str) else []
        name = message.get("id")
        reply = by_id.get(name) if isinstance(name, str) else None
        if reply is None:
            stamp = {"timestamp": line["timestamp"]} if line.get("timestamp") else {}
            reply = {"role": line["type"], "content": [], "more": stamp, "usage": {}, "model": message.get("model")}
            replies.append(reply)
            if isinstance(name, str):
                by_id[name] = reply
        reply["content"] += blocks
        reply["usage"] = _usage(message.get("usage")) or reply["usage"]  # each piece repeats it
        if reason := message.get("stop_reason"):
            reply["more"] = reply["more"] | {"finish_reason": reason}
    yield from replies


def _usage(usage: Any) -> dict[str, int]:
    counts = as_object(usage)
    return {
        name: sum(counts[key] for key in keys if isinstance(counts.get(key), int))
        for name, keys in _TOKENS.items()
        if counts
    }


def _recognised(source: Source) -> bool:
    first = as_object(source.first)
    if not isinstance(first.get("type"), str) or not (_session(first) or "subtype" in first):
        return False
    listed = source.value if isinstance(source.value, list) else (value for _, value in read_lines(source.path))
    begin = islice(listed, _LOOK)
    return any(_is_message(as_object(value)) and "role" in value["message"] for value in begin)


FORMAT = Format(
    "claude_code",
    "sessions of Claude Code",
    _recognised,
    read,
    sign="lines of `type` and `sessionId` or `subtype`, one of which has a `message` with `role`",
)
