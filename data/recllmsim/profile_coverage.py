"""What a pool of profiles covers, what it lacks, and whether a profile is there already."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ..records import Record
from .profiles import FIELDS, Profile

AGE_BANDS = ((0, 17), (18, 24), (25, 34), (35, 44), (45, 54), (55, 64), (65, 120))
"""First and last year of each band."""

SIMILARITY = 0.5
"""Share of common words from which two profiles are near-duplicates."""


def _words(**groups: str) -> dict[str, re.Pattern[str]]:
    return {
        name.replace("_", " "): re.compile(rf"\b(?:{words.split('/', 1)[0]})|{words.split('/', 1)[1]}", re.IGNORECASE)
        for name, words in groups.items()
    }


# Before the slash how English words begin, behind it Chinese ones.
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
    """A pool in numbers: how many of its profiles are of each kind, kinds without any included."""

    profiles: int
    ages: dict[str, int]
    """By band of years, such as `25-34`."""
    genders: dict[str, int]
    occupations: dict[str, int]
    """By broad group; `other` is what no group's words name."""
    traits: dict[str, int]
    """By group of traits; a profile counts in each group of which it has a trait."""

    @property
    def lacking(self) -> dict[str, tuple[str, ...]]:
        """Per attribute the kinds that no profile is of."""
        groups = ("ages", "genders", "occupations", "traits")
        found = {name: tuple(k for k, n in getattr(self, name).items() if not n and k != OTHER) for name in groups}
        return {name: kinds for name, kinds in found.items() if kinds}


def coverage(profiles: Iterable[Profile]) -> Coverage:
    """How many profiles there are of each age, gender, occupation and trait, told by words in either language."""
    given = list(profiles)
    bands = Counter(band for profile in given for band in AGE_BANDS if band[0] <= profile.age <= band[1])
    return Coverage(
        profiles=len(given),
        ages={f"{first}-{last}": bands[first, last] for first, last in AGE_BANDS},
        genders=_counted((kinds(profile.gender, GENDERS)[:1] for profile in given), GENDERS),
        occupations=_counted((kinds(profile.occupation, OCCUPATIONS)[:1] for profile in given), OCCUPATIONS),
        traits=_counted((kinds(profile.personality, TRAITS) for profile in given), TRAITS),
    )


def kinds(text: str, groups: Mapping[str, re.Pattern[str]]) -> list[str]:
    """The groups whose words stand in the text, in the order of the groups; `other` if none do."""
    return [name for name, words in groups.items() if words.search(text)] or [OTHER]


def _counted(found: Iterable[Sequence[str]], groups: Mapping[str, re.Pattern[str]]) -> dict[str, int]:
    counts = Counter(name for names in found for name in names)
    return {name: counts[name] for name in dict.fromkeys((*groups, OTHER))}


def near_duplicate(profile: Profile, others: Sequence[Profile], threshold: float = SIMILARITY) -> int | None:
    """Place of the other profile that is most like this one; None if none is as alike as the threshold."""
    alike = [similarity(profile, other) for other in others]
    best = max(range(len(alike)), key=alike.__getitem__, default=None)
    return best if best is not None and alike[best] >= threshold else None


def similarity(left: Profile, right: Profile) -> float:
    """Common share of two profiles' words (of Chinese, pairs of characters), 0 to 1; age and gender do not count."""
    one, two = _tokens(left), _tokens(right)
    return len(one & two) / len(one | two) if one | two else 0.0


def _tokens(profile: Profile) -> set[str]:
    values = [str(getattr(profile, key)).casefold() for key in FIELDS if key not in ("gender", "age")]
    words = {word for value in values for word in re.findall(r"[a-z0-9]{3,}", value)} - {"and", "the", "for", "with"}
    runs = [run for value in values for run in re.findall(r"[\u3400-\u9fff]+", value)]
    return words | {run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1))}
