"""`duologue fork`: take up a stored conversation at one of its messages."""

import json
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

from ...data.formats.detection import CONVERSATIONS
from ...data.formats.record_lines import attempted
from ...errors import SettingError
from ..options.cast_settings import setting
from ..options.limits import RECORDED_LIMITS
from ..options.model_fields import extended
from ..options.sections import CAST, SCENARIOS
from ..options.shared import (
    AnySource,
    Prompts,
    SettingsOption,
    assistant_by,
    cast_named,
    option,
    user_by,
)
from ..running.run import OUT, simulated
from ..simulate import RUN, run_options, surrounded
from ..streams import put, say

RebuiltCast = Annotated[
    str | None, cast_named(". Default: that of its run, of its record or of its kind.", section=CAST)
]
OtherUser = Annotated[str | None, user_by("openai:NAME, offline or others. Default: that of its run.")]
OtherAssistant = Annotated[
    str | None, assistant_by("MODULE:NAME, agent:URL, openai:NAME or others. Default: that of its run.")
]
OtherWorld = Annotated[
    str | None,
    option("Make a world for each conversation, which the agent's tools work on.", section=CAST, metavar="MODULE:NAME"),
]
OtherParts = Annotated[
    list[str] | None,
    option(
        "Replace this part of the cast, such as answer_validator or stop; may be repeated.",
        "--replace",
        section=CAST,
        metavar="PART=MODULE:NAME",
    ),
]


@extended({**RECORDED_LIMITS, **RUN})
@surrounded
def fork_command(
    source: AnySource,
    at: Annotated[
        int, option("Keep the messages up to this number, counted from 0 as on the page.", "--at", metavar="K")
    ],
    name: Annotated[
        str | None,
        option(
            "Take only the conversation with this id; its first characters are enough. Default: the only one.",
            "--id",
            metavar="ID",
        ),
    ] = None,
    edit: Annotated[
        str | None, option("Replace the text of the last kept message by this text.", metavar="TEXT")
    ] = None,
    assistant: OtherAssistant = None,
    user: OtherUser = None,
    repeats: Annotated[int, option("Simulate N futures.", "--repeats", min=1)] = 1,
    scenario: Annotated[
        list[str] | None,
        option(
            "Change this key of the scenario, such as profile; JSON, or a text. May be repeated.",
            section=SCENARIOS,
            metavar="KEY=VALUE",
        ),
    ] = None,
    cast: RebuiltCast = None,
    world: OtherWorld = None,
    world_as_recorded: Annotated[
        bool,
        option(
            "Give the world's own restore() the recorded snapshot, in place of making the kept tool calls again.",
            "--world-as-recorded",
            section=CAST,
        ),
    ] = False,
    prompts: Prompts = None,
    settings: SettingsOption = None,
    parts: OtherParts = None,
    **values: Any,
) -> int:
    """Simulate futures of a stored conversation from a message.

    The messages up to that one are those of the record, and are not paid for again. After a user's message the
    assistant replies, after an assistant's message the user. Messages have the numbers of the page that `duologue show`
    writes.
    """
    from ...studies.forks import ForkPlan, new_folder
    from ..output.overwriting import check_outside

    out: Path | None = values["out"]
    options = run_options(values)
    if options.resume and out is None:
        raise SettingError("--resume needs --out: name the run to continue")
    plan = ForkPlan.of(
        source,
        at=at,
        id=name,
        edit=edit,
        scenario=dict(_value(text) for text in scenario or ()),
        rebuilding=rebuilding(cast, user, assistant, world, prompts, settings, parts),
        repeats=repeats,
        limits={key: values[key] for key in RECORDED_LIMITS if values[key] is not None},
        world_as_recorded=world_as_recorded,
    )
    say(*plan.notes)
    folder = out or new_folder(OUT, "fork")
    check_outside(folder, source)
    scenarios = plan.scenarios
    code = simulated(plan.cast, list(scenarios.states), folder, plan.limits, scenarios.source, options)
    stored = folder / CONVERSATIONS
    if not options.as_json and not options.plan and stored.is_file() and stored.stat().st_size:
        put(*plan.success_lines(attempted(folder)))
        put(f"look:    duologue show {quote(str(folder))}")
    return code


def rebuilding(
    cast: str | None,
    user: str | None,
    assistant: str | None,
    world: str | None,
    prompts: Path | None,
    settings: list[str] | None,
    parts: list[str] | None,
) -> Any:
    """What is to differ from the cast of a stored conversation, by the options of a command."""
    from ...studies.forks import Rebuilding

    def chosen(model: Any) -> dict[str, Any]:
        texts = dict(setting(text, model) for text in settings or ())
        return texts | ({} if prompts is None else {"prompts": prompts})

    replaced = dict(_pair(text, "--replace", "PART=MODULE:NAME") for text in parts or ())
    return Rebuilding(cast, user, assistant, world, chosen, replaced)


def _pair(text: str, flag: str, form: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise SettingError(f"{flag} {text}: write {form}")
    return name, value


def _value(text: str) -> tuple[str, Any]:
    """A key of a scenario and its value, which is read as JSON where it is JSON."""
    name, value = _pair(text, "--scenario", "KEY=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
