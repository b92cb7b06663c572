"""Which environment variables have runs traced, and where to; and how nothing is."""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

LANGSMITH = "https://api.smith.langchain.com"
"""Where LangSmith's own traces go without another address."""

_SWITCH = re.compile(r"(?:LANGSMITH|LANGCHAIN)_(?:\w+_)?TRACING(?:_V2)?|LANGCHAIN_HANDLER")
"""Also those of other tracers for LangChain, such as `LANGCHAIN_WANDB_TRACING`."""
_FORCED_OFF = {"OTEL_SDK_DISABLED": "true", "LANGFUSE_TRACING_ENABLED": "false"}
"""Variables that switch other tracers off, with the value that does."""
_LANGSMITHS = ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING")


class Tracing(NamedTuple):
    """One way in which runs are traced."""

    variable: str
    """The environment variable that asks for it."""
    host: str
    """Host and port that the traces go to."""


def requested(environment: Mapping[str, str] | None = None) -> tuple[Tracing, ...]:
    """Every tracing that the variables ask for, by default those of this process; each host once."""
    values = dict(os.environ if environment is None else environment)
    variable_of: dict[str, str] = {}
    for name in sorted(values):
        if _SWITCH.fullmatch(name) and _is_on(values[name]):
            variable_of.setdefault(_host_of(name, values), name)
    if not _is_on(values.get("OTEL_SDK_DISABLED", "")):
        for name in ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"):
            if address := values.get(name, "").strip():
                variable_of.setdefault(host_of(address), name)
        if values.get("LANGFUSE_SECRET_KEY") and _is_on(values.get("LANGFUSE_TRACING_ENABLED", "true")):
            address = values.get("LANGFUSE_BASE_URL") or values.get("LANGFUSE_HOST") or "https://cloud.langfuse.com"
            variable_of.setdefault(host_of(address), "LANGFUSE_SECRET_KEY")
    return tuple(Tracing(variable, host) for host, variable in variable_of.items())


def switched_off(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables to set so that nothing is traced.

    They are set, not removed: an agent that loads a `.env` of its own does not replace what is set.
    """
    names = {*_LANGSMITHS, *(name for name in environment if _SWITCH.fullmatch(name))}
    return dict.fromkeys(sorted(names), "false") | _FORCED_OFF


@contextmanager
def variables(changed: Mapping[str, str | None]) -> Iterator[None]:
    """Inside, the process has these variables, and none of those whose value is None."""
    before = {name: os.environ.get(name) for name in changed}
    _change(changed)
    try:
        yield
    finally:
        _change(before)


def _change(changed: Mapping[str, str | None]) -> None:
    for name, value in changed.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    if langsmith_utils := sys.modules.get("langsmith.utils"):  # it remembers what it has read
        langsmith_utils.get_env_var.cache_clear()


@contextmanager
def untraced(enabled: bool = True) -> Iterator[None]:
    """Inside, nothing in this process is traced, if `enabled`, also against its variables.

    Otherwise all traces have been sent at the end.
    """
    if enabled:
        from langsmith import tracing_context

        with variables(switched_off(os.environ)), tracing_context(enabled=False, parent=False):
            yield
        return
    try:
        yield
    finally:
        if requested():
            from langchain_core.tracers.langchain import wait_for_all_tracers

            wait_for_all_tracers()  # the last traces are sent by a thread


@lru_cache(maxsize=64)
def host_of(url: str) -> str:
    """Host and port of an address, without credentials."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        return f"{parts.hostname or 'unknown host'}{f':{parts.port}' if parts.port else ''}"
    except ValueError:
        return "unknown host"


def _is_on(value: str) -> bool:
    return value.strip().lower() not in ("", "0", "false", "no", "off", "none")


def _host_of(switch: str, values: Mapping[str, str]) -> str:
    """The host of LangChain's tracing: LangSmith's replicas, or its endpoint; another tracer has its own."""
    if switch not in _LANGSMITHS:
        return f"the host of {switch}"
    if values.get("LANGSMITH_RUNS_ENDPOINTS"):
        return "the addresses in LANGSMITH_RUNS_ENDPOINTS"
    return host_of((values.get("LANGSMITH_ENDPOINT") or values.get("LANGCHAIN_ENDPOINT") or LANGSMITH).strip("\"'"))
