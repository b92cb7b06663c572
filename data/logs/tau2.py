"""Trajectories of agents: results of tau-bench and tau2-bench.

tau-bench (github.com/sierra-research): a list of `task_id`, `trial`, `reward` and `traj`, the messages of OpenAI's form.
tau2-bench: `simulations` of `task_id`, `trial`, `reward_info` and `messages`. Calls in these have a `requestor`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.broken_lines import readable
from ..files.json_files import dumps
from ..files.json_values import elements
from ..formats import messages
from ..formats.detection import Format, Source
from ..formats.turns import function_call
from ..records import Conversation, as_object, is_object


def read(path: str | Path) -> list[Conversation]:
    """A conversation for each trial, with its reward as a label; DataError for a value that is none."""
    return messages.of_values(path, list(_values(path)))


def _values(path: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, value in elements(path):
        trials = value.get("simulations") if is_object(value) else None
        if isinstance(trials, list):
            for number, trial in enumerate(trials):
                where = f"{place}, simulation {number}"
                if not _lists(trial, "messages"):
                    raise DataError(f"{at(path, where)}: has no list 'messages': mend it there, or take it out")
                yield where, _trial(trial, "messages", _tau2_turns(trial["messages"]))
        elif _lists(value, "traj"):
            yield place, _trial(value, "traj", value["traj"])
        elif _of_both_tools(value):
            yield place, _trial(value, "messages", _tau2_turns(value["messages"]))
        else:
            with readable(place):
                raise DataError(f"{at(path, place)}: has neither 'traj' nor 'simulations': is it a trajectory?")


def _lists(value: Any, key: str) -> bool:
    return is_object(value) and isinstance(value.get(key), list)


def _trial(value: Mapping[str, Any], key: str, turns: list[dict[str, Any]]) -> dict[str, Any]:
    more = {name: inner for name, inner in value.items() if name not in (key, "id")}
    name = value.get("id") or "-".join(str(value[part]) for part in ("task_id", "trial") if value.get(part) is not None)
    reward = value.get("reward", as_object(value.get("reward_info")).get("reward"))
    labels = {} if reward is None else {"labels": {"reward": reward}}
    return {"id": str(name)} | more | labels | {"messages": turns}


def _tau2_turns(listed: list[Any]) -> list[dict[str, Any]]:
    """The turns; calls and results of the user's own tools are turns of tools, which stand beside the conversation."""
    turns: list[Any] = []
    for message in listed:
        turn = dict(message) if is_object(message) else message
        if not is_object(turn) or turn.get("requestor") == "user":
            turns.append(turn)
        elif turn.get("role") == "tool":
            failed = {"status": "error"} if turn.get("error") is True else {}
            turns.append({**turn, "tool_call_id": turn.get("id"), **failed})
        elif isinstance(calls := turn.get("tool_calls"), list) and calls:
            if turn.get("role") == "user":
                if turn.get("content"):
                    turns.append({key: inner for key, inner in turn.items() if key != "tool_calls"})
                turns.append({"role": "tool", "requestor": "user", "content": dumps(calls), "tool_calls": calls})
            else:
                turns.append(
                    {
                        **turn,
                        "tool_calls": [
                            function_call(call.get("name") or "", call.get("arguments"), str(call.get("id") or ""))
                            for call in map(as_object, calls)
                        ],
                    }
                )
        else:
            turns.append({key: inner for key, inner in turn.items() if key != "tool_calls"})
    return turns


def _of_both_tools(value: Any) -> bool:
    """Whether a value lists messages of tau2-bench, where each call names the side that makes it."""
    turns = [as_object(turn) for turn in value["messages"]] if _lists(value, "messages") else []
    calls = [call for turn in turns if _lists(turn, "tool_calls") for call in turn["tool_calls"]]
    return any("requestor" in as_object(call) for call in calls)


def _recognised(source: Source) -> bool:
    first = as_object(source.first)
    trials = first.get("simulations")
    is_tau2 = isinstance(trials, list) and bool(trials) and _lists(trials[0], "messages")
    return is_tau2 or _of_both_tools(first) or (_lists(first, "traj") and ("task_id" in first or "reward" in first))


FORMAT = Format(
    "trajectories",
    "trajectories of agents: tau-bench, tau2-bench",
    _recognised,
    read,
    sign="`traj` beside `task_id` or `reward`, `simulations` of `messages`, or calls with `requestor`",
)
