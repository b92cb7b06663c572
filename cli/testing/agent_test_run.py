"""The run of `duologue test`: its conversations are simulated, its result is printed and written."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..options.run import RunOptions
from ..output.plans import print_plan
from ..running.beginning import check_in_turns
from ..running.interrupts import INTERRUPTED, STOPPED, exit_code
from ..running.run import Beside, again_in, cut_by, end_in_words, ended, planned_calls, run_into
from ..streams import failed, print_json, put, say
from .report_files import ReportFiles
from .success_report import as_json, report

if TYPE_CHECKING:
    from ...analysis.testing.pairs import Margin
    from ...analysis.testing.success import Successes
    from ...nodes.limits import Limits
    from ...runs.engine.control import Control
    from ...studies.agent_trials import AgentTest
    from ...studies.paired_tests import OldVersion
    from ...studies.testing.origin import TestOrigin

MEND = "mend it, then run the same command with another --out"
"""What to do where a run is refused once the code that failed is another."""


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

    @property
    def beside(self) -> Beside:
        """The old version, where it is simulated too; SettingError for options that do not fit that."""
        if self.old is None or self.old.trial is None or self.old.folder is None:
            return ()
        check_in_turns(self.options)
        return ((self.old.trial.cast, self.old.folder),)

    def planned(self) -> int:
        """Print the plan in place of the run; gives the exit code."""
        states = list(self.trial.scenarios.states)
        versions = [(self.trial.cast, self.folder), *self.beside]
        plan = planned_calls(versions, states, self.limits, self.options)
        return print_plan(plan, self.options)

    def simulated(self) -> int:
        """Simulate and report; gives the exit code."""
        from ...analysis.testing.report import resuming

        beside, control = self.beside, self.options.control()
        conduct: dict[str, Any] = {"keep_calls": self.options.keep_calls or "user"}
        if self.old is not None:
            say(*self.old.notes(self.trial.cast.nodes["user_simulator"]))
            conduct["replies_of"] = self.old.replies

        scenarios = self.trial.scenarios
        summary = run_into(
            self.trial.cast,
            list(scenarios.states),
            self.folder,
            self.limits,
            scenarios.source,
            self.options,
            control,
            beside=beside,
            conduct=conduct,
        )
        cut = cut_by(summary, control)
        result = self._result(ending=cut, cost=control.spending.counted_cost)
        end, wider = end_in_words(summary, control)
        mend = MEND if self.trial.is_refused_once_mended(result) else ""
        resumes = self.options.replay_calls is None
        again = resuming(result, again_in(self.folder) + wider, end, mend=mend) if resumes else ""
        try:
            unwritten = self._put(result := result.model_copy(update={"resume": again}), ending=cut)
        except KeyboardInterrupt:
            say(f"interrupted while the reports were written; continue: {again_in(self.folder)}")
            return INTERRUPTED
        say(*control.spending.notes)
        return self._code(result, again, unwritten, control, 0 if again else ended(summary, control, self.options))

    def _code(self, result: "Successes", again: str, unwritten: list[str], control: "Control", code: int) -> int:
        if again:
            say(again)
            code = exit_code(control) if control.ending == STOPPED else 1
        code = 0 if result.passed else max(code, 1)
        for line in unwritten:
            code = max(code, failed(f"{line}; then {again_in(self.folder)} writes it"))
        return code

    def _result(self, **more: Any) -> "Successes":
        from ...studies.paired_tests import records_of

        paired = None
        if self.old is not None:
            paired = self.old.compared(records_of(self.folder), name=self.name, margin=self.margin)
        return self.trial.result(records_of(self.folder), against=paired, **self.bounds, **more)

    def _put(self, result: "Successes", **more: Any) -> list[str]:
        from ...analysis.testing.report import headline

        old = None if self.old is None else self.old.records
        page, pairs_page, unwritten = self.files.write(
            result, self.folder, self.trial.plan, with_page=self.with_page, old=old, **more
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
