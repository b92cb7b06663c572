"""Situations of task-oriented conversations (a task, its context, the user's profile), and pools of profiles.

A pool is a text file in RecLLMSim's format: a block for each profile, separated by empty lines, with numbered lines
from `1. Gender: ...` to `9. Other Aspects: ...`. A profile's id is its index in the pool, from 0.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeAlias, TypeVar

from pydantic import Field, ValidationError, model_validator

from ...errors import DataError, at, first_invalid
from ..files.json import read_text
from ..records import Conversation, Json, Record
from ..rules.guards import plain_words
from ..text.languages import Language, language_of

KIND = "recllmsim"
"""`kind` of a scenario that is a task with a profile."""

ATTRIBUTES: Mapping[str, tuple[str, str]] = {
    "gender": ("Gender", "性别"),
    "age": ("Age", "年龄"),
    "background": ("Field of Study", "专业背景"),
    "personality": ("Personality", "个性"),
    "occupation": ("Occupation", "职业"),
    "daily_interests": ("Daily Interests and Hobbies", "日常兴趣爱好"),
    "travel_habits": ("Travel Habits", "旅行习惯"),
    "dining_preferences": ("Dining Preferences", "用餐偏好"),
    "spending_habits": ("Spending Habits", "消费习惯"),
    "other_aspects": ("Other Aspects", "其他方面"),
}
"""The attributes of a profile in order: key in a structured profile, and label in English and Chinese text."""

_GENDERS = {"female": "女", "male": "男"}
_LINE = re.compile(r"(?:(?P<number>\d{1,3})\s*[.、．])?(?P<attribute>[^:：]*)[:：](?P<value>.*)", re.S)
# A match begins only at the first character of a run of white space: otherwise the time is quadratic in the run.
_BETWEEN = re.compile(r"(?:(?<!\s)\s+)?[,，、;；]\s*(?:and\s+|以及|和)?|(?<!\s)\s+and\s+")


class Situation(Record):
    """A task context and a profile, which only the user of a conversation has.

    It has either a `preference` (the profile of a simulated user, as text) or a `profile` (a person's structured
    profile). ValueError if it has both or neither.
    """

    kind: Literal["recllmsim"] = "recllmsim"
    language: Language = "en"
    """Language of the conversation, and of the profile and context."""
    task: str
    """The source's name of the task (`task`, or `task_type` in people's conversations)."""
    task_context: str
    """The user's goal, from the user's view."""
    task_context_id: int | None = None
    """Number of the context within its task, from 0."""
    preference_id: int | None = None
    """Index of the profile in its pool, from 0."""
    preference: str | None = None
    """The profile as text: a numbered line for each attribute."""
    profile: Json | None = Field(default=None)
    """The profile with keys: gender, age, lists of personality, habits and the like."""
    success: Json | None = None
    """What counts as success, by the names of scorers; neither side sees it."""

    @model_validator(mode="after")
    def _one_profile(self) -> Self:
        if (self.preference is None) == (self.profile is None):
            raise ValueError("a situation has either a 'preference' (text) or a 'profile' (structured)")
        return self

    def scenario(self) -> dict[str, Any]:
        """The situation as a scenario's plain JSON, without keys that have no value."""
        return self.model_dump(mode="python", exclude_none=True)

    @classmethod
    def of(cls, source: "Conversation | Mapping[str, Any]") -> Self:
        """The situation of a conversation or a scenario; DataError if it is not a situation."""
        scenario = source.scenario if isinstance(source, Conversation) else source
        if scenario.get("kind") != KIND:
            raise DataError(f"the scenario is of kind {scenario.get('kind')!r}, a situation is {KIND!r}")
        try:
            return cls.model_validate(dict(scenario))
        except ValidationError as error:
            first = first_invalid(error)
            where = f"{first.path!r}: " if first.path else ""
            raise DataError(f"the scenario of kind {KIND!r}: {where}{first.message}: is this a record?") from None

    @property
    def profile_text(self) -> str:
        """The profile as text in the situation's language, with a numbered line for each attribute."""
        if self.preference is not None:
            return self.preference
        between, colon = ("、", "：") if self.language == "zh" else (", ", ": ")
        lines = (f"{label}{colon}{between.join(values)}" for label, values in self._structured())
        return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Pairs of attribute and value, one for each value of the profile."""
        pairs = self._structured() if self.preference is None else lines_of(self.preference)
        return [(attribute, value) for attribute, values in pairs for value in values]

    def _structured(self) -> Iterator[tuple[str, list[str]]]:
        profile = self.profile or {}
        for key in (key for key in dict.fromkeys((*ATTRIBUTES, *profile)) if key in profile):
            value = profile[key]
            several = value if isinstance(value, list) else [value]
            # Other values than texts, numbers and lists of these do not describe the person (contexts done so far).
            values = [str(item) for item in several if isinstance(item, (str, int))]
            if key == "gender" and self.language == "zh":
                values = [_GENDERS.get(text.lower(), text) for text in values]
            if values:
                yield ATTRIBUTES.get(key, (key, key))[self.language == "zh"], values


def facts_of(scenario: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Attribute and value of each fact of the user's profile; none of a scenario that is no situation."""
    try:
        situation = Situation.of({key: scenario[key] for key in Situation.model_fields if key in scenario})
    except ValueError:
        return []
    return list(dict.fromkeys(situation.facts))


class SituationLine(NamedTuple):
    """A line of a profile's text with its number, such as `2. Age: 25`."""

    number: int | None
    """None if the line has no number, as in some translations."""
    attribute: str
    value: str


def line_of(text: str) -> SituationLine | None:
    """Parse a line of a profile; None if it names no attribute."""
    parts = _LINE.fullmatch(text.strip())
    if parts is None or not (attribute := parts["attribute"].strip()):
        return None
    return SituationLine(int(parts["number"]) if parts["number"] else None, attribute, parts["value"].strip())


def lines_of(text: str) -> Iterator[tuple[str, list[str]]]:
    """Attribute and values of each line of a profile's text."""
    for line in map(line_of, text.split("\n")):
        if line is not None:
            yield line.attribute, values_of(line.value)


def values_of(text: str) -> list[str]:
    """The values of an attribute's text, such as the three of `Patient, kind, and curious`."""
    return [part for part in _BETWEEN.split(text.rstrip(".。")) if part]


SEED = 2024
"""Seed of the published sample."""

FIELDS = tuple(key for key in ATTRIBUTES if key != "background")
"""The nine attributes of a profile, in the order of its lines."""

_LABELS: Mapping[str, str] = {label.casefold(): key for key in FIELDS for label in ATTRIBUTES[key]}
_BLOCKS = re.compile(r"\n(?:[^\S\n]*\n)+")

T = TypeVar("T")


class Profile(Record):
    """A user's nine attributes, each as the text of its line."""

    gender: str
    age: int
    """In years."""
    personality: str
    occupation: str
    daily_interests: str
    travel_habits: str
    dining_preferences: str
    spending_habits: str
    other_aspects: str

    @classmethod
    def of(cls, text: str, where: str = "profile") -> Self:
        """Parse a profile's text in either language; DataError names a missing attribute.

        An attribute is recognised by its label, or by its number if a translation uses another label.
        """
        values: dict[str, str] = {}
        for line in text.splitlines():
            if not line.strip():
                continue
            parts = line_of(line)
            key = field_of(parts) if parts else None
            if parts is None or key is None:
                raise DataError(f"{where}: {_shown(line)} is not an attribute: write such as '1. Gender: Female'")
            if key in values:
                raise DataError(f"{where}: {ATTRIBUTES[key][0]!r} appears twice: part profiles by an empty line")
            values[key] = parts.value
        for key in FIELDS:
            if not values.get(key):
                raise DataError(f"{where}: {ATTRIBUTES[key][0]!r} is {'empty' if key in values else 'missing'}: add it")
        age = re.match(r"\d{1,3}(?!\d)", values["age"])
        if not age:
            raise DataError(
                f"{where}: the age {_shown(values['age'])} is not a number of years: write such as '2. Age: 34'"
            )
        return cls.model_validate(values | {"age": int(age.group())})

    def text(self, language: Language = "en") -> str:
        """The profile as in a pool's file, with labels in the language."""
        colon = "：" if language == "zh" else ": "
        return "\n".join(
            f"{number}. {ATTRIBUTES[key][language == 'zh']}{colon}{getattr(self, key)}"
            for number, key in enumerate(FIELDS, start=1)
        )


def field_of(line: SituationLine) -> str | None:
    """The attribute of a line, by its label or by its number."""
    number = line.number or 0
    by_number = FIELDS[number - 1] if 1 <= number <= len(FIELDS) else None
    return _LABELS.get(line.attribute.casefold(), by_number)


@dataclass(frozen=True)
class Pool:
    """Profiles in order; a profile's id is its index."""

    texts: tuple[str, ...]
    """The text of each profile in the file; a situation has it as its `preference`."""
    profiles: tuple[Profile, ...]
    language: Language = "en"

    def __len__(self) -> int:
        return len(self.texts)


def read_pool(path: str | Path) -> Pool:
    """The pool of a text file; DataError names the profile and its missing attribute."""
    text = read_text(path).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if not text.strip():
        raise DataError(f"{at(path)}: holds no profile: write nine numbered lines for each, parted by empty lines")
    blocks = tuple(_BLOCKS.split(text))
    profiles = tuple(Profile.of(block, at(path, f"profile {number}")) for number, block in enumerate(blocks))
    return Pool(blocks, profiles, language_of(text) or "en")


def shipped_profiles(language: Language = "en") -> Pool:
    """The package's own pool, with the same people in each language."""
    with as_file(files("duologue.data").joinpath("samples", "profiles", f"{language}.txt")) as path:
        return read_pool(path)


def sampled(pool: Sequence[T], count: int, seed: int = SEED) -> list[tuple[int, T]]:
    """Sample items of a pool without replacement: id and item, in the order of the sample.

    This is the published sample: `random.seed(seed); random.sample(list(enumerate(pool)), count)`.
    """
    if not 0 <= count <= len(pool):
        raise DataError(f"{count} profiles cannot be drawn from {len(pool)}: ask for fewer, or give a larger pool")
    return random.Random(seed).sample(list(enumerate(pool)), count)


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 60 else text[:57] + "...")


AGE_BANDS = ((0, 17), (18, 24), (25, 34), (35, 44), (45, 54), (55, 64), (65, 120))
"""First and last age of each band, in years."""

SIMILARITY = 0.5
"""Least share of common words, 0 to 1, with which two profiles are near-duplicates."""


REMEMBERED = 1 << 15
"""How many profiles' words and kinds are remembered: every proposal is compared with the whole pool."""
OTHER = "other"


def _words(**groups: str) -> dict[str, re.Pattern[str]]:
    return {
        name.replace("_", " "): re.compile(rf"\b(?:{words.split('/', 1)[0]})|{words.split('/', 1)[1]}", re.IGNORECASE)
        for name, words in groups.items()
    }


# Before the slash: the beginnings of English words; after it: Chinese words.
GENDERS = _words(
    female=r"female\b|woman\b/^女",
    male=r"male\b|man\b/^男",
    other=r"non-?binary|other|trans|agender/非二元|其他|跨性别",
)
OCCUPATIONS = _words(
    student=r"student|pupil|apprentice|trainee|intern\b/学生|学徒|实习",
    retired=r"retire|pension/退休",
    unemployed_or_at_home=r"unemployed|looking for work|at home|stay-at-home|homemaker|housewife/失业|找工作|在家|主妇|家庭主",
    teaching_and_science=r"teach|professor|lecturer|research|scien|astronom|librar|tutor|instructor/教师|老师|教授|研究|科学|图书",
    health_and_care=r"nurse|doctor|physician|p(?:a)?ediatric|diet|counsel|dent|therap|pharma|medic|surgeon|social work|veterin|psycho/护士|医|药|治疗|护理|社工",
    technology=r"software|engineer|programm|developer|data|tech\b|analyst|architect/软件|工程师|程序|开发|数据",
    business_and_law=r"CEO|manager|owner|entrepreneur|founder|account|lawyer|financ|bank|consult|market|sales|real estate|event|public relations|interpret/经理|老板|创业|会计|律师|金融|银行|销售|口译",
    arts_and_media=r"art|music|writ|design|photo|act(?:or|ress)|journal|blog|film|danc|author|costume|comedian|DJ\b|news/艺术|音乐|乐手|作家|设计|摄影|演员|记者|博主|服装师",
    crafts_and_trades=r"electric|carpent|mechanic|plumb|build|construct|watchmak|weld|factory/电工|木匠|机械师|修理|建筑工|钟表|工人",
    food_and_travel=r"chef|cook|waiter|barista|baker|hotel|pilot|flight attendant|guide/厨师|服务员|咖啡师|面包师|酒店|飞行员|空乘|导游",
    transport_and_delivery=r"driver|delivery|rider|courier|sailor|postal|air traffic/司机|骑手|快递|船员|邮递",
    farming=r"farm|garden|fish|forest/农|园丁|渔|林业",
    public_service=r"police|fire|soldier|military|civil serv|government|politic|diplomat/警察|消防|军人|公务员|政府|外交",
    sport=r"athlete|coach|trainer|player/运动员|教练",
)
TRAITS = _words(
    outgoing=r"extro|extra|outgoing|sociab|talkat|cheerful|friendly/外向|健谈|开朗|好交际|热情",
    reserved=r"intro|reserv|shy|quiet/内向|内敛|害羞|安静",
    organised=r"organi[sz]ed|disciplin|thorough|exact|detail|meticul|reliab|practical/有条理|自律|细致|精确|可靠|务实",
    spontaneous=r"spontan|impuls|easy-going|free-spirit|disorgani|forgetful|adventur/随性|冲动|随和|没有条理|健忘|冒险",
    calm=r"calm|patient|gentle|relax|modest/冷静|有耐心|耐心|温和|谦虚|沉稳",
    restless=r"restless|impatient|energetic|quick|anxious|nervous/闲不住|性急|精力|敏捷|焦虑",
    warm=r"warm|kind|empath|compassion|caring|generous|thoughtful/热心|善良|体贴|慷慨|深思|友善",
    critical=r"scept|skept|critic|demanding|direct|assertive|cynic|blunt/多疑|挑剔|要求高|直率|强势",
    optimistic=r"optimis|humor|humour|witty|positive/乐观|幽默|机智|积极",
    pessimistic=r"pessimis|melanchol|nostalg|worr|moody/悲观|忧郁|怀旧|担忧|情绪化",
    ambitious=r"ambiti|driven|determin|resilien|strong-will|competit|persist|focused|proud|stubborn/有抱负|上进|坚定|好胜|执着|专注|自豪|固执",
    creative=r"creativ|imagin|curious|artistic|open-mind|well-read/创造|创意|想象|好奇|博学|开放",
    undecided=r"indecis|insecure|distract|dependent\b/犹豫|不自信|分心|依赖",
)


class Coverage(Record):
    """The number of a pool's profiles of each kind; kinds without a profile are included."""

    profiles: int
    ages: dict[str, int]
    """Profiles by age band, such as `25-34`."""
    genders: dict[str, int]
    occupations: dict[str, int]
    """Profiles by broad group; `other` if the words of no group match."""
    traits: dict[str, int]
    """Profiles by group of traits; a profile counts in each group of which it has a trait."""

    @property
    def lacking(self) -> dict[str, tuple[str, ...]]:
        """For each attribute the kinds without a profile."""
        counts = {"ages": self.ages, "genders": self.genders, "occupations": self.occupations, "traits": self.traits}
        without = {
            name: tuple(kind for kind, count in of_name.items() if not count and kind != OTHER)
            for name, of_name in counts.items()
        }
        return {name: kinds for name, kinds in without.items() if kinds}


def coverage(profiles: Iterable[Profile]) -> Coverage:
    """Count the profiles of each age, gender, occupation and trait, recognised by English and Chinese words."""
    pool = list(profiles)
    bands = Counter(band for profile in pool for band in AGE_BANDS if band[0] <= profile.age <= band[1])
    counts: dict[str, Counter[str]] = {"genders": Counter(), "occupations": Counter(), "traits": Counter()}
    for profile in pool:
        gender, occupation, traits = _kinds_of(profile)
        counts["genders"][gender] += 1
        counts["occupations"][occupation] += 1
        counts["traits"].update(traits)
    groups = {"genders": GENDERS, "occupations": OCCUPATIONS, "traits": TRAITS}
    return Coverage(
        profiles=len(pool),
        ages={f"{first}-{last}": bands[first, last] for first, last in AGE_BANDS},
        **{
            name: {kind: counts[name][kind] for kind in dict.fromkeys((*words, OTHER))}
            for name, words in groups.items()
        },
    )


@lru_cache(maxsize=REMEMBERED)
def _kinds_of(profile: Profile) -> tuple[str, str, list[str]]:
    gender, occupation = kinds(profile.gender, GENDERS), kinds(profile.occupation, OCCUPATIONS)
    return gender[0], occupation[0], kinds(profile.personality, TRAITS)


def kinds(text: str, groups: Mapping[str, re.Pattern[str]]) -> list[str]:
    """The groups of which the text contains a word, in the order of the groups; `other` without any."""
    return [name for name, words in groups.items() if words.search(text)] or [OTHER]


def near_duplicate(profile: Profile, others: Sequence[Profile], threshold: float = SIMILARITY) -> int | None:
    """Index of the most similar other profile; None if no similarity reaches the threshold."""
    similarities = [similarity(profile, other) for other in others]
    best = max(range(len(similarities)), key=similarities.__getitem__, default=None)
    return best if best is not None and similarities[best] >= threshold else None


def similarity(left: Profile, right: Profile) -> float:
    """Jaccard similarity of two profiles' words (in Chinese, pairs of characters), 0 to 1, without age and gender."""
    left_words, right_words = _tokens(left), _tokens(right)
    all_words = left_words | right_words
    return len(left_words & right_words) / len(all_words) if all_words else 0.0


@lru_cache(maxsize=REMEMBERED)
def _tokens(profile: Profile) -> frozenset[str]:
    values = [str(getattr(profile, key)).casefold() for key in FIELDS if key not in ("gender", "age")]
    words = {word for value in values for word in re.findall(r"[a-z0-9]{3,}", value)} - {"and", "the", "for", "with"}
    runs = [run for value in values for run in re.findall(r"[\u3400-\u9fff]+", value)]
    return frozenset(words) | {run[start : start + 2] for run in runs for start in range(max(1, len(run) - 1))}


ProfileReason: TypeAlias = Literal["empty", "incomplete", "language", "near_duplicate"]
"""Why a proposal is rejected. `incomplete`: one of the nine attributes is missing, repeated or unreadable."""

AGES = (10, 100)
"""Lowest and highest accepted age, in years."""

_NOTHING = ("", "n a", "na", "none", "nothing", "unknown", "tbd", "not specified", "not applicable", "not given",
            "not known", "无", "没有", "未知", "不详", "暂无", "保密")  # fmt: skip
"""Values without information."""

_ORNAMENT = " >#*_`-"
"""Characters that models put around a line."""


def proposed_profile(
    text: str, pool: Sequence[Profile], language: Language = "en"
) -> Profile | tuple[ProfileReason, str]:
    """The profile in a draft, or a pair of the reason for its rejection and an explanation.

    Text around the nine lines and marks of emphasis are ignored. A profile is rejected as a near-duplicate if its
    share of common words with a profile of the `pool` is at least `SIMILARITY`.
    """
    lines = [" ".join(line.split()).strip(_ORNAMENT) for line in text.replace("**", "").splitlines()]
    parsed = ((text, line_of(text)) for text in lines)
    named = {
        text: (key, line.value) for text, line in parsed if line is not None and (key := field_of(line)) is not None
    }
    values = dict(named.values())
    if not values:
        return "empty", ""
    chinese = language == "zh"
    missing = [ATTRIBUTES[key][chinese] for key in FIELDS if plain_words(values.get(key, "")) in _NOTHING]
    if missing:
        return "incomplete", ("缺少" + "、".join(missing) + "。") if chinese else f"it lacks {', '.join(missing)}."
    try:
        profile = Profile.of("\n".join(text for text in lines if text in named))
    except DataError as error:
        return "incomplete", f"{str(error).removeprefix('profile: ')}."
    if not AGES[0] <= profile.age <= AGES[1]:
        span = f"{AGES[0]}-{AGES[1]}"
        return "incomplete", f"年龄应当在{span}岁之间。" if chinese else f"the age must lie in {span}."
    if language_of("\n".join(values.values())) != language:
        return "language", ""
    duplicate = near_duplicate(profile, pool)
    return profile if duplicate is None else ("near_duplicate", pool[duplicate].text(language))
