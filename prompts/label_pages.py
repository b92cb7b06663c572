"""Label definitions: a Markdown file each, with unit and values in the front matter, and their definition as text."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from ..data.files.json import from_yaml, read_text
from ..data.labels.definition import LabelDefinition
from ..errors import DataError, SettingError

_PAGE = re.compile(r"---[^\S\n]*\n(.*?)\n---[^\S\n]*(?:\n(.*))?", re.DOTALL)
"""The front matter between two lines `---`, and the text below."""


def label_of(path: Path) -> LabelDefinition:
    """The label of a page, with the name of the file; DataError names the fault and its place."""
    text = read_text(path).replace("\r\n", "\n")
    page = _PAGE.fullmatch(text)
    if page is None:
        raise DataError(f"{path}: begins with no front matter: write a line ---, then unit and values, then ---")
    if not (page[2] or "").strip():
        raise DataError(f"{path}: has no text below its front matter: define each value there")
    front = from_yaml(page[1], str(path))
    if not isinstance(front, dict) or not all(isinstance(key, str) for key in front):
        raise DataError(f"{path}: its front matter is not a list of keys: write unit: conversation, values: [...]")
    return LabelDefinition.of(path.stem, front, page[2], str(path))


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

    They are found by the part's name, and as `LABEL.NAME`. Pages of one's own count before the shipped ones. Numbers are in
    an order by themselves.
    """
    scales: dict[str, tuple[str, ...]] = {}
    for label in (*shipped_labels().values(), *(labels_in(folder) if folder is not None else {}).values()):
        for name, part in label.parts.items():
            if part.ordered:
                values = tuple(str(value).lower() for value in part.values)
                scales |= dict.fromkeys((name, f"{label.keys[0]}.{name}"), values)
    return scales
