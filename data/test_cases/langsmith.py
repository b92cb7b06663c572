"""Examples of a LangSmith dataset, as JSON or JSON lines.

The shape is that of "Example data format" (docs.langchain.com/langsmith/example-data-format): `inputs`, `outputs`,
`metadata`, `dataset_id`. Inputs and outputs hold a question and an answer, or messages.
"""

from pathlib import Path
from typing import Any

from ..attempts import as_object, is_object
from ..files.json_values import elements
from ..formats.detection import Contents, Format, Source
from .cases import Case, contents
from .questions import ask, expect

NAME = "langsmith_examples"

_OF_EXAMPLES = ("outputs", "reference_outputs", "dataset_id")


def read(path: str | Path) -> Contents:
    """A scenario for each example; DataError for one without a goal and without a text of the user."""
    return contents(path, NAME, elements(path), lambda example: [_case(example)])


def _case(example: dict[str, Any]) -> Case:
    case = Case(example)
    case.put("title", case.text("name"))
    ask(case, as_object(case.take("inputs")))
    expect(case, case.take("outputs", "reference_outputs"))
    return case


def _recognised(source: Source) -> bool:
    first = as_object(source.first)
    return is_object(first.get("inputs")) and "run_type" not in first and any(key in first for key in _OF_EXAMPLES)


FORMAT = Format(
    NAME,
    "examples of a LangSmith dataset",
    _recognised,
    read,
    sign="`inputs` with `outputs`, `reference_outputs` or `dataset_id`, and no `run_type`",
    scenarios=True,
)
