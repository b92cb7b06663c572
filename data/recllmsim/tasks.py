"""Reading of tasks and their templates from a workbook or YAML."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from importlib.resources import as_file, files
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from ...errors import DataError, at
from ..files.json_files import read_text
from ..files.workbooks import is_workbook, name_of, sheets
from ..files.yaml_text import YamlError, loaded
from ..text.languages import Language
from ..text.terminal import names_in
from .contexts import Contexts, Template, expand, option

COLUMNS = ("Type", "Prompt", "Key")
"""Columns of a sheet, besides those whose names begin with `Option`."""

MOST_OPTIONS = 100_000
"""Most options of all tasks of a file: in YAML one list can stand for those of thousands of keys."""

_MANY_OPTIONS = f"the file has more than {MOST_OPTIONS:,} options: give fewer, or several files"
_LAYOUT = "a task is 'name: {prompt: text, options: {KEY: [text, ...]}}'"


def read_tasks(path: str | Path) -> dict[str, list[str]]:
    """The contexts of each task in a workbook or a YAML file, in the file's order.

    A context's index in its list is its `task_context_id`. See `tasks_on_demand` where only some are needed.
    """
    return {template.task: expand(template) for template in read_templates(path)}


def tasks_on_demand(path: str | Path) -> dict[str, Contexts]:
    """As `read_tasks`, but each context is made when it is asked for, and its faults are found only then."""
    return {template.task: Contexts(template) for template in read_templates(path)}


def shipped_tasks(language: Language = "en") -> dict[str, list[str]]:
    """The contexts of the package's own tasks, the same in each language."""
    with as_file(files("duologue.data").joinpath("samples", "tasks", f"{language}.yaml")) as path:
        return read_tasks(path)


def chosen_tasks(tasks: Mapping[str, list[str]], names: Sequence[str] | None) -> dict[str, list[str]]:
    """The named tasks in the order of the names; all tasks if there are no names.

    A text may hold several, with commas between them. DataError for an unknown name.
    """
    chosen = names_in(names or (), tasks)
    for name in chosen:
        if name not in tasks:
            raise DataError(f"there is no task {name!r}, only {', '.join(map(repr, tasks))}")
    return {name: tasks[name] for name in chosen or tasks}


def read_templates(path: str | Path) -> list[Template]:
    """The templates of a workbook (extra `stats`) or a YAML file; the content decides which it is."""
    templates = list(_of_workbook(Path(path)) if is_workbook(path) else _of_yaml(path))
    names: set[str] = set()
    for template in templates:
        if template.task in names:
            raise DataError(f"{template.source}: the task {template.task!r} appears twice: rename one")
        names.add(template.task)
    if not templates:
        raise DataError(f"{at(path)}: holds no task: give a workbook or YAML of tasks ({_LAYOUT})")
    return templates


def _of_workbook(path: Path) -> Iterator[Template]:
    with_header = False
    with closing(sheets(path, COLUMNS)) as workbook:
        for title, rows in workbook:
            with_header = True
            yield from _of_rows(rows, f"{path}: {title}")
    if not with_header:
        raise DataError(f"{at(path)}: no sheet begins with the columns {', '.join(COLUMNS)}, Option1, ...: add them")


def _of_rows(rows: Iterator[Sequence[Any]], where: str) -> Iterator[Template]:
    """The templates of a sheet.

    A row with a Type begins a template; a row with a Key gives a key's options.
    """
    header = [name_of(cell) for cell in next(rows)]
    columns = {name: header.index(name) for name in COLUMNS}
    option_columns = [number for number, name in enumerate(header) if name.startswith("Option")]
    current: tuple[str, str, str] | None = None
    options: dict[str, tuple[str, ...]] = {}
    for number, row in enumerate(rows, start=2):
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


def _of_yaml(path: str | Path) -> Iterator[Template]:
    try:
        value = loaded(read_text(path))
    except YamlError as error:
        line = [f"line {error.line}"] if error.line else []
        raise DataError(f"{at(path, *line)}: is not YAML ({error}): {_LAYOUT}") from None
    if not isinstance(value, dict):
        raise DataError(f"{at(path)}: holds no task: {_LAYOUT}")
    left = MOST_OPTIONS
    for name, task in value.items():
        where = at(path, f"task {shortened(name)}" if not isinstance(name, str) else f"task {name[:100]}")
        unknown = sorted(set(map(str, task)) - {"prompt", "options"}) if isinstance(task, dict) else []
        if not isinstance(name, str) or not isinstance(task, dict) or not _is_text(task.get("prompt")):
            raise DataError(f"{where}: has no text 'prompt': {_LAYOUT}")
        if unknown or not isinstance(task.get("options", {}) or {}, dict):
            problem = f"has an unknown {shortened(unknown[0])}" if unknown else "'options' is not a mapping"
            raise DataError(f"{where}: {problem}: {_LAYOUT}")
        options: dict[str, tuple[str, ...]] = {}
        for key, texts in (task.get("options") or {}).items():
            left -= len(texts) if isinstance(texts, list) else 0
            if left < 0:
                raise DataError(f"{where}: {_MANY_OPTIONS}")
            options[str(key)] = _listed(texts, f"{where}, {str(key)[:100]}")
        yield Template(task=name, prompt=task["prompt"].strip(), options=options, source=str(path))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _listed(values: Any, where: str) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise DataError(f"{where}: the options are not a list: {_LAYOUT}")
    return tuple(text for text in (option(value, where) for value in values) if text is not None)
