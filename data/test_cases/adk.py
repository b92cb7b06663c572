"""Eval sets of Google's Agent Development Kit, and its scenarios for a simulated user.

The shapes are `EvalSet`, `EvalCase`, `Invocation` and `ConversationScenarios` (github.com/google/adk-python), with keys such
as `eval_cases` or `evalCases`, and the older lists of `query`, `expected_tool_use` and `reference`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..attempts import as_list, as_object, is_object
from ..files.json_values import elements
from ..formats.detection import Contents, Format, Source
from ..rules.user_statements import statements
from .cases import Case, contents
from .conditions import call, same_as

NAME = "adk"

_UPPER = re.compile(r"(?<=[a-z0-9])([A-Z])")
_OLDER = ("expected_tool_use", "expected_intermediate_agent_responses", "reference")
_FILED = ("eval_set_id", "name", "description", "creation_timestamp")
"""Keys of an eval set beside its cases."""


def read(path: str | Path) -> Contents:
    """A scenario for each eval case or conversation scenario; DataError for one without a text of the user."""
    return contents(path, NAME, _values(path), lambda value: [_case(_snake(value))])


def _values(path: str | Path) -> Iterator[tuple[str, Any]]:
    """Each case with its place; of a list of older turns the whole list, which is one conversation."""
    turns: list[Any] = []
    for place, value in elements(path):
        whole = _snake(value) if is_object(value) else {}
        for key in ("eval_cases", "scenarios"):
            if isinstance(whole.get(key), list):
                yield from ((f"{place}, {key}[{number}]", case) for number, case in enumerate(whole[key]))
                break
        else:
            if "query" in whole:
                turns.append(value)
            else:
                yield place, value
    if turns:
        yield "the list", {"data": turns}


def _snake(value: Mapping[str, Any]) -> dict[str, Any]:
    """The object with keys such as `eval_id` for `evalId`."""
    return {_UPPER.sub(r"_\1", key).lower(): inner for key, inner in value.items()}


def _case(value: dict[str, Any]) -> Case:
    case = Case(value)
    case.put("title", case.text("eval_id", "name"))
    plan = _snake(as_object(case.take("conversation_scenario")))
    _plan(case, plan or case.rest)
    case.rest |= {f"conversation_scenario.{key}": inner for key, inner in plan.items()}
    if turns := case.listed("conversation", "data"):
        _conversation(case, [_snake(as_object(turn)) for turn in turns])
        case.hide(conversation=turns)
    for rubric in case.listed("rubrics"):
        _judge(case, rubric)
    return case


def _plan(case: Case, plan: dict[str, Any]) -> None:
    """Goal, first message and persona of a conversation scenario, whose keys are taken out of it."""
    case.put("goal", plan.pop("conversation_plan", None))
    if isinstance(case.scenario.get("goal"), list):
        case.scenario["goal"] = "\n".join(map(str, case.scenario["goal"]))
    case.put("first_message", plan.pop("starting_prompt", None))
    persona = plan.get("user_persona")
    if is_object(persona):
        case.put("persona", _described(_snake(plan.pop("user_persona"))))


def _described(persona: Mapping[str, Any]) -> str:
    """A persona as text: its description, and how it behaves."""
    behaviours = [_snake(as_object(one)) for one in as_list(persona.get("behaviors"))]
    lines = [line for one in behaviours for line in as_list(one.get("behavior_instructions"))]
    return "\n".join([str(persona.get("description") or ""), *map(str, lines)]).strip()


def _conversation(case: Case, turns: list[dict[str, Any]]) -> None:
    """The first message, facts and conditions of a conversation whose messages of the user are given."""
    texts = [_text(turn.pop("user_content", None) or turn.pop("query", None)) for turn in turns]
    case.put("first_message", texts[0])
    case.put("facts", statements(texts[1:]))
    answers = [_text(turn.pop("final_response", None) or turn.pop("reference", None)) for turn in turns]
    count = 0
    for turn in turns:
        for used in _calls(turn):
            count += 1
            name = used.get("name") or used.get("tool_name")
            arguments = used.get("args") or used.get("arguments") or used.get("tool_input")
            case.require(tool_called=call(str(name), as_object(arguments)))
        for rubric in as_list(turn.pop("rubrics", None)):
            _judge(case, rubric)
        for key in turn.keys() - {"invocation_id", "creation_timestamp"}:
            case.lose(f"conversation.{key}", int(turn[key] not in (None, "", [], {})))
    if answers[-1]:
        case.conditions.append(same_as(answers[-1]))
    case.lose("answers before the last", sum(map(bool, answers[:-1])))
    case.lose("order of the calls", int(count > 1))


def _calls(turn: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The expected calls of a turn, in each of the shapes; they are taken out of it."""
    data = _snake(as_object(turn.pop("intermediate_data", None)))
    yield from map(as_object, as_list(data.pop("tool_uses", None)))
    yield from map(as_object, as_list(turn.pop("expected_tool_use", None)))
    for event in as_list(data.pop("invocation_events", None)):
        for part in as_list(as_object(as_object(event).get("content")).get("parts")):
            called = _snake(as_object(part)).get("function_call")
            if is_object(called):
                yield called
    turn |= {f"intermediate_data.{key}": value for key, value in data.items()}


def _judge(case: Case, rubric: Any) -> None:
    content = _snake(as_object(_snake(as_object(rubric)).get("rubric_content")))
    if isinstance(text := content.get("text_property"), str) and text.strip():
        case.require(judged=text)
    else:
        case.lose("rubrics without a text")


def _text(content: Any) -> str:
    """The text of a content with parts, or of a plain text."""
    if isinstance(content, str):
        return content.strip()
    parts = (as_object(part).get("text") for part in as_list(as_object(content).get("parts")))
    return "\n".join(part for part in parts if isinstance(part, str)).strip()


def _recognised(source: Source) -> bool:
    first = _snake(as_object(source.first))
    if isinstance(first.get("eval_cases"), list) or "conversation_plan" in first:
        return True
    scenarios = as_list(first.get("scenarios"))
    data = as_list(first.get("data"))
    older = first if "query" in first else as_object(data[0]) if data else {}
    if scenarios and "conversation_plan" in _snake(as_object(scenarios[0])):
        return True
    return isinstance(older.get("query"), str) and any(key in older for key in _OLDER)


FORMAT = Format(
    NAME,
    "eval sets of Google's Agent Development Kit",
    _recognised,
    read,
    sign="`eval_cases`; `conversation_plan`, also under `scenarios`; `query` with `expected_tool_use` or `reference`",
    scenarios=True,
)
