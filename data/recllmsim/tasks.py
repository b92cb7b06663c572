"""Tasks of simulated users: their names, their contexts from templates, and every combination with profiles.

A workbook or a YAML file has a template for each task, in the syntax of RecLLMSim's workbooks: `[KEY]` is replaced by
the chosen option of a key, and `[KEY:{"option": "text"}]` by the text of the chosen option.
"""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.resources import as_file, files
from itertools import product
from math import prod
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, Literal, TypeAlias, TypeVar

from pydantic import Field

from ...errors import DataError, at
from ..files.json import from_yaml, read_text
from ..files.tables import is_workbook, name_of, sheets
from ..records import Conversation, Record
from ..text.languages import Language
from ..text.terminal import names_in
from .profiles import Situation, sampled

TaskName: TypeAlias = Literal["travel", "new_travel", "gifts", "recipe", "skills", "restaurant", "other"]
"""Short name of a task, independent of the source, so that the tasks of two sources can be matched."""

NAMES: Mapping[TaskName, tuple[str, ...]] = {
    "travel": ("travel planning", "travel", "旅行规划"),
    "new_travel": ("new travel planning", "new travel"),
    "gifts": ("preparing gifts", "gift preparation", "gifts", "礼物准备"),
    "recipe": ("recipe planning", "recipe", "recipes", "菜谱规划"),
    "skills": ("skills learning planning", "skill learning planning", "skills", "技能学习规划"),
    "restaurant": ("choosing restaurant", "restaurant choice", "restaurant", "选择餐厅", "餐厅选择"),
}
"""The names of each task in RecLLMSim's simulated files, people's files and the shipped tasks; the first is displayed."""

COLUMNS = ("Type", "Prompt", "Key")
"""Columns of a sheet, besides those whose names begin with `Option`."""
MOST_CONTEXTS = 100_000
"""Most contexts of one template; more are taken for a mistake in the options."""

_LAYOUT = "a task is 'name: {prompt: text, options: {KEY: [text, ...]}}'"
_PLACEHOLDER = re.compile(r"\[\s*(?P<key>\w(?:[\w -]*\w)?)\s*(?P<end>[\]:])")
_SHORT: Mapping[str, TaskName] = {spelling: name for name, names in NAMES.items() for spelling in names}

Source = TypeVar("Source", Situation, Conversation, Situation | Conversation)


def task_name(task: str) -> TaskName:
    """The short name of a task, such as `travel` for `旅行规划`; `other` for an unknown task.

    >>> task_name("preparing gifts")
    'gifts'
    """
    return _SHORT.get(_plain(task), "other")


def common_task(task: str) -> str:
    """The display name of a task, by which conversations of all sources are matched; an unknown task keeps its name.

    The two sets of travel contexts are one task, as in the published tables by task.

    >>> common_task("礼物准备"), common_task("new travel planning"), common_task("Brew_tea")
    ('preparing gifts', 'travel planning', 'brew tea')
    """
    name = task_name(task)
    return _plain(task) if name == "other" else NAMES["travel" if name == "new_travel" else name][0]


def _plain(task: str) -> str:
    return " ".join(task.replace("_", " ").casefold().split())


class Template(Record):
    """A task's text with placeholders, and the options of each key in order."""

    task: str
    prompt: str
    options: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    source: str = ""
    """File, sheet and row, for error messages."""

    def fault(self, problem: str) -> DataError:
        """The error with where the template is."""
        return DataError(f"{at(self.source) + ': ' if self.source else ''}task {self.task!r}: {problem}")


def expand(template: Template) -> list[str]:
    """Every context: the product of all options in the order of the keys; the last key varies fastest.

    Placeholders in options are filled too, in any order of keys. DataError for a key without options, a mapping without
    the chosen option, a cycle, a malformed mapping, and more contexts than `MOST_CONTEXTS`.
    """
    if prod(map(len, template.options.values())) > MOST_CONTEXTS:
        raise template.fault(f"has more than {MOST_CONTEXTS:,} contexts: give fewer options")
    if empty := next((key for key, options in template.options.items() if not options), None):
        raise template.fault(f"the key {empty!r} has no option: give it one, or delete it")
    choices = product(*template.options.values())
    return [_filled(template, template.prompt, dict(zip(template.options, choice, strict=True))) for choice in choices]


def _filled(template: Template, text: str, chosen: Mapping[str, str], within: tuple[str, ...] = ()) -> str:
    """The text with its placeholders filled; it is never evaluated. `within`: the keys whose options contain it."""
    pieces: list[str] = []
    end = 0
    while placeholder := _PLACEHOLDER.search(text, end):
        pieces.append(text[end : placeholder.start()])
        key, end = placeholder["key"], placeholder.end()
        if key not in chosen:
            known = ", ".join(chosen) or "none"
            raise template.fault(f"the placeholder [{key}] has no options (keys with options: {known}): add its key")
        value, inside = chosen[key], (*within, key)
        if placeholder["end"] == ":":
            mapping, end = _mapping(template, key, text, end)
            if value not in mapping:
                raise template.fault(f"the mapping of [{key}] lacks {shortened(value)}: give it every option")
            value, inside = mapping[value], within
        elif key in within:
            cycle = " -> ".join((*within[within.index(key) :], key))
            raise template.fault(f"the options of {cycle} contain each other: break the cycle")
        pieces.append(_filled(template, value, chosen, inside))
    return "".join((*pieces, text[end:]))


def _mapping(template: Template, key: str, text: str, start: int) -> tuple[dict[str, str], int]:
    """The mapping that begins at the offset, and the offset after its bracket.

    A quoted text may hold braces and brackets, so it ends at the first place where what stands before is a mapping.
    """
    for end in re.finditer(r"\}\s*\]", text[start:]):
        try:
            value = ast.literal_eval(text[start : start + end.start() + 1].strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(value, dict) and all(isinstance(part, str) for pair in value.items() for part in pair):
            return value, start + end.end()
        break
    raise template.fault(f'the mapping of [{key}] is not one: write [{key}:{{"option": "text"}}]')


def read_tasks(path: str | Path) -> dict[str, list[str]]:
    """The contexts of each task in a workbook or a YAML file, in the file's order.

    A context's index in its list is its `task_context_id`.
    """
    return {template.task: expand(template) for template in read_templates(path)}


def shipped_tasks(language: Language = "en") -> dict[str, list[str]]:
    """The contexts of the package's own tasks, the same in each language."""
    with as_file(files("duologue.data").joinpath("samples", "tasks", f"{language}.yaml")) as path:
        return read_tasks(path)


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
    found = sheets(path, COLUMNS)
    if not found:
        raise DataError(f"{at(path)}: no sheet begins with the columns {', '.join(COLUMNS)}, Option1, ...: add them")
    for title, rows in found:
        yield from _of_rows(iter(rows), f"{path}: {title}")


def _of_rows(rows: Iterator[Sequence[Any]], where: str) -> Iterator[Template]:
    """The templates of a sheet: a row with a Type begins one; a row with a Key gives a key's options."""
    header = [name_of(cell) for cell in next(rows)]
    current: Template | None = None
    for number, row in enumerate(rows, start=2):
        here = f"{where}, row {number}"
        cells = [(name, _option(cell, here)) for name, cell in zip(header, row, strict=False)]
        task, prompt, key = (dict(reversed(cells)).get(name) for name in COLUMNS)
        options = tuple(text for name, text in cells if name.startswith("Option") and text is not None)
        key = (key or "").strip()
        if task:
            if current is not None:
                yield current
            if not prompt:
                raise DataError(f"{here}: the task {task.strip()!r} has no Prompt: fill the cell")
            current = Template(task=task.strip(), prompt=prompt, source=here)
        elif prompt:
            raise DataError(f"{here}: a Prompt without a Type: name the task")
        if options and not key:
            raise DataError(f"{here}: options without a Key: name the placeholder that they are for")
        if key and current is None:
            raise DataError(f"{here}: the key {key!r} comes before any task: give the row a Type and a Prompt")
        if key and current is not None:
            if key in current.options:
                raise DataError(f"{here}: the key {key!r} appears twice: rename one")
            current = current.model_copy(update={"options": {**current.options, key: options}})
    if current is not None:
        yield current


def _of_yaml(path: str | Path) -> Iterator[Template]:
    value = from_yaml(read_text(path), at(path))
    if not isinstance(value, dict):
        raise DataError(f"{at(path)}: holds no task: {_LAYOUT}")
    for name, task in value.items():
        where = at(path, f"task {shortened(name)}")
        task = task if isinstance(task, dict) else {}
        prompt, options = task.get("prompt"), task.get("options") or {}
        if not isinstance(prompt, str) or not prompt.strip() or task.keys() - {"prompt", "options"}:
            raise DataError(f"{where}: has no text 'prompt', or a key that is none: {_LAYOUT}")
        if not isinstance(options, dict) or not all(isinstance(texts, list) for texts in options.values()):
            raise DataError(f"{where}: 'options' is not a mapping of lists: {_LAYOUT}")
        kept = {
            str(key): tuple(option for text in texts if (option := _option(text, where)) is not None)
            for key, texts in options.items()
        }
        yield Template(task=str(name), prompt=prompt.strip(), options=kept, source=str(path))


def _option(value: Any, where: str) -> str | None:
    """The text of an option, from a cell or a YAML value; None if empty."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a spreadsheet's 3
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise DataError(f"{where}: {shortened(value)} is not a text: put it in quotes, or format the cell as text")
    return str(value)


def combined(tasks: Mapping[str, Sequence[str]], profiles: Iterable[str], language: Language = "en") -> list[Situation]:
    """Every combination of task, context and profile, in this order; `profiles` are texts with ids from 0."""
    numbered = list(enumerate(profiles))
    return [
        Situation(
            language=language,
            task=task,
            task_context=context,
            task_context_id=number,
            preference=text,
            preference_id=preference_id,
        )
        for task, contexts in tasks.items()
        for number, context in enumerate(contexts)
        for preference_id, text in numbered
    ]


def chosen(
    sources: Sequence[Source],
    *,
    tasks: Collection[str] | None = None,
    contexts: Collection[int] | None = None,
    profiles: int | None = None,
    seed: int = 0,
) -> list[Source]:
    """The situations or conversations with these tasks, context numbers and number of profiles, in order.

    Profiles are sampled like the published ones: `random.sample` of the pool with the seed. A text may name several
    tasks, with commas between them. DataError for a task or a context that is not there.
    """
    pairs = [(one, Situation.of(one) if isinstance(one, Conversation) else one) for one in sources]
    names = dict.fromkeys(situation.task for _, situation in pairs)
    named = names_in(tasks or (), names)
    if strange := [task for task in named if task not in names]:
        raise DataError(f"there is no task {strange[0]!r}, only {', '.join(names)}")
    if named:
        pairs = [(one, situation) for one, situation in pairs if situation.task in named]
    if contexts is not None:
        ids = sorted({situation.task_context_id for _, situation in pairs if situation.task_context_id is not None})
        if unknown := [number for number in contexts if number not in ids]:
            there = ", ".join(map(str, ids)) or "no numbers of contexts"
            raise DataError(f"there is no context {unknown[0]}: the tasks asked for have {there}")
        pairs = [(one, situation) for one, situation in pairs if situation.task_context_id in contexts]
    if profiles is not None:
        pool = list(dict.fromkeys((situation.preference_id, situation.profile_text) for _, situation in pairs))
        drawn = {profile for _, profile in sampled(pool, profiles, seed)}
        pairs = [pair for pair in pairs if (pair[1].preference_id, pair[1].profile_text) in drawn]
    return [one for one, _ in pairs]
