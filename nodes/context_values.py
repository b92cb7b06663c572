"""Values of context variables, for as long as a block runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")


@contextmanager
def during(variable: ContextVar[Any], value: T) -> Iterator[T]:
    """Inside, and in the tasks that begin inside, the variable has this value."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)
