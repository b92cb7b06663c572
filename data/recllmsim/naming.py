"""One short name for each task, whatever a source calls it, so that tasks of two sources can be matched."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

TaskName: TypeAlias = Literal["travel", "new_travel", "gifts", "recipe", "skills", "restaurant", "other"]

NAMES: Mapping[TaskName, tuple[str, ...]] = {
    "travel": ("travel planning", "旅行规划"),
    "new_travel": ("new travel planning",),
    "gifts": ("preparing gifts", "gift preparation", "礼物准备"),
    "recipe": ("recipe planning", "菜谱规划"),
    "skills": ("skills learning planning", "技能学习规划"),
    "restaurant": ("choosing restaurant", "restaurant choice", "选择餐厅", "餐厅选择"),
}
"""What RecLLMSim's simulated files, people's files and the shipped tasks call each task."""


def task_name(task: str) -> TaskName:
    """The short name of a task, such as `travel` for `旅行规划`; `other` for one that is not known.

    >>> task_name("preparing gifts")
    'gifts'
    """
    said = " ".join(task.replace("_", " ").casefold().split())
    for name, known in NAMES.items():
        if said == name or said in known:
            return name
    return "other"
