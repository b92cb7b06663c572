"""Broken lines of a source: it is refused, or they are left out and counted where this is asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ...errors import DataError

ADVICE = "`duologue --skip-broken ...`, or skip_broken=True of load, leaves such lines out and counts them"
"""The advice about the option, where a source with broken lines is refused."""
PLACES = 3
"""Most broken lines that an error or a note names."""

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

    If it cannot be read, the line is left out where this is asked for. Otherwise the error of a line after the first
    names the option.
    """
    try:
        yield
    except DataError as error:
        if not place.startswith("line "):
            raise
        if leave_out(place):
            return
        if place == "line 1":
            raise
        raise DataError(f"{error}; {ADVICE}") from None


def listed(places: list[str]) -> str:
    """The first places."""
    return ", ".join(places[:PLACES]) + (", ..." if places[PLACES:] else "")


def note(path: Path, places: list[str], count: int) -> tuple[str, ...]:
    """A line with the number of lines that were left out; DataError if no conversation is left."""
    if not places:
        return ()
    lines = f"{len(places)} broken line{'s' if len(places) > 1 else ''}"
    if not count:
        raise DataError(f"{path}: no line can be read, {lines}: is it a file of conversations?")
    return (f"left out: {lines} ({listed(places)})",)
