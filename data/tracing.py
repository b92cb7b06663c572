"""Which environment variables have runs traced, and how nothing is."""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from urllib.parse import urlsplit

_SWITCH = re.compile(r"(?:LANGSMITH|LANGCHAIN)_(?:\w+_)?TRACING(?:_V2)?|LANGCHAIN_HANDLER")
"""Also those of other tracers for LangChain, such as `LANGCHAIN_WANDB_TRACING`."""
_FORCED_OFF = {"OTEL_SDK_DISABLED": "true", "LANGFUSE_TRACING_ENABLED": "false"}
"""Variables that switch other tracers off, with the value that does."""
_LANGSMITHS = ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING")


def requested(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The variables that have runs traced, by default those of this process."""
    values = dict(os.environ if environment is None else environment)
    asking = [name for name in sorted(values) if _SWITCH.fullmatch(name) and _is_on(values[name])]
    if not _is_on(values.get("OTEL_SDK_DISABLED", "")):
        addresses = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
        asking += [name for name in addresses if values.get(name, "").strip()]
        if values.get("LANGFUSE_SECRET_KEY") and _is_on(values.get("LANGFUSE_TRACING_ENABLED", "true")):
            asking.append("LANGFUSE_SECRET_KEY")
    return tuple(asking)


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
