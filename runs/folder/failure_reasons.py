"""Why conversations failed, in few lines: equal reasons of several conversations are one."""

import re
from collections.abc import Mapping
from typing import NamedTuple

_QUOTED = re.compile(r"(?<!\w)(?:'(?:[^'\\]|\\.)*(?:'(?!\w)|$)|\"(?:[^\"\\]|\\.)*(?:\"(?!\w)|$))")
"""A quoted text, also one that was cut off with the line that holds it."""
_NAME = re.compile(r"\b(?:[0-9a-f]{16}|(?=[\w-]*\d)[\w-]{6,})\b|(?<=conversation )\S+?(?=[\s;:,]|$)")
"""An id of a conversation, or a word with a digit, as ids of requests are."""
_PLACE = re.compile(r"(?<=character )\d+|(?<=message )\d+|(?<=turn )\d+|(?<=line )\d+|(?<=column )\d+")
"""A number that looks like a status and is a place, such as character 412."""
_NUMBER = re.compile(r"\b(?![45]\d\d\b)\d+(?:\.\d+)?")
"""A number that is not a status of an endpoint: 401 and 503 are not the same reason."""


class FailureReason(NamedTuple):
    """A reason, and the conversations that failed for it."""

    text: str
    """As it was said of the first of them."""
    ids: tuple[str, ...]
    same: bool
    """Whether it was said of all in the same words, and not with other ids, numbers or quoted texts."""


def grouped(failed: Mapping[str, str]) -> list[FailureReason]:
    """The reasons by which conversations failed, the most frequent first.

    >>> [(one.text, len(one.ids)) for one in grouped({"a": "status 401", "b": "timed out", "c": "status 401"})]
    [('status 401', 2), ('timed out', 1)]
    """
    groups: dict[str, list[str]] = {}
    for name, reason in failed.items():
        groups.setdefault(_form(name, reason), []).append(name)
    return sorted(
        (
            FailureReason(failed[ids[0]], tuple(ids), len({failed[name] for name in ids}) == 1)
            for ids in groups.values()
        ),
        key=lambda reason: -len(reason.ids),
    )


def _form(name: str, text: str) -> str:
    """A reason without what differs from one conversation to the next."""
    text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "_", text)
    for pattern in (_QUOTED, _NAME, _PLACE, _NUMBER):
        text = pattern.sub("_", text)
    return text
