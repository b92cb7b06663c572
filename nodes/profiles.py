"""User profiles that a model invents.

A request asks for the kinds of people that the pool lacks most. A rejected draft is sent back with the reason; after the
last attempt another person is requested.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from langchain_core.language_models import BaseChatModel

from ..data.recllmsim import Profile, coverage
from ..data.recllmsim.profiles import OTHER, Coverage, proposed_profile
from ..data.records import Attempt
from ..data.text.languages import Language
from ..prompts import Library
from .calls.store import Call
from .messages import fenced
from .prompt_selectors import Refusal
from .requests import RequestAnswer, ask
from .settings.redaction import without_known_secrets

T = TypeVar("T")

ATTEMPTS = 4
"""Maximum calls for one profile in a round, including the first."""
ROUNDS = 3
"""Maximum rounds in a row without a profile; then the generation stops."""
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


@dataclass(frozen=True)
class ProfileMaker:
    """Asks a chat model for profiles, one after the other."""

    model: BaseChatModel
    pages: Library
    seed: int = 0
    language: Language = "en"
    pool: Sequence[Profile] = ()
    """Existing profiles; new ones must differ from them."""

    async def next(self, made: Sequence[Profile]) -> RequestAnswer[Profile]:
        """The profile after those that were made, with every draft; without a value after rounds without one."""
        existing, attempts = [*self.pool, *made], list[Attempt]()

        def parse(text: str) -> Profile | Refusal:
            # An endpoint may repeat the key that it was sent.
            judged = proposed_profile(str(without_known_secrets(text)), existing, self.language)
            if isinstance(judged, Profile):
                return judged
            reason, words = judged
            return Refusal(reason, words, quote=words if reason == "near_duplicate" else "")

        for number in range(ROUNDS):
            call = Call(self.seed, "profiles", "assistant", len(made), number)
            page, values = self.request(existing, call)
            answer = await ask(self.model, page, values, parse, ATTEMPTS, pages=self.pages, call=call)
            attempts += answer.attempts
            if answer.value is not None or answer.error is not None:
                break
        return replace(answer, attempts=tuple(attempts))

    def request(self, existing: Sequence[Profile], call: Call) -> tuple[str, dict[str, str]]:
        """The page that asks for the kinds that the pool lacks most, and its values."""
        lines = [f"- {one.gender}, {one.age}, {one.occupation}; {one.daily_interests}" for one in existing[-_SHOWN:]]
        values = {"pool": fenced("\n".join(lines), "/pool", "lacking")}
        between, chinese = ("、", CHINESE) if self.language == "zh" else (", ", {})
        for name, kinds in next_target(coverage(existing), call.seed_of(0)).items():
            values[name] = between.join(chinese.get(kind, kind) for kind in kinds)
        return "assistant/request" if existing else "assistant/first", values


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
