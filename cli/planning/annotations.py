"""How much the labelling of a data set is, found without a call."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.text.model_tokens import OF_MESSAGE, tokens_about
from ..streams import put, say
from .costs import CallCosts
from .plan import Plan, tell_calls

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...data.labels.definition import LabelDefinition
    from ...data.records import Conversation
    from ...nodes.annotators.kinds import Annotator, LabelQuestion
    from ...nodes.calls.prices import PriceQuery

RULE = (
    "every request as it would be sent, four characters a token (a Chinese one each); replies as short as they can be "
    "or, for texts, as long as what they are about; nothing is retried, and reasoning is not foreseen"
)


@dataclass(frozen=True)
class AnnotationPlan:
    """What there is to ask."""

    whole: Plan
    by_label: dict[str, dict[str, int]]
    """Conversations, units, calls and tokens of each label."""
    costs: CallCosts
    models: "list[PriceQuery]"


def annotation_plan(
    conversations: "Sequence[Conversation]",
    labels: "Sequence[LabelDefinition]",
    annotators: "Sequence[Annotator]",
    redo: Sequence[str],
    attempts: int,
    *,
    folder: Path | None = None,
    resume: bool = False,
    seed: int = 0,
) -> AnnotationPlan:
    """The plan of everything that lacks a label, and of what is redone.

    It leaves out what the folder has of it already: votes, and the replies of a labelling that was interrupted. RunError if
    the folder is another labelling's.
    """
    from ...nodes.annotators.kinds import LabelQuestion, ModelAnnotator
    from ...nodes.calls.prices import asked_model
    from ...runs.labels.vote_journal import StoredVotes, label_settings
    from ...runs.labels.work import check_source, planned

    stored_votes = None
    if folder is not None:
        settings = label_settings(labels, [annotator.provenance() for annotator in annotators], seed)
        stored_votes = StoredVotes.read(folder, settings, redo=redo, resume=resume)
        check_source(conversations, stored_votes.all, folder)
    works = planned(conversations, labels, redo, None if stored_votes is None else stored_votes.rounds)
    works = [work for work in works if stored_votes is None or work.id not in stored_votes.store.done]
    answered = stored_votes.answered() if stored_votes is not None else frozenset[tuple[str, int, int]]()
    by_label: dict[str, dict[str, int]] = {
        label.name: dict.fromkeys(("conversations", "units", "calls", "tokens"), 0) for label in labels
    }
    models = [
        asked_model(annotator.model) if isinstance(annotator, ModelAnnotator) else None for annotator in annotators
    ]
    costs = CallCosts()
    for work in works:
        row = by_label[work.label.name]
        row["conversations"] += 1
        row["units"] += len(work.units)
        calls = _calls(LabelQuestion(work.conversation, work.label, work.units, count=len(annotators)))
        for vote, (annotator, model) in enumerate(zip(annotators, models, strict=True), 1):
            if not isinstance(annotator, ModelAnnotator):
                continue
            for turn, sent, replied in calls:
                if (work.id, turn, vote) in answered:
                    continue
                row["calls"] += 1
                row["tokens"] += sent + replied
                costs.add(model, sent, replied)
    usual = sum(row["calls"] for row in by_label.values())
    each_one = f"{len(annotators)} vote{'' if len(annotators) == 1 else 's'} each"
    whole = Plan(
        len(works),
        "labellings",
        usual,
        usual * attempts,
        each_one,
        usual > 0,
        again="every reply has to be asked again",
    )
    return AnnotationPlan(whole, by_label, costs, [model for model in models if model is not None])


def _calls(question: "LabelQuestion") -> list[tuple[int, int, int]]:
    """Of each call of a vote its turn (`nodes.annotators.kinds`), and the tokens that it sends and gets, about."""
    from ...data.labels.units import text_of
    from ...nodes.annotators.kinds import gaps_of, groups, pages

    library, call_sizes = pages(), []
    for units in groups(question):
        gaps = gaps_of(question, units)
        texts = [library[f"annotator/{name}"].fill_from(gaps) for name in ("system", "request")]
        replied = 0
        for unit in units:
            for name, part in question.label.parts.items():
                replied += tokens_about(name) + 8
                if part.text:
                    replied += tokens_about(text_of(question.conversation, question.label, unit)) or 20
        call_sizes.append((units[0] + 1, sum(map(tokens_about, texts)) + 2 * OF_MESSAGE, replied))
    return call_sizes


def tell_plan(plan: AnnotationPlan, as_json: bool, why: str = "") -> int:
    """Print the plan, and why there is nothing in it; nothing is called."""
    whole = plan.whole
    if not as_json and not whole.usual:
        put(f"{whole.count:,} {whole.what} planned, {whole.length}: no calls of a model")
    else:
        lines = (
            f"{name}: {row['conversations']} conversations, {row['units']} units, {row['calls']} calls, {row['tokens']} tokens"
            for name, row in plan.by_label.items()
        )
        tell_calls(whole, plan.costs, RULE, rows={"labels": plan.by_label}, lines=lines, as_json=as_json)
    if why and not as_json:
        say(why)
    return 0
