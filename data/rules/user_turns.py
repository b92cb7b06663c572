"""Rules for user messages in task-oriented conversations, for the validators of the casts and for checks of data sets.

They work for English and Chinese. People never or hardly ever write what is rejected; they sometimes write what is
only counted.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, TypeAlias

from ..text.languages import says_something
from .briefings import briefing
from .leak_contexts import meant_otherwise
from .mentions import is_in_transcript, is_listed, is_spoken_about
from .plans import is_plan
from .quotations import BLANK, own_words, without_pasted
from .stop_marks import stop_mark

UserReason: TypeAlias = Literal["empty", "role_leak", "prompt_leak"]
"""`role_leak`: speaks for another role. `prompt_leak`: reveals its instructions, its reasoning, that it is a model, or a
mark at which a program stops."""

UserNote: TypeAlias = Literal["repeat", "plan"]
"""`repeat`: the same as an earlier message. `plan`: an unrequested plan, which is the assistant's work."""

_SPEAKER = (
    r"(?:system|assistant|user|human|chatbot|chatgpt|gpt|llm|bot|ai(?:[ -](?:assistant|model))?"
    r"|系统|助手|助理|用户|机器人|人工智能|(?:大?语言|大)?模型|ai\s?助手)"
)
_COMPUTER = (
    r"(?:windows|win ?(?:7|8|10|11|xp)|mac ?os|os ?x|mac(?:book)?|linux|ubuntu|debian|fedora|arch|mint|android|ios|ipados"
    r"|chrome ?os|freebsd|intel|amd|ryzen|nvidia|apple m\d|arm64|x86|i[3579]|\d+[ -]?(?:gb|tb|mb|ghz|mhz|bits?|cores?))"
    r"(?![^\W\d_])"
)
_ROLE_LEAK = re.compile(
    rf"[\[【<]\s{{0,3}}/?{_SPEAKER}\s{{0,3}}[\]】>]"  # [System], 【系统】, <user>
    rf"|(?:^|[.!?。！？\"”])[*_#>\s]{{0,6}}(?!(?:system|系统)[\s*_]{{0,5}}[:：][\s*_]{{0,5}}{_COMPUTER}){_SPEAKER}\s{{0,2}}[*_]{{0,3}}[:：](?!=)"  # Assistant: at the begin of a line or sentence
    r"|<\|[a-z_]{2,20}\|>|\[/?INST\]|<<SYS>>",
    re.IGNORECASE | re.MULTILINE,
)
_KEY_FIRST = re.compile(
    r"(?:user|system|assistant|model|ai|bot): (?:in|of|from|is|as|field|key|setting|option) [^\n]*[?？]\s*\Z"
    r"|[Ss]ystem: (?:how|why|where|which|what)\b[^\n]{0,200}\b(?:i|my|its?)\b[^\n]*[?？]\s*\Z"
)
"""A single question that begins with a key of a file, or with `System:` as its subject."""
_END_USER = re.compile(r"(?:user|human|用户)[\s*_]*[:：]", re.IGNORECASE)
_THE_USER = re.compile(r"\b(?:the|a) (?:user|human)\b|(?:该|这个)用户|\n[^\S\n]*\n\s*\S", re.IGNORECASE)
_ASKS_THE_READER = re.compile(
    r"\byou (?:will|should|must|need to|are given)\b|\byour task\b|你(?:将|需要|应该|必须)", re.IGNORECASE
)
"""Words of a prompt that a person wrote, before its `User:`."""
_SLOTS = re.compile(r"\[[^\[\]\n]{1,40}\]")
_DISPLAYS = re.compile(r"\b(?:show|say|print|read|display|answer|send|greet)\w*(?: me)?(?: with)?\s*\Z", re.IGNORECASE)
"""Words before what a device or a label shows."""
_QUOTES = tuple("\"'“”‘’")
_SENTENCE_ENDS = ".!?。！？…~)）\"”'’"
_ASKS_WHAT_THIS_IS = re.compile(
    r"[^\n]{0,120}[\s\"'”’]{0,4}\b(?:what|why|how|where)\b[^.?!\n]{0,40}\b(?:this|that|mean|it (?:say|show|print|appear)s?)\b[^.!\n]{0,40}\?",
    re.IGNORECASE,
)
"""A question about the line before it: a message that a device shows."""
_OTHERS_LABEL = re.compile(r"\b(?:assistant|teacher)\W{0,4}$|(?:助手|助理|老师)\W{0,4}$", re.IGNORECASE | re.MULTILINE)
_PROMPT_LEAK = re.compile(
    r"(?P<tag></?(?:think|thinking|reasoning|analysis|instructions?|prompt|profile)>|</(?:task|note)>)"
    r"|^(?:[^\S\n]*(?P<heading>#{3,}[^\S\n]{0,3}(?:"  # of headings only those of prompts: people write headings too
    r"(?:response|instruction|system(?: prompt| message)?|assistant|user(?: profile| message| turn)?|human|prompt|persona"
    r"|task context|指令|系统(?:提示)?|助手|用户(?:画像|资料)?|人设|回复)(?:[^\w\n]{0,4}$|[:：])"
    r"|(?:instructions|role|profile|scenario|task|input)[:：]|(?=\s*\Z)))"
    r"|\W{0,3}(?:(?:ok(?:ay)?|hmm|so|well|alright),? ){0,2}the user (?:(?:wants|needs|expects|would like) me to|ask(?:s|ed) me)\b)"
    r"|\A\W{0,3}(?P<planned>(?:(?:ok(?:ay)?|hmm|so|well|alright),? ){0,2}the user "
    r"(?:wants|would|should|needs|is (?:asking|looking)|asks|asked)\b"
    r"|(?:好的?[，,](?:这个|该)?|这个|该)用户(?:想|需要|希望|应该|正在))"
    # First letters are told once for all forms: they are looked for at each place of each message.
    r"|\b(?=[abhimorstuwy])(?:(?P<model>(?:as|i am|i'm|i’m|being) (?:just )?(?:an? )?"
    r"(?:ai|artificial intelligence|(?:large )?language model|virtual assistant|chatbot)\b)"
    r"(?! (?:engineer|researcher|developer|student|expert|specialist|enthusiast|scientist|artist|consultant|trainer|vendor|provider|company|user))"
    r"|(?P<simulated>simulat(?:ed?|ing) (?:an? |the )?(?:human |real )?users?\b)"
    r"|(?P<general>user (?:simulat\w+|persona)\b|(?:system|initial|original) prompt\b)"
    r"|(?P<played>role-?play\w* (?:as |of )?(?:an? |the |this )?(?:user|persona|character|customer|human)\b)"
    r"|in (?:my|this) role as (?:an? |the )?(?:user|assistant)\b(?=\s*(?:[,.;:!?]|\Z|(?:i|my|now)\b))"
    r"|(?P<instructed>(?:my (?:instructions?|persona)|(?:the|these|your) persona) (?:says?|states?|tells?|told|requires?|asks?|is to|are to|was to)\b)"
    r"|(?P<asking>(?:my|the|these|your) prompt (?:says?|states?|tells?|told|requires?|asks?|is to|was to)\b)"
    r"|according to (?:my (?:instructions?|prompt|persona|role|scenario)|(?P<shared>(?:the|your) (?:prompt|persona|scenario)))\b(?! from)"
    r"|i (?:was|am|have been) (?:told|instructed|asked|supposed) to (?:act\b(?! (?:on|upon|within|quickly|fast))|(?:behave|respond) (?:as|like)\b|pretend\b|simulate\b"
    r"|play (?:the (?:role|part) of )?(?:an?|the) (?:\w+ )?(?:user|customer|client|human|person|student|patient|guest|visitor|tourist|buyer|role|persona)\b)"
    r"|(?P<context>task context\b)"
    r"|(?P<acted>(?:respond|reply|answer|speak|write|act)(?:ing)? as (?:the|an?) (?:user|human))\b|(?P<assigned>as the user, i\b)"
    r"|here(?:'s|’s| is) (?:my next (?:user )?|(?:my|the) (?:next )?user )(?:message|utterance|turn)\b)"
    r"|(?=[作我模用扮系提根按依])"
    r"(?:作为(?:一个|一名|一位)?(?:大?语言模型|(?:AI(?:语言模型|助手|模型)?|人工智能(?:助手|模型)?)(?![\u4e00-\u9fff])|虚拟助手|模拟用户)"
    r"|我(?:只)?是(?:一个|一名)?(?:大?语言模型|AI(?:助手|模型|语言模型)|人工智能(?:助手|模型)|虚拟助手|模拟用户)"
    r"|模拟(?:的)?(?:真实)?用户|用户模拟|我(?:要|所|需要|应该|将)?扮演的角色|扮演的(?:用户|顾客)|扮演(?:这个|一个|一名|该)?(?:用户|角色|顾客)|提示词(?:要求|规定|里|中)|(?P<general_zh>系统提示)"
    r"|根据(?:我的)?(?:人设|用户画像|角色设定|指令要求)|(?:按照|依照)(?:我的)?(?:人设|角色设定|指令要求)|我的(?:用户画像|人设)"
    r"|我(?:需要|应该|要)(?:以|作为)用户)",
    re.IGNORECASE | re.MULTILINE,
)

_OWN_PROFILE = re.compile(
    r"\b(?:(?:given|based on|according to|per|(?P<stated>(?:mentioned|described|stated|noted|listed|indicated|specified) in)) "
    r"(?:my|the) (?:user )?profile|my user profile"
    r"|in my profile,? (?:it (?:says|states|mentions|is (?:said|stated|written|mentioned))|i am described)"
    r"|it (?:says|states|is (?:said|stated|written|mentioned)) in my profile|my profile (?:says|states|mentions|tells|describes))\b"
    r"|我的(?:个人)?(?:资料|档案|画像)[里中上]?(?:写|说|提到)"
    r"|(?=[根按依基结我])(?:(?:根据|按照|依照|基于|结合)我?的?(?:用户资料|用户档案|个人资料|个人档案|个人画像)|我的用户(?:资料|档案))",
    re.IGNORECASE,
)
_PROFILE_WORDS = ("profile", "资料", "档案", "画像")
"""One of them is in each form of `_OWN_PROFILE`."""
_OF_A_SITE = re.compile(
    r"\b(?:(?<!into )accounts?|(?:the|your|their|this|that|my|our) (?:web ?site|site|page|portal|app|dashboard)|"
    r"log(?:ged|ging)?[ -]?in|sign(?:ed)?[ -]in|passwords?|usernames?|membership|e-?mails?|phone number|"
    r"linkedin|facebook|instagram|twitter|github|tinder|offline|verified|locked|expired|airbnb|steam|spotify|on file)\b"
    r"|[账帐][号户]|官网|(?:你们?的?|贵|官方|这个|该)网站|网页上|页面|登[录陆]|注册|密码|会员|微信|微博|淘宝|京东|支付宝|领英|手机号",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:change|update|edit|correct|delete|remove|fix) (?:the|my|that|a) (?:\w+ ){1,3}$", re.IGNORECASE
)
"""What people have done to something on a site."""
_NEAR = 60
"""Characters on either side of a profile within which a word marks it as the profile of a site."""
_NOT_WORD = re.compile(r"[\W_]+")


def user_reasons(text: str) -> tuple[UserReason, ...]:
    """All reasons to reject a user's message, the worst first; empty without any."""
    if not says_something(text):
        return ("empty",)
    reasons: list[UserReason] = []
    if leaked_role(text):
        reasons.append("role_leak")
    if leaked_prompt(text):
        reasons.append("prompt_leak")
    return tuple(reasons)


def user_notes(text: str, earlier: Iterable[str] = (), last_assistant: str | None = None) -> tuple[UserNote, ...]:
    """Notes on a user's message that are counted but do not reject it: repeats and plans.

    `earlier`: the user's messages before it; `last_assistant`: the message that it replies to, or `None`.
    """
    notes: list[UserNote] = []
    if is_repeat(text, earlier):
        notes.append("repeat")
    if is_plan(text, last_assistant):
        notes.append("plan")
    return tuple(notes)


def leaked_role(text: str) -> str | None:
    """The words with which the text imitates another role, such as `[System]`; None if it does not.

    What the text quotes is not its own (`quotations.own_words`).
    """
    own = own_words(text)
    return _matched_words(next((match for match in _ROLE_LEAK.finditer(own) if not _is_named(match, own)), None))


def _is_named(match: re.Match[str], text: str) -> bool:
    """Whether a mark of a role is a subject of the text, or a label in a transcript."""
    mark = match.group().rstrip()
    if mark[:1] in "[【" and "INST" not in mark and _is_slot(match, text):
        return True
    if not mark.endswith((":", "：")):
        return is_spoken_about(text, *match.span())
    if _KEY_FIRST.match(text) and match.start() == 0:
        return True
    if _END_USER.search(mark) and (
        _THE_USER.search(text, match.end())  # what a third person says, and a request
        or _ASKS_THE_READER.search(text, 0, match.start())
    ):
        return True
    if is_listed(text, match.end()):
        return True
    is_key = (
        mark[0] == "."
        and match.start() > 0
        and text[match.start() - 1].isalnum()
        and (mark[1:2].islower() or mark[1:3] == "AI")
    )
    return is_key or is_in_transcript(text, match.end())


def _is_slot(match: re.Match[str], text: str) -> bool:
    """Whether a mark in brackets is a slot among others, stands inside a sentence, or is what a screen shows."""
    begin, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
    line = text[begin : end if end >= 0 else len(text)]
    if len(_SLOTS.findall(line)) > 1 and not line.startswith(match.group()):
        return True
    return _inside(text, match.start()) or _ASKS_WHAT_THIS_IS.match(text, match.end()) is not None


def _inside(text: str, place: int) -> bool:
    """Whether the place lies inside a sentence."""
    before = text[text.rfind("\n", 0, place) + 1 : place].rstrip()
    return bool(before) and before[-1] not in _SENTENCE_ENDS


def leaked_prompt(text: str) -> str | None:
    """The words that reveal an instruction, reasoning, a model, or where a program stops; None without any.

    What the text quotes is not its own (`quotations.own_words`); only marks such as `###STOP###` are found there too.
    """
    own = own_words(text)
    return _matched_words(_shown_prompt(own) or briefing(own) or _own_profile(own) or _said_stop(without_pasted(text)))


def _said_stop(text: str) -> re.Match[str] | None:
    match = stop_mark(text)
    if match is None or is_spoken_about(text, *match.span()) or _ASKS_WHAT_THIS_IS.match(text, match.end()):
        return None
    quoted = text[match.start() - 1 : match.start()] in _QUOTES and text[match.end() : match.end() + 1] in _QUOTES
    if quoted and text[match.end() + 2 :].strip() and text[: match.start() - 1].strip():
        return None
    return None if _DISPLAYS.search(text[: match.start()]) else match


def _matched_words(match: re.Match[str] | None) -> str | None:
    """The words that were found, as they stand in the text."""
    return match.group().strip(f" \t\n\r\f\v{BLANK}") if match else None


def _shown_prompt(text: str) -> re.Match[str] | None:
    """Where the text shows an instruction, reasoning or a model, and does not merely speak of such things."""
    return next((match for match in _PROMPT_LEAK.finditer(text) if not meant_otherwise(match, text)), None)


def _own_profile(text: str) -> re.Match[str] | None:
    """The place where the text mentions the user's own profile, not one on a site; None without it."""
    lowered = text.lower()
    if not any(word in lowered for word in _PROFILE_WORDS):  # hardly any message has one
        return None
    for match in _OWN_PROFILE.finditer(text):
        around = text[max(0, match.start() - _NEAR) : match.end() + _NEAR]
        changed = match["stated"] and _CHANGED.search(text[max(0, match.start() - _NEAR) : match.start()])
        if not changed and not _OF_A_SITE.search(around):
            return match
    return None


def others_label(removed: str) -> bool:
    """Whether the text that was removed before a user's message is the other side's label, such as `Assistant:`."""
    return _OTHERS_LABEL.search(removed.rsplit(">", 1)[-1]) is not None


def is_repeat(text: str, earlier: Iterable[str]) -> bool:
    """Whether an earlier message is the same, apart from white space, punctuation and case."""
    key = _normalised(text)
    return bool(key) and any(_normalised(other) == key for other in earlier)


@lru_cache(maxsize=1024)  # each message is compared with all that follow it
def _normalised(text: str) -> str:
    return _NOT_WORD.sub("", text).casefold()
