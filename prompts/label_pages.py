"""Label definitions: a Markdown file each, with unit and values in the front matter, and their definition as text."""

from collections.abc import Iterable
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from ..data.files.regular_files import content
from ..data.files.yaml_text import YamlError, loaded
from ..data.labels.definition import LabelDefinition
from ..errors import DataError, SettingError
from .pages import MOST_BYTES

FENCE = "---"
"""The line before and after the front matter."""


def label_of(path: Path) -> LabelDefinition:
    """The label of a page, with the name of the file; DataError names the fault and its place."""
    try:
        text = content(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not a text in UTF-8: save it as UTF-8") from None
    first, *rest = text.replace("\r\n", "\n").split("\n")
    end = next((number for number, line in enumerate(rest) if line.rstrip() == FENCE), None)
    if first.strip() != FENCE or end is None:
        raise DataError(f"{path}: begins with no front matter: write a line ---, then unit and values, then ---")
    front, definition = "\n".join(rest[:end]), "\n".join(rest[end + 1 :])
    if not definition.strip():
        raise DataError(f"{path}: has no text below its front matter: define each value there")
    return LabelDefinition.of(path.stem, _front(front, path), definition, str(path))


def labels_in(folder: Path) -> dict[str, LabelDefinition]:
    """The labels of a folder's definitions (`*.md`) by name; DataError for none and for an unusable one."""
    pages = sorted(folder.glob("*.md")) if folder.is_dir() else []
    if not pages:
        raise DataError(f"{folder}: is not a folder with a label definition (*.md)")
    return {page.stem: label_of(page) for page in pages}


@cache
def shipped_labels() -> dict[str, LabelDefinition]:
    """The labels of the published data by name, defined in our own words."""
    with as_file(files("duologue.prompts") / "labels") as folder:
        return labels_in(folder)


def labels_named(names: Iterable[str], folder: Path | None = None) -> list[LabelDefinition]:
    """These labels, from one's own folder first; SettingError names one that is not there."""
    labels = {**shipped_labels(), **(labels_in(folder) if folder is not None else {})}
    unique_names = list(dict.fromkeys(names))
    if unknown := [name for name in unique_names if name not in labels]:
        own = "; your own label definitions: --labels-dir DIR" if folder is None else ""
        raise SettingError(f"there is no label {unknown[0]!r}; there are {', '.join(sorted(labels))}{own}")
    return [labels[name] for name in unique_names]


def scales_of(folder: Path | None = None) -> dict[str, tuple[str, ...]]:
    """The words of each ordered part, from low to high.

    They are found by the part's name, and as `KEY.NAME` where it is in an object. Pages of one's own count before the
    shipped ones. Numbers are in an order by themselves.
    """
    scales: dict[str, tuple[str, ...]] = {}
    for label in (*shipped_labels().values(), *(labels_in(folder) if folder is not None else {}).values()):
        for name, part in label.parts.items():
            if part.ordered:
                values = tuple(str(value).lower() for value in part.values)
                within = label.shape.within
                scales |= dict.fromkeys((name, f"{within}.{name}" if within else name), values)
    return scales


def _front(text: str, path: Path) -> dict[str, Any]:
    try:
        front = loaded(text)
    except YamlError as error:
        line = f"line {error.line + 1}: " if error.line else ""
        raise DataError(f"{path}: {line}its front matter cannot be read ({str(error)[:200]}): write YAML") from None
    if not isinstance(front, dict) or not all(isinstance(key, str) for key in front):
        raise DataError(f"{path}: its front matter is not a list of keys: write unit: conversation, values: [...]")
    return front
