"""User profiles that a model invents: request, proposal, validation.

The request asks for the kinds of people that the pool lacks most. An accepted profile joins the pool that the next one
must differ from. A rejected draft is sent back with the reason; after the last attempt another person is requested.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, Required, TypeAlias, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from typing_extensions import TypedDict

from ..data.recllmsim import Profile, coverage
from ..data.recllmsim.profiles import OTHER, REMEMBERED, Coverage, proposed_profile
from ..data.text.languages import Language
from ..errors import SettingError
from ..prompts import Library
from .calls.service import drafted
from .calls.store import Call
from .messages import Refusal, fenced, filled, repair_prompt
from .requests import attempt_of, exchange
from .settings.redaction import error_line, without_known_secrets
from .state import Prompt

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
        if (least := min(self.attempts, self.rounds)) < 1:
            raise SettingError(f"ProfileLimits: attempts and rounds must be at least 1, not {least}")


class Proposal(TypedDict, total=False):
    """One draft of a profile with its verdict.

    `place`: index of the profile among the new ones; `round`: number of the request for it; both from 0. `attempt`: number
    of the call in this round, from 1.
    """

    text: Required[str]
    """The accepted profile, or the rejected draft."""
    verdict: Required[Literal["accepted", "rejected"]]
    place: Required[int]
    round: Required[int]
    attempt: Required[int]
    reason: str
    repair: str
    """Explanation of the rejection."""
    raw: str
    """The accepted draft before it was normalised; missing if that changed nothing."""
    cleaned: list[str]
    prompt: Required[Prompt]
    usage: dict[str, int]


@dataclass
class ProfileMaker:
    """Asks a chat model for profiles, one after the other, and judges each draft; ends after rounds without one."""

    model: BaseChatModel
    pages: Library
    limits: ProfileLimits
    language: Language = "en"
    pool: Sequence[Profile] = ()
    """Existing profiles; new ones must differ from them."""
    kept: list[str] = field(default_factory=list)
    """New profiles so far."""
    rejected: list[Proposal] = field(default_factory=list)
    """Rejected drafts of this round."""
    round: int = 0
    stop: ProfileStopReason | None = None
    failure: str | None = None

    async def proposals(self, wanted: int) -> AsyncIterator[Proposal]:
        """Each draft with its verdict, until there are so many new profiles; `stop` then says why it ended."""
        fruitless = 0
        while len(self.kept) < wanted:
            try:
                proposal = await self._proposal()
            except Exception as error:  # a failed model ends it, but the profiles so far are kept
                self.stop, self.failure = "model_failed", error_line(error)
                return
            if proposal["verdict"] == "accepted":
                self.kept.append(proposal["text"])
                self.rejected, self.round, fruitless = [], 0, 0
            else:
                self.rejected.append(proposal)
            yield proposal
            if len(self.rejected) >= self.limits.attempts:
                self.rejected, self.round, fruitless = [], self.round + 1, fruitless + 1
                if fruitless >= self.limits.rounds:
                    self.stop = "attempts_spent"
                    return
        self.stop = "done"

    async def _proposal(self) -> Proposal:
        prompt, attempt = self.prompt(), len(self.rejected) + 1
        reply = await drafted(self.model, self.messages(prompt), self._call, attempt)
        draft = without_known_secrets(reply)  # an endpoint may repeat the key that it was sent
        place, judged = len(self.kept), proposed_profile(draft["text"], self._existing, self.language)
        proposal = Proposal(
            text=draft["text"], verdict="rejected", place=place, round=self.round, attempt=attempt, prompt=prompt
        )
        proposal |= {key: draft[key] for key in ("cleaned", "usage") if key in draft}  # type: ignore[typeddict-item]
        if not isinstance(judged, Profile):
            proposal["reason"], proposal["repair"] = judged
            return proposal
        proposal |= {"verdict": "accepted", "text": judged.text(self.language)}
        raw = draft.get("raw", draft["text"])
        return proposal if raw == proposal["text"] else proposal | {"raw": raw}

    def prompt(self) -> Prompt:
        """The request for the kinds that the pool lacks most, or a repair after a rejected draft."""
        if self.rejected:
            reason, words = self.rejected[-1].get("reason", ""), self.rejected[-1].get("repair", "")
            refusal = Refusal(reason, words, quote=words if reason == "near_duplicate" else "")
            numbers = {"attempt": len(self.rejected) + 1, "attempts": self.limits.attempts}
            return repair_prompt(self.pages, "assistant", refusal, numbers)
        existing = self._existing
        lines = [f"- {one.gender}, {one.age}, {one.occupation}; {one.daily_interests}" for one in existing[-_SHOWN:]]
        values = {"pool": fenced("\n".join(lines), "/pool", "lacking")}
        between, chinese = ("、", CHINESE) if self.language == "zh" else (", ", {})
        for name, kinds in next_target(coverage(existing), self._call.seed_of(0)).items():
            values[name] = between.join(chinese.get(kind, kind) for kind in kinds)
        return filled(self.pages["assistant/request" if existing else "assistant/first"], values)

    def messages(self, prompt: Prompt) -> list[BaseMessage]:
        """The system page, then request and drafts in turn; repairs are between note marks."""
        tried = [
            attempt_of({"text": one["text"]}, number, one["prompt"]) for number, one in enumerate(self.rejected, 1)
        ]
        return exchange(self.pages["assistant/system"].fill(), prompt, tried)

    @property
    def _existing(self) -> list[Profile]:
        return [*self.pool, *map(_profile, self.kept)]

    @property
    def _call(self) -> Call:
        return Call(self.limits.seed, "profiles", "assistant", len(self.kept), self.round)


@lru_cache(maxsize=REMEMBERED)
def _profile(text: str) -> Profile:
    return Profile.of(text)


def next_target(pool: Coverage, draw: int) -> dict[str, tuple[str, ...]]:
    """The kinds with the fewest profiles by their names in a `Coverage`; `draw` decides between equal ones.

    They are one `gender`, `age` (a band of years, such as `25-34`) and `occupation`, and two `traits`.
    """
    bands, occupations = _shares(pool.ages), _shares(pool.occupations)
    pairs = [(band, occupation) for band in bands for occupation in occupations if _fit(band, occupation)]

    def need(pair: tuple[str, str]) -> tuple[int, float]:  # kinds without any profile are first
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
