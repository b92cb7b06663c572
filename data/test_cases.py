"""Scenarios of this project's own lines, and test cases of deepeval, MLflow and tau2-bench as scenarios.

Some keys of a test case become a scenario; the others are kept under the name of their format, and listed. The shapes:
`ConversationalGolden` and `Golden` of deepeval (github.com/confident-ai/deepeval), test cases of MLflow's
ConversationSimulator and records of its evaluation datasets (mlflow.org/docs/latest/genai/datasets), and tau2-bench's
`tau2.data_model.tasks` (github.com/sierra-research/tau2-bench).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import DataError, at
from .files.json import STRICT, Broken, as_value, elements, write_lines
from .formats.messages import as_messages, turns_of
from .formats.source import Contents, Format, Source
from .identity import ID_LENGTH, digest
from .logs.dialogues import LISTS
from .records import Conversation, as_list, as_object, is_object

NAME = "scenarios"
AGREES = "The assistant's answer agrees with this one: "
"""What a judge decides of a reference answer."""
_EMPTY: tuple[Any, ...] = (None, "", [], {})
_LISTED = ("tool_called", "tool_not_called", "judged")
"""Keys of a `success` whose values may be a list, of which all must hold."""
_QUESTIONS = ("question", "query", "input", "message", "user_input", "user_message", "prompt", "text", "request")
"""Keys for what the user writes, of which the first counts."""


@dataclass
class Case:
    """A test case, and the scenario that is made of it."""

    rest: dict[str, Any]
    """Its keys that are not taken yet; what is left in the end has no counterpart in a scenario."""
    scenario: dict[str, Any] = field(default_factory=dict[str, Any])
    conditions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """What must hold, each as a scenario's `success`."""
    lost: Counter[str] = field(default_factory=Counter[str])
    """Things without a counterpart, by name."""
    hidden: frozenset[str] = frozenset()
    """Keys of the rest that are kept and not listed: their parts are."""

    def take(self, *keys: str) -> Any:
        """The first value of these keys that is not empty; all of them count as read. None without one."""
        values = [self.rest.pop(key, None) for key in keys]
        return next((value for value in values if value not in _EMPTY), None)

    def text(self, *keys: str) -> str:
        """As `take`, a text; empty without one. ValueError for another kind of value."""
        value = self.take(*keys)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{keys[0]!r} is not a text: write it as one")
        return (value or "").strip()

    def judge(self, *wishes: Any) -> None:
        """Add what a judge decides, where there is anything."""
        self.conditions += [{"judged": wish} for wish in wishes if wish]

    def keep(self, prefix: str, further: Mapping[str, Any]) -> None:
        """Keep further values, without a counterpart, under `PREFIX.KEY`."""
        self.rest |= {f"{prefix}.{key}": value for key, value in further.items()}

    def ask(self, inputs: dict[str, Any]) -> None:
        """Set goal or first message from a test case's inputs; the other inputs are kept."""
        for key in ("goal", "persona", "facts", "first_message"):
            if isinstance(inputs.get(key), str | list | dict if key == "facts" else str):
                self.scenario[key] = inputs.pop(key)
        if not self.scenario.keys() & {"goal", "first_message"}:
            texts = [key for key, value in inputs.items() if isinstance(value, str) and value.strip()]
            only = texts[0] if len(inputs) == len(texts) == 1 else ""
            if isinstance(inputs.get("messages"), list):
                turns = turns_of(inputs.pop("messages"))
                last = max((number for number, turn in enumerate(turns) if turn.role == "user"), default=-1)
                if last < 0 or not turns[last].text:
                    raise ValueError("'messages' has no text of a user: give one")
                self.scenario["first_message"] = turns[last].text
                self.rest["other messages"] = list(as_messages(turns[:last] + turns[last + 1 :]))
            elif text := next((name for name in _QUESTIONS if name in texts), only):
                self.scenario["first_message"] = inputs.pop(text)
        self.keep("inputs", inputs)

    def whole(self, form: str) -> dict[str, Any]:
        """The scenario with its success, and under the form's name what is left; ValueError without a goal."""
        scenario = {key: value for key, value in self.scenario.items() if value not in _EMPTY}
        if not scenario.get("goal") and not scenario.get("first_message"):
            raise ValueError("has no text that a user would want or write: give it one")
        rest = {key: value for key, value in self.rest.items() if value not in _EMPTY}
        self.lost.update(rest.keys() - self.hidden)
        success = joined(self.conditions)
        return {**scenario, **({"success": success} if success else {}), **({form: rest} if rest else {})}


def contents(
    path: str | Path,
    form: str,
    values: Iterable[tuple[str, Any]],
    read: Callable[[dict[str, Any]], Case],
    broken: Broken,
) -> Contents:
    """The scenarios of test cases, each with its place in the file, as conversations without a message.

    `read`: from the object of a test case to its scenario; ValueError for one that cannot be read. The notes name what
    has no counterpart.
    """
    scenarios: list[Conversation] = []
    lost, names = Counter[str](), Counter[str]()
    for place, value in values:
        with broken.reading(place):
            try:
                if not is_object(value):
                    raise ValueError("is not an object, as the first test case is: mend it, or leave it out")
                case = read(dict(value))
                scenario = case.whole(form)
            except ValueError as error:
                raise DataError(f"{at(path, place)}: {error}") from None
            name = str(scenario.get("title") or digest(scenario)[:ID_LENGTH])
            names[name] += 1
            numbered = f"{name} ({names[name]})" if names[name] > 1 else name
            scenarios.append(Conversation(id=numbered, scenario=scenario))
            lost += case.lost
    listed = ", ".join(f"{name} ({count})" for name, count in sorted(lost.items()))
    notes = [f"no counterpart in a scenario, kept under {form!r}: {listed}"] if listed else []
    if unchecked := sum("success" not in one.scenario for one in scenarios):
        notes.append(
            f"{unchecked} of {len(scenarios)} scenarios have no condition that can be checked: "
            "there the user's goodbye counts as success"
        )
    return Contents(tuple(scenarios), tuple(notes))


def joined(conditions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """One `success` that asks for all of the conditions; equal ones count once, and it is empty without one."""
    listed: dict[str, list[Any]] = {}
    for key, value in (item for condition in conditions for item in condition.items()):
        values = listed.setdefault(key, [])
        values += [value] * (value not in values)
    others = [{key: value} for key, values in listed.items() if key not in _LISTED for value in values[1:]]
    success = {key: values if key in _LISTED and values[1:] else values[0] for key, values in listed.items()}
    return success | ({"all_of": others} if others else {})


def call(name: str, arguments: Mapping[str, Any] | None) -> str | dict[str, Any]:
    """A call of a tool as `tool_called` has it."""
    return {"name": name, "arguments": dict(arguments)} if arguments else name


def communicated(text: str) -> dict[str, Any]:
    """The condition that the assistant writes a text; a number of four digits or more may have commas in it."""
    if not re.fullmatch(r"\d{4,}(?:\.\d+)?", text):
        return {"text_contains": text}
    whole, point, fraction = text.partition(".")
    return {"text_contains": {"any": [text, f"{int(whole):,}{point}{fraction}"]}}


def _deepeval(golden: dict[str, Any]) -> Case:
    case = Case(golden, hidden=frozenset({"expected_tools"}))
    case.scenario["title"] = case.text("name")
    if golden.get("input") and not golden.get("scenario"):
        case.scenario["first_message"] = case.text("input")
        if answer := case.text("expected_output", "expectedOutput"):
            case.judge(AGREES + answer)
        case.rest["expected_tools"] = as_list(as_value(case.take("expected_tools", "expectedTools")))
        for tool in map(as_object, case.rest["expected_tools"]):
            arguments = tool.get("inputParameters") or tool.get("input_parameters") or {}
            if isinstance(name := tool.get("name"), str):
                if not is_object(arguments):
                    raise ValueError(f"'inputParameters' of {name} is not an object: write it as one")
                case.conditions.append({"tool_called": call(name, arguments)})
                case.lost["expected_tools.output"] += int(tool.get("output") is not None)
    else:
        case.scenario["goal"] = case.text("scenario")
        persona, described = dict(as_object(case.take("persona"))), case.text("user_description", "userDescription")
        case.scenario["persona"] = str(persona.pop("characteristics", None) or described).strip()
        facts = dict(as_object(persona.pop("metadata", None)))
        case.scenario["unknown"] = facts.pop("unknown", None)
        facts |= {"name": name} if (name := persona.pop("name", None)) else {}
        case.scenario["facts"] = facts["facts"] if facts.keys() == {"facts"} else facts
        case.keep("persona", persona)
        case.judge(case.text("expected_outcome", "expectedOutcome"))
        turns = as_list(as_value(case.take("turns")))
        first = as_object(turns[0]) if turns else {}
        if first.get("role") == "user" and isinstance(text := first.get("content"), str) and text.strip():
            case.scenario["first_message"] = text  # with others a message has no counterpart
            turns = turns[1:]
        case.rest["turns"] = turns
    expectations = dict(as_object(case.take("expectations")))
    case.judge(*({"criterion": wish} for wish in as_list(expectations.pop("must", None))))
    for wish in as_list(expectations.pop("must_not", expectations.pop("mustNot", None))):
        case.conditions.append({"not": {"judged": wish}})
    case.rest |= {"expectations": {key: value for key, value in expectations.items() if value is not None}}
    return case


_GUIDELINES = "simulation_guidelines"


def _mlflow(value: dict[str, Any]) -> Case:
    inputs = dict(as_object(value.pop("inputs", None)))
    if not inputs:
        inputs = {key: value.pop(key) for key in ("goal", "persona", "context", _GUIDELINES) if key in value}
    case, guidelines = Case(value), inputs.pop(_GUIDELINES, None)
    case.ask(inputs)
    lines = [guidelines] if isinstance(guidelines, str) else as_list(guidelines)
    case.scenario["persona"] = "\n".join(filter(None, [case.scenario.get("persona", ""), *map(str, lines)]))
    wishes = dict(as_object(case.take("expectations")))
    if isinstance(answer := wishes.pop("expected_response", None), str):
        case.judge(AGREES + answer)
    case.judge(*(f"The assistant says: {fact}" for fact in as_list(wishes.pop("expected_facts", None))))
    rules = wishes.pop("guidelines", None)
    case.judge(*map(str, [rules] if isinstance(rules, str) else as_list(rules)))
    case.keep("expectations", wishes)
    return case


_UNCHANGING = frozenset(
    "calculate check count find get list look lookup read search show think transfer verify view".split()
)
"""First words of tools that leave the database as it is: they look something up, or pass the user on."""
_NOT_LISTED = frozenset({"id", "domain", "evaluation_criteria"})
_DEFAULT_BASIS = ("DB", "COMMUNICATE")
"""What decides about a task that does not say it."""


def _read_tau2(path: str | Path, broken: Broken = STRICT) -> Contents:
    """A scenario for each task.

    tau2-bench compares the final state of its database with that after the expected calls. A scenario without that
    database asks for the calls themselves: those that change something must be made, and no other tool of the tasks
    that changes something may be called.
    """
    tasks = list(elements(path, broken))
    changing = {name for _, task in tasks for name, _ in _calls(task, "assistant") if _changes(name)}
    return contents(path, "tau2", tasks, lambda task: _tau2(task, changing), broken)


def _tau2(task: dict[str, Any], changing: set[str]) -> Case:
    told = as_object(task.get("user_scenario"))
    instructions = told.get("instructions")
    if isinstance(instructions, str):
        instructions = {"reason_for_call": instructions}
    if not isinstance(instructions, Mapping):
        raise ValueError("'user_scenario' has no 'instructions': give what the user wants as a text or an object")
    case = Case({**task, "persona": told.get("persona"), **instructions}, hidden=_NOT_LISTED)
    case.keep("user_scenario", {key: told[key] for key in told.keys() - {"persona", "instructions"}})
    case.rest.pop("user_scenario")
    case.scenario["title"] = str(case.rest.get("id") or "")
    case.scenario["goal"] = case.text("reason_for_call")
    case.scenario["facts"] = [line.strip() for line in case.text("known_info").splitlines() if line.strip()]
    case.scenario["unknown"] = case.text("unknown_info")
    case.scenario["persona"] = "\n\n".join(filter(None, (case.text("persona"), case.text("task_instructions"))))
    criteria = as_object(task.get("evaluation_criteria"))
    basis = criteria.get("reward_basis") or _DEFAULT_BASIS
    if not isinstance(basis, list | tuple):
        raise ValueError("'reward_basis' is not a list: write it as one")
    expected = list(_calls(task, "assistant"))
    compared = [one for one in expected if "ACTION" in basis or _changes(one[0])]
    case.conditions += [{"tool_called": call(*one)} for one in compared]
    others = sorted(changing - {name for name, _ in expected}) if "DB" in basis else []
    case.conditions += [{"tool_not_called": name} for name in others]
    said, judged = as_list(criteria.get("communicate_info")), as_list(criteria.get("nl_assertions"))
    case.conditions += [communicated(str(text)) for text in said if "COMMUNICATE" in basis]
    case.judge(*(str(text) for text in judged if "NL_ASSERTION" in basis))
    case.lost += Counter(
        {
            "calls that change nothing": len(expected) - len(compared),
            "calls of the user's own tools": len(list(_calls(task, "user"))),
            "communicate_info": 0 if "COMMUNICATE" in basis else len(said),
            "nl_assertions outside reward_basis": 0 if "NL_ASSERTION" in basis else len(judged),
            "env_assertions": len(as_list(criteria.get("env_assertions"))),
        }
    )
    return case


def _calls(task: Any, side: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for action in as_list(as_object(as_object(task).get("evaluation_criteria")).get("actions")):
        action = as_object(action)
        if isinstance(name := action.get("name"), str) and action.get("requestor", "assistant") == side:
            arguments = as_object(action.get("arguments"))
            compared = action.get("compare_args")
            keys = arguments if compared is None else as_list(compared)
            yield name, {key: arguments[key] for key in keys if isinstance(key, str) and key in arguments}


def _changes(name: str) -> bool:
    return name.partition("_")[0].casefold() not in _UNCHANGING


def _is_tau2(source: Source) -> bool:
    return "instructions" in as_object(as_object(source.first).get("user_scenario"))


def _is_deepeval(source: Source) -> bool:
    first = as_object(source.first)
    conversational = "expected_outcome expectedOutcome user_description userDescription turns persona".split()
    single = "expected_output expectedOutput expected_tools expectedTools".split()
    if isinstance(first.get("scenario"), str):
        return any(key in first for key in conversational)
    return isinstance(first.get("input"), str) and any(key in first for key in single)


def _is_mlflow(source: Source) -> bool:
    first = as_object(source.first)
    inputs = as_object(first.get("inputs"))
    if (isinstance(inputs.get("goal"), str) and "outputs" not in first) or (
        inputs and is_object(first.get("expectations"))
    ):
        return True
    of_simulator = _GUIDELINES in first or is_object(first.get("context")) or is_object(first.get("expectations"))
    return isinstance(first.get("goal"), str) and of_simulator


def is_scripted(source: Source) -> bool:
    """Whether a source holds scenarios of which some fix the user's words (`script`) or begin in the middle (`messages`)."""
    first = source.first
    if not is_object(first):
        return False
    begins = isinstance(first.get("messages"), list) and is_object(first.get("success"))
    return begins or isinstance(first.get("script"), list)


def _is_lines(source: Source) -> bool:
    first = source.first
    if is_scripted(source):
        return True
    if not isinstance(first, dict) or any(isinstance(first.get(key), list) for key in LISTS):
        return False
    return isinstance(first.get("goal"), str) or isinstance(first.get("first_message"), str)


def _reader(form: str, case: Callable[[dict[str, Any]], Case]) -> Callable[..., Contents]:
    def read(path: str | Path, broken: Broken = STRICT) -> Contents:
        return contents(path, form, elements(path, broken), case, broken)

    return read


def _write(conversations: Iterable[Conversation], path: Path) -> list[str]:
    """A line for each scenario, without the digest that reading a log adds."""
    scenarios = (conversation.scenario for conversation in conversations)
    write_lines(path, ({key: one[key] for key in one if key != "digest" or "kind" in one} for one in scenarios))
    return []


FORMS: tuple[Format, ...] = (
    Format("tau2", "tasks of tau2-bench", _is_tau2, _read_tau2, scenarios=True),
    Format("deepeval", "goldens of deepeval", _is_deepeval, _reader("deepeval", _deepeval), scenarios=True),
    Format("mlflow_cases", "test cases of MLflow", _is_mlflow, _reader("mlflow_cases", _mlflow), scenarios=True),
)
"""Test cases of other tools, in the order in which they are tried."""
_READ = _reader(NAME, lambda line: Case({}, line))
LINES = Format(NAME, "JSON lines of scenarios", _is_lines, _READ, _write, scenarios=True)
"""This project's own scenarios, which are tried last: other lines may have a goal too."""
