"""Ways through trees of messages."""

from collections.abc import Callable, Container


def ancestors(leaf: str, parent: Callable[[str], object], names: Container[str]) -> list[str]:
    """The names from the root of a tree to one of its messages.

    A circle, or a parent that is missing, ends the way.
    """
    way: dict[str, None] = {}
    name: object = leaf
    while isinstance(name, str) and name in names and name not in way:
        way[name] = None
        name = parent(name)
    return list(way)[::-1]
