"""What may leave the machine: a command traces only with `--trace`, and trusts a `.env` only with `--trust-env-file`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated, TypeAlias

from ...data.settings.tracing import Tracing, change, requested, switched_off
from ..streams import say
from .sections import PRIVACY
from .shared import option

Trace: TypeAlias = Annotated[
    bool,
    option(
        "Send traces (whole prompts, sections and replies) to the hosts that variables such as LANGSMITH_TRACING "
        "name. Default: nothing is traced.",
        "--trace",
        section=PRIVACY,
    ),
]
"""The option of each command that asks models."""

TrustEnvFile: TypeAlias = Annotated[
    bool,
    option(
        "Trust the whole .env of this folder: use its addresses with keys of the environment, its proxies, and a "
        ".env that is a link.",
        "--trust-env-file",
        section=PRIVACY,
    ),
]
"""The other option of these commands; `nodes.settings.environment.trust` takes it."""

_variables_before: dict[str, str] = {}
"""The variables as they were before `off`."""


@contextmanager
def off() -> Iterator[None]:
    """Inside, no variable has anything traced in this process, its threads and the processes it starts."""
    before = dict(os.environ)
    _variables_before.clear()
    _variables_before.update(before)
    changed = switched_off(before)
    change(os.environ, changed)
    try:
        yield
    finally:
        _variables_before.clear()
        change(os.environ, {name: before.get(name) for name in changed})


@contextmanager
def leaving(*, trace: bool, trust_env_file: bool) -> Iterator[None]:
    """Inside, a command makes its models and runs, with what its two options allow.

    A line is printed for each host that is sent something, or would be.
    """
    from ...nodes.settings.environment import settings_notes, trust

    with trust(trust_env_file), allowed(trace):
        say(*settings_notes())
        yield


@contextmanager
def allowed(trace: bool) -> Iterator[None]:
    """Inside, a command runs, traced only with `trace`, where the environment asks for it.

    A line is printed either way.
    """
    from ...nodes.settings.environment import untraced

    variables = dict(_variables_before or os.environ)
    say(*tracing_lines(trace, variables))
    changed = switched_off(variables)
    with nullcontext() if _variables_before else off():
        if trace:
            change(os.environ, {name: variables.get(name) for name in changed})
        try:
            with untraced(not trace):
                yield
        finally:
            change(os.environ, changed)


def tracing_lines(trace: bool, variables: dict[str, str] | None = None) -> list[str]:
    """What is traced, or would be: a line for each host."""
    traced = destinations(variables)
    if trace and not traced:
        return ["--trace: the environment asks for no tracing: set LANGSMITH_TRACING=true and LANGSMITH_API_KEY"]
    if trace:
        return [
            f"traces go to {tracing.host}, prompts, sections and replies whole ({tracing.variable})"
            for tracing in traced
        ]
    return [
        f"{tracing.variable} is set: traces would go to {tracing.host}; they are off: give --trace to send them"
        for tracing in traced
    ]


def destinations(variables: dict[str, str] | None = None) -> tuple[Tracing, ...]:
    """The tracing that the environment asks for, as it was before it was switched off."""
    return requested(variables if variables is not None else _variables_before or dict(os.environ))
