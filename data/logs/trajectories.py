"""Trajectories of agents: results of tau-bench and tau2-bench, and ATIF.

tau-bench (github.com/sierra-research): a list of `task_id`, `trial`, `reward` and `traj`, the messages of OpenAI's form.
tau2-bench: `simulations` of `task_id`, `trial`, `reward_info` and `messages`. Calls in these have a `requestor`. ATIF
("Agent Trajectory Interchange Format", harborframework.com): `schema_version`, `agent` and `steps` of `source`,
`message`, `tool_calls` and `observation`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..attempts import as_list, as_object, is_object
from ..files.broken_lines import readable
from ..files.json_files import dumps
from ..files.json_values import elements
from ..formats import messages
from ..formats.detection import Format, Source
from ..formats.message_parts import turns_of_parts
from ..records import Conversation

_SOURCES = {"user": "user", "agent": "assistant", "system": "system"}


def read(path: str | Path) -> list[Conversation]:
    """A conversation for each trial or trajectory, with its reward as a label; DataError for a value that is neither."""
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
        elif _is_atif(value):
            yield place, _atif(value)
        else:
            with readable(place):
                raise DataError(
                    f"{at(path, place)}: has neither 'traj' nor 'simulations' nor 'steps': is it a trajectory?"
                )


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
                turns.append({**turn, "tool_calls": [_call(call) for call in calls]})
        else:
            turns.append({key: inner for key, inner in turn.items() if key != "tool_calls"})
    return turns


def _call(call: Any) -> dict[str, Any]:
    """A call of tau2 (`name`, `arguments`) or of ATIF (`function_name`, `tool_call_id`) in OpenAI's form."""
    call = as_object(call)
    name = call.get("name") or call.get("function_name") or ""
    number = call.get("id") or call.get("tool_call_id") or ""
    return {
        "id": str(number),
        "type": "function",
        "function": {"name": str(name), "arguments": dumps(call.get("arguments"))},
    }


def _atif(value: Mapping[str, Any]) -> dict[str, Any]:
    turns = [turn for step in value["steps"] if is_object(step) for turn in _step(step)]
    metrics = as_object(value.get("final_metrics"))
    counts = {
        "input_tokens": metrics.get("total_prompt_tokens"),
        "output_tokens": metrics.get("total_completion_tokens"),
    }
    usage = {name: count for name, count in counts.items() if isinstance(count, int)}
    name = value.get("trajectory_id") or value.get("session_id")
    more = {key: inner for key, inner in value.items() if key not in ("steps", "id", "schema_version")}
    return ({"id": str(name)} if name else {}) | more | ({"usage": usage} if usage else {}) | {"messages": turns}


def _step(step: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    role = _SOURCES.get(str(step.get("source")), "")
    message = step.get("message")
    names = ("timestamp", "model_name", "reasoning_content")
    more = {key: step[key] for key in names if step.get(key)}
    parts = message if isinstance(message, list) else [message] if message else []
    calls = step["tool_calls"] if _lists(step, "tool_calls") else []
    for turn in turns_of_parts(role, parts, more):
        if calls and turn["role"] == role:
            turn |= {"content": turn["content"] or None, "tool_calls": [_call(call) for call in calls]}
        yield turn
    results = as_object(step.get("observation")).get("results")
    for result in as_list(results):
        content = as_object(result).get("content")
        texts = content if isinstance(content, str) else dumps(content)
        yield {"role": "tool", "tool_call_id": str(as_object(result).get("source_call_id") or ""), "content": texts}


def _of_both_tools(value: Any) -> bool:
    """Whether a value lists messages of tau2-bench, where each call names the side that makes it."""
    turns = [as_object(turn) for turn in value["messages"]] if _lists(value, "messages") else []
    calls = [call for turn in turns if _lists(turn, "tool_calls") for call in turn["tool_calls"]]
    return any("requestor" in as_object(call) for call in calls)


def _is_atif(value: Any) -> bool:
    return _lists(value, "steps") and str(value.get("schema_version", "")).startswith("ATIF")


def _recognised(source: Source) -> bool:
    first = as_object(source.first)
    trials = first.get("simulations")
    is_tau2 = isinstance(trials, list) and bool(trials) and _lists(trials[0], "messages")
    return (
        is_tau2
        or _of_both_tools(first)
        or (_lists(first, "traj") and ("task_id" in first or "reward" in first))
        or _is_atif(first)
    )


FORMAT = Format(
    "trajectories",
    "trajectories of agents: tau-bench, tau2-bench, ATIF",
    _recognised,
    read,
    sign="`traj` beside `task_id` or `reward`, `simulations` of `messages`, calls with `requestor`, or `steps` with a `schema_version` of ATIF",
)
