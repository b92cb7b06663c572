"""Runs that were exported from LangSmith, as JSON or JSON lines.

The shape is that of "Run (span) data format" (docs.langchain.com/langsmith/run-data-format): `id`, `trace_id`,
`parent_run_id`, `run_type`, `inputs`, `outputs`, `start_time`, `extra.metadata`. Messages are read in the formats of "Log
LLM calls" (docs.langchain.com/langsmith/log-llm-trace): LangChain's, OpenAI's, Anthropic's. Threads are told by
`session_id`, `thread_id` or `conversation_id` in the metadata (docs.langchain.com/langsmith/threads); the `session_id`
of a run itself is its project.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..files.json_values import elements
from ..formats.detection import Contents, Format, Source
from ..formats.other_requests import OtherForms
from ..formats.turns import spoken
from ..records import as_list, as_object
from .calls import LoggedCall, holds
from .completions import of_calls
from .logged_lines import usage_of
from .traced_values import inputs_of, outputs_of

_LISTS = ("runs", "post", "patch")
THREADS = ("session_id", "thread_id", "conversation_id")


def read(path: str | Path) -> Contents:
    """A conversation for each thread, or for each trace without one; DataError if no run holds messages."""
    others = OtherForms()
    runs = [run for _, value in others.without(elements(path), _has_runs) for run in _runs(value)]
    calls = (_call(run) for run in _merged(runs))
    return of_calls(path, calls, "holds LangSmith runs without messages: export them with inputs and outputs", others)


def _has_runs(value: Any) -> bool:
    return bool(as_object(value).keys() & {"run_type", "outputs", *_LISTS})


def _runs(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        if lists := [value[key] for key in _LISTS if isinstance(value.get(key), list)]:
            yield from (run for listed in lists for inner in listed for run in _runs(inner))
        elif _is_run(value) or "outputs" in value:
            yield value
            children = value.get("child_runs")
            yield from (run for child in as_list(children) for run in _runs(child))


def _is_run(value: Any) -> bool:
    return isinstance(value, Mapping) and "run_type" in value and ("inputs" in value or "outputs" in value)


def _merged(runs: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The runs, each with what a later piece of the same id adds, as the API is sent them."""
    merged: dict[str, dict[str, Any]] = {}
    for number, run in enumerate(runs):
        name = str(run.get("id") or f"\0{number}")
        merged[name] = merged.get(name, {}) | {key: value for key, value in run.items() if value is not None}
    return list(merged.values())


def _call(run: Mapping[str, Any]) -> LoggedCall | None:
    kind = run.get("run_type")
    outer = not (run.get("parent_run_id") or run.get("parent_run_ids"))
    if kind not in ("llm", "chain") or (kind == "chain" and not outer):
        return None  # tools and steps in between repeat the messages of models and outer runs
    sent, answered = inputs_of(run.get("inputs"), outer), outputs_of(run.get("outputs"), outer)
    begins = spoken(sent)
    whole = bool(begins) and holds(spoken(answered), begins)  # a graph's outputs hold its whole state
    used = _usage(run) if kind == "llm" else {}
    trace = str(run.get("trace_id") or run.get("id") or "")
    more: dict[str, Any] = {}
    if outer:
        more = {key: run[key] for key in ("name", "tags", "error") if run.get(key)}
        if stats := as_object(run.get("feedback_stats")):
            more["labels"] = {name: _score(value) for name, value in stats.items()}
        if user := _of_metadata(run, ("user_id",)):
            more["user"] = user
    turns = answered if whole else sent + answered
    return LoggedCall(turns, _thread(run), trace, str(run.get("start_time") or ""), outer, used, more)


def _score(value: Any) -> Any:
    return value["avg"] if isinstance(value, Mapping) and value.get("avg") is not None else value


def _thread(run: Mapping[str, Any]) -> str:
    return _of_metadata(run, THREADS) or str(run.get("thread_id") or "")


def _of_metadata(run: Mapping[str, Any], keys: Iterable[str]) -> str:
    """The first name at one of the keys of a run's metadata; empty without one."""
    holders = [as_object(holder) for holder in (as_object(run.get("extra")).get("metadata"), run.get("metadata"))]
    return next((str(holder[key]) for holder in holders for key in keys if holder.get(key)), "")


def _usage(run: Mapping[str, Any]) -> dict[str, int]:
    names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
    counts = {name: run[key] for name, key in names.items() if isinstance(run.get(key), int)}
    return counts or usage_of(as_object(run.get("outputs")))


def _recognised(source: Source) -> bool:
    first = source.first
    for key in _LISTS if isinstance(first, Mapping) else ():
        if isinstance(runs := first.get(key), list) and runs:
            first = runs[0]
            break
    return _is_run(first)


FORMAT = Format(
    "langsmith",
    "runs exported from LangSmith",
    _recognised,
    read,
    sign="`run_type`, and `inputs` or `outputs`",
)
