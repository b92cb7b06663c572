"""Trees of messages with several replies to each, as OpenAssistant exports them: nested `replies`, or a message a line.

Shapes: `message_tree_id` with `prompt`, whose `replies` are nested; messages with `message_id`, `parent_id`, `role`
(`prompter` or `assistant`), `text` and `rank`, also as rows of `datasets`.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..attempts import is_object
from ..files.broken_lines import of_form
from ..files.json_values import elements
from ..formats import messages
from ..formats.detection import Contents, Format
from .dialogue_sets import RESERVED

_ROLES = {"prompter": "user", "user": "user", "assistant": "assistant"}
_OF_TREE = ("text", "role", "replies", "message_tree_id")


def read(path: str | Path) -> Contents:
    """A conversation for each tree: at every message the reply of best rank; a note counts the others."""
    return of_values(path, elements(path))


def of_values(path: str | Path, values: Iterable[tuple[str, Any]]) -> Contents:
    """The conversations of trees or of their single messages, each with its place in the file."""
    trees: list[tuple[str, dict[str, Any]]] = []
    single: list[tuple[str, Mapping[str, Any]]] = []
    total = 0
    problem = "is not a message or tree of OpenAssistant: take it out of the file"
    for place, value in of_form(values, is_tree, path, problem):
        if is_object(value.get("prompt")):
            total += _count(value["prompt"])
            further = {key: inner for key, inner in value.items() if key not in ("prompt", "message_tree_id")}
            trees.append((place, _line(path, place, value, further, _branch(value["prompt"], _nested))))
        else:
            single.append((place, value))
    total += len(single)
    trees += _of_single(path, single)
    left = total - sum(len(tree["messages"]) for _, tree in trees)
    notes = (f"{left} message{'s' if left > 1 else ''} of other branches left out",) if left else ()
    return Contents(tuple(messages.of_values(path, trees)), notes)


def ancestors(leaf: str, parent: Callable[[str], object], names: Container[str]) -> list[str]:
    """The names from the root of a tree to one of its messages.

    A circle, or a parent that is missing, ends the way.
    """
    way: dict[str, None] = {}
    name: object = leaf
    while isinstance(name, str) and name in names and name not in way:
        way[name] = None
        name = parent(name)
    return list(way)[::-1]


def is_tree(value: Any) -> bool:
    """Whether a value is a tree, or a message of one."""
    if not is_object(value):
        return False
    message = value["prompt"] if is_object(value.get("prompt")) else value
    placed = "replies" in message or {"message_id", "parent_id"} <= message.keys()
    ids = (message.get("message_id"), message.get("parent_id"))
    named = all(name is None or isinstance(name, str | int) for name in ids)
    return placed and named and isinstance(message.get("text"), str) and str(message.get("role")) in _ROLES


def _of_single(path: str | Path, single: Sequence[tuple[str, Mapping[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """The trees of messages that name their parents."""
    names = {message.get("message_id") for _, message in single}
    replies: dict[Any, list[Mapping[str, Any]]] = {}
    for _, message in single:
        replies.setdefault(message.get("parent_id"), []).append(message)

    def children(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        return replies.get(message.get("message_id"), [])

    roots = [(place, message) for place, message in single if message.get("parent_id") not in names]
    seen = [message for _, message in roots]
    for message in seen:  # grows
        if len(seen) <= len(single):
            seen += children(message)
    if len(seen) != len(single):
        raise DataError(
            f"{at(path)}: {abs(len(single) - len(seen))} messages are their own ancestors, or stand there twice"
        )
    trees, taken = [], set[str]()
    for place, root in roots:
        named = root if root.get("message_tree_id") not in taken else {"message_tree_id": root.get("message_id")}
        taken.add(str(named.get("message_tree_id")))
        trees.append((place, _line(path, place, named, {}, _branch(root, children))))
    return trees


def _nested(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    replies = message.get("replies")
    return [reply for reply in replies if is_object(reply)] if isinstance(replies, list) else []


def _count(root: Mapping[str, Any]) -> int:
    level, count = [root], 0
    while level:
        count += len(level)
        level = [reply for message in level for reply in _nested(message)]
    return count


def _branch(root: Mapping[str, Any], replies: Any) -> list[Mapping[str, Any]]:
    """From the root on the reply of the best rank, of equal ones the first; none that was deleted."""
    branch = [root]
    while existing := [reply for reply in replies(branch[-1]) if reply.get("deleted") is not True]:
        branch.append(min(existing, key=_rank))
    return branch


def _rank(message: Mapping[str, Any]) -> float:
    rank = message.get("rank")
    return rank if isinstance(rank, int | float) else float("inf")


def _line(
    path: str | Path, place: str, named: Mapping[str, Any], further: dict[str, Any], branch: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    name = named.get("message_tree_id") or branch[0].get("message_id")
    turns: list[dict[str, Any]] = []
    for number, message in enumerate(branch):
        role, text = _ROLES.get(str(message.get("role"))), message.get("text")
        if role is None or not isinstance(text, str):
            raise DataError(
                f"{at(path, place, f'message {number}')}: needs a 'role' (prompter or assistant) and a 'text'"
            )
        own = {key: value for key, value in message.items() if key not in (*_OF_TREE, *RESERVED)}
        if is_object(own.get("labels")):
            own["labels"] = _labels(own["labels"])
        turns.append({"role": role, "content": text, **own})
    return {**({"id": str(name)} if name else {}), **further, "messages": turns}


def _labels(labels: Mapping[str, Any]) -> Mapping[str, Any]:
    """The labels of a message by their names; rows of `datasets` have lists of names, values and counts."""
    names = labels.get("name")
    lists = {key: value for key, value in labels.items() if isinstance(value, list)}
    if not isinstance(names, list) or len(lists) < len(labels) or {len(one) for one in lists.values()} != {len(names)}:
        return labels
    rows = zip(*(lists[key] for key in lists if key != "name"), strict=True)
    others = [key for key in lists if key != "name"]
    return {str(name): dict(zip(others, row, strict=True)) for name, row in zip(names, rows, strict=True)}


FORMAT = Format(
    "trees",
    "trees of messages with their replies, as OpenAssistant exports them",
    lambda source: is_tree(source.first),
    read,
    sign="`message_id` and `parent_id`, or `replies`, of messages with `text` and `role`",
)
