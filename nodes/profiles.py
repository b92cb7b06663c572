"""The nodes that generate user profiles: request, proposal, validation and storing.

The request asks for the kinds of people that the pool lacks most. An accepted profile joins the pool that the next one
must differ from. A rejected draft is sent back with the reason; after the last attempt another person is requested.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol, Required, TypeAlias, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from ..data.recllmsim import Profile, coverage
from ..data.recllmsim.pool_coverage import OTHER, REMEMBERED, Coverage
from ..data.recllmsim.proposals import proposed_profile
from ..data.text.languages import Language
from ..errors import SettingError
from ..prompts import Library
from .calls.service import drafted
from .calls.store import Call
from .messages.building import fenced
from .messages.selectors import Refusal, filled, repair_prompt
from .models.specs import model_provenance
from .requests import NO_PROMPT, attempt_of, exchange
from .settings.redaction import error_line, without_known_secrets
from .state import Draft, Prompt

T = TypeVar("T")

ProfileStopReason: TypeAlias = Literal["done", "attempts_spent", "model_failed"]

_SHOWN = 40
"""Maximum number of existing profiles in a request, the latest ones."""
_WEIGHTS: Mapping[str, float] = {"0-17": 0.3, "other": 0.15}
"""Desired number of profiles of a kind, relative to any other kind; 1 for kinds that are not listed."""
_FITTING: Mapping[str, tuple[int, int]] = {"student": (0, 44), "retired": (55, 120), "sport": (18, 44)}
"""First and last age, in years, with which an occupation is combined; other occupations: 18 to 60."""
OPPOSED = (
    ("outgoing", "reserved"), ("organised", "spontaneous"), ("calm", "restless"), ("optimistic", "pessimistic"),
    ("ambitious", "undecided"),
)  # fmt: skip
"""Traits that are not combined in one person."""
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
        if not (rejected := state.get("rejected", [])):
            return {"prompt": self.request(state, runtime.context)}
        reason, words = rejected[-1].get("reason", ""), rejected[-1].get("repair", "")
        refusal = Refusal(reason, words, quote=words if reason == "near_duplicate" else "")
        numbers = {"attempt": len(rejected) + 1, "attempts": runtime.context.attempts}
        return {"prompt": repair_prompt(self.pages, "assistant", refusal, numbers)}

    def request(self, state: ProfileState, limits: ProfileLimits) -> Prompt:
        """The request for the kinds that the pool lacks most."""
        existing = _existing(state)
        lines = [f"- {one.gender}, {one.age}, {one.occupation}; {one.daily_interests}" for one in existing[-_SHOWN:]]
        values = {"pool": fenced("\n".join(lines), "/pool", "lacking")}
        between = "、" if self.language == "zh" else ", "
        for name, kinds in next_target(coverage(existing), _call(state, limits).seed_of(0)).items():
            values[name] = between.join(CHINESE.get(kind, kind) if self.language == "zh" else kind for kind in kinds)
        return filled(self.pages["assistant/request" if existing else "assistant/first"], values)


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

    async def __call__(self, state: ProfileState, runtime: Runtime[ProfileLimits]) -> dict[str, Any]:
        draft, rejected = state.get("draft"), list(state.get("rejected", []))
        if draft is None:
            return {}
        place, round, attempt = len(state.get("kept", [])), state.get("round", 0), len(rejected) + 1
        judged = Proposal(text=draft["text"], verdict="rejected", place=place, round=round, attempt=attempt)
        if (prompt := state.get("prompt")) is not None:
            judged["prompt"] = prompt
        if "cleaned" in draft:
            judged["cleaned"] = draft["cleaned"]
        if "usage" in draft:
            judged["usage"] = draft["usage"]
        result = proposed_profile(draft["text"], _existing(state), self.language)
        if isinstance(result, Profile):
            judged |= {"verdict": "accepted", "text": result.text(self.language)}
            raw = draft.get("raw", draft["text"])
            return {"judged": judged | ({"raw": raw} if raw != judged["text"] else {})}
        judged["reason"], judged["repair"] = result
        update: dict[str, Any] = {"judged": judged, "draft": None, "rejected": [*rejected, judged]}
        if attempt >= runtime.context.attempts:
            fruitless = state.get("fruitless", 0) + 1
            update |= {"rejected": [], "round": round + 1, "fruitless": fruitless}
            if fruitless >= runtime.context.rounds:
                update["stop"] = "attempts_spent"
        return update


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


def next_target(pool: Coverage, draw: int) -> dict[str, tuple[str, ...]]:
    """The kinds with the fewest profiles by their names in a `Coverage`; `draw` decides between equal ones.

    They are one `gender`, `age` (a band of years, such as `25-34`) and `occupation`, and two `traits`.
    """
    bands, occupations = _shares(pool.ages), _shares(pool.occupations)
    pairs = [(band, occupation) for band in bands for occupation in occupations if _fit(band, occupation)]

    def need(pair: tuple[str, str]) -> tuple[int, float]:
        """Sorts kinds without any profile before all others, then by the number of profiles."""
        ages, workers = bands[pair[0]], occupations[pair[1]]
        return -(not ages) - (not workers), ages + workers

    band, occupation = min(_rotated(pairs, draw), key=need)
    traits = _shares(pool.traits)
    first = min(_rotated(list(traits), draw >> 8), key=traits.__getitem__)
    excluded = {first, *(trait for pair in OPPOSED if first in pair for trait in pair)}
    second = min((one for one in _rotated(list(traits), draw >> 12) if one not in excluded), key=traits.__getitem__)
    genders = {name: count / _WEIGHTS.get(name, 1) for name, count in pool.genders.items()}
    gender = min(_rotated(list(genders), draw >> 4), key=genders.__getitem__)
    return {"gender": (gender,), "age": (band,), "occupation": (occupation,), "traits": (first, second)}


def _shares(counts: Mapping[str, int]) -> dict[str, float]:
    return {name: count / _WEIGHTS.get(name, 1) for name, count in counts.items() if name != OTHER}


def _fit(band: str, occupation: str) -> bool:
    first, last = _FITTING.get(occupation, (18, 60))
    return first <= int(band.split("-")[0]) <= last


def _rotated(items: Sequence[T], draw: int) -> list[T]:
    start = draw % len(items)
    return [*items[start:], *items[:start]]
