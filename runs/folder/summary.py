"""The result of a run, counted from the files on the disk, not from what was simulated."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...data.formats.record_lines import StoredRun, cut_short
from ...nodes.calls.gate import EndpointError
from ...nodes.state import Planned
from ..engine.conversing import name_of
from ..journals.journal import RunError
from . import dataset, manifests
from .dataset import WrittenDataset
from .run_folder import RunFolder
from .run_state import finished_in_words


@dataclass(frozen=True, repr=False, kw_only=True)
class Summary(WrittenDataset):
    """The result of a run."""

    path: Path
    planned: int
    equal: int
    """Scenarios that repeat an earlier one; each was simulated."""
    finished: int
    """Planned conversations that came to an end of their own."""
    failed: dict[str, str]
    """Id and reason of each conversation that failed in this call."""
    notes: list[str]
    stopped: str | None = None
    """Why the run ended before its plan was done, in one line; None if nothing ended it."""
    stopped_by: EndpointError | None = None
    """The error that ended it, if it was one."""

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"Summary({self.path.name}: {self.status_line}{failed})"

    @property
    def status_line(self) -> str:
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

    @property
    def compares_failed_code(self) -> bool:
        """Whether a function failed whose source is compared when the run is resumed: see `manifests.is_compared`."""
        manifest = manifests.read(self.path)
        return any(one.failure and manifests.is_compared(one.failure.frames, manifest) for one in cut_short(self.path))


def written(folder: RunFolder, plan: list[Planned], failed: dict[str, str]) -> Summary:
    """Write the data set and its card from the conversations on disk.

    RunError if the conversations are not there any more.
    """
    folder.check()
    finished = [state["scenario"] for state in plan if name_of(state) in folder.done]
    data_set = dataset.write(
        folder.path, folder.manifest, finished or [state["scenario"] for state in plan], folder.conversations
    )
    still_failed = {name: reason for name, reason in failed.items() if name not in folder.done}
    planned = {name_of(state) for state in plan}
    return _of(folder.path, folder.manifest, data_set, planned, folder.done, still_failed, folder.notes)


def summarize(folder: Path) -> Summary:
    """The result of the run in a folder so far; its data set is written once more.

    RunError if there is no run.
    """
    manifest = manifests.read(folder)
    if manifest is None:
        raise RunError(f"{folder}: holds no run yet")
    run = StoredRun(folder)
    data_set = dataset.write_run(folder, manifest, run)
    failed = {
        conversation.id: conversation.failure.error if conversation.failure else str(conversation.stop)
        for conversation in run.cut_short()
    }
    return _of(folder, manifest, data_set, set(run.planned), run.finished.keys(), failed, [])


def _of(
    path: Path,
    manifest: Mapping[str, Any],
    data_set: WrittenDataset,
    planned: set[str],
    done: Set[str],
    failed: dict[str, str],
    notes: list[str],
) -> Summary:
    return Summary(
        **vars(data_set),
        path=path,
        planned=len(planned),
        equal=manifest["data"][-1]["equal"],
        finished=len(planned & done) - data_set.cut_by_run,
        failed=failed,
        notes=notes,
    )
