"""Scenarios of TREC's user simulation track: a goal, a persona, and how familiar the persona is with the goal's field.

The shape is that of the platform's published examples (github.com/TREC-UserSim/trec-usersim-baseline, `docs`), by itself
or as `scenario` of a reply.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..attempts import as_list, as_object, is_object
from ..files.json_values import elements
from ..formats.detection import Contents, Format, Source
from ..records import Conversation
from .cases import Case, contents
from .cases import written as cases_written

NAME = "trec"

_PARTS = ("goal", "persona", "persona_goal_interaction")
_DATA_SETS = "known_datasets"
_STYLES = {"concise": "terse", "elaborate": "wordy"}
"""The behaviour of each interaction style."""
_QUICKLY = "very quickly"
"""The frustration threshold of a user that is impatient."""


def read(path: str | Path) -> Contents:
    """A scenario for each object; DataError for one without a topic."""
    return contents(path, NAME, elements(path), lambda value: [_case(value)])


def scenario_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario of one object of the track, with the behaviours of the persona's traits.

    ValueError if its goal has no topic.
    """
    return _case(value).whole(NAME)


def _case(value: Mapping[str, Any]) -> Case:
    own = dict(as_object(value.get("scenario")) or value)
    goal = as_object(own.get("goal"))
    persona = as_object(own.get("persona"))
    relation = as_object(own.get("persona_goal_interaction"))
    traits = as_object(persona.get("individual_traits"))
    case = Case({})
    case.put("goal", _text(goal.get("topic") or goal.get("target")))
    facts = {key: _text(item) for key, item in {**goal, **relation}.items() if key not in ("id", "topic", "target")}
    case.put("facts", {key.replace("_", " "): text for key, text in facts.items() if text})
    case.put("persona", "; ".join(_lines(persona)))
    style = _STYLES.get(_text(traits.get("interaction_style")).lower())
    behaviours = [style] if style else []
    if _text(traits.get("frustration_threshold")).lower() == _QUICKLY:
        behaviours.append("impatient")
    case.put("behaviours", behaviours)
    case.hide(**{part: own[part] for part in _PARTS if part in own})
    return case


def _lines(persona: Mapping[str, Any]) -> Iterable[str]:
    for key, value in persona.items():
        if is_object(value):
            yield from _lines(value)
        elif text := _text(value):
            yield f"{key.replace('_', ' ')}: {text}"


def _text(value: Any) -> str:
    """A text or a list of texts in a line; empty for anything else."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, as_list(value))))
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def written(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """A scenario in the track's shape.

    One that was read from there has its own parts, any other its goal, facts and persona.
    """
    if parts := as_object(scenario.get(NAME)):
        return {part: parts.get(part, {}) for part in _PARTS}
    facts = scenario.get("facts") or {}
    lines = [f"{name}: {_text(value)}" for name, value in facts.items()] if is_object(facts) else as_list(facts)
    goal = scenario.get("goal") or scenario.get("first_message") or ""
    context = facts if isinstance(facts, str) else "\n".join(map(_text, lines))
    return {
        "goal": {"topic": str(goal), "context": context},
        "persona": {"description": _text(scenario.get("persona") or "")},
        "persona_goal_interaction": {_DATA_SETS: []},
    }


def write(conversations: Iterable[Conversation], path: Path) -> list[str]:
    """Write the scenarios as a list of objects; a line for each key that the track does not have."""
    return cases_written(conversations, path, _counted, "")


def _counted(scenario: Mapping[str, Any], lost: Counter[str]) -> dict[str, Any]:
    own = {"kind", "digest", "goal", "first_message", "facts", "persona", NAME}
    lost.update(scenario.keys() - own - ({"behaviours"} if NAME in scenario else set[str]()))
    return written(scenario)


def _recognised(source: Source) -> bool:
    first = as_object(source.first)
    own = as_object(first.get("scenario")) or first
    return is_object(own.get("goal")) and any(is_object(own.get(part)) for part in _PARTS[1:])


FORMAT = Format(
    NAME,
    "scenarios of TREC's user simulation track",
    _recognised,
    read,
    write,
    sign="`goal` as an object, with `persona` or `persona_goal_interaction`",
    scenarios=True,
)
