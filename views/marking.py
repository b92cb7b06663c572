"""Facts of a scenario that come up in messages: where a phrase stands in a text, as whole words in any case."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_NUMBERED = re.compile(r"^\s*(?:\d+[.)]|[-*•])?\s*")
_SHORTEST = 2
"""Characters of a phrase that says something where it occurs."""
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""Characters of scripts that put no space between words: there a word ends anywhere."""


@dataclass(frozen=True)
class Mark:
    """A stretch of a text, and the label of the fact that it is, if it is one."""

    text: str
    label: str | None = None


def facts(scenario: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Label and phrase of what the scenario's `profile` and `preference` say of the user.

    A profile is an object: each text in it is a phrase under its outermost key. A preference is text, a line
    `label: phrase, phrase` for each fact.
    """
    found: dict[tuple[str, str], None] = {}
    profile, preference = scenario.get("profile"), scenario.get("preference")
    for label, value in profile.items() if isinstance(profile, Mapping) else ():
        for text in leaves(value):
            found |= {(str(label).replace("_", " "), phrase): None for phrase in _phrases(text)}
    for line in preference.splitlines() if isinstance(preference, str) else ():
        label, colon, values = _NUMBERED.sub("", line, count=1).partition(":")
        if colon:
            found |= {(label.strip(), phrase): None for phrase in _phrases(values)}
    return tuple(found)


def leaves(value: Any) -> Iterator[str]:
    """Every text and number inside a JSON value, in its order."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield str(value)


def marked(text: str, found: Sequence[tuple[str, str]]) -> tuple[Mark, ...]:
    """The text cut where a phrase begins or ends, the longest phrase first; together the marks are the text."""
    labels: dict[str, str] = {}
    for label, phrase in found:
        if len(phrase.strip()) >= _SHORTEST:
            labels.setdefault(phrase.strip().casefold(), label)
    if not labels or not text:
        return (Mark(text),)
    pattern = re.compile(
        "|".join(map(_whole, sorted(labels, key=lambda phrase: (-len(phrase), phrase)))), re.IGNORECASE
    )
    marks, at = [], 0
    for match in pattern.finditer(text):
        if match.start() > at:
            marks.append(Mark(text[at : match.start()]))
        marks.append(Mark(match[0], labels.get(match[0].casefold(), "")))
        at = match.end()
    if at < len(text):
        marks.append(Mark(text[at:]))
    return tuple(marks)


def _whole(phrase: str) -> str:
    """The phrase as whole words."""
    before = r"(?<!\w)" if re.match(r"\w", phrase) and not _UNSPACED.match(phrase[0]) else ""
    after = r"(?!\w)" if re.match(r"\w", phrase[-1]) and not _UNSPACED.match(phrase[-1]) else ""
    return before + re.escape(phrase) + after


def _phrases(values: str) -> list[str]:
    """What stands between commas, an `and` before the last taken off."""
    parts = (
        re.sub(r"^and\s+", "", part.strip().rstrip("."), flags=re.IGNORECASE) for part in re.split("[,;，、；]", values)
    )
    return [part for part in parts if part]
