"""Goldens of deepeval, conversational ones and single questions, as `EvaluationDataset.save_as` writes them in JSON.

The shapes are `ConversationalGolden` and `Golden` (github.com/confident-ai/deepeval), with keys such as
`expected_outcome` or `expectedOutcome`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..attempts import as_list, as_object, is_object
from ..files.json_values import as_value, elements
from ..formats.detection import Contents, Format, Source
from ..records import Conversation
from .cases import Case, contents, written
from .conditions import call, same_as

NAME = "deepeval"

_OURS = "duologue"
"""Key of a golden's metadata for the parts of a scenario that deepeval does not read."""
_OF_METADATA = ("facts", "unknown")
"""Keys of a persona's metadata for the user's facts, where they are not an object."""
_CONVERSATIONAL = ("expected_outcome", "expectedOutcome", "user_description", "userDescription", "turns", "persona")
_SINGLE = ("expected_output", "expectedOutput", "expected_tools", "expectedTools")
_NAMES = ("additional_metadata", "additionalMetadata")


def read(path: str | Path) -> Contents:
    """A scenario for each golden; DataError for a golden without `scenario` and `input`."""
    return contents(path, NAME, elements(path), lambda golden: [_case(golden)])


def scenario_of(golden: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario of a golden, with what has no counterpart under `deepeval`; ValueError for one without a goal."""
    return _case(dict(golden)).whole(NAME)


def golden_of(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The conversational golden of a scenario; what deepeval does not read is in its metadata."""
    return _golden(scenario, Counter())


def _case(golden: dict[str, Any]) -> Case:
    case = Case(golden)
    metadata = dict(as_object(case.take(*_NAMES)))
    ours = dict(as_object(metadata.pop(_OURS, None)))
    case.put("title", case.text("name"))
    if golden.get("input") and not golden.get("scenario"):
        _single(case)
    else:
        case.put("goal", case.text("scenario"))
        _persona(case)
        if outcome := case.text("expected_outcome", "expectedOutcome"):
            case.require(judged=outcome)
        _first_message(case)
    expectations = dict(as_object(case.take("expectations")))
    for wish in as_list(expectations.pop("must", None)):
        case.require(judged={"criterion": wish})
    for wish in as_list(expectations.pop("must_not", expectations.pop("mustNot", None))):
        case.require(**{"not": {"judged": wish}})
    if success := ours.pop("success", None):
        case.conditions.append(success)
    case.scenario |= ours
    case.rest |= {"expectations": {key: value for key, value in expectations.items() if value is not None}}
    case.rest |= {"additional_metadata": metadata}
    return case


def _single(case: Case) -> None:
    """The parts of a golden of a single question."""
    case.put("first_message", case.text("input"))
    if answer := case.text("expected_output", "expectedOutput"):
        case.conditions.append(same_as(answer))
    tools = as_value(case.take("expected_tools", "expectedTools"))
    case.hide(expected_tools=tools)
    for tool in as_list(tools):
        arguments = as_object(tool).get("inputParameters") or as_object(tool).get("input_parameters")
        if isinstance(name := as_object(tool).get("name"), str):
            if not is_object(arguments or {}):
                raise ValueError(f"'inputParameters' of {name} is not an object: write it as one")
            case.require(tool_called=call(name, arguments))
            case.lose("expected_tools.output", int(as_object(tool).get("output") is not None))


def _persona(case: Case) -> None:
    persona = dict(as_object(case.take("persona")))
    described = case.text("user_description", "userDescription")
    case.put("persona", str(persona.pop("characteristics", None) or described).strip())
    user_metadata = dict(as_object(persona.pop("metadata", None)))
    case.put("unknown", user_metadata.pop("unknown", None))
    name = persona.pop("name", None)
    if user_metadata.keys() == {"facts"} and not name:
        case.put("facts", user_metadata["facts"])
    else:
        case.put("facts", ({"name": name} if name else {}) | user_metadata)
    case.rest |= {f"persona.{key}": value for key, value in persona.items()}


def _first_message(case: Case) -> None:
    """The golden's turns: one message of the user is the first message; with others they have no counterpart."""
    turns = as_value(case.take("turns"))
    if not isinstance(turns, list | None):
        raise ValueError("'turns' is not a list: write it as one")
    first = as_object(turns[0]) if turns else {}
    if first.get("role") == "user" and isinstance(text := first.get("content"), str) and text.strip():
        case.put("first_message", text)
        turns = turns[1:] if turns else []
        if case.scenario.get("goal") == text:  # a scenario without a goal, as `write` has it
            del case.scenario["goal"]
    case.rest |= {"turns": turns}


def write(conversations: Iterable[Conversation], path: Path) -> list[str]:
    """Write the scenarios as conversational goldens; a line for each kind of thing that deepeval does not read."""
    return written(conversations, path, _golden)


def _golden(scenario: Mapping[str, Any], lost: Counter[str]) -> dict[str, Any]:
    """The golden of a scenario: what deepeval has no key for goes into the golden's metadata."""
    ours = {key: value for key, value in scenario.items() if key not in ("digest", NAME)}
    further = dict(as_object(scenario.get(NAME)))
    goal, first, title = (ours.pop(key, None) for key in ("goal", "first_message", "title"))
    persona = _written_persona(ours, further)
    expected, rest = _expected(ours.pop("success", None))
    lost.update([*ours, *(f"success.{key}" for key in rest)])
    ours |= {"success": rest} if rest else {}
    metadata = {**as_object(further.pop("additional_metadata", None)), **({_OURS: ours} if ours else {})}
    turns = [{"role": "user", "content": first}] if first else []
    expectations = {**as_object(further.pop("expectations", None)), **expected}
    return {
        "scenario": goal or first,
        "turns": [*turns, *as_list(further.pop("turns", None))] or None,
        "expected_outcome": expectations.pop("outcome", None),
        "user_description": as_object(persona).get("characteristics") or None,
        "persona": persona,
        "name": title,
        "additional_metadata": metadata or None,
        "expectations": expectations or None,
        **further,
    }


def _written_persona(ours: dict[str, Any], further: dict[str, Any]) -> dict[str, Any] | None:
    """The persona of a scenario, with the user's facts as its metadata."""
    facts, unknown = ours.pop("facts", None), ours.pop("unknown", None)
    plain = is_object(facts) and not facts.keys() & set(_OF_METADATA)
    user_metadata = dict(facts) if is_object(facts) and plain else {"facts": facts} if facts else {}
    name = user_metadata.pop("name") if plain and isinstance(user_metadata.get("name"), str) else None
    user_metadata |= {"unknown": unknown} if unknown else {}
    voice = {key.removeprefix("persona."): further.pop(key) for key in list(further) if key.startswith("persona.")}
    persona = {"name": name, "characteristics": ours.pop("persona", "") or "", "metadata": user_metadata} | voice
    written = {key: value for key, value in persona.items() if value}
    return {"characteristics": "", **written} if written else None


def _expected(success: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a judge decides of a success, as a golden has it, and what is left of the success."""
    rest = dict(as_object(success))
    judged = rest.pop("judged", [])
    wishes: dict[str, Any] = {}
    others: list[Any] = []
    for one in judged if isinstance(judged, list) else [judged]:
        if isinstance(one, str) and "outcome" not in wishes:
            wishes["outcome"] = one
        elif is_object(one) and one.keys() == {"criterion"}:
            wishes.setdefault("must", []).append(one["criterion"])
        else:
            others.append(one)
    refused = [rest.pop("not")] if _is_judged(rest.get("not")) else []
    parts = as_list(rest.pop("all_of", None))
    refused += [part["not"] for part in parts if _is_negated(part)]
    wishes |= {"must_not": [one["judged"] for one in refused]} if refused else {}
    left = [part for part in parts if not _is_negated(part)]
    return wishes, {**rest, **({"judged": others} if others else {}), **({"all_of": left} if left else {})}


def _is_negated(part: Any) -> bool:
    return is_object(part) and part.keys() == {"not"} and _is_judged(part["not"])


def _is_judged(part: Any) -> bool:
    return is_object(part) and part.keys() == {"judged"} and isinstance(part["judged"], str)


def _recognised(source: Source) -> bool:
    first = as_object(source.first)
    if isinstance(first.get("scenario"), str):
        return any(key in first for key in _CONVERSATIONAL)
    return isinstance(first.get("input"), str) and any(key in first for key in _SINGLE)


FORMAT = Format(
    NAME,
    "goldens of deepeval",
    _recognised,
    read,
    write,
    sign="`scenario` with `expected_outcome`, `user_description`, `persona` or `turns`; `input` with `expected_output` or `expected_tools`",
    scenarios=True,
)
