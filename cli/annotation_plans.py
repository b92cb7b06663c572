"""How much the labelling of a data set is, found without a call."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.text.model_tokens import OF_MESSAGE, tokens_about
from .output import print_json, put, say
from .planning import Plan

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..data.labels import LabelDefinition
    from ..data.records import Conversation
    from ..nodes.annotators import Annotator, Question
    from ..nodes.calls.prices import Asked

RULE = (
    "every request as it would be sent, four characters a token (a Chinese one each), and replies as short as they can be "
    "or, for texts, as long as what they are about; nothing is asked again, and reasoning is not foreseen"
)


@dataclass(frozen=True)
class AnnotationPlan:
    """What there is to ask."""

    whole: Plan
    by_label: dict[str, dict[str, int]]
    """Conversations, units, calls and tokens of each label."""
    tokens: tuple[int, int]
    """Input and output, about."""
    cost: float | None
    """US dollars; None if a price is unknown."""
    unknown: str | None
    models: "list[Asked]"


def annotation_plan(
    conversations: "Sequence[Conversation]",
    labels: "Sequence[LabelDefinition]",
    asked: "Sequence[Annotator]",
    redo: Sequence[str],
    attempts: int,
    *,
    folder: Path | None = None,
    resume: bool = False,
    seed: int = 0,
) -> AnnotationPlan:
    """The plan of everything that lacks a label, and of what is redone, without what the folder has of it already: votes,
    and the replies that came before a labelling was interrupted. RunError if the folder is another labelling's."""
    from ..nodes.annotators import ModelAnnotator, Question
    from ..nodes.calls.prices import asked_model
    from ..runs.annotation_journal import KeptVotes, label_settings
    from ..runs.annotation_work import check_source, planned

    kept = KeptVotes(None)
    if folder is not None:
        settings = label_settings(labels, [each.provenance() for each in asked], seed)
        kept = KeptVotes.found(folder, settings, redo=redo, resume=resume)
        check_source(conversations, kept.all, folder)
    works = [work for work in planned(conversations, labels, redo, kept.rounds) if work.id not in kept.done]
    answered = kept.answered()
    by_label: dict[str, dict[str, int]] = {
        label.name: dict.fromkeys(("conversations", "units", "calls", "tokens"), 0) for label in labels
    }
    models = [asked_model(each.model) if isinstance(each, ModelAnnotator) else None for each in asked]
    sums, cost, unknown = [0, 0], 0.0, None
    for work in works:
        row = by_label[work.label.name]
        row["conversations"] += 1
        row["units"] += len(work.units)
        calls = _calls(Question(work.conversation, work.label, work.units, count=len(asked)))
        for vote, (each, model) in enumerate(zip(asked, models, strict=True), 1):
            if not isinstance(each, ModelAnnotator):
                continue
            for turn, sent, said in calls:
                if (work.id, turn, vote) in answered:
                    continue
                row["calls"] += 1
                row["tokens"] += sent + said
                sums[0], sums[1] = sums[0] + sent, sums[1] + said
                one, why = cost_about(model, sent, said)
                cost, unknown = cost + one, unknown or why
    usual = sum(row["calls"] for row in by_label.values())
    each_one = f"{len(asked)} vote{'' if len(asked) == 1 else 's'} each"
    whole = Plan(
        len(works),
        "labellings",
        usual,
        usual * attempts,
        each_one,
        usual > 0,
        again="every reply has to be asked again",
    )
    known = [model for model in models if model is not None]
    return AnnotationPlan(whole, by_label, (sums[0], sums[1]), None if unknown else cost, unknown, known)


def _calls(question: "Question") -> list[tuple[int, int, int]]:
    """Of each call of a vote its turn (`nodes.annotators`), and the tokens that it sends and gets, about."""
    from ..data.label_units import text_of
    from ..nodes.annotators import gaps_of, groups, pages

    library, found = pages(), []
    for units in groups(question):
        gaps = gaps_of(question, units)
        texts = [library[f"annotator/{name}"].fill_from(gaps) for name in ("system", "request")]
        said = 0
        for unit in units:
            for name, part in question.label.parts.items():
                said += tokens_about(name) + 8
                if part.text:
                    said += tokens_about(text_of(question.conversation, question.label, unit)) or 20
        found.append((units[0] + 1, sum(map(tokens_about, texts)) + 2 * OF_MESSAGE, said))
    return found


def cost_about(asked: "Asked | None", sent: int, said: int) -> tuple[float, str | None]:
    """US dollars of a call with so many tokens; 0 and the reason where no price is known."""
    from ..errors import MissingExtraError
    from ..nodes.calls.prices import price

    if asked is None:
        return 0.0, None
    try:
        cost = price(asked, {"input_tokens": sent, "output_tokens": said})
    except MissingExtraError as error:
        return 0.0, str(error)
    return (0.0, f"no price of the model {asked.name!r} is known") if cost is None else (cost, None)


def tell_plan(plan: AnnotationPlan, as_json: bool, why: str = "") -> int:
    """Print the plan, and why there is nothing in it; nothing is called."""
    told: dict[str, Any] = {
        "labellings": plan.whole.count,
        "calls": {"usual": plan.whole.usual, "most": plan.whole.most},
        "labels": plan.by_label,
        "tokens": {"input": plan.tokens[0], "output": plan.tokens[1]},
        "cost": plan.cost,
        "cost_unknown": plan.unknown,
        "rule": RULE,
    }
    if as_json:
        print_json(told)
        return 0
    if not plan.whole.usual:
        put(f"{plan.whole.count:,} {plan.whole.what} planned, {plan.whole.each}: no calls of a model")
        if why:
            say(why)
        return 0
    put(plan.whole.line)
    for name, row in plan.by_label.items():
        put(
            f"{name}: {row['conversations']} conversations, {row['units']} units, {row['calls']} calls, {row['tokens']} tokens"
        )
    for line in costs(plan.tokens, plan.cost, plan.unknown, RULE):
        put(line)
    if why:
        say(why)
    return 0


def costs(tokens: tuple[int, int], cost: float | None, unknown: str | None, rule: str) -> tuple[str, str, str]:
    """Lines about tokens, sent and replied, dollars, and how they are counted."""
    return (
        f"tokens: about {tokens[0]:,} sent and {tokens[1]:,} replied",
        f"cost:   {f'about ${cost:,.2f}' if cost is not None else f'unknown: {unknown}'}",
        rule,
    )
