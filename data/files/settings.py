"""Files of settings from users: TOML and YAML by their suffixes, else JSON."""

import tomllib
from pathlib import Path
from typing import Any

import yaml

from ...errors import DataError, at
from .json import parsed, read_text

MOST_CHARACTERS = 1_000_000
"""Most characters of a YAML text: the parser, written in Python, takes a second for each hundred thousand."""


def read_settings(path: Path) -> Any:
    """The value of a file of TOML, YAML or JSON; DataError names the place of an error."""
    text, suffix = read_text(path), path.suffix.lower()
    if suffix in (".yaml", ".yml"):
        return from_yaml(text, at(path))
    try:
        return tomllib.loads(text) if suffix == ".toml" else parsed(text, path)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{at(path)}: is not TOML ({error}): mend it") from None


def from_yaml(text: str, where: str) -> Any:
    """The value of a YAML text; DataError, which begins with `where`, if it is none or too long."""
    if len(text) > MOST_CHARACTERS:
        raise DataError(f"{where}: has {len(text):,} characters, the bound is {MOST_CHARACTERS:,}: split it")
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = " ".join(str(error).split())[:200]
        raise DataError(f"{where}: is not YAML ({problem}): mend it") from None
