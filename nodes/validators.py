"""Validators: made of a function that judges a draft, of other validators, or only observing.

Before every validator a flawed reply (cut off, filtered, empty, a user's refusal) is rejected for its flaw, unless the
validator is marked with `judges_flaws`.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langgraph.runtime import Runtime

from ..data.records import Usage
from .attachments import why_empty
from .contract import Node, call_of, check_function, node_of, parts_of
from .limits import Limits
from .models.faults import CONTENT_FILTER, CUT_OFF, EMPTY, REFUSAL, flaw_in
from .state import Draft, State, Update, Verdict

V = TypeVar("V")

JudgeAnswer: TypeAlias = Verdict | str | None
DraftJudge: TypeAlias = Callable[..., JudgeAnswer | Awaitable[JudgeAnswer]]
"""Judges one draft, `(draft, state)` or `(draft, state, runtime)`, async or not: None to accept it, a reason to reject
it, or a complete verdict."""

_SIGNATURE = "(draft, state) or (draft, state, runtime) -> None, a reason or a Verdict"
_REJECTED_FLAWS = (CUT_OFF, CONTENT_FILTER, EMPTY)
_NOT_OF_THE_JUDGEMENT = ("stored", "judging", "explanation", "failed", "measured", "notes")
"""Keys of a verdict that observing does not change."""


def judges_flaws(node: V) -> V:
    """Marks a validator, or its class, that judges flaws itself: it gets flawed drafts too, and its verdict holds."""
    setattr(node, "judges_flaws", True)  # noqa: B010 - a function has no such attribute for a type checker
    return node


def sound(node: Node) -> Node:
    """The validator as it judges only sound replies; itself if it judges flaws.

    A reply with a flawed draft is rejected as a whole. An assistant's refusal is its answer: if the validator accepts
    it, the verdict has the note `refusal`.
    """
    if _judges_flaws(node):
        return node

    async def checked(state: State, runtime: Runtime[Limits]) -> Update:
        drafts = state.get("drafts") or []
        flaws = [flaw_in(draft) for draft in drafts]
        wrong = [*_REJECTED_FLAWS, *([REFUSAL] if state.get("speaking") == "user" else [])]
        if any(flaw in wrong for flaw in flaws):
            return {"verdicts": [_rejection(flaw) if flaw in wrong else {"accepted": True} for flaw in flaws]}
        update = await node(state, runtime)
        if REFUSAL not in flaws or not isinstance(update, dict):
            return update
        verdicts = [*update.get("verdicts", [])]
        for number, (flaw, verdict) in enumerate(zip(flaws, verdicts, strict=False)):
            if flaw == REFUSAL and isinstance(verdict, dict) and verdict.get("accepted"):
                verdicts[number] = {**verdict, "notes": [*verdict.get("notes", []), REFUSAL]}
        return {**update, "verdicts": verdicts}

    return checked


def _judges_flaws(node: object) -> bool:
    inside = node.nodes if isinstance(node, ValidatorSequence) else ()
    return getattr(node, "judges_flaws", False) is True or any(map(_judges_flaws, inside))


def _rejection(reason: str | None) -> Verdict:
    return {"accepted": False, "reason": reason}


def cut_off(draft: Draft) -> Verdict | None:
    """The rejection of a draft if its endpoint reports that it was cut off by length; else None."""
    return _rejection(CUT_OFF) if flaw_in(draft) == CUT_OFF else None


def unless_empty(draft: Draft) -> Verdict:
    """Accepts a draft unless it is empty or only calls tools; an image without a text is not empty."""
    return {"accepted": True} if (reason := why_empty(draft)) is None else _rejection(reason)


def wordless(draft: Draft) -> Verdict | None:
    """The verdict on a draft without words that is not empty: an image is accepted, only tool calls are not."""
    if draft["text"].strip() or (reason := why_empty(draft)) == "empty":
        return None
    return {"accepted": True} if reason is None else _rejection(reason)


def by_reasons(reasons: Sequence[str], notes: Sequence[str]) -> Verdict:
    """The verdict with these reasons to reject a draft, of which the first is recorded, and these notes."""
    verdict = Verdict(accepted=not reasons)
    if reasons:
        verdict["reason"] = reasons[0]
    if notes:
        verdict["notes"] = list(notes)
    return verdict


class PerDraft:
    """A validator by rule that judges each draft by itself: `verdict` says how."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        return {"verdicts": [self.verdict(draft, state, runtime.context) for draft in state.get("drafts") or []]}

    def verdict(self, draft: Draft, state: State, limits: Limits) -> Verdict:
        """The verdict on a draft."""
        raise NotImplementedError


async def not_empty(state: State, runtime: Runtime[Limits]) -> Update:
    """A validator that accepts every draft that is not cut off, not empty, and not only tool calls."""
    return {"verdicts": [cut_off(draft) or unless_empty(draft) for draft in state.get("drafts") or []]}


@dataclass(frozen=True)
class JudgedBy:
    """A validator made of a function that judges one draft: see `validator`."""

    judge: DraftJudge
    must: bool = False
    judges_flaws: bool = field(default=False, kw_only=True)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        more = {"runtime": runtime} if "runtime" in inspect.signature(self.judge).parameters else {}
        verdicts: list[Verdict] = []
        for draft in state.get("drafts") or []:
            answer = self.judge(draft, state, **more)
            answer = await answer if inspect.isawaitable(answer) else answer
            if answer is None or isinstance(answer, str):
                answer = {"accepted": True} if answer is None else _rejection(answer)
            if self.must and isinstance(cast(object, answer), dict) and answer.get("accepted") is False:
                answer = cast(Verdict, {**answer, "must": True})
            verdicts.append(answer)
        return {"verdicts": verdicts}


def validator(judge: DraftJudge, *, must: bool = False) -> Node:
    """A validator from a function `(draft, state) -> None | reason | Verdict` that judges each sound draft.

    The function may be async and ask a model, and may have a third parameter `runtime`, whose `context` are the
    limits. A reply that is empty, cut off or filtered is rejected before it, and so is a user's refusal to play. A
    function that is marked with `judges_flaws` gets them too.

    `must`: a draft that it rejects is never sent. A conversation whose last attempt it rejects ends as
    `assistant_rejected`. Without `must` the last draft is sent all the same, unless the cast has another setting
    (`when_rejected`). ContractError if it takes other arguments.
    """
    given = {"runtime"} if callable(judge) and "runtime" in inspect.signature(judge).parameters else ()
    check_function("validator", judge, _SIGNATURE, named=given, may_be_async=True)
    return JudgedBy(judge, must, judges_flaws=_judges_flaws(judge))


@dataclass(frozen=True)
class ValidatorSequence:
    """Several validators, of which each must accept a draft: see `every`."""

    nodes: tuple[Node, ...]
    made_of: ClassVar[str] = "nodes"

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        joined: list[Verdict] = [{"accepted": True} for _ in state.get("drafts") or []]
        for node in self.nodes:
            settled = any(not verdict["accepted"] or verdict.get("failed") for verdict in joined)
            if settled and may_ask(node):
                continue  # the whole reply is asked for again: a model's opinion of it would be paid for nothing
            update = await node(state, runtime)
            if update.get("stop") is not None:
                return update
            joined = [_both(*pair) for pair in zip(joined, update.get("verdicts", []), strict=True)]
        return {"verdicts": joined}


def every(*nodes: Node) -> Node:
    """A validator that accepts the drafts that all of these accept; the first rejection is the verdict.

    They are called in order, but those that may ask a model (judges, async functions) after the others, and not at all
    once a draft of the reply is rejected. A text to store comes from the first validator that gives one.
    """
    return ValidatorSequence(tuple(sorted(map(node_of, nodes), key=may_ask)))


def _both(earlier: Verdict, later: Verdict) -> Verdict:
    if not earlier["accepted"]:
        return {**earlier, "must": True} if later.get("must") else earlier
    both = (earlier, later)
    usages = [Usage(**usage) for verdict in both if (usage := verdict.get("judging"))]
    of_both = {
        "notes": [*earlier.get("notes", []), *later.get("notes", [])],
        "explanation": "\n".join(text for verdict in both if (text := verdict.get("explanation"))),
        "measured": {**earlier.get("measured", {}), **later.get("measured", {})},
        "judging": sum(usages, Usage.none()).model_dump() if usages else None,
    }
    joined = {**later, **earlier} if later["accepted"] else later
    return cast(Verdict, {**joined, **{key: value for key, value in of_both.items() if value}})


@dataclass(frozen=True)
class Observing:
    """A validator whose verdicts are recorded as observed: every draft is accepted unchanged. A flaw is observed too."""

    node: Node
    judges_flaws: ClassVar[bool] = True
    made_of: ClassVar[str] = "node"

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        update = await sound(self.node)(state, runtime)
        verdicts: list[Verdict] = []
        for verdict in update.get("verdicts", []):
            observed = Verdict(accepted=True, observed=not verdict["accepted"], reason=verdict.get("reason"))
            kept = {key: value for key, value in verdict.items() if key in _NOT_OF_THE_JUDGEMENT}
            verdicts.append(cast(Verdict, {**observed, **kept}))
        return {**update, "verdicts": verdicts}


def models_of(node: object) -> Iterator[BaseChatModel]:
    """The chat models that a node asks, those of the validators in it included."""
    models = (getattr(part, "model", None) for part in parts_of(node))
    return (model for model in models if isinstance(model, BaseChatModel))


def may_ask(node: object) -> bool:
    """Whether a validator may ask a model: it has one, or is made of an async function."""
    functions = (part.judge for part in parts_of(node) if isinstance(part, JudgedBy))
    return any(models_of(node)) or any(inspect.iscoroutinefunction(call_of(one)) for one in functions)
