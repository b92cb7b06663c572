"""Coverage of a pool of profiles: profiles by age, gender, occupation and traits; similar profiles."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from ..records import Record
from .profiles import FIELDS, Profile

AGE_BANDS = ((0, 17), (18, 24), (25, 34), (35, 44), (45, 54), (55, 64), (65, 120))
"""First and last age of each band, in years."""

SIMILARITY = 0.5
"""Least share of common words, 0 to 1, with which two profiles are near-duplicates."""


REMEMBERED = 1 << 15
"""How many profiles' words and kinds are remembered: every proposal is compared with the whole pool."""


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
OTHER = "other"


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
        attributes = ("ages", "genders", "occupations", "traits")
        without_profile = {
            name: tuple(kind for kind, count in getattr(self, name).items() if not count and kind != OTHER)
            for name in attributes
        }
        return {name: kinds for name, kinds in without_profile.items() if kinds}


def coverage(profiles: Iterable[Profile]) -> Coverage:
    """Count the profiles of each age, gender, occupation and trait, recognised by English and Chinese words."""
    pool = list(profiles)
    bands = Counter(band for profile in pool for band in AGE_BANDS if band[0] <= profile.age <= band[1])
    return Coverage(
        profiles=len(pool),
        ages={f"{first}-{last}": bands[first, last] for first, last in AGE_BANDS},
        genders=_counted((_kinds_of(profile)[0] for profile in pool), GENDERS),
        occupations=_counted((_kinds_of(profile)[1] for profile in pool), OCCUPATIONS),
        traits=_counted((_kinds_of(profile)[2] for profile in pool), TRAITS),
    )


@lru_cache(maxsize=REMEMBERED)
def _kinds_of(profile: Profile) -> tuple[list[str], list[str], list[str]]:
    """Its gender, its occupation, and its traits."""
    return (
        kinds(profile.gender, GENDERS)[:1],
        kinds(profile.occupation, OCCUPATIONS)[:1],
        kinds(profile.personality, TRAITS),
    )


def kinds(text: str, groups: Mapping[str, re.Pattern[str]]) -> list[str]:
    """The groups of which the text contains a word, in the order of the groups; `other` without any."""
    return [name for name, words in groups.items() if words.search(text)] or [OTHER]


def _counted(kinds_of_profiles: Iterable[Sequence[str]], groups: Mapping[str, re.Pattern[str]]) -> dict[str, int]:
    counts = Counter(name for names in kinds_of_profiles for name in names)
    return {name: counts[name] for name in dict.fromkeys((*groups, OTHER))}


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
