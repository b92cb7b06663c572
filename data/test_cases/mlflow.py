"""Test cases of MLflow: for its ConversationSimulator, and records of its evaluation datasets.

A test case is an object with `goal`, `persona`, `context` and `simulation_guidelines`, or one that has these or a question
under `inputs`, with `expectations` (mlflow.org/docs/latest/genai/datasets).
"""

from pathlib import Path
from typing import Any

from ..files.json_values import elements
from ..formats.detection import Contents, Format, Source
from ..records import as_list, as_object, is_object
from .cases import Case, contents

NAME = "mlflow_cases"

_GUIDELINES = "simulation_guidelines"


def _read(path: str | Path) -> Contents:
    """A scenario for each test case; DataError for one without a goal and without a text of the user."""
    return contents(path, NAME, elements(path), _case)


def _case(value: dict[str, Any]) -> Case:
    inputs = dict(as_object(value.pop("inputs", None)))
    if not inputs:
        inputs = {key: value.pop(key) for key in ("goal", "persona", "context", _GUIDELINES) if key in value}
    case = Case(value)
    guidelines = inputs.pop(_GUIDELINES, None)
    case.ask(inputs)
    lines = [guidelines] if isinstance(guidelines, str) else as_list(guidelines)
    case.put("persona", "\n".join(filter(None, [case.scenario.get("persona", ""), *map(str, lines)])))
    wishes = dict(as_object(case.take("expectations")))
    if isinstance(answer := wishes.pop("expected_response", None), str):
        case.require_same(answer)
    for fact in as_list(wishes.pop("expected_facts", None)):
        case.require(judged=f"The assistant says: {fact}")
    rules = wishes.pop("guidelines", None)
    for rule in [rules] if isinstance(rules, str) else as_list(rules):
        case.require(judged=str(rule))
    case.rest |= {f"expectations.{key}": wish for key, wish in wishes.items()}
    return case


def _recognised(source: Source) -> bool:
    first = as_object(source.first)
    inputs = as_object(first.get("inputs"))
    if (isinstance(inputs.get("goal"), str) and "outputs" not in first) or (
        inputs and is_object(first.get("expectations"))
    ):
        return True
    of_simulator = _GUIDELINES in first or is_object(first.get("context")) or is_object(first.get("expectations"))
    return isinstance(first.get("goal"), str) and of_simulator


FORMAT = Format(
    NAME,
    "test cases of MLflow",
    _recognised,
    _read,
    sign="`goal` with `simulation_guidelines`, or with `context` or `expectations` as objects; `inputs` with a `goal` and no `outputs`, or with `expectations`",
    scenarios=True,
)
