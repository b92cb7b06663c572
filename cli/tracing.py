"""What may leave the machine: a command traces only with `--trace`, and trusts a `.env` only with `--trust-env-file`."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Annotated, TypeAlias

import typer

from ..data.tracing import Tracing, requested, switched_off
from .output import say

Trace: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--trace",
        help="Send traces (prompts, sections and replies, whole) where the environment says, such as LANGSMITH_TRACING. Without it nothing is traced.",
    ),
]
"""The option of each command that asks models."""

TrustEnvFile: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--trust-env-file",
        help="Use all of the .env in this folder: also an address in it with a key of the environment, proxies, links.",
    ),
]
"""The other option of these commands; `nodes.environment.trust` takes it."""

_asked: dict[str, str] = {}
"""The variables as they were before `off`."""


@contextmanager
def off() -> Iterator[None]:
    """Inside, no variable of this process has anything traced; also in its threads and the processes it starts."""
    before = dict(os.environ)
    _asked.clear()
    _asked.update(before)
    changed = switched_off(before)
    _set(changed)
    try:
        yield
    finally:
        _asked.clear()
        _set({name: before.get(name) for name in changed})


@contextmanager
def leaving(*, trace: bool, trust_env_file: bool) -> Iterator[None]:
    """Inside, a command makes its models and runs, with what its two options allow. It says what is, or would be, sent."""
    from ..nodes.environment import settings_notes, trust

    with trust(trust_env_file), allowed(trace):
        for line in settings_notes():
            say(line)
        yield


@contextmanager
def allowed(trace: bool) -> Iterator[None]:
    """Inside, a command runs: traced where the environment asks for it if `trace`, else not. Both are said."""
    asked = dict(_asked or os.environ)
    for line in told(trace, asked):
        say(line)
    changed = switched_off(asked)
    with nullcontext() if _asked else off():
        if trace:
            _set({name: asked.get(name) for name in changed})
        try:
            with _in_context(trace):
                yield
        finally:
            _set(changed)


def told(trace: bool, variables: dict[str, str] | None = None) -> list[str]:
    """What is traced, or would be: a line for each host."""
    found = destinations(variables)
    if trace and not found:
        return ["--trace: the environment asks for no tracing: set LANGSMITH_TRACING=true and LANGSMITH_API_KEY"]
    if trace:
        return [f"traces go to {each.host}, prompts, sections and replies whole ({each.variable})" for each in found]
    return [
        f"{each.variable} is set: traces would go to {each.host}; they are off: give --trace to send them"
        for each in found
    ]


def destinations(variables: dict[str, str] | None = None) -> tuple[Tracing, ...]:
    """The tracing that the environment asks for, as it was before it was switched off."""
    return requested(variables if variables is not None else _asked or dict(os.environ))


@contextmanager
def _in_context(trace: bool) -> Iterator[None]:
    """Tracing off for LangSmith's own switch too, which an agent's module may have turned on by `configure`."""
    if not trace:
        from langsmith import tracing_context

        with tracing_context(enabled=False, parent=False):
            yield
        return
    from langchain_core.tracers.langchain import wait_for_all_tracers

    try:
        yield
    finally:
        wait_for_all_tracers()  # the last traces are sent by a thread


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    if known := sys.modules.get("langsmith.utils"):  # it remembers what it has read
        known.get_env_var.cache_clear()
