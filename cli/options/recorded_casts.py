"""Options of commands that take up stored conversations: what is to differ from the cast and limits of their run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from ...errors import SettingError
from .cast_settings import setting
from .limits import RECORDED_LIMITS
from .sections import CAST
from .shared import Prompts, SettingsOption, assistant_by, cast_named, option

if TYPE_CHECKING:
    from ...studies.forks import Rebuilding

REBUILDING: dict[str, tuple[Any, Any]] = {
    "assistant": (
        Annotated[str | None, assistant_by("MODULE:NAME, agent:URL, openai:NAME or others. Default: that of its run.")],
        None,
    ),
    "cast": (
        Annotated[str | None, cast_named(". Default: that of its run, of its record or of its kind.", section=CAST)],
        None,
    ),
    "world": (
        Annotated[
            str | None,
            option(
                "Make a world for each conversation, which the agent's tools work on.",
                section=CAST,
                metavar="MODULE:NAME",
            ),
        ],
        None,
    ),
    "prompts": (Prompts, None),
    "settings": (SettingsOption, None),
    "parts": (
        Annotated[
            list[str] | None,
            option(
                "Replace this part of the cast, such as answer_validator or stop; may be repeated.",
                "--replace",
                section=CAST,
                metavar="PART=MODULE:NAME",
            ),
        ],
        None,
    ),
    **RECORDED_LIMITS,
}


def rebuilding(values: Mapping[str, Any], user: str | None = None) -> "Rebuilding":
    """What is to differ from the cast of a stored conversation, by the values of `REBUILDING`."""
    from ...studies.forks import Rebuilding

    def chosen(model: Any) -> dict[str, Any]:
        texts = dict(setting(text, model) for text in values["settings"] or ())
        return texts | ({} if values["prompts"] is None else {"prompts": values["prompts"]})

    replaced = dict(named_value(text, "--replace", "PART=MODULE:NAME") for text in values["parts"] or ())
    return Rebuilding(values["cast"], user, values["assistant"], values["world"], chosen, replaced)


def limits_that_differ(values: Mapping[str, Any]) -> dict[str, Any]:
    """The limits that are given, by name."""
    return {name: values[name] for name in RECORDED_LIMITS if values[name] is not None}


def named_value(text: str, flag: str, form: str) -> tuple[str, str]:
    """Name and value of `NAME=VALUE`; SettingError for another form."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise SettingError(f"{flag} {text}: write {form}")
    return name, value
