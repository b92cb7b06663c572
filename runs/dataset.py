"""The data set of a run: which form it has, and writing it with its card."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data import domains
from ..data.counts import Counts, count
from ..data.domain import Dataset, Domain
from ..data.formats.jsonfiles import write_text
from ..data.records import Conversation
from .card import card

DATASET = "dataset"
"""The folder of a run's data set."""

CARD = "README.md"
"""The data set's card, beside its files."""


@dataclass(frozen=True)
class Written:
    """What was written."""

    path: Path
    """The data set: a file, or the folder of its files."""
    counts: Counts
    ended: int
    """Conversations that ended by themselves: at a limit, by their user, or for a cast's own reason."""
    left_out: list[str]


def form_of(scenarios: Iterable[Mapping[str, Any] | Conversation]) -> tuple[Dataset, Collection[Domain]]:
    """The form of a data set about these scenarios, and their domains: their domain's own form if they have one."""
    present = domains.present(scenarios)
    return present[0].dataset if len(present) == 1 else domains.PLAIN.dataset, present


def write(
    folder: Path,
    manifest: Mapping[str, Any],
    scenarios: Iterable[Mapping[str, Any] | Conversation],
    conversations: Callable[[], Iterator[Conversation]],
) -> Written:
    """Write the data set of a run folder and its card.

    `conversations` is called twice; each time they are read one at a time.
    """
    form, present = form_of(scenarios)
    path = folder / DATASET / form.name
    left_out = form.write(conversations(), path)
    ended = 0

    def counted() -> Iterator[Conversation]:
        nonlocal ended
        for conversation in conversations():
            ended += conversation.ended_by_itself
            yield conversation

    counts = count(counted())
    files = {form.name or form.files or "*": form.description}
    attributions = [domain.attribution for domain in present if domain.attribution]
    write_text(folder / DATASET / CARD, card(manifest, counts, files, left_out, attributions))
    return Written(path, counts, ended, left_out)
