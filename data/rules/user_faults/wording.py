"""Users that speak as the assistant, repeat themselves, or ask for what their goal excludes."""

import re
from collections.abc import Sequence

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
    r"|\bi(?:['’]m| am|['’]ll be| will be) (?:happy|glad|here) to (?:help|assist)(?: you)?\b|\bi(?:['’]d| would) be (?:happy|glad|pleased|delighted) to (?:help|assist)\b|\bhow (?:may|can|could) i be of (?:help|service)\b|\bwelcome to \w+ (?:support|service|customer|bank|air\w*|hotel)\b|\bour (?:team|system|agents?|records?) (?:will|can|shows?)\b|\bi(?:['’]ll| will) (?:now )?(?:process|look into|check|update|forward) your\b|\bone of our (?:agents|colleagues)\b"
    r"|\b(?:could|can|would|may) (?:you|i) (?:please )?(?:provide|have|get) (?:me with )?your (?:\w+ ){0,3}(?:details?|name|number|code|reference|address|e-?mail|information|account|date)\b"
    r"|\b(?:could|can|would|will|may|might) (?:you|i) (?:please |kindly )?(?:give|tell|send|share|confirm|state|spell|see|take)(?: me| us)? your (?:full |first |last |customer |account |card |booking |passport |phone |policy |order |member(?:ship)? |reservation |flight |ticket |billing |home |delivery )+(?:details?|name|number|code|reference|address|id|information|date)\b"
    r"|\bplease provide (?:me with )?your\b|\bi(?:['’]ve| have) (?:now |just |already |successfully )*(?:processed|looked into|checked|updated|reviewed|located|booked|cancelled) your\b"
    r"|\byou(?:['’]ll| will) (?:shortly |soon )?receive (?:a |an |your )?(?:confirmation|e-?mail|notification)\b"
    r"|\bas (?:an?|your) (?:\w+ )?(?:assistant|agent|representative|bot|customer service)\b|\bis there anything else (?:i can|you need|you['’]d like)\b"
    r"|\blet me (?:pull (?:that|this|it) up|look (?:that|this|it) up) for you\b|\byour (?:request|booking|order|refund) has been (?:processed|confirmed|completed|received)\b"
    r"|\b(?:i(?:['’]ll| will| can|['’]m going to)|let me) (?:\w+ )?(?:check|look|find|see|arrange|book|change|move|cancel|do|take care|sort|set|send|get|pull|verify|update|process|handle|order|reserve|add|confirm|fix)\b[^.!?]{0,40}\bfor you\b|\bi(?:['’]ve| have) (?:just |now |already )?(?:changed|moved|cancell?ed|refunded|sent|added|raised|reserved|registered|forwarded|noted|confirmed|issued|extended) your\b"
    r"|\byour (?:\w+ ){1,3}?(?:is|are|has been|have been|was|were) (?:now |already |successfully )?(?:confirmed|changed|booked|cancelled|moved|refunded|approved|updated|registered|reserved|active|on its way)\b"
    r"|\b(?:sorry|apologi[sz]e|apologies) for (?:the|any|this) (?:inconvenience|delay|trouble)\b|\bwe(?:['’]ll| will| are going to) (?:\w+ )?(?:solve|fix|look into|contact you|get back to you|process|inform you|notify you|send you)\b"
    r"|\b(?:call|contact|reach|visit|write to|e-?mail) us\b|\bour (?:opening hours|staff|customers|support|service|specialists?|technicians?|policy)\b|\bour (?:office|shop|store|branch|hotline) is open\b|\bmay i (?:have|ask for|take|know) your\b|\b(?:any|have) (?:other|more|further) questions\b[^.!?]{0,30}\b(?:let me know|here|help|ask)\b|\blet me know if you (?:have|need)\b"
    r"|(?:帮|为|给|替)[你您](?:查|看|核|办|改|订|取消|处|解|安排|登|转|预|带来|确认|联系)|(?:已|已经)(?:为|帮|给)[你您]|请问[你您]?(?:的)?(?:姓名|名字|电话|地址|号码)|请问[你您]的|请(?:您)?(?:告诉|提供|发给|报)(?:一下)?我?(?:们)?(?:一下)?[你您]的|我们会(?:尽快|马上|立即|为|在)|(?:给|为)[你您](?:带来|造成)|随时(?:联系|咨询|告诉)(?:我|我们)?|感谢[你您](?:选择|联系|来电|致电|的)|[你您]还(?:有|需要)(?:其他|什么|别的)"
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
_SAME_AGAIN = 0.5
"""Least share of the content words of a message that an earlier one has, if the user announces a repetition."""
_FEWEST = 3
"""Least content words of such a message."""
_FILLER = re.compile(
    r"\b(?:hello|hi|hey|thanks|thank you|please|i said|as i said|again|still there|well|so|ok(?:ay)?|once more|well|hmm|like i said|i repeat|in other words)\b|拜托|在吗|谢谢|嗯|我刚?(?:才)?说过?了?|我说过|再说一遍|请问|你好|您好|喂",
    re.IGNORECASE,
)
_ONCE_MORE = re.compile(
    r"\b(?:i repeat|once (?:more|again)|(?:as|like) i (?:said|told|wrote|mentioned|just)\w*|i (?:already|just) (?:said|told|wrote|mentioned)|let me repeat|to repeat|again)\b"
    r"|还是那句话?|再[说讲]一[遍次]|(?:刚才?|已经|都)?说[过了](?!吗)|重复一[遍次]|重申",
    re.IGNORECASE,
)
"""Words that announce a repetition."""
_WANTS = re.compile(
    r"\b(?:please|could you|can you|would you|will you|can i|could i|i(?:['’]d| would) (?:like|love|take|prefer)|i(?:['’]ll| will) take|i want|i need|we want|we need|let['’]?s|how about|what about|give me|just|make it|would be \w+|would do|(?:is|are|['’]s) (?:fine|ok(?:ay)?|good|perfect|great|all right)|works? for|i(?:['’]ll| will)|have (?:somebody|someone)|maybe|perhaps|show me|find|tell me|which|also|then|use|add|do|book|try|take|order)\b"
    r"|请|帮我|给我|能不能|可以|吧|想要?|要|怎么样|来|顺便|也|哪|有什么|用|换成|推荐|还",
    re.IGNORECASE,
)
_REQUESTS = re.compile(
    r"\b(?:(?:could|can|would|will) you|please|let['’]?s|i(?:['’]d| would) (?:also )?like)\b|请|帮|也|还要",
    re.IGNORECASE,
)
_ASKED_ZH = re.compile(r"([\u4e00-\u9fff])[不没]\1|要不(?!要)")
"""Chinese questions with a negation that denies nothing."""
_NEGATES = re.compile(
    r"\b(?:not|no|never|without|nothing|don['’]t|do not|won['’]t|isn['’]t|instead of|rather than|except|avoid|stays?|stay|keep|leave|hate|remember)\b|\b\w{1,9}n['’]t\b|不|没|别(?!的)|无需|保留|勿|除了",
    re.IGNORECASE,
)


_CLAUSE = re.compile(r"[,，;；]|\b(?:but|although)\b|但是?", re.IGNORECASE)
_YES = re.compile(
    r"\W*(?:yes|yeah|sure|ok(?:ay)?|please do|gladly|why not|that (?:works|sounds)|good idea|go ahead|好|可以|行|要|没问题|那就)",
    re.IGNORECASE,
)
_OFFERS = re.compile(
    r"\b(?:would you|do you want|shall i|should i|may i offer|how about|what about|can i offer|are you (?:happy|fine|ok(?:ay)?) with|interested)\b|要不要|需要.{0,12}吗|可以吗|怎么样|好吗|行吗|要.{0,12}吗|如何",
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
        earlier = reading.earlier(number)
        if not any(_is_repeat(text, one, question) for one in earlier) and not _restates(
            text, [reading.brief.goal, *earlier], question
        ):
            continue
        if not reading.asked_again(number) and not gives(last) and not says_unknown(text):
            yield number, f"sends again {quoted(text)} in answer to {quoted(question)}"


def _restates(text: str, before: Sequence[str], question: str) -> bool:
    """Whether a message states the goal again where a value is asked for."""
    kinds = asked_kinds(question) - {"money", "place"}
    if not kinds or len(before) < 3 or says_unknown(text) or _negates(text):
        return False
    if any(_FITS.get(value.kind, value.kind) in kinds for value in values(text)):
        return False
    own, earlier = content(_FILLER.sub(" ", text)), frozenset[str]().union(*map(content, before))
    repeats_values = {(value.kind, value.key) for value in values(text)} <= {
        (value.kind, value.key) for one in before for value in values(one)
    }
    shared = own & earlier
    return (
        repeats_values and len(shared) >= _FEWEST and len(shared) >= _SAME * len(own) and bool(own & content(before[0]))
    )


def _is_repeat(text: str, earlier: str, question: str) -> bool:
    one, other = _bare(text), _bare(earlier)
    if not one or not other:
        return False
    if says_unknown(text) or (_asks(text) and not _asks(earlier)):  # it answers, or makes sure
        return False
    if _ONCE_MORE.search(text):
        rest = _ONCE_MORE.sub(" ", text)
        again = content(rest) & content(earlier)
        answers = {value.kind for value in values(rest)} & {_FITS.get(kind, kind) for kind in asked_kinds(question)}
        if not answers and (
            {*_bare(rest)} <= {*other, "我", "i", "是", "了"} or len(again) >= _SAME_AGAIN * max(1, len(content(rest)))
        ):
            return True
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
    if exclusion.one_more:
        return False
    return bool(exclusion.words) and exclusion.words <= content(goal.replace(exclusion.text, " "))


def asks_for_excluded(reading: UserReading) -> Reasons:
    """Messages that ask for what the goal excludes."""
    exclusions = [one for one in reading.brief.exclusions if not _is_wanted_too(one, reading.brief.goal)]
    if not exclusions:
        return
    for number, text in reading.own():
        words = _asked_for(text, exclusions) or _accepted(text, reading.question(number), exclusions)
        if words is not None:
            yield number, f"asks {quoted(words[0])}, which its goal excludes: {quoted(words[1])}"


def _asked_for(text: str, exclusions: Sequence[GoalExclusion]) -> tuple[str, str] | None:
    """The sentence that asks for something excluded, and the words of the goal; None if none does."""
    for part in sentences(text):
        if not _WANTS.search(part) and not ASKS.search(part):
            continue
        asks = [clause for clause in _CLAUSE.split(part) if clause and not _negates(clause)]
        for exclusion in exclusions:
            named = [clause for clause in asks if exclusion.named_in(clause)]
            acts = (
                _REQUESTS.search(part) is not None
                or not exclusion.verbs
                or not exclusion.words
                or bool(exclusion.verbs & content(part))
                or not ASKS.search(part)
            )
            if named and acts:
                return part, exclusion.text
    return None


def _negates(text: str) -> bool:
    return _NEGATES.search(_ASKED_ZH.sub(" ", text)) is not None


def _accepted(text: str, question: str, exclusions: Sequence[GoalExclusion]) -> tuple[str, str] | None:
    """The answer that accepts an offer of something excluded, and the words of the goal; None if none does."""
    if not _YES.match(text) or _negates(text) or len(sentences(question)) != 1 or _negates(question):
        return None
    if not _OFFERS.search(question):
        return None
    offer = next((one for one in exclusions if (one.words or one.kinds or one.values) and one.named_in(question)), None)
    return None if offer is None else (text, offer.text)
