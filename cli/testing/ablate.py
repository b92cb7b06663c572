"""`duologue ablate`: compare several variants of a cast with the first."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import SettingError
from ..options.model_fields import extended
from ..options.run import RunOptions, options_of_run
from ..options.sections import OUTPUT
from ..options.shared import option, out_to
from ..output.failure_lines import failures
from ..output.overwriting import check_outside
from ..output.plans import print_plan
from ..running.interrupts import STOPPED, exit_code
from ..running.run import OUT, end_in_words, planned_calls, run_into
from ..streams import print_json, put, put_tables, say

if TYPE_CHECKING:
    from ...runs.engine.control import Control
    from ...runs.folder.summary import Summary
    from ...studies.ablation.variants import AblationPlan

RUN = options_of_run("resume", "yes", "as_json", "keep_calls", "no_snapshots", "retry_failed")
"""Options that say how to run: variants are simulated in turns, in one process."""


@extended(RUN)
def ablate_command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="TOML, YAML or JSON: a cast, scenarios, repeats, measures, and variants (see the docs).",
        ),
    ],
    out: Annotated[
        Path | None,
        out_to("this folder: a run folder for each variant. Default: out/ablation-N with the next free number."),
    ] = None,
    limit: Annotated[int | None, option("Limit to the first N scenarios. Default: as in FILE.", min=1)] = None,
    repeats: Annotated[
        int | None, option("Simulate N conversations about each scenario. Default: as in FILE.", min=1)
    ] = None,
    with_page: Annotated[
        bool, option("Write the HTML page, ablation.html in the folder.", "--page/--no-page", section=OUTPUT)
    ] = True,
    **values: Any,
) -> int:
    """Compare several variants of a cast with the first.

    They are simulated alternately, on the same scenarios with the same seed. Each measure of each variant has its
    paired difference to the first with a 95 % interval and p, adjusted for all of them. Exit code 0: all conversations
    count; 1: some are missing, or a limit or an endpoint ended them; 2: bad input.
    """
    from ...studies.ablation.files import AblationFile
    from ...studies.ablation.variants import AblationPlan
    from ...studies.forks import new_folder

    options = RunOptions(**values | {"resume": values["resume"] or values["retry_failed"]})
    if options.resume and out is None:
        raise SettingError("--resume needs --out: name the folder to continue")
    ablation = AblationFile.of(file)
    changed: dict[str, Any] = {
        name: value for name, value in (("limit", limit), ("repeats", repeats)) if value is not None
    }
    check_outside(out, ablation.scenarios)
    with options.surroundings():
        plan = AblationPlan.of(ablation.variants(), **(ablation.options() | changed), notify=say)
        folder = out or new_folder(OUT, "ablation")
        versions = [(plan.casts[name], place) for name, place in plan.folders(folder).items()]
        states = list(plan.scenarios.states)
        if options.plan:
            return print_plan(planned_calls(versions, states, None, options), options)
        control = options.control()
        again = f"the same command with --out {quote(str(folder))} --resume"
        summary = run_into(
            *(versions[0][0], states, versions[0][1], None, plan.scenarios.source, options, control),
            again=again,
            beside=versions[1:],
        )
        return _reported(plan, folder, summary, control, again, as_json=options.as_json, with_page=with_page)


def _reported(
    plan: "AblationPlan",
    folder: Path,
    summary: "Summary",
    control: "Control",
    again: str,
    *,
    as_json: bool,
    with_page: bool,
) -> int:
    """Print the comparison, and write its page; gives the exit code."""
    from ...data.files.json_files import write_text
    from ...views.testing.ablation import ABLATION_PAGE, ablation_page

    folders = plan.folders(folder)
    report = plan.report_of(folder)
    page = folder / ABLATION_PAGE if with_page else None
    if page is not None:
        write_text(page, ablation_page(report, folders, title=folder.resolve().name))
    if as_json:
        print_json({"out": str(folder), "page": page and str(page), **report.to_json()})
    else:
        put_tables(report.narrow())
        put(*report.summary(), *(f"{name}: {path}" for name, path in (("runs", folder), ("page", page)) if path))
    say(*control.spending.notes)
    missing = sum(variant.planned - variant.counted for variant in report.variants)
    if not missing:
        return 0
    for one in plan.summaries(folder):
        say(*failures(one))
    end, wider = end_in_words(summary, control)
    say(f"{end}{'; ' if end else ''}{missing} conversations do not count; continue: {again}{wider}")
    return exit_code(control) if control.ending == STOPPED else 1
