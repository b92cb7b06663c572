"""The nodes that make profiles: what is asked for, the proposal, the judgement, the keeping.

A profile that is accepted joins those that the next one must differ from; one that is rejected is sent
back with the reason, and after some attempts another person is asked for.
"""

from collections.abc import Awaitable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, Required, TypeAlias, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from ..data.recllmsim import Profile, coverage
from ..data.recllmsim.profile_coverage import SIMILARITY
from ..data.recllmsim.proposals import proposed_profile
from ..data.text.languages import Language
from ..errors import SettingError
from ..prompts import Library
from .environment import error_line
from .messages import fenced
from .models.specs import model_provenance
from .profile_targets import Wanted, wanted
from .requests import NO_PROMPT, Call, attempt_of, exchange
from .selectors import Refusal, filled, repair_prompt
from .speakers import drafted
from .state import Draft, Prompt

StopReason: TypeAlias = Literal["done", "attempts_spent", "model_failed"]

SHOWN = 40
"""Profiles that a request shows of those that are there, the latest ones."""

CHINESE: Mapping[str, str] = {
    "female": "女", "male": "男", "other": "非二元",
    "student": "学生或学徒", "retired": "退休", "unemployed or at home": "待业或在家", "teaching and science": "教学与科研",
    "health and care": "医疗与照护", "technology": "技术", "business and law": "商业与法律", "arts and media": "艺术与媒体",
    "crafts and trades": "手工与技工", "food and travel": "餐饮与旅行服务", "transport and delivery": "运输与配送",
    "farming": "农林渔业", "public service": "公共服务", "sport": "体育",
    "outgoing": "外向", "reserved": "内敛", "organised": "有条理", "spontaneous": "随性", "calm": "冷静", "restless": "闲不住",
    "warm": "热心", "critical": "挑剔", "optimistic": "乐观", "pessimistic": "悲观", "ambitious": "上进", "creative": "有创造力",
    "undecided": "犹豫",
}  # fmt: skip
"""The kinds of a `Coverage` as a Chinese request names them."""


@dataclass(frozen=True, kw_only=True)
class ProfileLimits:
    """What the making of profiles may spend, and the seed of its chance."""

    attempts: int = 4
    """Calls for one proposal, the first included: what is rejected is sent back this often, less one."""
    rounds: int = 3
    """Proposals in a row that may come to nothing before the making stops."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("attempts", "rounds"):
            if getattr(self, name) < 1:
                raise SettingError(f"ProfileLimits.{name} must be at least 1, not {getattr(self, name)}")


class Proposal(TypedDict, total=False):
    """One draft of a profile with its judgement: what is kept of every call."""

    text: Required[str]
    """The profile as it was accepted, or the draft as it came."""
    verdict: Required[Literal["accepted", "rejected"]]
    place: Required[int]
    """Place of the profile among those that are made, from 0."""
    round: Required[int]
    """Which request for this place, from 0."""
    attempt: Required[int]
    """Which call of this round, from 1."""
    reason: str
    repair: str
    """What was wrong, in words."""
    raw: str
    """The accepted draft as it came, where that differs."""
    cleaned: list[str]
    prompt: Prompt
    usage: dict[str, int]


class ProfileState(TypedDict, total=False):
    """Everything about the making of profiles, as plain JSON values."""

    wanted: Required[int]
    """Profiles to make in all, those that are kept already included."""
    pool: list[str]
    """Profiles that are there already, and that no new one may be like."""
    kept: list[str]
    """Profiles that were made."""
    rejected: list[Proposal]
    """Rejected drafts of this round."""
    round: int
    fruitless: int
    """Rounds in a row without a profile."""
    prompt: Prompt | None
    draft: Draft | None
    judged: Proposal
    """The latest draft with its judgement."""
    stop: StopReason | None
    failure: str


class ProfileNode(Protocol):
    """What stands at a place of the graph: it reads the state and answers with an update."""

    def __call__(self, state: ProfileState, runtime: Runtime[ProfileLimits]) -> Awaitable[dict[str, Any]]: ...


@dataclass(frozen=True)
class ProfilePrompts:
    """A request for the kinds that are lacking most, a repair after a rejected draft."""

    pages: Library
    language: Language = "en"

    async def __call__(self, state: ProfileState, runtime: Runtime[ProfileLimits]) -> dict[str, Any]:
        rejected = state.get("rejected", [])
        return {
            "prompt": self._repair(rejected, runtime.context) if rejected else self._request(state, runtime.context)
        }

    def _request(self, state: ProfileState, limits: ProfileLimits) -> Prompt:
        there = [Profile.of(text) for text in [*state.get("pool", []), *state.get("kept", [])]]
        asked = wanted(coverage(there), _call(state, limits).seed_of(0))
        page = self.pages["assistant/request" if there else "assistant/first"]
        lines = [f"- {p.gender}, {p.age}, {p.occupation}; {p.daily_interests}" for p in there[-SHOWN:]]
        return filled(page, {"pool": fenced("\n".join(lines), "/pool", "lacking")} | self._named(asked))

    def _named(self, asked: Wanted) -> dict[str, str]:
        values = asdict(asked) | {"traits": asked.traits}
        name = CHINESE.get if self.language == "zh" else lambda kind, _: kind
        between = "、" if self.language == "zh" else ", "
        return {
            key: between.join(str(name(kind, kind)) for kind in ([value] if isinstance(value, str) else value))
            for key, value in values.items()
        }

    def _repair(self, rejected: list[Proposal], limits: ProfileLimits) -> Prompt:
        reason, words = rejected[-1].get("reason", ""), rejected[-1].get("repair", "")
        refusal = Refusal(reason, words, quote=words if reason == "near_duplicate" else "")
        numbers = {"attempt": len(rejected) + 1, "attempts": limits.attempts}
        return repair_prompt(self.pages, "assistant", refusal, numbers)


@dataclass(frozen=True)
class ProfileProposer:
    """Asks a chat model for a profile: the request, what it proposed to it so far, what was wrong with that."""

    model: BaseChatModel
    pages: Library

    async def __call__(self, state: ProfileState, runtime: Runtime[ProfileLimits]) -> dict[str, Any]:
        attempt = len(state.get("rejected", [])) + 1
        try:
            draft = await drafted(self.model, self.build(state), _call(state, runtime.context).seed_of(attempt))
        except Exception as error:  # whatever a model does ends the making, never what was made
            return {"draft": None, "stop": "model_failed", "failure": error_line(error)}
        return {"draft": draft}

    def build(self, state: ProfileState) -> list[BaseMessage]:
        """The system page, then request and drafts in turn; a repair stands between note marks."""
        tried = [
            attempt_of({"text": proposal["text"]}, number, proposal.get("prompt"))
            for number, proposal in enumerate(state.get("rejected", []), start=1)
        ]
        return exchange(self.pages["assistant/system"].fill(), state.get("prompt") or NO_PROMPT, tried)

    def provenance(self) -> dict[str, Any]:
        return {"model": model_provenance(self.model)}


@dataclass(frozen=True)
class ProfileValidator:
    """Nine attributes, in the language, and not nearly the same as a profile that is there."""

    language: Language = "en"
    similarity: float = SIMILARITY
    """Share of common words from which a profile is a near-duplicate."""

    async def __call__(self, state: ProfileState, runtime: Runtime[ProfileLimits]) -> dict[str, Any]:
        draft, rejected = state.get("draft"), list(state.get("rejected", []))
        if draft is None:
            return {}
        judged = Proposal(
            text=draft["text"],
            verdict="rejected",
            place=len(state.get("kept", [])),
            round=state.get("round", 0),
            attempt=len(rejected) + 1,
        )
        if (prompt := state.get("prompt")) is not None:
            judged["prompt"] = prompt
        if "cleaned" in draft:
            judged["cleaned"] = draft["cleaned"]
        if "usage" in draft:
            judged["usage"] = draft["usage"]
        there = [Profile.of(text) for text in [*state.get("pool", []), *state.get("kept", [])]]
        answer = proposed_profile(draft["text"], there, self.language, self.similarity)
        if isinstance(answer, Profile):
            judged |= {"verdict": "accepted", "text": answer.text(self.language)}
            raw = draft.get("raw", draft["text"])
            return {"judged": judged | ({"raw": raw} if raw != judged["text"] else {})}
        judged["reason"], judged["repair"] = answer
        update: dict[str, Any] = {"judged": judged, "draft": None, "rejected": [*rejected, judged]}
        if judged["attempt"] >= runtime.context.attempts:
            fruitless = state.get("fruitless", 0) + 1
            update |= {"rejected": [], "round": judged["round"] + 1, "fruitless": fruitless}
            if fruitless >= runtime.context.rounds:
                update["stop"] = "attempts_spent"
        return update

    def provenance(self) -> dict[str, Any]:
        return {"language": self.language, "similarity": self.similarity}


async def profile_keeper(state: ProfileState, runtime: Runtime[ProfileLimits]) -> dict[str, Any]:
    """Puts the accepted profile to those that are kept, and begins anew for the next."""
    judged = state.get("judged")
    kept = [*state.get("kept", []), *([judged["text"]] if judged else [])]
    stop = "done" if len(kept) >= state["wanted"] else None
    return {"kept": kept, "rejected": [], "round": 0, "fruitless": 0, "prompt": None, "draft": None, "stop": stop}


def _call(state: ProfileState, limits: ProfileLimits) -> Call:
    """The round of requests that is going on."""
    return Call(limits.seed, "profiles", "assistant", len(state.get("kept", [])), state.get("round", 0))
