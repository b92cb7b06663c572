"""The plan of labelling: what lacks a label, and the calls that its votes take."""

from collections.abc import Sequence
from pathlib import Path

from ...data.labels.answers import text_of
from ...data.labels.definition import LabelDefinition
from ...data.records import Conversation
from ...data.text.words import OF_MESSAGE, tokens_about
from ...nodes.annotators import Annotator, LabelQuestion, ModelAnnotator, pages
from ...nodes.calls.spending import asked_model
from ..planning.plans import AS_SENT, CallEstimate, CallPlan, ModelCalls
from .vote_journal import StoredVotes, label_settings
from .work import check_source, planned

RULE = (
    f"{AS_SENT}; replies as short as they can be or, for texts, as long as what they are about; nothing is retried, and "
    "reasoning is not foreseen"
)


def annotation_plan(
    conversations: Sequence[Conversation],
    labels: Sequence[LabelDefinition],
    annotators: Sequence[Annotator],
    redo: Sequence[str],
    attempts: int,
    *,
    folder: Path | None = None,
    resume: bool = False,
    seed: int = 0,
) -> CallPlan:
    """The plan of everything that lacks a label, and of what is redone.

    It leaves out what the folder has of it already: votes, and the replies of a labelling that was interrupted. RunError if
    the folder is another labelling's.
    """
    stored_votes = None
    if folder is not None:
        settings = label_settings(labels, [annotator.provenance() for annotator in annotators], seed)
        stored_votes = StoredVotes.read(folder, settings, redo=redo, resume=resume)
        check_source(conversations, stored_votes.all, folder)
    works = planned(conversations, labels, redo, None if stored_votes is None else stored_votes.rounds)
    works = [work for work in works if stored_votes is None or work.id not in stored_votes.store.done]
    answered = stored_votes.answered() if stored_votes is not None else frozenset[tuple[str, int, int]]()
    counted: tuple[str, ...] = ("conversations", "units", "calls", "tokens")
    by_label: dict[str, dict[str, int]] = {label.name: dict.fromkeys(counted, 0) for label in labels}
    models = [asked_model(one.model) if isinstance(one, ModelAnnotator) else None for one in annotators]
    calls: list[ModelCalls] = []
    for work in works:
        row = by_label[work.label.name]
        row["conversations"] += 1
        row["units"] += len(work.units)
        sizes = _sizes(LabelQuestion(work.conversation, work.label, work.units, count=len(annotators)))
        for vote, (annotator, model) in enumerate(zip(annotators, models, strict=True), 1):
            if isinstance(annotator, ModelAnnotator):
                missing = [size for turn, *size in sizes if (work.id, turn, vote) not in answered]
                row["calls"] += len(missing)
                row["tokens"] += sum(map(sum, missing))
                calls.append(ModelCalls.of(model, ((sent, replied) for sent, replied in missing)))
    usual = sum(row["calls"] for row in by_label.values())
    return CallPlan(
        len(works),
        "labellings",
        usual,
        usual * attempts,
        f"{len(annotators)} vote{'' if len(annotators) == 1 else 's'} each",
        usual > 0,
        lambda: CallEstimate(tuple(calls), RULE, is_range=False),
        again="every reply has to be asked again",
        parts=("labels", by_label),
    )


def _sizes(question: LabelQuestion) -> list[tuple[int, int, int]]:
    """Of each call of a vote its turn (`nodes.annotators`), and the tokens that it sends and gets, about."""
    library, sizes = pages(), []
    for units in question.calls():
        gaps = question.values(units)
        texts = [library[f"annotator/{name}"].fill_from(gaps) for name in ("system", "request")]
        replied = 0
        for unit in units:
            for name, part in question.label.parts.items():
                replied += tokens_about(name) + 8
                if part.text:
                    replied += tokens_about(text_of(question.conversation, question.label, unit)) or 20
        sizes.append((units[0] + 1, sum(map(tokens_about, texts)) + 2 * OF_MESSAGE, replied))
    return sizes
