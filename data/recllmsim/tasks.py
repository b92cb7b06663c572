"""Reading of tasks and their templates from a workbook or YAML."""

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
"""Columns of a sheet, besides those whose names begin with `Option`."""

_LAYOUT = "a task is 'name: {prompt: text, options: {KEY: [text, ...]}}'"


def read_tasks(path: str | Path) -> dict[str, list[str]]:
    """The contexts of each task in a workbook or a YAML file, in the file's order.

    A context's index in its list is its `task_context_id`.
    """
    return {template.task: expand(template) for template in read_templates(path)}


def shipped_tasks(language: Language = "en") -> dict[str, list[str]]:
    """The contexts of the package's own tasks, the same in each language."""
    with as_file(files("duologue.data").joinpath("samples", "tasks", f"{language}.yaml")) as path:
        return read_tasks(path)


def chosen_tasks(tasks: Mapping[str, list[str]], names: Sequence[str] | None) -> dict[str, list[str]]:
    """The named tasks in the order of the names; all tasks if there are no names. DataError for an unknown name."""
    for name in names or ():
        if name not in tasks:
            raise DataError(f"there is no task {name!r}, only {', '.join(map(repr, tasks))}")
    return {name: tasks[name] for name in names or tasks}


def read_templates(path: str | Path) -> list[Template]:
    """The templates of a workbook (extra `xlsx`) or a YAML file; the content decides which it is."""
    try:
        # A workbook that was cut off is no valid archive, but begins like one.
        workbook = zipfile.is_zipfile(path) or Path(path).read_bytes()[:4] == b"PK\x03\x04"
    except (OSError, ValueError):
        workbook = False
    templates = list(_of_workbook(Path(path)) if workbook else _of_yaml(path))
    names: set[str] = set()
    for template in templates:
        if template.task in names:
            raise DataError(f"{template.source}: the task {template.task!r} appears twice: rename one")
        names.add(template.task)
    if not templates:
        raise DataError(f"{at(path)}: holds no task: give a workbook or YAML of tasks ({_LAYOUT})")
    return templates


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
    except Exception as error:  # a broken archive can raise anything in the library
        raise DataError(
            f"{at(path)}: is no workbook that can be read ({type(error).__name__}): save it again"
        ) from None
    with_header = [(title, rows) for title, rows in sheets if rows and set(COLUMNS) <= set(map(_name, rows[0]))]
    if not with_header:
        raise DataError(f"{at(path)}: no sheet begins with the columns {', '.join(COLUMNS)}, Option1, ...: add them")
    for title, rows in with_header:
        yield from _of_rows(rows, f"{path}: {title}")


def _of_rows(rows: Iterable[Sequence[Any]], where: str) -> Iterator[Template]:
    """The templates of a sheet. A row with a Type begins a template; a row with a Key gives a key's options."""
    first, *further_rows = rows
    header = [_name(cell) for cell in first]
    columns = {name: header.index(name) for name in COLUMNS}
    option_columns = [number for number, name in enumerate(header) if name.startswith("Option")]
    current: tuple[str, str, str] | None = None
    options: dict[str, tuple[str, ...]] = {}
    for number, row in enumerate(further_rows, start=2):
        where_row = f"{where}, row {number}"
        cells = {
            name: option(row[column] if column < len(row) else None, where_row) for name, column in columns.items()
        }
        row_options = [option(row[column], where_row) for column in option_columns if column < len(row)]
        if cells["Type"]:
            if current:
                yield Template(task=current[0], prompt=current[1], options=options, source=current[2])
            if not cells["Prompt"]:
                raise DataError(f"{where_row}: the task {cells['Type'].strip()!r} has no Prompt: fill the cell")
            current, options = (cells["Type"].strip(), cells["Prompt"], where_row), {}
        elif cells["Prompt"]:
            raise DataError(f"{where_row}: a Prompt without a Type: name the task")
        key = (cells["Key"] or "").strip()
        if not key:
            if any(row_options):
                raise DataError(f"{where_row}: options without a Key: name the placeholder that they are for")
            continue
        if current is None:
            raise DataError(f"{where_row}: the key {key!r} comes before any task: give the row a Type and a Prompt")
        if key in options:
            raise DataError(f"{where_row}: the key {key!r} appears twice: rename one")
        options[key] = tuple(text for text in row_options if text is not None)
    if current:
        yield Template(task=current[0], prompt=current[1], options=options, source=current[2])


def _name(cell: object) -> str:
    return str(cell).strip() if cell is not None else ""


class _Loader(yaml.SafeLoader):
    """A safe YAML loader for which a repeated key is an error."""

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
        where = at(path, f"task {name}")
        unknown = sorted(set(map(str, task)) - {"prompt", "options"}) if isinstance(task, dict) else []
        if not isinstance(name, str) or not isinstance(task, dict) or not _is_text(task.get("prompt")):
            raise DataError(f"{where}: has no text 'prompt': {_LAYOUT}")
        if unknown or not isinstance(task.get("options", {}) or {}, dict):
            problem = f"has an unknown {unknown[0]!r}" if unknown else "'options' is no mapping"
            raise DataError(f"{where}: {problem}: {_LAYOUT}")
        options = {str(key): _listed(texts, f"{where}, {key}") for key, texts in (task.get("options") or {}).items()}
        yield Template(task=name, prompt=task["prompt"].strip(), options=options, source=str(path))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _listed(values: Any, where: str) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise DataError(f"{where}: the options are no list: {_LAYOUT}")
    return tuple(text for text in (option(value, where) for value in values) if text is not None)
