"""Goldens of deepeval, conversational ones and single questions, as `EvaluationDataset.save_as` writes them in JSON.

The shapes are `ConversationalGolden` and `Golden` (github.com/confident-ai/deepeval), with keys such as
`expected_outcome` or `expectedOutcome`.
"""

from pathlib import Path
from typing import Any

from ..files.json_values import as_value, elements
from ..formats.detection import Contents, Format, Source
from ..records import as_list, as_object, is_object
from .cases import Case, call, contents

NAME = "deepeval"

_CONVERSATIONAL = ("expected_outcome", "expectedOutcome", "user_description", "userDescription", "turns", "persona")
_SINGLE = ("expected_output", "expectedOutput", "expected_tools", "expectedTools")
_NAMES = ("additional_metadata", "additionalMetadata")


def _read(path: str | Path) -> Contents:
    """A scenario for each golden; DataError for a golden without `scenario` and `input`."""
    return contents(path, NAME, elements(path), _case)


def _case(golden: dict[str, Any]) -> Case:
    case = Case(golden)
    metadata = dict(as_object(case.take(*_NAMES)))
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
    case.rest |= {"expectations": {key: value for key, value in expectations.items() if value is not None}}
    case.rest |= {"additional_metadata": metadata}
    return case


def _single(case: Case) -> None:
    """The parts of a golden of a single question."""
    case.put("first_message", case.text("input"))
    if answer := case.text("expected_output", "expectedOutput"):
        case.require_same(answer)
    tools = as_list(as_value(case.take("expected_tools", "expectedTools")))
    case.rest["expected_tools"] = tools
    case.hidden.add("expected_tools")
    for tool in map(as_object, tools):
        arguments = tool.get("inputParameters") or tool.get("input_parameters") or {}
        if isinstance(name := tool.get("name"), str):
            if not is_object(arguments):
                raise ValueError(f"'inputParameters' of {name} is not an object: write it as one")
            case.require(tool_called=call(name, arguments))
            case.lose("expected_tools.output", int(tool.get("output") is not None))


def _persona(case: Case) -> None:
    persona = dict(as_object(case.take("persona")))
    described = case.text("user_description", "userDescription")
    case.put("persona", str(persona.pop("characteristics", None) or described).strip())
    facts = dict(as_object(persona.pop("metadata", None)))
    case.put("unknown", facts.pop("unknown", None))
    name = persona.pop("name", None)
    case.put(
        "facts", facts["facts"] if facts.keys() == {"facts"} and not name else {"name": name} | facts if name else facts
    )
    case.rest |= {f"persona.{key}": value for key, value in persona.items()}


def _first_message(case: Case) -> None:
    """The golden's turns: one message of the user is the first message; with others they have no counterpart."""
    turns = as_list(as_value(case.take("turns")))
    first = as_object(turns[0]) if turns else {}
    if first.get("role") == "user" and isinstance(text := first.get("content"), str) and text.strip():
        case.put("first_message", text)
        turns = turns[1:]
    case.rest["turns"] = turns


def _recognised(source: Source) -> bool:
    first = as_object(source.first)
    if isinstance(first.get("scenario"), str):
        return any(key in first for key in _CONVERSATIONAL)
    return isinstance(first.get("input"), str) and any(key in first for key in _SINGLE)


FORMAT = Format(
    NAME,
    "goldens of deepeval",
    _recognised,
    _read,
    sign="`scenario` with `expected_outcome`, `user_description`, `persona` or `turns`; `input` with `expected_output` or `expected_tools`",
    scenarios=True,
)
