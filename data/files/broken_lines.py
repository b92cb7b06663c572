"""Broken lines of a source, or elements of a list: an error, or left out and counted on request."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from ...errors import DataError, at

PLACES = 3
"""Most broken lines that an error or a note names."""
_BEGIN_OF_ELEMENT = "["

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
    """What is read inside is a line's, or an element's of a list.

    If it cannot be read, it is left out where this is asked for. Otherwise the error of one after the first names the
    option.
    """
    try:
        yield
    except DataError as error:
        if not place.startswith(("line ", _BEGIN_OF_ELEMENT)):
            raise
        if leave_out(place):
            return
        if place in ("line 1", "[0]"):
            raise
        raise DataError(f"{error}; {advice(place)}") from None


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


def what_is(place: str) -> str:
    """What stands at a place: an element of a list, or a line."""
    return "element" if place.startswith(_BEGIN_OF_ELEMENT) else "line"


def advice(place: str) -> str:
    """What the refusal of a source with a broken line or element says of the option."""
    return (
        f"`duologue --skip-broken ...`, or skip_broken=True of load, leaves such {what_is(place)}s out and counts them"
    )


def with_number(error: DataError, places: list[str]) -> DataError:
    """The error with the number of broken lines or elements, and the first of them."""
    if not places:
        return error
    what, (are, these) = what_is(places[0]), ("s are", "them") if places[1:] else (" is", "it")
    first = listed([place.removeprefix("line ") for place in places])
    return DataError(
        f"{error}; {len(places)} {what}{are} broken ({first}): mend or delete {these}; {advice(places[0])}"
    )


def listed(places: list[str]) -> str:
    """The first places."""
    return ", ".join(places[:PLACES]) + (", ..." if places[PLACES:] else "")


def note(path: Path, places: list[str], count: int) -> tuple[str, ...]:
    """A line with the number of lines or elements that were left out; DataError if no conversation is left."""
    if not places:
        return ()
    what = what_is(places[0])
    lines = f"{len(places)} broken {what}{'s' if len(places) > 1 else ''}"
    if not count:
        raise DataError(f"{path}: no {what} can be read, {lines}: is it a file of conversations?")
    return (f"left out: {lines} ({listed(places)})",)
