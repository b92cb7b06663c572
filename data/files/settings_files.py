"""Files of settings from users: TOML and YAML by their suffixes, else JSON."""

import tomllib
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from .json_files import parsed, read_text
from .yaml_text import YamlError, loaded


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
