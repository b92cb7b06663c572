"""Exports of ChatGPT and Claude (`conversations.json`), of which the branch that is shown is read; trials of tau2.

ChatGPT: a conversation has `mapping` (node id to `message`, `parent` and `children`), `current_node` and `title`; a
message has `author.role`, `content.content_type`, `content.parts` or `content.text`, `recipient` and `metadata`.

Claude: a conversation has `uuid`, `name` and `chat_messages` with `sender`, `text` and content blocks. A message may have
`parent_message_uuid`, because edited messages begin another branch, and `attachments` with the text of a file.

tau2-bench: `simulations` of `task_id`, `trial`, `reward_info` and `messages`, whose calls have a `requestor`.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.json import as_value, elements
from ..formats.messages import Call, Line, Result, Turn, role_of, talks_of, turns_of
from ..formats.source import Format, Source
from ..records import as_list, as_object, is_object

_ASIDE = ("thoughts", "reasoning_recap", "user_editable_context", "model_editable_context")
"""Types of ChatGPT's content outside the conversation: reasoning, and the user's description in the settings."""
_OF_CHATGPT = ("title", "create_time", "update_time", "default_model_slug")
_OF_CLAUDE = ("created_at", "updated_at", "summary", "model")


def _ancestors(leaf: str, parent: Callable[[str], object], names: Container[str]) -> list[str]:
    """The names from the root of a tree to one of its messages; a circle, or a parent that is missing, ends the way."""
    way: dict[str, None] = {}
    name: object = leaf
    while isinstance(name, str) and name in names and name not in way:
        way[name] = None
        name = parent(name)
    return list(way)[::-1]


# --- ChatGPT


def _is_tree(value: Any) -> bool:
    nodes = value.get("mapping") if is_object(value) else None
    return (
        is_object(nodes)
        and bool(nodes)
        and all(is_object(node) and ("message" in node or "parent" in node) for node in nodes.values())
    )


def _of_chatgpt(path: str | Path, place: str, value: Any) -> list[Line]:
    if not _is_tree(value):
        raise DataError(f"{at(path, place)}: has no 'mapping' of nodes: give the export's conversations.json")
    nodes = _branch(value)
    more = {key: value[key] for key in _OF_CHATGPT if value.get(key) is not None}
    others = sum(map(_is_said, value["mapping"].values())) - sum(map(_is_said, nodes))
    more |= {"id": str(name)} if (name := value.get("conversation_id") or value.get("id")) else {}
    return [Line(place, list(_turns(nodes)), more, others=others)]


def _branch(tree: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The nodes from the root to the current one, or to the last one if none is current."""
    nodes = tree["mapping"]
    if not any(node.get("parent") for node in nodes.values()):  # an export without its links
        return sorted(nodes.values(), key=_time)
    current = tree.get("current_node")
    leaf = current if isinstance(current, str) and current in nodes else next(reversed(nodes))
    return [nodes[one] for one in _ancestors(leaf, lambda one: nodes[one].get("parent"), nodes)]


def _time(node: Mapping[str, Any]) -> float:
    time = as_object(node.get("message")).get("create_time")
    return float(time) if isinstance(time, int | float) else 0.0


def _is_said(node: Mapping[str, Any]) -> bool:
    message = as_object(node.get("message"))
    return as_object(message.get("author")).get("role") in ("user", "assistant") and not _is_hidden(message)


def _is_hidden(message: Mapping[str, Any]) -> bool:
    return bool(as_object(message.get("metadata")).get("is_visually_hidden_from_conversation"))


def _turns(nodes: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    """The turns of the branch; a message to a tool is a call, whose result follows."""
    for message in (as_object(node.get("message")) for node in nodes):
        if not message or _is_hidden(message):
            continue
        role = str(as_object(message.get("author")).get("role"))
        blocks = _blocks(as_object(message.get("content")))
        (turn, *_) = turns_of({"role": role, "content": blocks}) or [Turn("")]
        recipient = message.get("recipient") or "all"
        if role == "assistant" and recipient != "all":
            sent = as_value(turn.text)
            yield Turn("assistant", calls=[Call(str(recipient), dict(sent) if is_object(sent) else {"input": sent})])
        elif role == "tool":
            yield turn
        elif role in ("user", "assistant", "system") and blocks:
            details = as_object(as_object(message.get("metadata")).get("finish_details"))
            turn.further |= {"finish_reason": details["type"]} if isinstance(details.get("type"), str) else {}
            turn.further |= {"timestamp": time} if isinstance(time := message.get("create_time"), int | float) else {}
            yield turn


def _blocks(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The content in blocks, its texts on lines of their own; none for content outside the conversation."""
    if content.get("content_type") in _ASIDE:
        return []
    if not isinstance(content.get("parts"), list):
        text = next((text for key in ("text", "result") if isinstance(text := content.get(key), str)), "")
        return [{"type": "text", "text": text}] if text else []
    blocks = [_block(part) for part in content["parts"] if part]
    if all(block["type"] == "text" for block in blocks):
        return [{"type": "text", "text": "\n".join(block["text"] for block in blocks)}] if blocks else []
    return blocks


def _block(part: Any) -> dict[str, Any]:
    if not is_object(part):
        return {"type": "text", "text": str(part)}
    kind = str(part.get("content_type") or "other")
    if kind == "audio_transcription":
        return {"type": "text", "text": str(part.get("text") or "")}
    pointer = part.get("asset_pointer") or as_object(part.get("audio_asset_pointer")).get("asset_pointer")
    if pointer:
        return {"type": "image" if kind.startswith("image") else "audio", "file_id": str(pointer)}
    return {**part, "type": kind}


CHATGPT = Format(
    "chatgpt",
    "an export of ChatGPT (conversations.json)",
    lambda source: _is_tree(source.first),
    lambda path, broken: talks_of(path, elements(path, broken), broken, _of_chatgpt),
)


# --- Claude


def _is_claude(value: Any) -> bool:
    return is_object(value) and isinstance(value.get("chat_messages"), list)


def _of_claude(path: str | Path, place: str, value: Any) -> list[Line]:
    if not _is_claude(value):
        raise DataError(f"{at(path, place)}: has no 'chat_messages': give the export's conversations.json")
    branch = _branch_of_claude(value)
    more = {"title": value["name"]} if value.get("name") else {}
    more |= {key: value[key] for key in _OF_CLAUDE if value.get(key)}
    turns = [turn for message in branch for turn in _turns_of_claude(message)]
    more |= {"id": str(value["uuid"])} if value.get("uuid") else {}
    return [Line(place, turns, more, others=len(value["chat_messages"]) - len(branch))]


def _branch_of_claude(talk: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages up to the current leaf, or to the last one; all of them where none has a parent."""
    listed = [message for message in talk["chat_messages"] if is_object(message)]
    by_id = {message["uuid"]: message for message in listed if isinstance(message.get("uuid"), str)}
    parents = {name: message.get("parent_message_uuid") for name, message in by_id.items()}
    if not any(isinstance(parent, str) and parent in by_id for parent in parents.values()):
        return listed
    leaf = talk.get("current_leaf_message_uuid")
    leaf = leaf if isinstance(leaf, str) and leaf in by_id else next(reversed(by_id))
    return [by_id[name] for name in _ancestors(leaf, parents.get, by_id)]


def _turns_of_claude(message: Mapping[str, Any]) -> list[Turn]:
    sender = message.get("sender", message.get("role"))
    parts = list(as_list(message.get("content")))
    text = message.get("text")
    if isinstance(text, str) and text and not any(is_object(part) and part.get("text") for part in parts):
        parts = [{"type": "text", "text": text}, *parts]
    for file in (*as_list(message.get("attachments")), *as_list(message.get("files"))):
        if is_object(file) and (file.get("file_name") or file.get("extracted_content")):
            words = {"text": file["extracted_content"]} if file.get("extracted_content") else {}
            parts.append({"type": "file", "file_name": file.get("file_name")} | words)
    stamp = {"timestamp": message["created_at"]} if message.get("created_at") else {}
    return turns_of({"role": role_of(sender) or str(sender), "content": parts, **stamp}) if parts else []


CLAUDE = Format(
    "claude",
    "an export of Claude (conversations.json)",
    lambda source: _is_claude(source.first),
    lambda path, broken: talks_of(path, elements(path, broken), broken, _of_claude),
)


# --- tau2-bench


def _trials(path: str | Path, place: str, value: Any) -> Iterator[Line]:
    """A conversation for each trial, with its reward as a label; DataError for a value that is none."""
    trials = value.get("simulations") if is_object(value) else None
    if isinstance(trials, list):
        for number, trial in enumerate(trials):
            where = f"{place}, simulation {number}"
            if not _lists(trial, "messages"):
                raise DataError(f"{at(path, where)}: has no list 'messages': mend it there, or take it out")
            yield _trial(where, trial)
    elif _of_both_tools(value):
        yield _trial(place, value)
    else:
        raise DataError(f"{at(path, place)}: has no 'simulations': is it a trajectory?")


def _lists(value: Any, key: str) -> bool:
    return is_object(value) and isinstance(value.get(key), list)


def _trial(place: str, value: Mapping[str, Any]) -> Line:
    more = {name: inner for name, inner in value.items() if name not in ("messages", "id")}
    name = value.get("id") or "-".join(str(value[part]) for part in ("task_id", "trial") if value.get(part) is not None)
    reward = value.get("reward", as_object(value.get("reward_info")).get("reward"))
    labels = {} if reward is None else {"labels": {"reward": reward}}
    turns = [turn for message in value["messages"] for turn in _of_trial(message)]
    return Line(place, turns, {"id": str(name)} | more | labels)


def _of_trial(message: Any) -> list[Turn]:
    """The turns of a message; of tau2-bench a result has the id of its call, and a user may have tools too."""
    turns = turns_of(message) or [Turn("", None)]
    if turns[0].role == "tool" and message.get("id") and "tool_call_id" not in message:
        (result,) = turns[0].results
        failed = result.failed or message.get("error") is True
        value = message.get("content") if failed else result.value
        turns[0].results = [Result(value, str(message["id"]), result.name, result.parts, failed)]
    return turns


def _of_both_tools(value: Any) -> bool:
    """Whether a value lists messages of tau2-bench, where each call names the side that makes it."""
    turns = [as_object(turn) for turn in value["messages"]] if _lists(value, "messages") else []
    calls = [call for turn in turns if _lists(turn, "tool_calls") for call in turn["tool_calls"]]
    return any("requestor" in as_object(call) for call in calls)


def _is_tau2(source: Source) -> bool:
    first = as_object(source.first)
    trials = first.get("simulations")
    simulated = isinstance(trials, list) and bool(trials) and _lists(trials[0], "messages")
    return simulated or _of_both_tools(first)


TAU2 = Format(
    "trajectories",
    "trajectories of agents: tau2-bench",
    _is_tau2,
    lambda path, broken: talks_of(path, elements(path, broken), broken, _trials),
)
