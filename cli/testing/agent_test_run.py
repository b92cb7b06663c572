"""The run of `duologue test`: its conversations are simulated, its result is printed and written."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..options.run import RunOptions
from ..running.run import again_in, ended, simulated
from ..streams import failed, print_json, put, say
from .report_files import ReportFiles
from .success_report import as_json, report

if TYPE_CHECKING:
    from ...analysis.testing.pairs import Margin
    from ...analysis.testing.success import Successes
    from ...nodes.limits import Limits
    from ...runs.simulate import Run
    from ...studies.agent_trials import AgentTest
    from ...studies.paired_tests import OldVersion
    from ...studies.testing.origin import TestOrigin


@dataclass(frozen=True, kw_only=True)
class AgentTestRun:
    """A test in its run folder, with the version that it is compared with."""

    trial: "AgentTest"
    files: ReportFiles
    folder: Path
    limits: "Limits"
    options: RunOptions
    repeats: int
    bounds: Mapping[str, Any]
    """`threshold` and `at_least`."""
    with_page: bool
    name: str
    """Of the agent."""
    origin: "TestOrigin"
    """Where cast and scenarios come from."""
    old: "OldVersion | None" = None
    margin: "Margin | None" = None
    """What fails the agent against the old version."""

    def simulated(self) -> int:
        """Simulate and report, or print the plan of that; gives the exit code."""
        from ...analysis.testing.report import resuming
        from ...runs.loop import blocking
        from ...runs.store import standing
        from ...studies.null_agents import floor_of

        casts = {"": self.trial.cast}
        beside = None
        if self.old is not None:
            say(*self.old.notes(self.trial.cast.nodes["user_simulator"]))
            casts |= self.old.casts
            beside = self.old.replies
        run = simulated(casts, self.trial.scenarios, self.folder, self.limits, self.options, beside)
        counted = list(run.attempted())
        paired = None if self.old is None else self.old.compared(counted, run, name=self.name, margin=self.margin)
        result = self.trial.result(
            counted,
            against=paired,
            ending=run.ending,
            cost=run.calls.spending.counted_cost,
            **self.bounds,
        )
        again = "" if self.options.frozen else resuming(result, again_in(self.folder), run.ending)
        floor = blocking(floor_of(self.trial, self.limits))
        unwritten = self._put(result := result.model_copy(update={"resume": again, "floor": floor}), run)
        say(*run.notes, *run.calls.spending.notes)
        if again:
            say(again)
        code = 1 if again else ended(run, standing(self.folder))
        code = 0 if result.passed else max(code, 1)
        for line in unwritten:
            code = max(code, failed(f"{line}; then {again_in(self.folder)} writes it"))
        return code

    def _put(self, result: "Successes", run: "Run") -> list[str]:
        from ...analysis.testing.report import headline

        page, pairs_page, unwritten = self.files.write(
            result,
            self.folder,
            self.trial.plan,
            with_page=self.with_page,
            old=None if self.old is None else self.old.records(run),
            ending=run.ending,
        )
        if self.options.as_json:
            about: dict[str, Any] = {"out": str(self.folder), "page": page and str(page), "cast": self.files.suite}
            about |= {"repeats": self.repeats} | ({"pairs_page": str(pairs_page)} if pairs_page is not None else {})
            print_json({**about, **self.origin.as_json, **as_json(result, page)})
            say(*headline(result.model_copy(update={"resume": ""})))
            return unwritten
        report(result, page)
        put(*self.origin.lines(result))
        places = {"run": self.folder, "page": page, "pairs": pairs_page}
        put(*(f"{name}: {path}" for name, path in places.items() if path is not None))
        say(f"duologue show {self.folder} --id ID writes a single conversation")
        return unwritten
