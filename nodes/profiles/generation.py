"""The nodes that generate profiles: request, proposal, validation and storing.

An accepted profile joins the pool that the next one must differ from. A rejected draft is sent back with the reason;
after the last attempt another person is requested.
"""

from collections.abc import Awaitable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol, Required, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from ...data.recllmsim import Profile, coverage
from ...data.recllmsim.pool_coverage import REMEMBERED, SIMILARITY
from ...data.recllmsim.proposals import proposed_profile
from ...data.text.languages import Language
from ...errors import SettingError
from ...prompts import Library
from ..asking.requests import NO_PROMPT, attempt_of, exchange
from ..calls.service import drafted
from ..calls.store import Call
from ..messages.building import fenced
from ..messages.selectors import Refusal, filled, repair_prompt
from ..models.specs import model_provenance
from ..settings.redaction import error_line, without_known_secrets
from ..state import Draft, Prompt
from .targets import Target, next_target

ProfileStopReason: TypeAlias = Literal["done", "attempts_spent", "model_failed"]

SHOWN = 40
"""Maximum number of existing profiles in a request, the latest ones."""

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
"""Chinese names of the kinds of a `Coverage`, for Chinese requests."""


@dataclass(frozen=True, kw_only=True)
class ProfileLimits:
    """Limits of the generation of profiles, and the seed of its random choices."""

    attempts: int = 4
    """Maximum calls for one profile in a round, including the first."""
    rounds: int = 3
    """Maximum rounds in a row without a profile; then the generation stops."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("attempts", "rounds"):
            if getattr(self, name) < 1:
                raise SettingError(f"ProfileLimits.{name} must be at least 1, not {getattr(self, name)}")


class Proposal(TypedDict, total=False):
    """One draft of a profile with its verdict."""

    text: Required[str]
    """The accepted profile, or the rejected draft."""
    verdict: Required[Literal["accepted", "rejected"]]
    place: Required[int]
    """Index of the profile among the new ones, from 0."""
    round: Required[int]
    """Number of the request for this profile, from 0."""
    attempt: Required[int]
    """Number of the call in this round, from 1."""
    reason: str
    repair: str
    """Explanation of the rejection."""
    raw: str
    """The accepted draft before it was normalised; missing if that changed nothing."""
    cleaned: list[str]
    prompt: Prompt
    usage: dict[str, int]


class ProfileState(TypedDict, total=False):
    """The state of the generation of profiles, as plain JSON values."""

    wanted: Required[int]
    """Number of new profiles in total, including those in `kept`."""
    pool: list[str]
    """Existing profiles; new ones must differ from them."""
    kept: list[str]
    """New profiles so far."""
    rejected: list[Proposal]
    """Rejected drafts of this round."""
    round: int
    fruitless: int
    """Rounds in a row without a profile."""
    prompt: Prompt | None
    draft: Draft | None
    judged: Proposal
    """The latest draft with its verdict."""
    stop: ProfileStopReason | None
    failure: str


class ProfileNode(Protocol):
    """A node of the graph: an async callable that reads the state and returns an update."""

    def __call__(self, state: ProfileState, runtime: Runtime[ProfileLimits]) -> Awaitable[dict[str, Any]]: ...


@dataclass(frozen=True)
class ProfilePrompts:
    """Selects a request for the kinds that the pool lacks most, or a repair after a rejected draft."""

    pages: Library
    language: Language = "en"

    async def __call__(self, state: ProfileState, runtime: Runtime[ProfileLimits]) -> dict[str, Any]:
        rejected = state.get("rejected", [])
        return {"prompt": self._repair(rejected, runtime.context) if rejected else self.request(state, runtime.context)}

    def request(self, state: ProfileState, limits: ProfileLimits) -> Prompt:
        """The request for the kinds that the pool lacks most."""
        existing = _existing(state)
        target = next_target(coverage(existing), _call(state, limits).seed_of(0))
        page = self.pages["assistant/request" if existing else "assistant/first"]
        lines = [
            f"- {profile.gender}, {profile.age}, {profile.occupation}; {profile.daily_interests}"
            for profile in existing[-SHOWN:]
        ]
        return filled(page, {"pool": fenced("\n".join(lines), "/pool", "lacking")} | self._named(target))

    def _named(self, target: Target) -> dict[str, str]:
        values = asdict(target) | {"traits": target.traits}
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
    """Asks a chat model for a profile, with the request, its rejected drafts and their repairs."""

    model: BaseChatModel
    pages: Library

    async def __call__(self, state: ProfileState, runtime: Runtime[ProfileLimits]) -> dict[str, Any]:
        attempt = len(state.get("rejected", [])) + 1
        try:
            draft = await drafted(self.model, self.build(state), _call(state, runtime.context), attempt)
        except Exception as error:  # a failed model ends the generation, but the profiles so far are kept
            return {"draft": None, "stop": "model_failed", "failure": error_line(error)}
        return {"draft": without_known_secrets(draft)}  # an endpoint may repeat the key that it was sent

    def build(self, state: ProfileState) -> list[BaseMessage]:
        """The system page, then request and drafts in turn; repairs are between note marks."""
        tried = [
            attempt_of({"text": proposal["text"]}, number, proposal.get("prompt"))
            for number, proposal in enumerate(state.get("rejected", []), start=1)
        ]
        return exchange(self.pages["assistant/system"].fill(), state.get("prompt") or NO_PROMPT, tried)

    def provenance(self) -> dict[str, Any]:
        return {"model": model_provenance(self.model)}


@dataclass(frozen=True)
class ProfileValidator:
    """Accepts a profile with nine attributes, in the language, that is not a near-duplicate of an existing one."""

    language: Language = "en"
    similarity: float = SIMILARITY
    """Minimum share of common words, 0 to 1, of a near-duplicate."""

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
        result = proposed_profile(draft["text"], _existing(state), self.language, self.similarity)
        if isinstance(result, Profile):
            judged |= {"verdict": "accepted", "text": result.text(self.language)}
            raw = draft.get("raw", draft["text"])
            return {"judged": judged | ({"raw": raw} if raw != judged["text"] else {})}
        judged["reason"], judged["repair"] = result
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
    """Adds the accepted profile to `kept`, and resets the state for the next one."""
    judged = state.get("judged")
    profiles = [*state.get("kept", []), *([judged["text"]] if judged else [])]
    stop = "done" if len(profiles) >= state["wanted"] else None
    return {"kept": profiles, "rejected": [], "round": 0, "fruitless": 0, "prompt": None, "draft": None, "stop": stop}


def _existing(state: ProfileState) -> list[Profile]:
    return [_profile(text) for text in [*state.get("pool", []), *state.get("kept", [])]]


@lru_cache(maxsize=REMEMBERED)
def _profile(text: str) -> Profile:
    return Profile.of(text)


def _call(state: ProfileState, limits: ProfileLimits) -> Call:
    """Identifies the current round, from which the seeds of its calls are derived."""
    return Call(limits.seed, "profiles", "assistant", len(state.get("kept", [])), state.get("round", 0))
