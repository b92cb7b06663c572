"""Tests of promptfoo, as its configuration in YAML or JSON has them, or as a file of tests has them.

The shape is that of `TestCase` and `Assertion` (github.com/promptfoo/promptfoo): `tests` with `vars`, `assert` and, for a
simulated user, `provider.config.instructions`; `defaultTest` is merged into each, and `scenarios` are multiplied out.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..attempts import as_list, as_object, is_object
from ..files.json_files import read_text
from ..files.json_values import elements
from ..files.yaml_text import YamlError, in_json
from ..formats.detection import Contents, Format, Source
from .assertions import condition_of
from .cases import Case, contents
from .questions import QUESTIONS

NAME = "promptfoo"

_KEYS = frozenset(("vars", "assert", "provider", "description", "options", "metadata", "threshold"))
_FIRST = re.compile(r"[A-Za-z_]\w*:|-\s")
"""The beginning of the first line of YAML that is not a remark: a key, or an element of a list."""
_BEGINS = re.compile(r"^(?:tests|scenarios):|^-[ \t]+(?:\{[ \t]*)?(?:vars|assert|description|provider):", re.MULTILINE)
_VARIABLE = re.compile(r"\{\{-?\s*(\w+)\s*-?\}\}")
_FILE = "file://"
_SIMULATED = "promptfoo:simulated-user"
_INSTRUCTIONS = "{{ instructions }}"
"""What a simulated user is told by default."""
_DEEPEST = 3
"""Most rounds in which variables inside of values are filled."""
_MOST = 1_000
"""Most scenarios of one test by lists of values of its variables."""


def read(path: str | Path) -> Contents:
    """A scenario for each test and each value of a listed variable that its text uses.

    DataError for tests in another file, and for a test without a text of the user.
    """
    values = list(_values(path))
    whole = as_object(values[0][1]) if len(values) == 1 else {}
    if not whole.keys() & {"tests", "scenarios"}:
        return contents(path, NAME, values, lambda test: _cases(test, {}))
    default = whole.get("defaultTest") or {}
    if not is_object(default):
        raise DataError(f"{at(path)}: its 'defaultTest' is in another file ({default}): write it out here")
    return contents(path, NAME, _tests(path, whole), lambda test: _cases(test, default))


@lru_cache(maxsize=1)
def _yaml(text: str) -> Any:
    """The value of a text, which is read to recognise it and once more for its tests: PyYAML is slow."""
    return in_json(text)


def _values(path: str | Path) -> Iterator[tuple[str, Any]]:
    text = read_text(path)
    if text.lstrip()[:1] in ("[", "{"):
        yield from elements(path)
        return
    try:
        value = _yaml(text)
    except YamlError as error:
        raise DataError(f"{at(path, f'line {error.line}' if error.line else '')}: is not YAML: {error}") from None
    for number, one in enumerate(value if isinstance(value, list) else [value]):
        yield f"[{number}]", one


def _tests(path: str | Path, whole: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The tests of a configuration, those of its scenarios once for each of their settings."""
    tests = whole.get("tests") or []
    if not isinstance(tests, list):
        raise DataError(f"{at(path)}: its tests are in another file ({tests}): give that file")
    for number, test in enumerate(tests):
        if isinstance(test, str):
            raise DataError(f"{at(path, f'tests[{number}]')}: is another file ({test}): give that file")
        yield f"tests[{number}]", test
    for number, scenario in enumerate(as_list(whole.get("scenarios"))):
        for setting, test in product(
            as_list(as_object(scenario).get("config")), as_list(as_object(scenario).get("tests")) or [{}]
        ):
            yield f"scenarios[{number}]", _merged(as_object(setting), as_object(test))


def _merged(outer: Mapping[str, Any], inner: Mapping[str, Any]) -> dict[str, Any]:
    """A test within its defaults: variables and assertions of both, other keys of the inner one first."""
    variables = {**as_object(outer.get("vars")), **as_object(inner.get("vars"))}
    without = as_object(inner.get("options")).get("disableDefaultAsserts") is True
    checks = [*([] if without else as_list(outer.get("assert"))), *as_list(inner.get("assert"))]
    return {**outer, **inner, "vars": variables, "assert": checks}


def _cases(test: dict[str, Any], default: Mapping[str, Any]) -> Iterator[Case]:
    whole = _merged(default, test)
    if isinstance(test.get("vars"), str):
        raise ValueError(f"its vars are in another file ({test['vars']}): write them out here")
    provider = whole.get("provider")
    config = dict(as_object(as_object(provider).get("config")))
    simulated = "instructions" in config or _SIMULATED in (provider, as_object(provider).get("id"))
    template = config.pop("instructions", _INSTRUCTIONS) if simulated else _question(whole["vars"])
    if (
        not isinstance(template, str)
        or template.startswith(_FILE)
        or (template == _INSTRUCTIONS and not _has_instructions(whole["vars"]))
    ):
        raise ValueError(
            "has no text of a user: give a simulated user's instructions, or one of the variables "
            f"{', '.join(QUESTIONS)} as a text"
        )
    for variables in _settings(whole["vars"], template):
        yield _case(whole, template, variables, dict(config) if simulated else None)


def _has_instructions(variables: Mapping[str, Any]) -> bool:
    """Whether a variable has the instructions of a simulated user."""
    return isinstance(variables.get("instructions"), str | list)


def _question(variables: Mapping[str, Any]) -> str | None:
    """The user's message as a text with a variable: the one of a known name, else the only one."""
    usual = [name for name in QUESTIONS if name in variables]
    names = usual or (list(variables) if len(variables) == 1 else [])
    return f"{{{{ {names[0]} }}}}" if names else None


def _settings(variables: Mapping[str, Any], template: str) -> Iterator[dict[str, Any]]:
    """Values of the variables, once for each combination of those in lists that the text uses."""
    used = [name for name in _VARIABLE.findall(template) if isinstance(variables.get(name), list)]
    lists = [variables[name] for name in dict.fromkeys(used)]
    for number, values in enumerate(product(*lists)):
        if number == _MOST:
            raise ValueError(f"its lists of values make more than {_MOST:,} scenarios: write fewer")
        yield {**variables, **dict(zip(dict.fromkeys(used), values, strict=True))}


def _case(whole: dict[str, Any], template: str, variables: dict[str, Any], config: dict[str, Any] | None) -> Case:
    case = Case(dict(whole))
    case.put("title", case.text("description"))
    case.rest.pop("vars")
    filled: set[str] = set()

    def fill(text: str) -> str:
        def value(match: re.Match[str]) -> str:
            filled.add(match[1])
            return str(variables[match[1]]) if match[1] in variables else match[0]

        for _ in range(_DEEPEST):  # a variable's value may have variables
            text, count = _VARIABLE.subn(value, text)
            if not count:
                break
        return text

    text = fill(template).strip()
    if config is None:
        if text.startswith(_FILE):
            raise ValueError(f"the user's message is in another file ({text}): write it out here")
        case.put("first_message", text)
    else:
        case.put("goal", text)
        case.rest.pop("provider")
        first = as_list(config.get("initialMessages"))
        if len(first) == 1 and as_object(first[0]).get("role") == "user":
            case.put("first_message", fill(str(as_object(first[0]).get("content"))))
            del config["initialMessages"]
        case.rest |= {f"provider.config.{key}": value for key, value in config.items()}
    for check in case.listed("assert"):
        _check(case, as_object(check), fill)
    case.rest |= {f"vars.{name}": variables[name] for name in variables.keys() - filled}
    return case


def _filled(value: Any, fill: Callable[[str], str]) -> Any:
    """The value of an assertion with its variables filled, at every depth."""
    if isinstance(value, list):
        return [_filled(one, fill) for one in value]
    if is_object(value):
        return {key: _filled(one, fill) for key, one in value.items()}
    return fill(value) if isinstance(value, str) else value


def _check(case: Case, check: Mapping[str, Any], fill: Callable[[str], str]) -> None:
    """Add the condition of an assertion; one that a scenario cannot say is lost by its type."""
    kind = str(check.get("type"))
    if kind == "assert-set" and check.get("threshold") is None:
        for one in as_list(check.get("assert")):
            _check(case, as_object(one), fill)
        return
    value = _filled(check.get("value"), fill)
    of_file = isinstance(value, str) and value.startswith(_FILE)
    if check.get("weight") == 0 or of_file or (condition := condition_of(kind, value)) is None:
        case.lose(f"assert {kind}")
        case.hide(**{"assert": [*as_list(case.rest.get("assert")), dict(check)]})
        return
    case.conditions.append(condition)
    for key in check.keys() - {"type", "value", "metric", "weight"}:
        case.rest[f"assert {kind}.{key}"] = check[key]


def _recognised(source: Source) -> bool:
    if source.is_folder:
        return False
    value = source.value
    if value is None:
        if source.is_large or not _BEGINS.search(source.text):
            return False
        lines = (line for line in source.text.splitlines() if line.strip() and not line.startswith(("#", "---")))
        if not _FIRST.match(next(lines, "")):
            return False
        try:
            value = _yaml(source.text)
        except YamlError:
            return True  # its reader names the line
    if is_object(value) and (value.keys() & {"tests", "scenarios"}):
        return _are_tests(value.get("tests")) or _are_tests(value.get("scenarios"))
    return _are_tests(value if isinstance(value, list) else [value])


def _are_tests(value: Any) -> bool:
    """Whether a value is a list of tests or of scenarios, or names a file of them."""
    if isinstance(value, str):
        return value.startswith(_FILE)
    first = as_object(next(iter(as_list(value)), None))
    simulated = "instructions" in as_object(as_object(first.get("provider")).get("config"))
    checked = isinstance(first.get("assert"), list) and first.keys() <= _KEYS
    multiplied = isinstance(first.get("config"), list) and isinstance(first.get("tests"), list)
    return is_object(first.get("vars")) or simulated or checked or multiplied


FORMAT = Format(
    NAME,
    "tests of promptfoo",
    _recognised,
    read,
    sign="`tests` or a list, of `vars`, of `assert`, or of a simulated user's `instructions`",
    scenarios=True,
)
