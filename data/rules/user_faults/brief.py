"""What a scenario gives its user: a goal, facts, what the goal excludes, and how freely facts are given."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...text.content_words import content, sentences
from ...text.languages import HAN
from ...text.text_values import ValueSet, values
from ...text.things import kinds_in_general, kinds_named

GOAL_KEYS = ("goal", "task_context", "first_message")
FACT_KEYS = ("facts", "known")
PERSON_KEYS = ("persona", "instructions", "preference", "profile")

_ONE_BY_ONE = re.compile(
    r"\b(?:only|not until|unless|until|wait\w*|when(?:ever)?|before)\b[^.;\n]{0,60}\b(?:asks?|asked|asking|questions?|inquires?|requested?)\b"
    r"|\b(?:do not|don['’]t|never|not|without|avoid|refrain from)\b[^.;\n]{0,50}\b(?:all|everything|every\w* detail)\b[^.;\n]{0,30}\b(?:at once|at one go|in one (?:message|go)|immediately|upfront|up front|first message|straight away|right away)\b"
    r"|\bnot all at once\b|\bnever (?:volunteers?|offers?)\b|\b(?:do not|don['’]t|does not|doesn['’]t) volunteer\b"
    r"|\b(?:one|a single) (?:piece|fact|detail|bit|thing)s?(?: of information)? at a time\b|\bpiece by piece\b|\b(?:one by one|bit by bit|step by step)\b"
    r"|\bwithholds?\b|\bkeeps? (?:\w+ ){0,4}(?:back|to (?:yourself|themsel\w+|him\w+|her\w+))\b"
    r"|(?:问|被问)(?:到|起|及)?[^。；\n]{0,10}(?:才|再|时)|(?:不要|不|别|不能|不可|避免)[^。；\n]{0,8}(?:一次|一下|一口气|同时|马上)[^。；\n]{0,12}(?:全|都|所有|完|说)|(?:不要|不|别|不能)[^。；\n]{0,8}(?:全部|所有|一切|都)[^。；\n]{0,8}(?:说|讲|透露|告诉)|不主动(?:说|提供|透露|告诉)"
    r"|(?:一次|每次)(?:只|仅)[^。；\n]{0,6}(?:一|1)|逐(?:一|条|步)(?:说|提供|透露)|(?:等|等到)[^。；\n]{0,8}问|只(?:回答|说|答)[^。；\n]{0,6}问|问(?:什么|一句|一个)[^。；\n]{0,3}(?:答|说)|挤牙膏|惜字如金|\b(?:sparing|sparingly|piecemeal|reluctantly|tight-lipped|gradually)\b|\b(?:drag|pull|worm|squeeze|coax|draw)\b[^.;\n]{0,30}\bout of (?:you|him|her|them)\b|\bin (?:small|little|tiny) (?:portions|pieces|steps|bits|doses)\b|一[点条步]一[点条步]|\bonly answers? what\b",
    re.IGNORECASE,
)
_GIVES = re.compile(
    r"\b(?:give|tell|say|mention|share|reveal|disclose|provide|volunteer|offer|state|answer|explain|hand out|speak|talk|write|put|name|bring up|describe|come out with|facts?|details?|information)\w*\b|说|讲|给|提供|透露|告诉|交代|提|报|写|回答|讲|答|细节|信息",
    re.IGNORECASE,
)
_HOLDS_BACK = re.compile(
    r"\b(?:only|no|not|never|nothing|without|don['’]t|doesn['’]t|avoid|rather than|instead of|wait|unless|until|before|one|single|slowly|gradually|little|sparing\w*|reluctant\w*|hesitant\w*|withhold\w*|keep)\b|别|不|只|先|才|再|慢慢|逐|少|最多|仅",
    re.IGNORECASE,
)
_HOW_MUCH = re.compile(
    r"\b(?:several|many|multiple|two|more than (?:one|a)|all|everything|anything|whole|at once|at a time|at one go|in one|in a single|in the same|per (?:message|turn|reply|answer)|each (?:message|turn|reply|answer)|by (?:yourself|itself|themselves|himself|herself)|of your own accord|on your own initiative|unasked|unprompted|volunteer\w*|asks?|asked|question\w*|requests?|requested|needs?|wants?|first message|up ?front|gradually|bit by bit|little by little|in pieces|straight away|right away)\b"
    r"|一次|一条|一下子?|一口气|全部?|所有|好几|多[个件条]|几[个件条]|两|没问|不问|问到|问了|问起|被问|主动|同时|一句|一起|一[点个件项]一|逐[一个步]|每[次条句]|一股脑|[一1]件|多余|额外|马上|开头|一开始",
    re.IGNORECASE,
)
"""Words for giving, for holding back, and for how much or when: a sentence with all three tells a user to give its facts one by one."""
_EXCLUDES = re.compile(
    r"\b(?P<how>do not|don['’]t|without|never|not|no|nothing|rather than|instead of|anything but|except|avoid(?:ing)?|keep|leave)\b(?P<what>[^,.;:\n]*)"
    r"|(?P<how_zh>不要|不想|不能|不可以|不可|不得|不坐|不乘|不吃|不用|不买|不改|不动|不走|不含|别|无需|拒绝|保留)(?P<what_zh>[^，。；：\n]*)"
    r"|(?P<stays>(?<![^,.;:\n])[^,.;:\n]{0,80}?)\b(?:must|should|has to|is to|shall) (?:stay|remain|be left|not be (?:changed|moved|touched|cancelled))\b",
    re.IGNORECASE,
)
_UNCHANGED = re.compile(r"\b(?:open|as (?:it|they) (?:is|are)|unchanged|alone|untouched)\b|保留|不变", re.IGNORECASE)
_NOT_EXCLUDING = re.compile(
    r"^\s*(?:\w+ )?(?:know|remember|sure|mind|matter|more|less|only|later|yet known|have|had|able|been|be\b|long|because|feel|like\b|care)|^(?:知道|记得|清楚|确定|太|多)",
    re.IGNORECASE,
)
_GOAL = 2_000
"""Characters of a goal in which exclusions are looked for."""
_VERBS = frozenset(
    "touch change chang move mov book reserv order cancel do use us accept take tak buy purchas order includ add spend pick choos choose book anything".split()
)
"""Stems of verbs whose object is what is excluded."""


_LEADING_ZH = re.compile(
    r"^(?:再|从|用于|用|动|碰|改|换|订|买|坐|乘|吃|喝|放|加|做|给我|给他|给她|给|任何|一切|所有|什么|开通|办理|办|申请|购买|推荐|安排|提供|选择|选|去|参加|包含|包括|含|有|涉及|收|发|寄|看|走|住|带|接受|要)+"
)
_RUNS = re.compile(r"(?!的|类|等)[\u4e00-\u9fff]+?(?=的|类|等|\W|$)")
_FRESH = re.compile(
    r"\b(?:new|another|second|other|additional|extra|further|replacement)\b|新|另|第二|额外|附加", re.IGNORECASE
)
"""Words for one more of what the goal is about."""
_AKIN = 0.85
"""Least share of the shorter of two stems with which both begin, if they are of one word."""
_WHATEVER = frozenset(
    "instead dish product option stuff type sort form part all whatsoever either offer anymor".split()
)
"""Stems of words that name nothing by themselves."""
_MOST = 0.75
"""Least share of the pairs of Chinese characters of an exclusion that a text names it with."""


@dataclass(frozen=True)
class GoalExclusion:
    """What a user must not ask for."""

    words: frozenset[str]
    """Stems of the words that name it."""
    verbs: frozenset[str]
    """Stems of what is not to be done with it; empty if it is not wanted in any way."""
    text: str
    """As the scenario has it."""
    kinds: frozenset[str] = frozenset()
    """The kinds of things that it names as such, such as `fish`."""
    rest: frozenset[str] = frozenset()
    """The stems beside the names of these kinds."""
    values: frozenset[tuple[str, tuple[object, ...]]] = frozenset()
    """Kinds and keys of the values in it, such as a weekday."""
    one_more: bool = False
    """Whether a further one of what the goal is about is excluded: a new card."""

    def named_in(self, text: str) -> bool:
        """Whether a text names it: all English words, most pairs of Chinese characters, or something of its kinds."""
        if self.one_more and not _FRESH.search(text):
            return False
        if (
            self.kinds
            and self.kinds <= kinds_named(text)
            and all(word in text for word in self.rest if HAN.match(word))
            and (frozenset(word for word in self.rest if not HAN.match(word)) <= content(text))
        ):
            return True
        if self.values and self.values <= {(value.kind, value.key) for value in values(text)}:
            return True
        if not self.words:
            return False
        if all(len(word) == 1 for word in self.words):
            return all(word in text for word in self.words)
        share = _MOST if all(map(HAN.match, self.words)) else 1
        own = content(text)
        return sum(any(_is_akin(word, other) for other in own) for word in self.words) >= share * len(self.words)


@dataclass(frozen=True)
class Brief:
    """What the user of a scenario was given."""

    goal: str
    facts: tuple[str, ...]
    """A sentence each."""
    person: str
    texts: tuple[str, ...]
    """All texts of the scenario: what the user might have been shown."""
    declared: bool
    """Whether the scenario lists facts, so that one that is not among them is invented."""
    scripted: bool
    """Whether the scenario writes the first message itself."""

    @cached_property
    def own_values(self) -> ValueSet:
        """The values in all texts."""
        return ValueSet(self.texts)

    @cached_property
    def one_by_one(self) -> bool:
        """Whether the user is told to keep its facts until it is asked."""
        parts = (sentence for text in (self.person, *self.facts) for sentence in sentences(text))
        return any(map(_ONE_BY_ONE.search, sentences(self.goal[:_GOAL]))) or any(
            _ONE_BY_ONE.search(sentence)
            or (_GIVES.search(sentence) and _HOLDS_BACK.search(sentence) and _HOW_MUCH.search(sentence))
            for sentence in parts
        )

    @cached_property
    def exclusions(self) -> tuple[GoalExclusion, ...]:
        """What the goal excludes."""
        return tuple(_exclusions(self.goal[:_GOAL]))


def _is_akin(word: str, other: str) -> bool:
    """Whether two stems are of one word, as those of `assemble` and `assembly`."""
    least = min(len(word), len(other))
    return word == other or (least >= 5 and word[:least].isascii() and _prefix(word, other) >= max(5, _AKIN * least))


def _prefix(one: str, other: str) -> int:
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def brief_of(scenario: Mapping[str, Any]) -> Brief | None:
    """What the user was given; None for a scenario without goal and facts, such as that of a log."""
    goal = next((text for key in GOAL_KEYS if isinstance(text := scenario.get(key), str) and text.strip()), "")
    listed = next((scenario[key] for key in FACT_KEYS if scenario.get(key)), None)
    if not goal and listed is None:
        return None
    facts = tuple(fact for text in _texts(listed) for fact in sentences(text))
    if listed is None and "goal" not in scenario and "task_context" in scenario:  # the facts stand in the task itself
        goal, *rest = sentences(goal) or [""]
        facts = tuple(rest)
    person = "\n".join(text for key in PERSON_KEYS for text in _texts(scenario.get(key)))
    shown = (
        text
        for key, value in scenario.items()
        if key not in ("kind", "digest", "success", "unknown")
        for text in _texts(value)
    )
    # Texts that are keys of an object, such as the codes of a database, may be shown too.
    return Brief(
        goal, facts, person, tuple(shown), listed is not None, "goal" not in scenario and "first_message" in scenario
    )


def _texts(value: Any) -> Iterator[str]:
    """All texts in a JSON value; of an object each key with its value."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, Mapping | list | tuple):
                yield str(key)
                yield from _texts(inner)
            else:
                yield f"{key}: {inner}"
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _exclusions(goal: str) -> Iterator[GoalExclusion]:
    for sentence in sentences(goal):
        for match in _EXCLUDES.finditer(sentence):
            how = (match["how"] or match["how_zh"] or "stays").casefold()
            what = match["what"] or match["what_zh"] or match["stays"] or ""
            if _NOT_EXCLUDING.search(what):
                continue
            if how in ("keep", "leave", "保留", "stays"):
                if how != "stays" and how != "保留" and not _UNCHANGED.search(what):
                    continue
                words = content(_UNCHANGED.sub(" ", what))
                verbs = frozenset({"clos", "cancel", "chang", "mov", "delet", "end", "关闭", "注销", "取消", "销户"})
                yield from [GoalExclusion(words, verbs, match.group().strip())] if words else []
                continue
            if how_is_chinese := match["how_zh"]:
                what = _LEADING_ZH.sub("", what)
            stems = content(what)
            if how_is_chinese and not stems:
                stems = frozenset(HAN.findall(what)[:1]) if len(HAN.findall(what)) == 1 else frozenset()
            verbs, words = stems & _VERBS, stems - _VERBS - _WHATEVER
            kinds, beside = kinds_in_general(what)
            keys = frozenset((value.kind, value.key) for value in values(what) if value.kind != "number")
            if words or kinds or keys:
                yield GoalExclusion(
                    words,
                    verbs,
                    match.group().strip(),
                    kinds,
                    frozenset(_RUNS.findall(_LEADING_ZH.sub("", beside)))
                    if how_is_chinese
                    else content(beside) - _VERBS - _WHATEVER,
                    keys,
                    _FRESH.search(what) is not None,
                )
