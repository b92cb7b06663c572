"""Labels written into a published file, which stays the same byte for byte except for their keys."""

from collections.abc import Mapping, Sequence
from typing import Any

from .dataset import SIMULATED_KEYS

_OF_SIMULATED = (*SIMULATED_KEYS, "conflict", "conflict_with", "conflict_where", "preference_summary_old",
                 "preference_summary", "rating", "satisfaction", "profile_mapped", "strategy", "strategy_V2",
                 "strategy_1120", "strategy_V3")  # fmt: skip
"""`conflict_with` and `conflict_where` are ours: the published files have `conflict` alone."""
_OF_PEOPLE = ("history", "task_context", "task_context_zh", "task_type", "profile", "questionnaire", "strategy",
              "strategy_V2", "strategy_human", "strategy_human_V2", "strategy_V3", "strategy_human_V3")  # fmt: skip
_OF_PEOPLE_V2 = ("chat_model", "history", "task_context", "task_context_zh", "task_type", "profile", "questionnaire",
                 "strategy_V3", "strategy")  # fmt: skip
_OF_TURN = ("role", "content", "content_zh", "content_en", "intent", "intent_zh", "hallucination", "content_zh_old",
            "satisfaction", "reason")  # fmt: skip
_OF_FIRST_USER_TURN = (*_OF_TURN[:4], "intent_zh", "intent", *_OF_TURN[6:])
"""In the first message of the user the published files have the translation first."""


def annotated(
    value: Mapping[str, Any], labels: Mapping[str, Any], messages: Mapping[int, Mapping[str, Any]]
) -> dict[str, Any]:
    """The object of a published file with these labels at their published places; the value is left as it is.

    `labels`: keys of the conversation; `messages`: keys of messages by their index in `history`. A key that is there is
    replaced where it stands; None removes it. The files of the older study have their keys in an order of their own,
    those of the newer one by the alphabet.
    """
    placed = _placed(value, labels, _order_of(value))
    history = list(value["history"])
    first = next((number for number, turn in enumerate(history) if turn.get("role") == "user"), None)
    for number, keys in messages.items():
        order = _OF_FIRST_USER_TURN if number == first else _OF_TURN
        history[number] = _placed(history[number], keys, order)
    return {**placed, "history": history}


def _order_of(value: Mapping[str, Any]) -> Sequence[str]:
    keys = list(value)
    if len(keys) > 2 and keys == sorted(keys):
        return ()
    if "preference" in value or "task" in value:
        return _OF_SIMULATED
    return _OF_PEOPLE_V2 if "chat_model" in value else _OF_PEOPLE


def _placed(holder: Mapping[str, Any], keys: Mapping[str, Any], order: Sequence[str]) -> dict[str, Any]:
    """The holder with the keys: new ones behind those that come before them in the order (empty: the alphabet's)."""
    rank = {key: number for number, key in enumerate(order)}
    result = {key: value for key, value in holder.items() if key not in keys or keys[key] is not None}
    for key, value in keys.items():
        if value is None:
            continue
        if key in result:
            result[key] = value
            continue
        if order:
            before = [old for old in result if rank.get(old, -1) <= rank.get(key, len(order))]
        else:
            before = [old for old in result if old < key]
        # All up to the last of them stay in front.
        end = max((number for number, old in enumerate(result) if old in set(before)), default=-1) + 1
        items = list(result.items())
        result = dict([*items[:end], (key, value), *items[end:]])
    return result
