"""`duologue validity --link`: whether users who are like people rank assistants of known order better."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...data import record_lines
from ..options.run import RunOptions
from ..output.plans import print_plan
from ..streams import print_json, put, put_tables

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...data.records import Conversation
    from ...runs.folder.summary import Summary
    from ...runs.people.link import LinkPlan
    from ...runs.people.validity import ValidityRun

FIGURE = "link.svg"


def linked(
    plan: "LinkPlan",
    folder: Path,
    options: RunOptions,
    run_one: "Callable[[ValidityRun], Summary]",
    ended: "Callable[[list[Summary]], int]",
) -> int:
    """Run the plan into the folder, print the report and write it; gives the exit code."""
    from ...studies.link.study import LinkStudy, written
    from ...views import forest_plot

    study = LinkStudy(plan)
    if options.plan:
        return print_plan(study.calls(folder, resume=options.resume), options)
    conversations: dict[Path, list[Conversation]] = {}
    summaries = []
    for run in plan.runs:
        summaries.append(run_one(run))
        conversations[run.place] = list(record_lines.attempted(run.folder(folder)))
    if code := ended(summaries):
        return code
    report = study.report(conversations, folder)
    path = written(report, folder)
    if report.rows:
        figure = forest_plot(report.intervals("agreement"), label="rank correlation with agreement", scale=(-1.0, 1.0))
        (folder / FIGURE).write_text(figure.svg, encoding="utf-8")
    if options.as_json:
        print_json({"out": str(folder), **report.model_dump(mode="json")})
    else:
        put_tables(report.tables())
        put("", f"written: {path}")
    return 0
