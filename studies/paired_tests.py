"""An agent compared with another version of it in pairs: the other version, and the comparison."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..analysis.testing.pairs import Margin, PairedTest, compare_pairs
from ..analysis.testing.success import Successes, successes, with_verdict
from ..data.formats.record_lines import attempted
from ..data.formats.source import MANIFEST
from ..data.records import Conversation
from ..errors import ModelError, SettingError
from ..nodes.limits import Limits
from ..runs.folder.run_conditions import ComparableRuns, comparable, manifest_of
from ..runs.journals.calls import CALLS
from ..runs.planning.conversations import asks_model
from .agent_trials import AgentSuccess, AgentTest

OLD_RUN = "against"
"""Name of the old version's run folder, in that of the new one."""


@dataclass(frozen=True)
class OldVersion:
    """The version with which an agent is compared."""

    name: str
    folder: Path | None = None
    """Its run folder; None where its conversations are in memory."""
    trial: AgentTest | None = None
    """Its test, which is to be made in turns with that of the new version; None if it was made before."""
    result: AgentSuccess | None = None
    """Its result, where its conversations are in memory."""
    common: ComparableRuns | None = None
    """What it has in common with the new version."""

    @property
    def records(self) -> Iterable[Conversation]:
        """Its conversations, also those without an end."""
        if self.result is not None:
            return self.result.records
        assert self.folder is not None
        return records_of(self.folder)

    @property
    def replies(self) -> Path | None:
        """The call journal with its user's replies; None if it keeps none, or both versions are simulated now."""
        folder = self.result.folder if self.result is not None else self.folder
        return folder / CALLS if folder is not None and self.trial is None and (folder / CALLS).is_file() else None

    def notes(self, user: object) -> Iterator[str]:
        """A note if the model of the user is asked anew, as no reply to the same is kept."""
        if self.trial is None and self.replies is None and asks_model(user):
            yield f"{self.name}: keeps no replies of its user's model, which is asked anew and may reply something else"

    def compared(
        self,
        records: Iterable[Conversation],
        *,
        others: Iterable[Conversation] | None = None,
        name: str = "the new version",
        margin: Margin | None = None,
    ) -> PairedTest:
        """The new version's conversations in pairs with these.

        `others`: these, where no folder holds them. `name`: of the new version.
        """
        return compare_pairs(
            self.records if others is None else others,
            records,
            names=(self.name, name),
            planned=self.common.planned if self.common is not None else None,
            margin=margin,
            not_compared=self.common.notes if self.common is not None else (),
        )


def records_of(folder: Path) -> Iterable[Conversation]:
    """The conversations of a run folder, also those without an end; none before the run has begun."""
    return attempted(folder) if (folder / MANIFEST).is_file() else ()


def old_version(
    against: Any,
    trial: AgentTest,
    limits: Limits,
    test_of: Callable[[Any], AgentTest],
    *,
    out: Path | None = None,
    common: bool = False,
    option: str = "--common",
) -> OldVersion:
    """The version with which an agent is compared, checked before a call is paid for.

    Args:
        against: The folder of an earlier test, its result, or another agent: an object, import path or model.
        trial: The test of the new version.
        limits: Its limits.
        test_of: Gives the test of another agent with the same scenarios.
        out: The run folder of the new version.
        common: Compare what both runs have in common, where scenarios or repeats differ.
        option: What an error offers for that.

    Raises:
        SettingError: The runs cannot be compared in pairs.
    """
    new = trial.manifest(limits)
    if isinstance(against, AgentSuccess):
        name = str(against.folder or "the earlier result")
        return OldVersion(
            name, result=against, common=comparable(against.manifest, new, name, common=common, option=option)
        )
    if isinstance(against, Path) or (isinstance(against, str) and Path(against).is_dir()):
        folder = Path(against)
        runs = comparable(manifest_of(folder), new, str(folder), common=common, option=option)
        return OldVersion(str(folder), folder=folder, common=runs)
    name = against if isinstance(against, str) else "the old version"
    try:
        old = test_of(against)
        manifest = old.manifest(limits)
    except (ModelError, SettingError) as error:
        if not isinstance(against, str):
            raise
        raise type(error)(f"{against}: is not a run folder, and cannot be tested: {error}") from None
    runs = comparable(manifest, new, name, common=common, option=option)
    return OldVersion(name, folder=None if out is None else out / OLD_RUN, trial=old, common=runs)


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
    manifest, paired = manifest_of(new), None
    if old is not None:
        if new.resolve() == old.resolve():
            raise SettingError(f"{new}: is compared with itself: give the folders of two tests")
        runs = comparable(manifest_of(old), manifest, str(old), common=common)
        paired = OldVersion(str(old), folder=old, common=runs).compared(attempted(new), name=str(new), margin=margin)
    return with_verdict(successes(attempted(new)), threshold=threshold, at_least=at_least, against=paired)
