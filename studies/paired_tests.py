"""An agent compared with another version of it in pairs: the other version, and the comparison."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..analysis.testing.pairs import Margin, PairedTest, compare_pairs
from ..analysis.testing.success import Successes, successes, with_verdict
from ..data.formats.record_lines import attempted
from ..data.records import Conversation
from ..errors import ModelError, SettingError
from ..graphs import Cast
from ..nodes.calls.store import AGAINST
from ..nodes.limits import Limits
from ..runs.plan import asks_model
from ..runs.settings import REPLIES
from ..runs.simulate import Run
from ..runs.store import ComparableRuns, comparable, stored_manifest
from .agent_trials import AgentSuccess, AgentTest


@dataclass(frozen=True)
class OldVersion:
    """The version with which an agent is compared."""

    name: str
    folder: Path | None = None
    """Its run folder, which is only read; None where its conversations are in memory or are simulated now."""
    trial: AgentTest | None = None
    """Its test, which is made together with that of the new version; None if it was made before."""
    result: AgentSuccess | None = None
    """Its result, where its conversations are in memory."""
    common: ComparableRuns | None = None
    """What it has in common with the new version."""

    @property
    def casts(self) -> dict[str, Cast]:
        """Its cast by the name of the version, where it is simulated now."""
        return {} if self.trial is None else {AGAINST: self.trial.cast}

    def records(self, run: Run | None = None) -> Iterable[Conversation]:
        """Its conversations, also those without an end; `run`: in which it was simulated."""
        if self.trial is not None:
            return () if run is None else run.attempted(AGAINST)
        if self.result is not None:
            return self.result.records
        assert self.folder is not None
        return attempted(self.folder)

    @property
    def replies(self) -> Path | None:
        """The run folder that keeps its user's replies; None if none does, or both versions are simulated now."""
        folder = self.result.folder if self.result is not None else self.folder
        return folder if folder is not None and (folder / REPLIES).is_file() else None

    def notes(self, user: object) -> Iterator[str]:
        """A note if the model of the user is asked anew, as no reply to the same is kept."""
        if self.trial is None and self.replies is None and asks_model(user):
            yield f"{self.name}: keeps no replies of its user's model, which is asked anew and may reply something else"

    def compared(
        self,
        records: Iterable[Conversation],
        run: Run | None = None,
        *,
        name: str = "the new version",
        margin: Margin | None = None,
    ) -> PairedTest:
        """The new version's conversations, under this name, in pairs with these; `run`: as for `records`."""
        return compare_pairs(
            self.records(run),
            records,
            names=(self.name, name),
            planned=self.common.planned if self.common is not None else None,
            margin=margin,
            not_compared=self.common.notes if self.common is not None else (),
        )


def old_version(
    against: Any,
    trial: AgentTest,
    limits: Limits,
    test_of: Callable[[Any], AgentTest],
    *,
    common: bool = False,
) -> OldVersion:
    """The version with which an agent is compared, checked before a call is paid for.

    Args:
        against: The folder of an earlier test, its result, or another agent: an object, import path or model.
        trial: The test of the new version.
        limits: Its limits.
        test_of: Gives the test of another agent with the same scenarios.
        common: Compare what both runs have in common, where scenarios or repeats differ.

    Raises:
        SettingError: The runs cannot be compared in pairs.
    """
    new = trial.manifest(limits)
    if isinstance(against, AgentSuccess):
        name = str(against.folder or "the earlier result")
        return OldVersion(name, result=against, common=comparable(against.manifest, new, name, common=common))
    if isinstance(against, Path) or (isinstance(against, str) and Path(against).is_dir()):
        folder = Path(against)
        runs = comparable(stored_manifest(folder), new, str(folder), common=common)
        return OldVersion(str(folder), folder=folder, common=runs)
    name = against if isinstance(against, str) else "the old version"
    try:
        old = test_of(against)
        manifest = old.manifest(limits)
    except (ModelError, SettingError) as error:
        if not isinstance(against, str):
            raise
        raise type(error)(f"{against}: is not a run folder, and cannot be tested: {error}") from None
    runs = comparable(manifest, new, name, common=common)
    return OldVersion(name, trial=old, common=runs)


def compared_runs(
    new: Path,
    old: Path | None,
    *,
    margin: Margin | None = None,
    common: bool = False,
    threshold: float | None = None,
    at_least: float | None = None,
) -> Successes:
    """The result of a run folder, with its comparison with another if there is one, without simulating.

    The parameters are those of `test`. SettingError if the runs cannot be compared.
    """
    manifest, paired = stored_manifest(new), None
    if old is not None:
        if new.resolve() == old.resolve():
            raise SettingError(f"{new}: is compared with itself: give the folders of two tests")
        runs = comparable(stored_manifest(old), manifest, str(old), common=common)
        paired = OldVersion(str(old), folder=old, common=runs).compared(attempted(new), name=str(new), margin=margin)
    return with_verdict(successes(attempted(new)), threshold=threshold, at_least=at_least, against=paired)
