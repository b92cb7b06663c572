"""YAML of files from users: PyYAML's safe loader with bounds.

A few lines of YAML can ask for the work of years.
"""

from collections.abc import Hashable
from reprlib import repr as shortened
from typing import Any

import yaml

MOST_CHARACTERS = 1_000_000
"""Most characters of a YAML text: the parser, written in Python, takes a second for each hundred thousand."""

MOST_MERGED = 10_000
"""Most keys that one mapping may take over by `<<`: each line of merges can double those of the line before."""

LONGEST_NUMBER = 100
"""Most characters of a number: the time for one with colons or many digits grows as the square of its length."""


class YamlError(ValueError):
    """A text that is not YAML or is out of bounds, with the problem and perhaps its line."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


def loaded(text: str, *, once: bool = True) -> Any:
    """The value of a YAML text; YamlError if it is invalid or out of bounds.

    With `once`, a repeated key is an error too.
    """
    if len(text) > MOST_CHARACTERS:
        raise YamlError(f"has {len(text):,} characters, the bound is {MOST_CHARACTERS:,}: split it")
    try:
        return yaml.load(text, _Once if once else _Bounded)  # a safe loader
    except yaml.MarkedYAMLError as error:
        raise YamlError(str(error.problem), error.problem_mark.line + 1 if error.problem_mark else None) from None
    except RecursionError:
        raise YamlError("lists and mappings inside each other too deeply") from None
    # What a tag such as !!bool is given is not looked at by PyYAML before it is used.
    except (yaml.YAMLError, ValueError, TypeError, ArithmeticError, AttributeError, LookupError) as error:
        raise YamlError(" ".join(str(error).split()) or type(error).__name__) from None


class _Bounded(yaml.SafeLoader):
    """A safe loader for which a number or a merge out of bounds is an error."""

    def flatten_mapping(self, node: Any) -> None:
        before = len(node.value)
        super().flatten_mapping(node)
        if len(node.value) > max(before, MOST_MERGED):
            problem = f"a mapping takes over more than {MOST_MERGED:,} keys by <<: write them out"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)

    def _number(self, node: Any) -> Any:
        if len(node.value) > LONGEST_NUMBER:
            problem = f"a number of {len(node.value):,} characters: put it in quotes"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        construct = self.construct_yaml_int if node.tag.endswith(":int") else self.construct_yaml_float
        return construct(node)


class _Once(_Bounded):
    """For which a repeated key is an error too."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                continue  # PyYAML reports this itself
            if key in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {shortened(key)} appears twice", problem_mark=node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


for _tag in ("int", "float"):
    _Bounded.add_constructor(f"tag:yaml.org,2002:{_tag}", _Bounded._number)
