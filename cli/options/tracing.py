"""What may leave the machine: a command traces only with `--trace`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated, TypeAlias

from ...data.tracing import Tracing, host_of, requested, switched_off, untraced, variables
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

_variables_before: dict[str, str] = {}
"""The variables as they were before `off`."""


@contextmanager
def off() -> Iterator[None]:
    """Inside, no variable has anything traced in this process, its threads and the processes it starts."""
    _variables_before.clear()
    _variables_before.update(os.environ)
    try:
        with variables(switched_off(os.environ)):
            yield
    finally:
        _variables_before.clear()


@contextmanager
def allowed(trace: bool) -> Iterator[None]:
    """Inside, a command runs, traced only with `trace`, where the environment asks for it.

    A line is printed either way, for each host that is sent something, or would be.
    """
    before = dict(_variables_before or os.environ)
    say(*tracing_lines(trace, before))
    asked = {name: before.get(name) for name in switched_off(before)} if trace else {}
    with nullcontext() if _variables_before else off(), variables(asked), untraced(not trace):
        yield


def tracing_lines(trace: bool, environment: dict[str, str] | None = None) -> list[str]:
    """What is traced, or would be: a line for each host."""
    traced = destinations(environment)
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


def destinations(environment: dict[str, str] | None = None) -> tuple[Tracing, ...]:
    """The tracing that the environment asks for, as it was before it was switched off."""
    return requested(environment or _variables_before or None)


def connections() -> dict[str, str]:
    """Variables of the process that lead connections elsewhere or change whom they trust, without credentials."""
    notes = {}
    for name, value in sorted(os.environ.items()):
        if value.strip() and name.upper() in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            notes[name] = f"calls may go through {host_of(value)}"
        elif value.strip() and name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"):
            notes[name] = "certificates of your own are trusted"
    return notes
