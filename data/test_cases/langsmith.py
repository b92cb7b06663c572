"""Examples of a LangSmith dataset, as JSON or JSON lines.

The shape is that of "Example data format" (docs.langchain.com/langsmith/example-data-format): `inputs`, `outputs`,
`metadata`, `dataset_id`. Inputs and outputs hold a question and an answer, or messages.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..attempts import as_object, is_object
from ..files.json_values import elements
from ..formats.detection import Contents, Format, Source
from ..records import Conversation
from .cases import Case, contents, written
from .questions import ask, expect

NAME = "langsmith_examples"

_OURS = "duologue"
"""Key of an example's metadata for the parts of a scenario that are no inputs."""
_INPUTS = ("goal", "facts", "persona", "first_message")
_OF_EXAMPLES = ("outputs", "reference_outputs", "dataset_id")


def read(path: str | Path) -> Contents:
    """A scenario for each example; DataError for one without a goal and without a text of the user."""
    return contents(path, NAME, elements(path), lambda example: [_case(example)])


def _case(example: dict[str, Any]) -> Case:
    case = Case(example)
    case.put("title", case.text("name"))
    metadata = dict(as_object(case.take("metadata")))
    ours = dict(as_object(metadata.pop(_OURS, None)))
    ask(case, as_object(case.take("inputs")))
    expect(case, case.take("outputs", "reference_outputs"))
    if success := ours.pop("success", None):
        case.conditions.append(success)
    case.scenario |= ours
    case.rest |= {"metadata": metadata}
    return case


def write(conversations: Iterable[Conversation], path: Path) -> list[str]:
    """Write the scenarios as examples; a line for each kind of thing that is in their metadata."""
    return written(conversations, path, _example)


def _example(scenario: Mapping[str, Any], lost: Counter[str]) -> dict[str, Any]:
    """The example of a scenario: its inputs are what `duologue.user` takes as a scenario."""
    ours = {key: value for key, value in scenario.items() if key not in ("digest", NAME)}
    inputs = {key: ours.pop(key) for key in _INPUTS if key in ours}
    lost.update([*ours])
    metadata = {**as_object(as_object(scenario.get(NAME)).get("metadata")), **({_OURS: ours} if ours else {})}
    return {"inputs": inputs, "outputs": {}, "metadata": metadata}


def _recognised(source: Source) -> bool:
    first = as_object(source.first)
    return is_object(first.get("inputs")) and "run_type" not in first and any(key in first for key in _OF_EXAMPLES)


FORMAT = Format(
    NAME,
    "examples of a LangSmith dataset",
    _recognised,
    read,
    write,
    sign="`inputs` with `outputs`, `reference_outputs` or `dataset_id`, and no `run_type`",
    scenarios=True,
)
