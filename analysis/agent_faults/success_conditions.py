"""Conditions of a success that a conversation breaks, by its scenario, scorers and score."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...data.records import Conversation, as_list, as_object

_VALUE = r'(?:"(?:[^"\\]|\\.)*…?"?|[\[{].*?[\]}…]|[^\s;,]+)'
_PATH = r"[^\s:;]+(?: [^\s:;]+)*?"
_STATE = re.compile(
    rf"(?P<path>{_PATH}): (?:is (?P<actual>{_VALUE}), expected (?P<expected>.+)|is missing, expected .+|has \d+ items, expected \d+)\Z"
)
_CONDITIONS = (
    (re.compile(r"(?P<tool>\S+) was not called\Z"), "`{tool}` was not called"),
    (re.compile(r"(?P<tool>\S+) was called, and every call ended in an error\b"), "every call of `{tool}` failed"),
    (re.compile(r"(?P<tool>\S+) was called, and no call has a result\Z"), "no call of `{tool}` has a result"),
    (re.compile(r"(?P<tool>\S+) was called, but with\b"), "`{tool}` was called with other arguments than expected"),
    (re.compile(r"(?P<tool>\S+) was called\b"), "`{tool}` was called more often than expected, or in a forbidden way"),
    (re.compile(r"(?:the (?P<side>user|assistant) never|nobody) says "), "an expected text was never written"),
    (re.compile(r"said: "), "a text was written that must not be"),
    (re.compile(r"the assistant refused nothing\Z"), "the agent did not refuse"),
    (re.compile(r"the assistant refused: "), "the agent refused"),
    (re.compile(r"the assistant has written and done nothing\Z"), "the agent wrote and did nothing"),
    (re.compile(r"the final state is as expected\Z"), "the final state is one that must not be"),
)
"""Reasons of the shipped scorers, and the condition that each breaks; of several, the first in this order names a
group."""
_UNSOLVED = "the user did not confirm that it is solved"
_VARIES = re.compile(
    r"\"[^\"]*\"?|'[^']*'|`[^`]*`|“[^”]*”|\{.*\}|\[.*\]|\b[\w-]*\d[\w.:-]*|(?:(?<=\s)|\A)[A-Z][\w-]*(?: [A-Z][\w-]*)+"
)
"""What differs from one conversation to another in a reason: quotations, values, numbers, codes and names."""
_PART = re.compile(r"[a-z_][a-z_]*\Z")


class ToolCondition(NamedTuple):
    """A condition that a success has for the calls of a tool."""

    name: str
    arguments: Mapping[str, Any]
    """Those that a call must have; empty if any will do."""
    times: int | None
    """The exact number of calls; 0 where the tool must not be called."""


class StateDifference(NamedTuple):
    """The first difference of a final state, by the reason of a score."""

    path: str
    """With `*` in place of keys that are values, such as codes and numbers."""
    actual: str
    """The value as JSON, perhaps shortened; empty without one."""


class BrokenCondition(NamedTuple):
    """A condition of a success that a conversation broke."""

    name: str
    specific: bool
    """Whether it names the fault, and not only the state at the end."""


def tool_conditions(conversation: Conversation) -> list[ToolCondition]:
    """The conditions for calls of tools in the scenario's `success` and in the cast's own scorers."""
    conditions = list(_of_success(conversation.scenario.get("success"), negated=False))
    if conversation.provenance is not None and (closing := conversation.provenance.nodes.get("closing")):
        conditions += _of_scorer(as_object(closing.settings.get("scorers")).get("success"), negated=False)
    return conditions


def _of_success(success: Any, *, negated: bool) -> Iterator[ToolCondition]:
    for key, value in as_object(success).items():
        for part in value if isinstance(value, list) else [value]:
            if key in ("all_of", "any_of", "not"):
                yield from _of_success(part, negated=negated != (key == "not"))
            elif key in ("tool_called", "tool_not_called"):
                spec = {"name": part} if isinstance(part, str) else as_object(part)
                yield from _condition(spec, spec.get("name"), negated=negated != (key == "tool_not_called"))


def _of_scorer(described: Any, *, negated: bool) -> Iterator[ToolCondition]:
    """As `_of_success`, of a scorer in the form in which a record's provenance has it."""
    scorer = as_object(described)
    turned = negated != (scorer.get("name") == "Negated")
    parts = scorer.get("of")
    for part in [parts] if isinstance(parts, Mapping) else as_list(parts):
        yield from _of_scorer(part, negated=turned)
    yield from _condition(scorer, scorer.get("tool"), negated=negated)


def _condition(spec: Mapping[str, Any], name: Any, *, negated: bool) -> Iterator[ToolCondition]:
    times = spec.get("times")
    if isinstance(name, str):
        arguments = as_object(spec.get("arguments"))
        if not negated:
            yield ToolCondition(name, arguments, times if isinstance(times, int) else None)
        elif times is None or times == 0:
            yield ToolCondition(name, arguments, 0 if times is None else None)


def state_difference(reason: str) -> StateDifference | None:
    """The first difference of the final state that a reason names; None without one."""
    for part in reason.split("; "):
        if match := _STATE.match(part):
            return StateDifference(templated_path(match["path"]), match["actual"] or "")
    return None


def broken_condition(reason: str) -> BrokenCondition | None:
    """The condition that a reason breaks, in words that are equal for equal ones; None without a reason."""
    parts = [part.strip() for part in reason.split("; ") if part.strip()]
    for pattern, words in _CONDITIONS:
        for part in parts:
            if match := pattern.match(part):
                return BrokenCondition(words.format(**match.groupdict()), specific=True)
    if difference := state_difference(reason):
        return BrokenCondition(f"the final state differs at `{difference.path}`", specific=False)
    if any(part.startswith(_UNSOLVED) for part in parts):
        return BrokenCondition(_UNSOLVED, specific=False)
    return BrokenCondition(f"“{name}”", specific=False) if (name := templated(reason)) else None


def templated(reason: str) -> str:
    """A reason without what differs from one conversation to another.

    >>> templated("booking QX4821 is {'date': '2026-05-01'}, expected on 2026-05-03")
    'booking … is …, expected on …'
    """
    return " ".join(_VARIES.sub("…", " ".join(reason.split())).split())


def templated_path(path: str) -> str:
    """A path of a state with `*` in place of its indices and of keys that are values.

    >>> templated_path("bookings.QX4821.stops[2].date")
    'bookings.*.stops.*.date'
    """
    parts = path.replace("[", ".").replace("]", "").split(".")
    return ".".join(part if _PART.match(part) else "*" for part in parts)
