"""Users that speak as the assistant, repeat themselves, or ask for what their goal excludes."""

import re

from ...text.content_words import ASKS, content, sentences, tokens
from ...text.text_values import values
from ..assistant_words import offered
from ..findings import Reasons, quoted
from .brief import GoalExclusion
from .facts import asked_kinds
from .turns import LONG, UserReading, gives, says_unknown

_AS_ASSISTANT = re.compile(
    r"\b(?:how|what) (?:may|can|could) i (?:help|assist|do for) you\b|\bhow (?:else )?(?:may|can) i (?:assist|be of)\b"
    r"|\b(?:thank you|thanks) for (?:contacting|calling|reaching out|choosing|your (?:patience|inquiry|request|call))\b"
    r"|\bi (?:can|will|['’]ll|would be (?:happy|glad) to|['’]d be (?:happy|glad) to) (?:certainly |gladly |definitely )?(?:help|assist|walk|guide) you\b"
    r"|\bi(?:['’]m| am|['’]ll be| will be) (?:happy|glad|here) to (?:help|assist)(?: you)?\b"
    r"|\b(?:could|can|would|may) (?:you|i) (?:please )?(?:provide|have|get) (?:me with )?your (?:\w+ ){0,3}(?:details?|name|number|code|reference|address|e-?mail|information|account|date)\b"
    r"|\bplease provide (?:me with )?your\b|\bi(?:['’]ve| have) (?:now |just |already |successfully )*(?:processed|looked into|checked|updated|reviewed|located|booked|cancelled) your\b"
    r"|\byou(?:['’]ll| will) (?:shortly |soon )?receive (?:a |an |your )?(?:confirmation|e-?mail|notification)\b"
    r"|\bas (?:an?|your) (?:\w+ )?(?:assistant|agent|representative|bot|customer service)\b|\bis there anything else (?:i can|you need|you['’]d like)\b"
    r"|\blet me (?:pull (?:that|this|it) up|look (?:that|this|it) up) for you\b|\byour (?:request|booking|order|refund) has been (?:processed|confirmed|completed|received)\b"
    r"|(?:有什么|还有什么|什么)[^，。？]{0,6}(?:可以|能)(?:帮|为)[你您]|(?:为|帮)[你您](?:处理|查询|服务|办理|安排|解答)|感谢[你您]的(?:来电|咨询|耐心|支持|联系|理解)|请(?:您)?(?:提供|告知)(?:一下)?[你您]的"
    r"|作为(?:一[个名位])?(?:\w*助手|客服|人工智能|AI)|[你您]的(?:请求|订单|申请|预订)已(?:经)?(?:处理|确认|提交|完成)|[你您](?:稍后)?(?:会|将)(?:稍后)?收到(?:确认|邮件|短信)|请问[你您](?:贵姓|怎么称呼|想要|需要)|很高兴(?:能)?(?:为|帮)[你您]",
    re.IGNORECASE,
)
FEWEST_WORDS, SHORT = 3, 6
"""Maximum words of a message that may be sent twice, and of a short answer."""
_FITS = {"weekday": "date", "day": "date"}
"""The kind of question that a value answers, where it has another name."""
_SAME, _SAME_OF_ALL = 0.75, 0.6
"""Least shares of the content words of the shorter of two messages, and of all their words, that both have."""
_FEWEST = 3
"""Least content words of such a message."""
_FILLER = re.compile(
    r"\b(?:hello|hi|hey|thanks|thank you|please|i said|as i said|again|still there|well|so|ok(?:ay)?|once more|well|hmm|like i said|i repeat|in other words)\b|拜托|在吗|谢谢|嗯|我刚?(?:才)?说过?了?|我说过|再说一遍|请问|你好|您好|喂",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\b(?:please|could you|can you|would you|will you|can i|could i|i(?:['’]d| would) (?:like|love|take|prefer)|i(?:['’]ll| will) take|i want|i need|we want|we need|let['’]?s|how about|what about|give me|just|make it|would be (?:best|nice|great|good|better)|show me|find|tell me|which|also|then|use|add|do|book|try|take|order)\b"
    r"|请|帮我|给我|能不能|可以|吧|想要?|要|怎么样|来|顺便|也|哪|有什么|用|换成",
    re.IGNORECASE,
)
_REQUESTS = re.compile(
    r"\b(?:(?:could|can|would|will) you|please|let['’]?s|i(?:['’]d| would) (?:also )?like)\b|请|帮|也|还要",
    re.IGNORECASE,
)
_NEGATES = re.compile(
    r"\b(?:not|no|never|without|nothing|don['’]t|do not|won['’]t|isn['’]t|instead of|rather than|except|avoid|stays?|stay|keep|leave|hate|remember)\b|\b\w{1,9}n['’]t\b|不|别(?!的)|没|无需|保留|勿|除了",
    re.IGNORECASE,
)


def speaks_as_assistant(reading: UserReading) -> Reasons:
    """Messages with an assistant's words; the label of another role is found by the rules for leaks."""
    for number, text in reading.own():
        replies = reading.replies(number)
        words = offered(text, replies[-1] if replies else "")
        if words is None and (match := _AS_ASSISTANT.search(text)):
            words = match.group()
        if words and words.casefold() not in reading.brief.own_values.folded:
            yield number, f"writes as the assistant: {quoted(words)}"


def repeats(reading: UserReading) -> Reasons:
    """Messages that say what the user had said, although the agent asks for something else that it may know."""
    for number, text in reading.own():
        last = (reading.replies(number) or [""])[-1]
        if not last.strip() or len(last) > LONG or not (question := reading.question(number)):
            continue
        if not any(_is_repeat(text, earlier, question) for earlier in reading.earlier(number)):
            continue
        if not reading.asked_again(number) and not gives(last) and not says_unknown(text):
            yield number, f"sends again {quoted(text)} in answer to {quoted(question)}"


def _is_repeat(text: str, earlier: str, question: str) -> bool:
    one, other = _bare(text), _bare(earlier)
    if not one or not other:
        return False
    if says_unknown(text) or (_asks(text) and not _asks(earlier)):  # it answers, or makes sure
        return False
    same, kinds = one == other, asked_kinds(question)
    own_kinds = {_FITS.get(value.kind, value.kind) for value in values(text)}
    if own_kinds & kinds:  # it answers the question
        return False
    if same and own_kinds and kinds and len(one) <= SHORT:  # a value where another kind is asked for
        return True
    if same:
        return len(one) > FEWEST_WORDS
    words, others = content(text), content(earlier)
    own_values, earlier_values = ({(value.kind, value.key) for value in values(part)} for part in (text, earlier))
    if own_values != earlier_values:
        return False
    if len(own_values) > 1:
        return True
    shared = len(words & others)
    return (
        shared + len(own_values) >= _FEWEST
        and shared >= _SAME * min(len(words), len(others))
        and shared >= _SAME_OF_ALL * len(words | others)
    )


def _asks(text: str) -> bool:
    """Whether the last sentence with words of its own is a question."""
    own = [part for part in sentences(text) if _bare(part)]
    return bool(own) and ASKS.search(own[-1]) is not None


def _bare(text: str) -> tuple[str, ...]:
    """The words of a text without greetings and fillers."""
    return tokens(_FILLER.sub(" ", text))


def _is_wanted_too(exclusion: GoalExclusion, goal: str) -> bool:
    """Whether the rest of the goal has all words of an exclusion: "raise my card's limit, without a new card"."""
    return bool(exclusion.words) and exclusion.words <= content(goal.replace(exclusion.text, " "))


def asks_for_excluded(reading: UserReading) -> Reasons:
    """Messages that ask for what the goal excludes."""
    exclusions = [one for one in reading.brief.exclusions if not _is_wanted_too(one, reading.brief.goal)]
    if not exclusions:
        return
    for number, text in reading.own():
        for part in sentences(text):
            if _NEGATES.search(part) or not _WANTS.search(part):
                continue
            words = content(part)
            for exclusion in exclusions:
                named = exclusion.named_in(part) if exclusion.words else bool(exclusion.verbs & words)
                acts = (
                    _REQUESTS.search(part) is not None
                    or not exclusion.verbs
                    or not exclusion.words
                    or bool(exclusion.verbs & words)
                    or not ASKS.search(part)
                )
                if named and acts:
                    yield number, f"asks {quoted(part)}, which its goal excludes: {quoted(exclusion.text)}"
                    break
            else:
                continue
            break
