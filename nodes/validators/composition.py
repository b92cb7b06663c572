"""Validators made of functions or of other validators, and validators that only observe."""

import inspect
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, cast

from langchain_core.language_models import BaseChatModel
from langgraph.runtime import Runtime

from ...data.records import Usage
from ...errors import shown
from ..contract import AsksModel, ContractError, Node, call_of, describe
from ..limits import Limits
from ..messages.attachments import why_empty
from ..models.flaws import CUT_OFF, flaw_in
from ..node_forms import node_of
from ..state import Draft, State, Update, Verdict
from .flaws import sound

JudgeAnswer: TypeAlias = Verdict | str | None
DraftJudge: TypeAlias = Callable[..., JudgeAnswer | Awaitable[JudgeAnswer]]
"""Judges one draft, `(draft, state)` or `(draft, state, runtime)`, async or not: None to accept it, a reason to reject
it, or a complete verdict."""

_SIGNATURE = "(draft, state) or (draft, state, runtime) -> None, a reason or a Verdict"


def cut_off(draft: Draft) -> Verdict | None:
    """The rejection of a draft if its endpoint reports that it was cut off by length; else None."""
    return {"accepted": False, "reason": CUT_OFF} if flaw_in(draft) == CUT_OFF else None


def by_reasons(reasons: Sequence[str], notes: Sequence[str]) -> Verdict:
    """The verdict with these reasons to reject a draft, of which the first is recorded, and these notes."""
    verdict = Verdict(accepted=not reasons)
    if reasons:
        verdict["reason"] = reasons[0]
    if notes:
        verdict["notes"] = list(notes)
    return verdict


@dataclass(frozen=True)
class JudgedBy:
    """A validator made of a function that judges one draft."""

    judge: DraftJudge
    must: bool = False

    @property
    def judges_flaws(self) -> bool:
        """Whether the function is marked so (`judges_flaws`)."""
        return getattr(self.judge, "judges_flaws", False) is True

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        more = {"runtime": runtime} if "runtime" in inspect.signature(self.judge).parameters else {}
        verdicts: list[Verdict] = []
        for draft in state.get("drafts") or []:
            answer = self.judge(draft, state, **more)
            verdict = _verdict(await answer if inspect.isawaitable(answer) else answer)
            verdicts.append(_never_sent(verdict) if self.must else verdict)
        return {"verdicts": verdicts}

    def provenance(self) -> dict[str, Any]:
        return {"judge": describe(self.judge)} | ({"must": True} if self.must else {})


def _verdict(answer: JudgeAnswer) -> Verdict:
    if answer is None:
        return {"accepted": True}
    return {"accepted": False, "reason": answer} if isinstance(answer, str) else answer


def _never_sent(verdict: Verdict) -> Verdict:
    """A rejection as one that holds after the last attempt too."""
    rejects = isinstance(cast(object, verdict), dict) and verdict.get("accepted") is False
    return cast(Verdict, {**verdict, "must": True}) if rejects else verdict


def validator(judge: DraftJudge, *, must: bool = False) -> Node:
    """A validator from a function `(draft, state) -> None | reason | Verdict` that judges each sound draft.

    The function may be async and ask a model, and may have a third parameter `runtime`, whose `context` are the
    limits. A reply that is empty, cut off or filtered is rejected before it, and so is a user's refusal to play. A
    function that is marked with `judges_flaws` gets them too.

    `must`: a draft that it rejects is never sent. A conversation whose last attempt it rejects ends as
    `assistant_rejected`. Without `must` the last draft is sent all the same, unless the cast has another setting
    (`when_rejected`). ContractError if it takes other arguments.
    """
    if not callable(judge) or isinstance(judge, type):
        raise ContractError(f"validator: expected a function {_SIGNATURE}; got {shown(judge)}")
    try:
        signature = inspect.signature(judge)
        signature.bind({}, {}, **({"runtime": None} if "runtime" in signature.parameters else {}))
    except TypeError:
        raise ContractError(
            f"validator: expected a function {_SIGNATURE}; got {shown(judge)}, which takes other arguments"
        ) from None
    return JudgedBy(judge, must)


def parts_of(node: object) -> Iterator[object]:
    """The node, or the validators that it is made of."""
    if isinstance(node, ValidatorSequence):
        for inner in node.nodes:
            yield from parts_of(inner)
    elif isinstance(node, ValidatorWrapper):
        yield from parts_of(node.node)
    else:
        yield node


def models_of(node: object) -> Iterator[BaseChatModel]:
    """The chat models that a node asks, those of the validators in it included."""
    return (part.model for part in parts_of(node) if isinstance(part, AsksModel))


def may_ask(node: object) -> bool:
    """Whether a validator may ask a model: it has one, or is made of an async function."""
    match node:
        case JudgedBy():
            return inspect.iscoroutinefunction(call_of(node.judge))
        case ValidatorSequence():
            return any(may_ask(inner) for inner in node.nodes)
        case ValidatorWrapper():
            return may_ask(node.node)
        case _:
            return isinstance(node, AsksModel)


@dataclass(frozen=True)
class ValidatorSequence:
    """Several validators, of which each must accept a draft; those that may ask a model come last."""

    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(sorted(self.nodes, key=may_ask)))

    @property
    def judges_flaws(self) -> bool:
        """Whether any of them does."""
        return any(getattr(node, "judges_flaws", False) is True for node in self.nodes)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        joined: list[Verdict] = [{"accepted": True} for _ in (state.get("drafts") or [])]
        for node in self.nodes:
            settled = any(not verdict["accepted"] or verdict.get("failed") for verdict in joined)
            if settled and may_ask(node):
                continue  # the whole reply is asked for again: a model's opinion of it would be paid for nothing
            update = await node(state, runtime)
            if update.get("stop") is not None:
                return update
            verdicts = update.get("verdicts", [])
            joined = [_both(earlier, later) for earlier, later in zip(joined, verdicts, strict=True)]
        return {"verdicts": joined}

    def provenance(self) -> dict[str, Any]:
        return {"every": [describe(node) for node in self.nodes]}


def every(*nodes: Node) -> Node:
    """A validator that accepts the drafts that all of these accept.

    They are called in order, but those that may ask a model (judges, async functions) after the others. These are not
    called at all once a draft of the reply is rejected. The first rejection is the verdict. A text to store instead of
    the draft's comes from the first validator that gives one. Notes are joined.
    """
    return ValidatorSequence(tuple(map(node_of, nodes)))


def _both(earlier: Verdict, later: Verdict) -> Verdict:
    if not earlier["accepted"]:
        return {**earlier, "must": True} if later.get("must") else earlier
    joined = cast(Verdict, {**later, **earlier} if later["accepted"] else {**later})
    if notes := [*earlier.get("notes", []), *later.get("notes", [])]:
        joined["notes"] = notes
    if explanations := [text for verdict in (earlier, later) if (text := verdict.get("explanation"))]:
        joined["explanation"] = "\n".join(explanations)
    if measured := {**earlier.get("measured", {}), **later.get("measured", {})}:
        joined["measured"] = measured
    if usages := [usage for verdict in (earlier, later) if (usage := verdict.get("judging"))]:
        joined["judging"] = sum((Usage(**usage) for usage in usages), Usage.none()).model_dump()
    return joined


_NOT_OF_THE_JUDGEMENT = ("stored", "judging", "explanation", "failed", "measured")
"""Keys of a verdict that observing does not change."""


@dataclass(frozen=True)
class ValidatorWrapper:
    """A validator around another one."""

    node: Node


@dataclass(frozen=True)
class Observing(ValidatorWrapper):
    """A validator whose verdicts are recorded as observed: every draft is accepted unchanged."""

    judges_flaws: ClassVar[bool] = True
    """A flaw is observed too."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        update = await sound(self.node)(state, runtime)
        verdicts = [self._observed(verdict) for verdict in update.get("verdicts", [])]
        return {**update, "verdicts": verdicts}

    @staticmethod
    def _observed(verdict: Verdict) -> Verdict:
        observed_verdict = Verdict(accepted=True, observed=not verdict["accepted"], reason=verdict.get("reason"))
        if notes := verdict.get("notes"):
            observed_verdict["notes"] = notes
        as_it_was = {key: value for key, value in verdict.items() if key in _NOT_OF_THE_JUDGEMENT}
        return cast(Verdict, {**observed_verdict, **as_it_was})

    def provenance(self) -> dict[str, Any]:
        return {"observes": describe(self.node)}


async def not_empty(state: State, runtime: Runtime[Limits]) -> Update:
    """A validator that accepts every draft that is not cut off, not empty, and not only tool calls."""
    return {"verdicts": [cut_off(draft) or unless_empty(draft) for draft in (state.get("drafts") or [])]}


def unless_empty(draft: Draft) -> Verdict:
    """Accepts a draft unless it is empty or only calls tools; an image without a text is not empty."""
    reason = why_empty(draft)
    return {"accepted": True} if reason is None else {"accepted": False, "reason": reason}


async def accept_all(state: State, runtime: Runtime[Limits]) -> Update:
    """A validator that accepts every draft of a sound reply."""
    return {"verdicts": [{"accepted": True} for _ in (state.get("drafts") or [])]}
