"""What is wrong with data that was given to us."""

from pathlib import Path


class DataError(ValueError):
    """Data that cannot be used: one line that says what, where, and what to do."""


def at(path: str | Path, *where: object) -> str:
    """`file: place, place` as the beginning of an error's line."""
    places = ", ".join(str(place) for place in where)
    return f"{path}: {places}" if places else str(path)
