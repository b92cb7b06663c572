"""Tasks of tau2-bench, as in `data/tau2/domains/*/tasks.json`.

The shape is that of `tau2.data_model.tasks` (github.com/sierra-research/tau2-bench). tau2-bench compares the final state
of its database with that after the expected calls. A scenario without that database asks for the calls themselves: those
that change something must be made, and no other tool that changes something may be called.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..files.json_values import elements
from ..formats.detection import Contents, Format, Source
from ..records import as_list, as_object
from .cases import Case, call, communicated, contents

NAME = "tau2"

_UNCHANGING = frozenset(
    "calculate check count find get list look lookup read search show think transfer verify view".split()
)
"""First words of tools that leave the database as it is: they look something up, or pass the user on."""
_DEFAULT_BASIS = ("DB", "COMMUNICATE")
"""What decides about a task that does not say it."""


def _read(path: str | Path) -> Contents:
    """A scenario for each task; DataError for a task without instructions."""
    tasks = list(elements(path))
    changing = {name for _, task in tasks for name, _ in _calls(task, "assistant") if _changes(name)}
    return contents(path, NAME, tasks, lambda task: _case(task, changing))


def _case(task: dict[str, Any], changing: set[str]) -> Case:
    case = Case({**task, **_situation(task)}, hidden={"id", "domain", "evaluation_criteria"})
    case.rest.pop("user_scenario")
    case.put("title", str(case.rest.get("id") or ""))
    case.put("goal", case.text("reason_for_call"))
    case.put("facts", [line.strip() for line in case.text("known_info").splitlines() if line.strip()])
    case.put("unknown", case.text("unknown_info"))
    case.put("persona", "\n\n".join(filter(None, (case.text("persona"), case.text("task_instructions")))))
    criteria = as_object(task.get("evaluation_criteria"))
    basis = criteria.get("reward_basis") or _DEFAULT_BASIS
    if not isinstance(basis, list | tuple):
        raise ValueError("'reward_basis' is not a list: write it as one")
    _expect_calls(case, task, changing, basis)
    said, judged = as_list(criteria.get("communicate_info")), as_list(criteria.get("nl_assertions"))
    if "COMMUNICATE" in basis:
        case.conditions += [communicated(str(text)) for text in said]
    else:
        case.lose("communicate_info", len(said))
    if "NL_ASSERTION" in basis:
        case.conditions += [{"judged": str(text)} for text in judged]
    else:
        case.lose("nl_assertions outside reward_basis", len(judged))
    case.lose("env_assertions", len(as_list(criteria.get("env_assertions"))))
    return case


def _situation(task: Mapping[str, Any]) -> dict[str, Any]:
    """What the user is told, with its keys at the top; ValueError for instructions of another kind."""
    scenario = as_object(task.get("user_scenario"))
    instructions = scenario.get("instructions")
    if isinstance(instructions, str):
        instructions = {"reason_for_call": instructions}
    if not isinstance(instructions, Mapping):
        raise ValueError("'user_scenario' has no 'instructions': give what the user wants as a text or an object")
    further = {f"user_scenario.{key}": scenario[key] for key in scenario.keys() - {"persona", "instructions"}}
    return {"persona": scenario.get("persona"), **further, **instructions}


def _expect_calls(case: Case, task: Mapping[str, Any], changing: set[str], basis: Any) -> None:
    expected = list(_calls(task, "assistant"))
    for name, arguments in expected:
        if "ACTION" in basis or _changes(name):
            case.require(tool_called=call(name, arguments))
        else:
            case.lose("calls that change nothing")
    for name in sorted(changing - {name for name, _ in expected}) if "DB" in basis else ():
        case.require(tool_not_called=name)
    case.lose("calls of the user's own tools", len(list(_calls(task, "user"))))


def _calls(task: Any, side: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name and compared arguments of each expected call of a side."""
    for action in as_list(as_object(as_object(task).get("evaluation_criteria")).get("actions")):
        action = as_object(action)
        if isinstance(name := action.get("name"), str) and action.get("requestor", "assistant") == side:
            arguments = as_object(action.get("arguments"))
            compared = action.get("compare_args")
            keys = arguments if compared is None else as_list(compared)
            yield name, {key: arguments[key] for key in keys if isinstance(key, str) and key in arguments}


def _changes(name: str) -> bool:
    """Whether a tool changes something, by the first word of its name."""
    return name.partition("_")[0].casefold() not in _UNCHANGING


def _recognised(source: Source) -> bool:
    return "instructions" in as_object(as_object(source.first).get("user_scenario"))


FORMAT = Format(
    NAME,
    "tasks of tau2-bench",
    _recognised,
    _read,
    sign="`user_scenario` with `instructions`",
    scenarios=True,
)
