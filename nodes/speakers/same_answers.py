"""Functions of one's own that say whether a new answer stands for a recorded one, by name in states."""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias, cast

from ...data.records import Message
from ...errors import SettingError
from ..contract import check_function
from ..settings.import_path import import_path_of, imported

SameAnswer: TypeAlias = Callable[[Message, Message], bool]
"""From a recorded and a new message of the assistant to whether the user's recorded reply answers both."""
_FORM = "(recorded message, new message) -> bool"
_LIVE: dict[str, SameAnswer] = {}
"""Functions without an import path, by name."""


def name_of_function(same: SameAnswer | str | None) -> str:
    """The name of a function or import path; empty for None. ContractError if it does not take two messages."""
    if same is None:
        return ""
    if isinstance(same, str):
        function_of(same)
        return same
    check_function("same", same, _FORM)
    if path := import_path_of(same):
        return path
    name = f"<live {id(same)}>"
    _LIVE[name] = same
    return name


@lru_cache(maxsize=8)
def function_of(name: str) -> SameAnswer:
    """The function of a name; SettingError if this process has none."""
    if name in _LIVE:
        return _LIVE[name]
    if name.startswith("<"):
        raise SettingError("same: a function without an import path works in one process only: give MODULE:NAME")
    function = imported(name, "same")
    check_function("same", function, _FORM)
    return cast(SameAnswer, function)
