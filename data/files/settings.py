"""Files of settings from users: TOML and YAML by their suffixes, else JSON."""

import tomllib
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from ...errors import DataError, at
from .json import parsed, read_text

MOST_CHARACTERS = 1_000_000
"""Most characters of a YAML text: the parser, written in Python, takes a second for each hundred thousand."""


class YamlError(ValueError):
    """A text that is not YAML or too long, with the problem and perhaps its line."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


def read_settings(path: Path) -> Any:
    """The value of a file of TOML, YAML or JSON; DataError names the place of an error."""
    text = read_text(path)
    try:
        if path.suffix.lower() == ".toml":
            return tomllib.loads(text)
        if path.suffix.lower() in (".yaml", ".yml"):
            return loaded(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{at(path)}: is not TOML ({error}): mend it") from None
    except YamlError as error:
        line = [f"line {error.line}"] if error.line is not None else []
        raise DataError(f"{at(path, *line)}: is not YAML ({error}): mend it") from None
    return parsed(text, path)


def loaded(text: str, *, once: bool = True) -> Any:
    """The value of a YAML text; YamlError if it is invalid or too long, and with `once` for a repeated key."""
    if len(text) > MOST_CHARACTERS:
        raise YamlError(f"has {len(text):,} characters, the bound is {MOST_CHARACTERS:,}: split it")
    try:
        return yaml.load(text, _Once if once else yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        raise YamlError(str(error.problem), error.problem_mark.line + 1 if error.problem_mark else None) from None
    except RecursionError:
        raise YamlError("lists and mappings inside each other too deeply") from None
    # What a tag such as !!bool is given is not looked at by PyYAML before it is used.
    except (yaml.YAMLError, ValueError, TypeError, ArithmeticError, AttributeError, LookupError) as error:
        raise YamlError(" ".join(str(error).split()) or type(error).__name__) from None


class _Once(yaml.SafeLoader):
    """A safe loader for which a repeated key is an error."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:  # PyYAML reports one that is not hashable
                raise yaml.MarkedYAMLError(problem=f"the key {key!r} appears twice", problem_mark=node.start_mark)
            if isinstance(key, Hashable):
                seen.add(key)
        return super().construct_mapping(node, deep)
