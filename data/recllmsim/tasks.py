"""Tasks with their templates, from a workbook or from YAML."""

import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import yaml

from ...errors import DataError, at
from ..formats.jsonfiles import read_text
from ..text.languages import Language
from .contexts import Template, expand, option

COLUMNS = ("Type", "Prompt", "Key")
"""Columns of a sheet beside those whose names begin with `Option`."""

_LAYOUT = "a task is 'name: {prompt: text, options: {KEY: [text, ...]}}'"


def read_tasks(path: str | Path) -> dict[str, list[str]]:
    """The contexts of each task of a workbook or a YAML file, in the file's order.

    A context's place in its list is its `task_context_id`.
    """
    return {template.task: expand(template) for template in read_templates(path)}


def shipped_tasks(language: Language = "en") -> dict[str, list[str]]:
    """The contexts of the tasks that are shipped, in our own words; the same ones in each language."""
    with as_file(files("duologue.data").joinpath("samples", "tasks", f"{language}.yaml")) as path:
        return read_tasks(path)


def chosen_tasks(tasks: Mapping[str, list[str]], names: Sequence[str] | None) -> dict[str, list[str]]:
    """The named tasks in the order of the names (all without any); DataError says which there are."""
    for name in names or ():
        if name not in tasks:
            raise DataError(f"there is no task {name!r}, only {', '.join(map(repr, tasks))}")
    return {name: tasks[name] for name in names or tasks}


def read_templates(path: str | Path) -> list[Template]:
    """The templates of a workbook (extra `xlsx`) or a YAML file, told apart by what they hold."""
    try:
        # Half a workbook is no archive any more, and no text either.
        workbook = zipfile.is_zipfile(path) or Path(path).read_bytes()[:4] == b"PK\x03\x04"
    except (OSError, ValueError):
        workbook = False
    found = list(_of_workbook(Path(path)) if workbook else _of_yaml(path))
    names: set[str] = set()
    for template in found:
        if template.task in names:
            raise DataError(f"{template.place}: the task {template.task!r} appears twice: rename one")
        names.add(template.task)
    if not found:
        raise DataError(f"{at(path)}: holds no task: give a workbook or YAML of tasks ({_LAYOUT})")
    return found


def _of_workbook(path: Path) -> Iterator[Template]:
    try:
        import openpyxl
    except ImportError:
        raise DataError(f'{at(path)}: is a workbook and needs openpyxl: pip install "duologue[xlsx]"') from None
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            sheets = [(sheet.title, list(sheet.iter_rows(values_only=True))) for sheet in book.worksheets]
        finally:
            book.close()
    except Exception as error:  # whatever a broken archive makes of the library
        raise DataError(
            f"{at(path)}: is no workbook that can be read ({type(error).__name__}): save it again"
        ) from None
    with_header = [(title, rows) for title, rows in sheets if rows and set(COLUMNS) <= set(map(_name, rows[0]))]
    if not with_header:
        raise DataError(f"{at(path)}: no sheet begins with the columns {', '.join(COLUMNS)}, Option1, ...: add them")
    for title, rows in with_header:
        yield from _of_rows(rows, f"{path}: {title}")


def _of_rows(rows: Iterable[Sequence[Any]], where: str) -> Iterator[Template]:
    """A template begins where Type is filled; each row with a Key gives one key with its options."""
    first, *others = rows
    header = [_name(cell) for cell in first]
    columns = {name: header.index(name) for name in COLUMNS}
    of_options = [number for number, name in enumerate(header) if name.startswith("Option")]
    current: tuple[str, str, str] | None = None
    options: dict[str, tuple[str, ...]] = {}
    for number, row in enumerate(others, start=2):
        place = f"{where}, row {number}"
        cells = {name: option(row[column] if column < len(row) else None, place) for name, column in columns.items()}
        given = [option(row[column], place) for column in of_options if column < len(row)]
        if cells["Type"]:
            if current:
                yield Template(task=current[0], prompt=current[1], options=options, place=current[2])
            if not cells["Prompt"]:
                raise DataError(f"{place}: the task {cells['Type'].strip()!r} has no Prompt: fill the cell")
            current, options = (cells["Type"].strip(), cells["Prompt"], place), {}
        elif cells["Prompt"]:
            raise DataError(f"{place}: a Prompt without a Type: name the task")
        key = (cells["Key"] or "").strip()
        if not key:
            if any(given):
                raise DataError(f"{place}: options without a Key: name the placeholder that they are for")
            continue
        if current is None:
            raise DataError(f"{place}: the key {key!r} stands before any task: give the row a Type and a Prompt")
        if key in options:
            raise DataError(f"{place}: the key {key!r} appears twice: rename one")
        options[key] = tuple(text for text in given if text is not None)
    if current:
        yield Template(task=current[0], prompt=current[1], options=options, place=current[2])


def _name(cell: object) -> str:
    return str(cell).strip() if cell is not None else ""


class _Loader(yaml.SafeLoader):
    """YAML as it stands: a key that is given twice is an error, not the last one's win."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.MarkedYAMLError(problem=f"the key {key!r} appears twice", problem_mark=node.start_mark)
        return super().construct_mapping(node, deep)


def _of_yaml(path: str | Path) -> Iterator[Template]:
    try:
        value = yaml.load(read_text(path), _Loader)  # a safe loader
    except yaml.MarkedYAMLError as error:
        line = [f"line {error.problem_mark.line + 1}"] if error.problem_mark else []
        raise DataError(f"{at(path, *line)}: is no YAML ({error.problem}): {_LAYOUT}") from None
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{at(path)}: is no YAML ({' '.join(str(error).split())}): {_LAYOUT}") from None
    if not isinstance(value, dict):
        raise DataError(f"{at(path)}: holds no task: {_LAYOUT}")
    for name, task in value.items():
        place = at(path, f"task {name}")
        unknown = sorted(set(map(str, task)) - {"prompt", "options"}) if isinstance(task, dict) else []
        if not isinstance(name, str) or not isinstance(task, dict) or not _text(task.get("prompt")):
            raise DataError(f"{place}: has no text 'prompt': {_LAYOUT}")
        if unknown or not isinstance(task.get("options", {}) or {}, dict):
            problem = f"has an unknown {unknown[0]!r}" if unknown else "'options' is no mapping"
            raise DataError(f"{place}: {problem}: {_LAYOUT}")
        options = {str(key): _listed(given, f"{place}, {key}") for key, given in (task.get("options") or {}).items()}
        yield Template(task=name, prompt=task["prompt"].strip(), options=options, place=str(path))


def _text(given: object) -> bool:
    return isinstance(given, str) and bool(given.strip())


def _listed(given: Any, place: str) -> tuple[str, ...]:
    if not isinstance(given, list):
        raise DataError(f"{place}: the options are no list: {_LAYOUT}")
    return tuple(text for text in (option(one, place) for one in given) if text is not None)
