"""A JSON text with another value: what is the same in both stays as it is written, character for character."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

_SPACE = " \t\r\n"


class _Member(NamedTuple):
    """Where a member of an object or a list stands in the text: key, value and end.

    The key of a list's member is its value.
    """

    key: str
    start: int
    value: int
    end: int
    content: Any


def edited(text: str, value: Any) -> str:
    """The text of a JSON value, rewritten for another value.

    Objects are gone into, and so are lists of equal length: spaces, line ends, escapes and numbers of every member that
    stays are kept. New members are written as those beside them are. ValueError for a text that is not JSON.

    >>> edited('{"a": 1e5,  "b":[2]}', {"a": 1e5, "c": "new", "b": [2]})
    '{"a": 1e5, "c":"new",  "b":[2]}'
    """
    start = _after_space(text, len(text) - len(text.removeprefix("\ufeff")))
    _, end = _DECODER.raw_decode(text, start)
    return text[:start] + _Form.of(text).rewritten(start, end, value) + text[end:]


_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class _Form:
    """How a text is written."""

    text: str
    escaped: bool
    """Whether characters outside ASCII are escaped."""
    newline: str
    unit: str
    """What a line of the outermost object begins with; empty where it stands in one line."""

    @classmethod
    def of(cls, text: str) -> "_Form":
        newline = "\r\n" if "\r\n" in text else "\n"
        outer = text.find("{") + 1
        lead = text[outer : _after_space(text, outer)]
        unit = lead.rpartition("\n")[2] if "\n" in lead else ""
        return cls(text, text.isascii() and "\\u" in text, newline, unit)

    def rewritten(self, start: int, end: int, value: Any, lead: str = "", *, spaced: bool = True) -> str:
        """The text from start to end, rewritten for this value.

        `lead`: the space before it and those beside it; `spaced`: whether spaces stand in lines.
        """
        present = json.loads(self.text[start:end])
        if _same(present, value):
            return self.text[start:end]
        if isinstance(present, dict) and isinstance(value, Mapping):
            return self._object(start, end, value)
        if isinstance(present, list) and isinstance(value, list) and len(present) == len(value):
            parts, last = list[str](), start
            for member, inner in zip(self._members(start), value, strict=True):
                parts += [self.text[last : member.value], self.rewritten(member.value, member.end, inner)]
                last = member.end
            return "".join((*parts, self.text[last:end]))
        return self._fresh(value, lead, spaced=spaced)

    def _object(self, start: int, end: int, value: Mapping[str, Any]) -> str:
        members = self._members(start)
        number = {member.key: place for place, member in enumerate(members)}
        lead = self.text[start + 1 : _after_space(self.text, start + 1)]
        first = members[0] if members else None
        colon = ": " if first is None else self.text[_DECODER.raw_decode(self.text, first.start)[1] : first.value]
        spaced = colon.endswith(" ")
        usual = "," + lead if "\n" in lead else ", " if spaced else ","
        if len(members) > 1:
            usual = self.text[members[0].end : members[1].start]
        parts = [self.text[start], lead]
        last = -1  # the place of the last member so far that was there
        for count, (key, inner) in enumerate(value.items()):
            place = number.get(key)
            if count:
                stays = place is not None and place == last + 1 > 0
                parts.append(self.text[members[last].end : members[last + 1].start] if stays else usual)
            if place is None:
                parts += [json.dumps(key, ensure_ascii=self.escaped), colon, self._fresh(inner, lead, spaced=spaced)]
            else:
                member, last = members[place], place
                text = self.rewritten(member.value, member.end, inner, lead, spaced=spaced)
                parts += [self.text[member.start : member.value], text]
        return "".join((*parts, self.text[members[-1].end if members else end - 1 : end]))

    def _fresh(self, value: Any, lead: str, *, spaced: bool) -> str:
        """A value that is new, beside what has this space before it."""
        if "\n" not in lead:
            separators = (", ", ": ") if spaced else (",", ":")
            return json.dumps(value, ensure_ascii=self.escaped, separators=separators)
        text = json.dumps(value, ensure_ascii=self.escaped, indent=self.unit or 4)
        return text.replace("\n", self.newline + lead.rpartition("\n")[2])

    def _members(self, start: int) -> list[_Member]:
        """The members of the object or list that begins there."""
        text, members, keyed = self.text, list[_Member](), self.text[start] == "{"
        place = _after_space(text, start + 1)
        while text[place] not in "}]":
            begun, key = place, ""
            if keyed:
                key, place = _DECODER.raw_decode(text, place)
                place = _after_space(text, _after_space(text, place) + 1)
            content, end = _DECODER.raw_decode(text, place)
            members.append(_Member(key, begun, place, end, content))
            place = _after_space(text, end)
            if text[place] == ",":
                place = _after_space(text, place + 1)
        return members


def _after_space(text: str, place: int) -> int:
    while place < len(text) and text[place] in _SPACE:
        place += 1
    return place


def _same(one: Any, other: Any) -> bool:
    """Whether two values are written alike: in Python 1 is True, and 1.0."""
    return json.dumps(one) == json.dumps(other)
