"""Short names of tasks, independent of the source, so that the tasks of two sources can be matched."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

TaskName: TypeAlias = Literal["travel", "new_travel", "gifts", "recipe", "skills", "restaurant", "other"]

NAMES: Mapping[TaskName, tuple[str, ...]] = {
    "travel": ("travel planning", "travel", "旅行规划"),
    "new_travel": ("new travel planning", "new travel"),
    "gifts": ("preparing gifts", "gift preparation", "gifts", "礼物准备"),
    "recipe": ("recipe planning", "recipe", "recipes", "菜谱规划"),
    "skills": ("skills learning planning", "skill learning planning", "skills", "技能学习规划"),
    "restaurant": ("choosing restaurant", "restaurant choice", "restaurant", "选择餐厅", "餐厅选择"),
}
"""The names of each task in RecLLMSim's simulated files, people's files and the shipped tasks, and common names.

The first name is the one to display."""

_SHORT: Mapping[str, TaskName] = {spelling: name for name, names in NAMES.items() for spelling in names}


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
    """The name in lower case, with spaces as separators."""
    return " ".join(task.replace("_", " ").casefold().split())
