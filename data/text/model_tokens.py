"""About how many tokens a text is to a language model, for endpoints that do not report it."""

import re
from collections.abc import Iterator, Mapping

_WIDE = re.compile(r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+")
"""Runs of characters of Chinese, Japanese and Korean: about a token each."""

CHARACTERS = 4
"""Characters of a token in other scripts, about."""

OF_MESSAGE = 3
"""Tokens that a message takes beside its text: its role, and where it ends."""


def tokens_about(text: str) -> int:
    """About how many tokens the text is: one for four characters, or for each Chinese one, rounded up."""
    wide = 0 if text.isascii() else sum(map(len, _WIDE.findall(text)))
    return wide + -(-(len(text) - wide) // CHARACTERS)


def texts_in(value: object) -> Iterator[str]:
    """Every text in a JSON value, such as the section of a scenario; keys are not among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from texts_in(inner)
