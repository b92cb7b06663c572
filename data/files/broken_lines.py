"""Broken lines of a source: an error, or left out and counted on request."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from ...errors import DataError, at

PLACES = 3
"""Most broken lines that a note names."""

_requested: ContextVar[bool] = ContextVar("whether broken lines of sources are left out", default=False)
_omissions: ContextVar[dict[str, None] | None] = ContextVar("the lines of a source that were left out", default=None)


@contextmanager
def skip_in_sources(requested: bool) -> Iterator[None]:
    """Inside, sources are read without their broken lines if this is requested."""
    token = _requested.set(requested or _requested.get())
    try:
        yield
    finally:
        _requested.reset(token)


def sources_skip_broken() -> bool:
    """Whether sources are read without their broken lines."""
    return _requested.get()


@contextmanager
def omissions() -> Iterator[dict[str, None]]:
    """The places of the lines that are left out inside, in order; none if sources with broken lines are refused."""
    places: dict[str, None] = {}
    token = _omissions.set(places if sources_skip_broken() else None)
    try:
        yield places
    finally:
        _omissions.reset(token)


@contextmanager
def strict(requested: bool = True) -> Iterator[None]:
    """Inside, no line is left out."""
    token = _omissions.set(None if requested else _omissions.get())
    try:
        yield
    finally:
        _omissions.reset(token)


def is_skipping() -> bool:
    """Whether a broken line of the source that is being read is left out."""
    return _omissions.get() is not None


def leave_out(place: str) -> bool:
    """Whether a broken line is left out, which is counted."""
    places = _omissions.get()
    if places is None:
        return False
    places[place] = None
    return True


@contextmanager
def readable(place: str) -> Iterator[None]:
    """What is read inside is a line's.

    If it cannot be read, it is left out where this is asked for. Otherwise the error of one after the first names the
    option.
    """
    try:
        yield
    except DataError as error:
        if not place.startswith(("line ", "[")):
            raise
        if leave_out(place):
            return
        raise DataError(str(error) if place in ("line 1", "[0]") else f"{error}; {ADVICE}") from None


def of_form(
    values: Iterable[tuple[str, Any]], is_own: Callable[[Any], bool], path: str | Path, problem: str
) -> Iterator[tuple[str, Any]]:
    """The places and values that are of a form.

    Any other cannot be read, with this problem.
    """
    for place, value in values:
        if is_own(value):
            yield place, value
        else:
            with readable(place):
                raise DataError(f"{at(path, place)}: {problem}")


ADVICE = "`duologue --skip-broken ...`, or skip_broken=True of load, leaves what cannot be read out and counts it"


def note(path: Path, places: list[str], count: int) -> tuple[str, ...]:
    """A line with the number of lines that were left out; DataError if no conversation is left."""
    if not places:
        return ()
    what = "element" if places[0].startswith("[") else "line"
    lines = f"{len(places)} broken {what}{'s' if len(places) > 1 else ''}"
    if not count:
        raise DataError(f"{path}: no {what} can be read, {lines}: is it a file of conversations?")
    return (f"left out: {lines} ({', '.join(places[:PLACES])}{', ...' if places[PLACES:] else ''})",)
