"""An agent compared with another version of it in pairs: the other version, and the comparison."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..analysis.testing.pairs import Margin, PairedTest, compare_pairs
from ..data.formats.record_lines import attempted
from ..data.records import Conversation
from ..errors import ModelError, SettingError
from ..graphs import Cast
from ..nodes.calls.store import AGAINST
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
    stored: tuple[Conversation, ...] = ()
    """Its conversations, where they are in memory."""
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
        return self.stored if self.stored or self.folder is None else attempted(self.folder)

    @property
    def replies(self) -> Path | None:
        """The run folder that keeps its user's replies; None if none does, or both versions are simulated now."""
        return self.folder if self.folder is not None and (self.folder / REPLIES).is_file() else None

    def notes(self, user: object) -> Iterator[str]:
        """A note if the model of the user is asked anew, as no reply to the same is kept."""
        if self.trial is None and self.common is not None and self.replies is None and asks_model(user):
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
    test_of: Callable[[Any], AgentTest],
) -> OldVersion:
    """The version with which an agent is compared, checked before a call is paid for.

    Args:
        against: The folder of an earlier test, its result, or another agent: an object, import path or model.
        trial: The test of the new version.
        test_of: Gives the test of another agent with the same scenarios.

    Raises:
        SettingError: The runs cannot be compared in pairs.
    """
    new = trial.manifest
    if isinstance(against, AgentSuccess):
        name = str(against.folder or "the earlier result")
        return OldVersion(name, against.folder, stored=against.records, common=comparable(against.manifest, new, name))
    if isinstance(against, Path) or (isinstance(against, str) and Path(against).is_dir()):
        folder = Path(against)
        runs = comparable(stored_manifest(folder), new, str(folder))
        return OldVersion(str(folder), folder, common=runs)
    name = against if isinstance(against, str) else "the old version"
    try:
        old = test_of(against)
        manifest = old.manifest
    except (ModelError, SettingError) as error:
        if not isinstance(against, str):
            raise
        raise type(error)(f"{against}: is not a run folder, and cannot be tested: {error}") from None
    runs = comparable(manifest, new, name)
    return OldVersion(name, trial=old, common=runs)
