"""Labelling conversations, many at once: with a journal of every vote, pace, budgets and resuming.

The folder `annotation` of a copy holds `votes.jsonl`, a line for each conversation and label, `settings.jsonl`, one line,
and while something is missing `calls.jsonl`, the replies of models.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ..data.labels import LabelDefinition
from ..data.records import Conversation
from ..errors import SettingError
from ..graphs.annotation import AnnotationGraph, annotation, beginning
from ..nodes.annotators import Annotator, ModelAnnotator, RuleAnnotator
from ..nodes.calls.gates import EndpointError
from ..nodes.calls.kept import remember_texts
from ..nodes.calls.prices import Asked, asked_model
from ..nodes.environment import error_line
from .annotation_journal import SETTINGS, KeptVotes, Labelled, label_settings
from .annotation_work import Work, check_source, planned
from .calls import CallFile
from .conduct import Conduct, synced
from .control import Control
from .engine import Concurrency, do_all

VOTES = 3
"""Votes of a model or of the rules, unless another number is asked for."""

Watch = Callable[[Labelled], None]
"""Is told of each conversation that has been labelled, as soon as it has."""


@dataclass(frozen=True)
class Annotations:
    """What was labelled."""

    planned: tuple[Work, ...]
    labelled: Mapping[str, Labelled]
    """By the id of the work; of what failed, the votes that came."""
    stopped: str | None = None
    """Why it ended before everything was labelled, in words."""

    @property
    def failed(self) -> list[Labelled]:
        """What an annotator failed at; it is asked again when the work is resumed."""
        return [each for each in self.labelled.values() if each.error]

    @property
    def missing(self) -> int:
        """Conversations and labels that are not there yet."""
        return sum(1 for work in self.planned if work.id not in self.labelled or self.labelled[work.id].error)

    @property
    def unstored(self) -> list[str]:
        """Labels on which models voted several times and whose place in a record holds one value: their votes are in the
        folder alone."""
        asked = (each for each in self.labelled.values() if any(vote["attempts"] for vote in each.votes))
        several = {each.label for each in asked if len(each.votes) > 1}
        labels = {work.label.name: work.label for work in self.planned}
        return [name for name, label in labels.items() if name in several and not label.votes]

    def told(self) -> Iterator[tuple[Work, Labelled]]:
        """What was labelled, in the order of the plan; without what failed."""
        for work in self.planned:
            if (found := self.labelled.get(work.id)) is not None and not found.error:
                yield work, found


def voters(annotators: Sequence[Annotator], votes: int | None = None) -> list[Annotator]:
    """An annotator for each vote: several have one each; one alone has `votes`, by default 3, a function one.

    SettingError for a function with several votes, which would be the same one again.
    """
    if not annotators:
        raise SettingError("no annotator: give a model, such as offline or openai:NAME")
    if len(annotators) > 1:
        if votes not in (None, len(annotators)):
            raise SettingError(f"{len(annotators)} annotators have one vote each, not {votes}: leave the votes out")
        return list(annotators)
    alone = annotators[0]
    if not isinstance(alone, (ModelAnnotator, RuleAnnotator)):
        if (votes or 1) > 1:
            raise SettingError(f"a function gives the same value each time: one vote, not {votes}")
        return [alone]
    if votes is not None and votes < 1:
        raise SettingError(f"votes must be at least 1, not {votes}")
    return [alone] * (votes or VOTES)


@dataclass
class _Asking:
    """The work that is under way."""

    kept: KeptVotes
    graphs: Mapping[str, AnnotationGraph]
    seed: int
    file: CallFile | None = None
    watch: Watch | None = None

    async def label(self, work: Work) -> None:
        """Ask every vote about one conversation, and write them down whole."""
        remember_texts()
        state = beginning(work.conversation, work.units, seed=self.seed, subject=work.id)
        end = await self.graphs[work.label.name].ainvoke(state)
        votes = sorted(end["votes"], key=lambda vote: vote["number"])
        done = Labelled.of(work.id, work.conversation, work.label.name, work.round, work.units, votes)
        self.kept.keep(done)
        if self.file is not None and not done.error:
            self.file.forget(work.id)
        if self.watch is not None:
            self.watch(done)


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
    watch: Watch | None = None,
) -> Annotations:
    """Ask for every label that a conversation lacks; nothing is written into the conversations.

    `out`: the folder for the votes. With `resume` what it has is not asked for again, and replies that came before a kill
    are not paid for again. `redo`: names of labels that are asked for where they are there, too, and anew where the folder
    has votes; with `resume` a redoing that was interrupted goes on.

    Bad input is a SettingError, DataError or RunError before the first call.
    """
    asked = voters(annotators, votes)
    for label in labels:
        for each in asked:
            if isinstance(each, RuleAnnotator):
                each.check(label)
    if concurrency != "auto" and (not isinstance(concurrency, int) or concurrency < 1):
        raise SettingError(f"concurrency must be 'auto' or at least 1, not {concurrency!r}")
    conversations = list(conversations)
    planned(conversations, labels, redo)  # what is wrong with the input is said before a folder is made
    conduct = conduct or Conduct()
    control = conduct.controlled()
    stopped: str | None = None
    with ExitStack() as opened:
        settings = label_settings(labels, [each.provenance() for each in asked], seed)
        folder = None if out is None else Path(out)
        if folder is not None:
            check_source(conversations, KeptVotes.found(folder, settings, redo=redo, resume=resume).all, folder)
        kept = KeptVotes.open(folder, settings, opened, redo=redo, resume=resume)
        works = planned(conversations, labels, redo, kept.rounds)
        left = [work for work in works if work.id not in kept.done]
        graphs = {label.name: annotation(label, asked) for label in labels}
        models = _models(asked)
        for work in works:
            if (done := kept.done.get(work.id)) is not None:
                _count(control, done, models)
        if left:
            with conduct.calls(kept.folder, resume=True, done=frozenset(kept.done)) as file:
                asking = _Asking(kept, graphs, seed, file, watch)
                _paid_before(control, file, models)
                calls = control.made(file)
                with control.within(conduct.max_seconds):
                    try:
                        async with synced(file, calls, kept.check):
                            await do_all(left, asking.label, calls, control, concurrency)
                    except EndpointError as error:
                        stopped = error_line(error)
        control.over()
        told = {work.id: found for work in works if (found := kept.of(work.id)) is not None}
        result = Annotations(tuple(works), told, stopped or control.ending)
        if not result.missing:
            kept.over(keep_calls=conduct.keep_calls or conduct.replay_calls is not None)
        return result


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
        settings = label_settings(labels, [each.provenance() for each in annotators], seed)
        kept = KeptVotes.open(out, settings, opened, redo=redo, resume=True)
        works = planned(conversations, labels, redo, kept.rounds)
        told = {work.id: found for work in works if (found := kept.of(work.id)) is not None}
        return Annotations(tuple(works), told, "interrupted")


def _models(asked: Sequence[Annotator]) -> list[Asked | None]:
    return [asked_model(each.model) if isinstance(each, ModelAnnotator) else None for each in asked]


def _count(control: Control, done: Labelled, models: Sequence[Asked | None]) -> None:
    """Bounds hold over all calls, not over those of one command."""
    if control.spending.max_cost is None and control.spending.max_tokens is None:
        return
    for vote, model in zip(done.votes, models, strict=False):
        for attempt in vote["attempts"]:
            if attempt.get("usage"):
                control.spending.add(
                    attempt.get("model"), attempt["usage"], role="judge", asked=model, reply=attempt.get("text", "")
                )


def _paid_before(control: Control, file: CallFile | None, models: Sequence[Asked | None]) -> None:
    """Count the replies that a killed command had, and which are not asked for again."""
    if file is None or (control.spending.max_cost is None and control.spending.max_tokens is None):
        return
    asked = next((model for model in models if model is not None), None)
    for paid in file.paid:
        control.spending.add(paid.model, paid.usage, role="judge", asked=asked, sent=paid.sent, reply=paid.reply)
