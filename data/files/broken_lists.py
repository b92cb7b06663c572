"""The elements of a JSON list that is cut off, or has broken ones among them."""

import json
import re
from collections.abc import Iterator
from typing import Any

_NEXT = re.compile(r"[^\s,]")
_BEHIND = re.compile(r"\s*(?:[,\]]|\Z)")
_FIRST_KEY = re.compile(r'\{\s*"(?:[^"\\]|\\.)*"\s*:')
_DECODER = json.JSONDecoder()


def pieces(text: str) -> Iterator[str | None]:
    """The text of each element of a list; None for a broken one, and for a list without its end.

    Behind a broken element the next one is looked for: a line that begins as the first element's, or the first key of
    the first element with most of its other keys.
    """
    begin = _NEXT.search(text, text.index("[") + 1)
    candidates, is_sure = _candidates(text, begin.start() if begin else len(text))
    keys = set[str]()
    while begin:
        place = begin.start()
        if text[place] == "]" and not text[place + 1 :].strip():
            return
        value, end = _element(text, place)
        if end > place:
            keys = keys or _keys(value)
            yield text[place:end]
        else:
            yield None
            places = (match.end() for match in candidates.finditer(text, place + 1))
            end = next((at for at in places if _is_like(_element(text, at)[0], keys, is_sure)), len(text))
            if end == len(text):
                return
        begin = _NEXT.search(text, end)
    yield None


def _element(text: str, place: int) -> tuple[Any, int]:
    """The value that begins at a place, and where it ends.

    Where it is no JSON, or something else follows, that is the place itself.
    """
    try:
        value, end = _DECODER.raw_decode(text, place)
    except (ValueError, RecursionError):
        return None, place
    return (value, end) if _BEHIND.match(text, end) else (None, place)


def _candidates(text: str, first: int) -> tuple[re.Pattern[str], bool]:
    """What ends where an element may begin, as the first one does, and whether a line begins there."""
    indent = text[text.rfind("\n", 0, first) + 1 : first]
    if not indent.strip():
        return re.compile(rf"(?<=\n){re.escape(indent)}(?=[\[{{])"), True
    key = _FIRST_KEY.match(text, first)
    return re.compile(rf"(?={re.escape(key.group())})" if key else r"(?!)"), False


def _keys(value: Any) -> set[str]:
    return set(value) if isinstance(value, dict) else set()


def _is_like(value: Any, keys: set[str], is_sure: bool) -> bool:
    """Whether a value may be an element, as it has most keys of another one.

    An object inside of an element has few of them. `is_sure`: without a value it is a broken element.
    """
    return is_sure if value is None else 2 * len(_keys(value) & keys) >= len(keys)
