"""`duologue replay`: each stored conversation again with a changed agent."""

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

from ...data.formats.source import CONVERSATIONS, MANIFEST
from ..options.model_fields import extended
from ..options.recorded_casts import REBUILDING, limits_that_differ, rebuilding
from ..options.shared import AnySource, limit_to
from ..running.run import OUT, ended, simulated
from ..simulate import RUN, out_named, run_options, surrounded
from ..streams import print_json, put, say


@extended({**REBUILDING, **RUN, **out_named("replay")})
@surrounded
def replay_command(
    source: AnySource,
    limit: Annotated[int | None, limit_to("conversations")] = None,
    **values: Any,
) -> int:
    """Replay stored conversations with a changed agent.

    The agent replies to every message. The user's stored messages are used, without a call, as long as the answers
    before them equal the record. From the first different answer on, the user is simulated.
    """
    from ...runs.store import new_folder, standing
    from ...studies.replays import ReplayPlan
    from ..output.overwriting import check_outside

    out: Path | None = values["out"]
    options = run_options(values)
    plan = ReplayPlan.of(
        source,
        rebuilding=rebuilding(values),
        limit=limit,
        limits=limits_that_differ(values),
        out=out,
    )
    say(*plan.notes)
    folder = out or new_folder(OUT, "replay")
    check_outside(folder, source)
    run = simulated({"": plan.cast}, plan.scenarios, folder, plan.limits, options)
    result = plan.result(run.attempted())
    if options.as_json:
        print_json(
            {"out": str(folder), "identical": result.identical, "saved": result.saved, **result.model_dump(mode="json")}
        )
    else:
        put(*result.lines(), f"run: {folder}")
        if (folder / CONVERSATIONS).is_file():
            put(f"look: duologue show {quote(str(folder))}")
        if (source / MANIFEST).is_file():
            put(f"in pairs: duologue test --results {quote(str(folder))} --against {quote(str(source))}")
    say(*run.calls.spending.notes)
    return ended(run, standing(folder))
