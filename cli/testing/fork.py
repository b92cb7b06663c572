"""`duologue fork`: take up a stored conversation at one of its messages."""

import json
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

from ...data.formats.record_lines import attempted
from ..options.model_fields import extended
from ..options.recorded_casts import REBUILDING, limits_that_differ, named_value, rebuilding
from ..options.sections import SCENARIOS
from ..options.shared import (
    AnySource,
    option,
    user_by,
)
from ..running.run import OUT, report, simulated
from ..simulate import RUN, out_named, run_options, surrounded, to_be_shown
from ..streams import put, say


@extended({**REBUILDING, **RUN, **out_named("fork")})
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
    user: Annotated[str | None, user_by("openai:NAME, offline or others. Default: that of its run.")] = None,
    repeats: Annotated[int, option("Simulate N futures.", "--repeats", min=1)] = 1,
    scenario: Annotated[
        list[str] | None,
        option(
            "Change this key of the scenario, such as profile; JSON, or a text. May be repeated.",
            section=SCENARIOS,
            metavar="KEY=VALUE",
        ),
    ] = None,
    **values: Any,
) -> int:
    """Simulate futures of a stored conversation from a message.

    The messages up to that one are those of the record, and are not paid for again. After a user's message the
    assistant replies, after an assistant's message the user. Messages have the numbers of the page that `duologue show`
    writes.
    """
    from ...runs import new_folder
    from ...studies.forks import ForkPlan
    from ..output.overwriting import check_outside

    out: Path | None = values["out"]
    options = run_options(values)
    plan = ForkPlan.of(
        source,
        at=at,
        id=name,
        edit=edit,
        scenario=dict(_value(text) for text in scenario or ()),
        rebuilding=rebuilding(values, user),
        repeats=repeats,
        limits=limits_that_differ(values),
    )
    say(*plan.notes)
    folder = out or new_folder(OUT, "fork")
    check_outside(folder, source)
    run = simulated({"": plan.cast}, plan.scenarios, folder, plan.limits, options)
    code = report(run, options, plan.counts(run.attempted()))
    if to_be_shown(folder, options):
        put(*plan.success_lines(attempted(folder)))
        put(f"look:    duologue show {quote(str(folder))}")
    return code


def _value(text: str) -> tuple[str, Any]:
    """A key of a scenario and its value, which is read as JSON where it is JSON."""
    name, value = named_value(text, "--scenario", "KEY=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
