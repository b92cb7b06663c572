"""What a run has come to: counted from what is on the disk, not from what was simulated."""

from dataclasses import dataclass
from pathlib import Path

from ..data.counts import Counts
from ..data.formats.record_lines import Run
from ..nodes.calls.gates import EndpointError
from ..nodes.state import State
from . import dataset, manifests
from .engine import name_of
from .folder import RunFolder
from .journal import RunError
from .standing import finished_in_words


@dataclass(frozen=True, repr=False)
class Summary:
    """The result of a run."""

    path: Path
    dataset: Path
    planned: int
    equal: int
    """Scenarios that repeat an earlier one; each was simulated."""
    finished: int
    """Planned conversations that came to an end of their own."""
    failed: dict[str, str]
    """Id and reason of each conversation that failed in this call."""
    ended: int
    """Conversations in the folder that ended by themselves: at a limit, by their user, or for a cast's own reason."""
    counts: Counts
    left_out: list[str]
    notes: list[str]
    cut_by_run: int = 0
    """Conversations that a bound of the run cut short, which do not count as finished: a resumed run with a wider bound
    goes on with them."""
    unanswered: int = 0
    """Finished conversations whose questions after the end, or scores, a model failed to give: `resume` asks again."""
    stopped: str | None = None
    """Why the run ended before its plan was done, in one line; None if nothing ended it."""
    stopped_by: EndpointError | None = None
    """The error that ended it, if it was one."""

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"Summary({self.path.name}: {self.told}{failed})"

    @property
    def told(self) -> str:
        """How many conversations are finished, in words."""
        return finished_in_words(self.finished, self.planned, self.cut_by_run)

    @property
    def missing(self) -> int:
        """Planned conversations that are neither finished nor cut short."""
        return self.planned - self.finished - self.cut_by_run

    @property
    def complete(self) -> bool:
        """Whether every planned conversation ended by itself, and was answered all that is asked after it."""
        return self.finished == self.planned and self.ended == self.counts.conversations and not self.unanswered


def written(folder: RunFolder, plan: list[State], failed: dict[str, str]) -> Summary:
    """Write the data set and its card from the conversations on disk; RunError if these are not there any more."""
    folder.check()
    finished = [state["scenario"] for state in plan if name_of(state) in folder.done]
    data_set = dataset.write(
        folder.path, folder.manifest, finished or [state["scenario"] for state in plan], folder.conversations
    )
    wanted = {name_of(state) for state in plan}
    return Summary(
        path=folder.path,
        dataset=data_set.path,
        planned=len(plan),
        equal=folder.manifest["data"][-1]["equal"],
        finished=len(wanted & folder.done) - data_set.cut_by_run,
        failed={name: reason for name, reason in failed.items() if name not in folder.done},
        ended=data_set.ended,
        counts=data_set.counts,
        left_out=data_set.left_out,
        notes=folder.notes,
        cut_by_run=data_set.cut_by_run,
        unanswered=data_set.unanswered,
    )


def found(folder: Path) -> Summary:
    """What the run in a folder has come to so far; its data set is written once more. RunError if there is no run."""
    manifest = manifests.read(folder)
    if manifest is None:
        raise RunError(f"{folder}: holds no run yet")
    run = Run(folder)
    data_set = dataset.write_run(folder, manifest, run)
    planned = set(run.planned)
    return Summary(
        path=folder,
        dataset=data_set.path,
        planned=len(planned),
        equal=manifest["data"][-1]["equal"] if manifest["data"] else 0,
        finished=len(planned & run.finished.keys()) - data_set.cut_by_run,
        failed={each.id: each.failure.error if each.failure else str(each.stop) for each in run.cut_short()},
        ended=data_set.ended,
        counts=data_set.counts,
        left_out=data_set.left_out,
        notes=[],
        cut_by_run=data_set.cut_by_run,
        unanswered=data_set.unanswered,
    )
