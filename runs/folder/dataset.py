"""The data set of a run: which form it has, and writing it with its card."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...data import domains
from ...data.domains import Dataset, Domain
from ...data.files.json import write_text
from ...data.formats.record_lines import RESTORE, StoredRun
from ...data.formats.source import MANIFEST
from ...data.labels.reading import SCORES
from ...data.records import Conversation, as_object
from ...data.summaries import Counts, count
from ...errors import DataError
from .data_card import card
from .leftovers import CARD, DATASET
from .merging import on_disk


@dataclass(frozen=True)
class WrittenDataset:
    """What was written."""

    dataset: Path
    """A file, or the folder of the data set's files."""
    counts: Counts
    ended: int
    """Conversations in the folder that ended by themselves: at a limit, by their user, or for a cast's own reason."""
    left_out: list[str]
    cut_by_run: int
    """Conversations that a bound of the run cut short, which do not count as finished: a resumed run with a wider bound
    goes on with them."""
    unanswered: int
    """Finished conversations whose questions after the end, or scores, a model failed to give: `resume` asks again."""


def is_unanswered(conversation: Conversation) -> bool:
    """Whether a model or a scorer failed after the end of the conversation, at a question or at a score."""
    if conversation.ending_failure is not None:
        return conversation.ending_failure.node == "closing"
    return lacks_score(conversation.labels)


def lacks_score(labels: Mapping[str, Any]) -> bool:
    """Whether a scorer raised, so that its error stands in place of a score."""
    return any(as_object(score).get("error") for score in as_object(labels.get(SCORES)).values())


def form_of(scenarios: Iterable[Mapping[str, Any] | Conversation]) -> tuple[Dataset, Collection[Domain]]:
    """The form of a data set about these scenarios, and their domains: their domain's own form if they have one."""
    present = domains.present(scenarios)
    return present[0].dataset if len(present) == 1 else domains.PLAIN.dataset, present


def write_run(place: Path, manifest: Mapping[str, Any], run: StoredRun) -> WrittenDataset:
    """Write the data set of a run that is over below a folder, which may be the run's own.

    Where nothing is finished the scenarios that were begun decide the form; without any, nothing is written.
    """
    return write(place, manifest, _scenarios(run), partial(run.finished.iterate, run.planned))


def _scenarios(run: StoredRun) -> Iterator[Conversation]:
    """The conversations that decide the form of a run's data set: the finished ones, else those that were begun."""
    return run.finished.iterate(run.planned) if len(run.finished) else run.cut_short()


@on_disk()
def write(
    folder: Path,
    manifest: Mapping[str, Any],
    scenarios: Iterable[Mapping[str, Any] | Conversation],
    conversations: Callable[[], Iterator[Conversation]],
) -> WrittenDataset:
    """Write the data set of a run folder and its card.

    `conversations` is called twice; each time they are read one at a time. Without scenarios the form of the data set
    is not known, and nothing is written. BrokenOffError if the disk does not take it.
    """
    form, present = form_of(scenarios)
    if not present:
        return WrittenDataset(folder / DATASET, count(()), 0, [], 0, 0)
    path = folder / DATASET / form.name
    left_out = form.write(conversations(), path)
    ended = cut_by_run = unanswered = 0

    def counted() -> Iterator[Conversation]:
        nonlocal ended, cut_by_run, unanswered
        for conversation in conversations():
            ended += conversation.ended_by_itself
            cut_by_run += conversation.cut_by_run
            unanswered += is_unanswered(conversation)
            yield conversation

    counts = count(counted())
    files = {form.name or form.files or "*": form.description}
    attributions = [text for domain in present if (text := domain.dataset.attribution)]
    try:
        card_text = card(manifest, counts, files, left_out, attributions)
    except (LookupError, TypeError, AttributeError) as error:
        raise DataError(
            f"{MANIFEST}: its settings or data are not what a run writes ({type(error).__name__}: {error}): "
            f"move it away, and {RESTORE}"
        ) from error
    write_text(folder / DATASET / CARD, card_text)
    return WrittenDataset(path, counts, ended, left_out, cut_by_run, unanswered)
