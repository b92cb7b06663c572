"""Labelling conversations, many at once: with a journal of every vote, pace, budgets and resuming.

The folder `annotation` of a copy holds `votes.jsonl`, a line for each conversation and label, and `settings.jsonl`, one
line. While something is missing it also holds `calls.jsonl`, the replies of models.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ...data.labels.definition import LabelDefinition
from ...data.labels.reading import SETTINGS
from ...data.records import Conversation
from ...errors import SettingError
from ...nodes.annotators import Annotator, ModelAnnotator, votes_on
from ...nodes.calls.spending import PriceQuery, asked_model
from ..asking.questions import Payment, ask_missing
from ..asking.store import AnswerStore
from ..engine.conduct import Conduct
from ..engine.conversing import Concurrency
from ..folder.merging import merge_finished
from ..journals.calls import ReplyCost
from .vote_journal import LabelVotes, StoredVotes, label_settings
from .work import LabellingWork, check_source, planned

VOTES = 3
"""Votes of a model, unless another number is asked for."""

LabelWatch = Callable[[LabelVotes], None]
"""Called with each labelled conversation, as soon as it is labelled."""


@dataclass(frozen=True)
class Annotations:
    """The result of labelling."""

    planned: tuple[LabellingWork, ...]
    labelled: Mapping[str, LabelVotes]
    """By the id of the work; of what failed, the votes that came."""
    stopped: str | None = None
    """Why it ended before everything was labelled, in words."""

    @property
    def failed(self) -> list[LabelVotes]:
        """The work at which an annotator failed; it is asked again when the work is resumed."""
        return [record for record in self.labelled.values() if record.error]

    @property
    def missing(self) -> int:
        """Conversations and labels that are not there yet."""
        return sum(1 for work in self.planned if work.id not in self.labelled or self.labelled[work.id].error)

    @property
    def unstored(self) -> list[str]:
        """Labels with several votes of models whose place in a record holds one value.

        Their votes are only in the folder.
        """
        model_records = (record for record in self.labelled.values() if any(vote["attempts"] for vote in record.votes))
        several = {record.label for record in model_records if len(record.votes) > 1}
        labels = {work.label.name: work.label for work in self.planned}
        return [name for name, label in labels.items() if name in several and not label.votes]

    def labelled_work(self) -> Iterator[tuple[LabellingWork, LabelVotes]]:
        """The labelled work in the order of the plan, without what failed."""
        for work in self.planned:
            if (record := self.labelled.get(work.id)) is not None and not record.error:
                yield work, record


def voters(annotators: Sequence[Annotator], votes: int | None = None) -> list[Annotator]:
    """An annotator for each vote: several have one each; a single one has `votes`, by default 3, a function one.

    SettingError for a function with several votes, which would be the same one again.
    """
    if not annotators:
        raise SettingError("no annotator: give a model, such as openai:NAME, or a function")
    if len(annotators) > 1:
        if votes not in (None, len(annotators)):
            raise SettingError(f"{len(annotators)} annotators have one vote each, not {votes}: leave the votes out")
        return list(annotators)
    alone = annotators[0]
    if not isinstance(alone, ModelAnnotator):
        if (votes or 1) > 1:
            raise SettingError(f"a function gives the same value each time: one vote, not {votes}")
        return [alone]
    if votes is not None and votes < 1:
        raise SettingError(f"votes must be at least 1, not {votes}")
    return [alone] * (votes or VOTES)


async def aannotate(
    conversations: Iterable[Conversation],
    labels: Sequence[LabelDefinition],
    annotators: Sequence[Annotator],
    *,
    votes: int | None = None,
    seed: int = 0,
    redo: Sequence[str] = (),
    resume: bool = False,
    out: str | Path | None = None,
    concurrency: Concurrency = "auto",
    conduct: Conduct | None = None,
    watch: LabelWatch | None = None,
) -> Annotations:
    """Ask for every label that a conversation lacks; nothing is written into the conversations.

    Args:
        conversations: The conversations.
        labels: The definitions of the labels.
        annotators: One annotator, or several with one vote each.
        votes: Number of votes of a single annotator; default: 3, of a function 1.
        seed: Seed of all calls.
        redo: Names of labels that are asked for where they exist, too, and anew where the folder has votes. With
            `resume` a redoing that was interrupted continues.
        resume: Continue what `out` holds. Stored votes, and replies before a kill, are not paid for again.
        out: The folder for the votes.
        concurrency: Number of calls at the same time, or `auto`.
        conduct: Pace and bounds of the calls, as for `simulate`.
        watch: Called with each labelled record.

    Returns:
        The planned work and its votes.

    Raises:
        SettingError: A setting cannot be used. It is raised before the first call, as are the others.
        DataError: A conversation cannot be used.
        RunError: The folder cannot be used.
    """
    panel = voters(annotators, votes)
    if concurrency != "auto" and (not isinstance(concurrency, int) or concurrency < 1):
        raise SettingError(f"concurrency must be 'auto' or at least 1, not {concurrency!r}")
    conversations = list(conversations)
    planned(conversations, labels, redo)  # what is wrong with the input is said before a folder is made
    conduct = conduct or Conduct()
    control = conduct.controlled()
    settings = label_settings(labels, [annotator.provenance() for annotator in panel], seed)
    models = [asked_model(annotator.model) if isinstance(annotator, ModelAnnotator) else None for annotator in panel]
    folder = None if out is None else Path(out)
    with ExitStack() as opened:
        if folder is not None:
            check_source(conversations, StoredVotes.read(folder, settings, redo=redo, resume=resume).all, folder)
        stored_votes = StoredVotes.open(folder, settings, opened, redo=redo, resume=resume)
        store, works = stored_votes.store, planned(conversations, labels, redo, stored_votes.rounds)

        async def ask(work: LabellingWork, keep: LabelWatch) -> None:
            cast = await votes_on(work.conversation, work.label, work.units, panel, seed=seed, subject=work.id)
            path = work.conversation.extra.get("path")
            votes = LabelVotes(
                id=work.id,
                conversation=work.conversation.id,
                path=path if isinstance(path, str) else None,
                label=work.label.name,
                round=work.round,
                units=work.units,
                votes=tuple(cast),
            )
            keep(votes)

        stopped = await ask_missing(
            store,
            {work.id: work for work in works},
            ask,
            conduct=conduct,
            control=control,
            concurrency=concurrency,
            payments=lambda record: payments(record, models),
            price_query=next((model for model in models if model is not None), None),
            on_answer=watch,
        )
        control.over()
        if (journal := store.journal) is not None:
            ids = dict.fromkeys(work.id for work in works)
            earlier = [key for key in journal.order() if key not in ids]  # such as of rounds before `redo`
            merge_finished(journal, [*earlier, *ids], journal.close)
        return _annotations(works, store, stopped or control.ending)


def so_far(
    conversations: Iterable[Conversation],
    labels: Sequence[LabelDefinition],
    annotators: Sequence[Annotator],
    *,
    out: Path,
    seed: int = 0,
    redo: Sequence[str] = (),
) -> Annotations:
    """What the folder of a work that was interrupted has; nothing is asked for."""
    if not (out / SETTINGS).is_file():
        return Annotations(tuple(planned(conversations, labels, redo)), {}, "interrupted")
    with ExitStack() as opened:
        settings = label_settings(labels, [annotator.provenance() for annotator in annotators], seed)
        stored_votes = StoredVotes.open(out, settings, opened, redo=redo, resume=True)
        works = planned(conversations, labels, redo, stored_votes.rounds)
        return _annotations(works, stored_votes.store, "interrupted")


def _annotations(works: Sequence[LabellingWork], store: AnswerStore[LabelVotes], stopped: str | None) -> Annotations:
    records = {work.id: record for work in works if (record := store.of(work.id)) is not None}
    return Annotations(tuple(works), records, stopped)


def payments(record: LabelVotes, models: Sequence[PriceQuery | None]) -> Iterator[Payment]:
    """What votes have taken; `models`: of each vote the model that was asked."""
    for vote, model in zip(record.votes, models, strict=False):
        for attempt in vote["attempts"]:
            if usage := attempt.get("usage"):
                yield ReplyCost("judge", attempt.get("model"), usage, reply=attempt.get("text", "")), model
