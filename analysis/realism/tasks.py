"""The same task under the names that different sources give it."""

from collections.abc import Mapping

NAMES: Mapping[str, tuple[str, ...]] = {
    "travel planning": ("travel planning", "new travel planning", "travel", "旅行规划"),
    "preparing gifts": ("preparing gifts", "gift preparation", "gifts", "礼物准备"),
    "recipe planning": ("recipe planning", "recipe", "recipes", "菜谱规划"),
    "skills learning planning": ("skills learning planning", "skill learning planning", "skills", "技能学习规划"),
    "choosing restaurant": ("choosing restaurant", "restaurant choice", "restaurant", "餐厅选择", "选择餐厅"),
}
"""Each task with the names under which sources know it: those of the published data sets, and plain ones."""

_TASKS = {name: task for task, names in NAMES.items() for name in names}


def task_named(name: str) -> str:
    """The task of that name, whatever its case and separators; a name that no table knows is its own task."""
    plain = " ".join(name.replace("_", " ").lower().split())
    return _TASKS.get(plain, plain)
