"""The offline annotator's rules, a baseline for others: word lists, lengths and question marks.

A rule sees the words and not what they mean. Each asks for a certain amount of a sign; `strictness` multiplies it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ...errors import SettingError
from ..attempts import Json
from ..recllmsim.situations import ATTRIBUTES
from ..records import Conversation
from .definition import LabelDefinition
from .rule_words import WORDS, has, share, words_of
from .units import WHOLE, text_of

STRICTNESS = (1.0, 0.75, 4 / 3)
"""How much of a sign the first, second and third vote ask for; further votes begin again."""

LabelRule: TypeAlias = Callable[[Conversation, LabelDefinition, int, float], Mapping[str, Any]]


def rules_for(label: LabelDefinition) -> LabelRule:
    """The rule of a label; SettingError, which lists the labels with rules, without one."""
    if label.name not in RULES:
        raise SettingError(
            f"the offline annotator has no rule for {label.name!r}: word lists and lengths cannot decide it; it has rules "
            f"for {', '.join(RULES)}. Give --model openai:NAME, or a function"
        )
    return RULES[label.name]


def rule_values(
    conversation: Conversation, label: LabelDefinition, units: Sequence[int], vote: int = 1
) -> dict[int, Json | None]:
    """The value of each unit by the label's rule, as the vote of this number gives it; SettingError as `rules_for`."""
    rule, strictness = rules_for(label), STRICTNESS[(vote - 1) % len(STRICTNESS)]
    return {unit: dict(rule(conversation, label, unit, strictness)) for unit in units}


def _texts_of(conversation: Conversation, role: str = "user") -> list[str]:
    return [message.text for message in conversation.messages if message.stored and message.role == role]


def _behaviour(conversation: Conversation, label: LabelDefinition, unit: int, strictness: float) -> Mapping[str, Any]:
    texts = _texts_of(conversation)
    ways = _ways(texts, strictness)
    feedback, opened = ways["feedback"], ways["opened"]
    explains = share(texts, "reason")
    polite, oral = share(texts, "polite"), _oral(texts)
    negative_end = bool(texts) and has(texts[-1], "negative")
    return {
        "problem_solving": "AllInOne" if opened else "StepByStep",
        "order": "Breadth" if ways["requests"] < 2 * strictness else "BreadthDepth",
        "question_broadness": ways["broadness"],
        "context_dependency": ways["dependency"],
        "explanation": "Frequent" if explains > 0.5 * strictness else "Rare" if explains > 0 else "NoExplanation",
        "promise": "HavePromise" if share(texts, "promise") > 0 else "NoPromise",
        "feedback": feedback,
        "politeness": "Impolite" if share(texts, "rude") > 0 else "Polite" if polite >= 0.5 * strictness else "Neutral",
        "formality": "Oral" if oral > 0.5 * strictness else "Mixed" if oral > 0.35 * strictness else "Formal",
        "utility": "Moderate" if negative_end else "High",
        "operability": "Moderate" if share(texts, "errand") > 0.2 * strictness else "High",
    }


def _behaviour_first(
    conversation: Conversation, label: LabelDefinition, unit: int, strictness: float
) -> Mapping[str, Any]:
    ways = _ways(_texts_of(conversation), strictness)
    wide = ways["requests"] >= 2 * strictness
    return {
        "information_request": "Planning" if ways["opened"] else "Sequential",
        "order": "Comprehensive" if wide else "Breadth",
        "context": "High" if ways["dependency"] > 3 else "Low",
        "question": "Broad" if ways["broadness"] > 4 else "Specific",
        "order_V2": "BreadthDepth" if wide else "Breadth",
        "feedback": ways["feedback"],
        "question_broadness": ways["broadness"],
        "context_dependency": ways["dependency"],
        "feedback_V3": ways["feedback"],
    }


def _ways(texts: Sequence[str], strictness: float) -> dict[str, Any]:
    """What both taxonomies ask of a user's messages."""
    lengths = [len(text) for text in texts]
    later = texts[1:]
    refers = sum(has(text, "referring") + (len(words_of(text)) <= 8) for text in later) / max(1, len(later))
    asking = [text for text in texts if _asks(text)]
    open_ones = sum(has(text, "open") or len(words_of(text)) > 25 for text in asking) / max(1, len(asking))
    good, bad = share(texts, "positive") > 0, share(texts, "negative") > 0
    return {
        "opened": not texts or lengths[0] >= 0.35 * strictness * sum(lengths),
        "requests": len(asking),
        "dependency": min(5, 1 + round(2 * refers / strictness)) if later else 1,
        "broadness": min(5, 2 + round(2 * open_ones / strictness)),
        "feedback": "Both" if good and bad else "Positive" if good else "Negative" if bad else "NoFeedback",
    }


def _asks(text: str) -> bool:
    return bool(re.search("[?？]", text)) or has(text, "asking") or has(text, "planning")


def _oral(texts: Sequence[str]) -> float:
    """Share of messages without a full stop at the end, begun in small letters, or with a particle of speech."""
    clipped = [
        text for text in texts if text and (text[0].islower() or text.rstrip()[-1:].isalnum() or has(text, "oral"))
    ]
    return len(clipped) / max(1, len(texts))


def _intent(conversation: Conversation, label: LabelDefinition, unit: int, strictness: float) -> Mapping[str, Any]:
    text = text_of(conversation, label, unit)
    if not _asks(text):
        return {"intent": "Others"}
    search, recommend = has(text, "fact"), has(text, "recommending")
    if has(text, "planning") and not (search and strictness > 1):
        return {"intent": "Planning"}
    if recommend:
        return {"intent": "Search & Recommendation" if search else "Recommendation"}
    return {"intent": "Search" if search else "Recommendation" if strictness < 1 else "Planning"}


def _intent_people(
    conversation: Conversation, label: LabelDefinition, unit: int, strictness: float
) -> Mapping[str, Any]:
    text = text_of(conversation, label, unit)
    named = {"规划": "planning", "推荐": "recommending", "评估": "weighing"}
    intents = [intent for intent, words in named.items() if has(text, words)]
    if not intents and _asks(text):
        intents = ["推荐" if strictness >= 1 else "规划"]
    return {"intent": intents[:1] if strictness > 1 else intents[:3] or ["其它"]} if intents else {"intent": ["其它"]}


def reply_satisfaction(text: str, strictness: float = 1.0) -> dict[str, Any]:
    """Satisfaction from 1 to 5 by the length of the reply, and the reason of a low one, or None.

    Short replies lack detail; an error in place of a reply is not usable.
    """
    if has(text, "error") and len(text) < 200:
        return {"satisfaction": 1, "reason": "不可用"}
    length = len(words_of(text)) / strictness
    if length < 60:
        return {"satisfaction": 3, "reason": "不够细致"}
    return {"satisfaction": 5 if length > 700 else 4, "reason": None}


def _satisfaction_conversation(
    conversation: Conversation, label: LabelDefinition, unit: int, strictness: float
) -> Mapping[str, Any]:
    """Detail, utility and diversity of the replies: by their length, and by the entries of their lists."""
    replies = _texts_of(conversation, "assistant")
    words = sum(len(words_of(text)) for text in replies) / max(1, len(replies)) / strictness
    entries = sum(len(re.findall(r"(?m)^\s*(?:[-*•]|\d+[.)、])\s", text)) for text in replies) / strictness
    return {
        "detail": 2 if words > 60 else 1 if words > 20 else 0,
        "utility": 2 if words > 60 else 1 if words > 20 else 0,
        "diversity": 2 if entries >= 8 else 1 if entries >= 3 else 0,
    }


def _justification(
    conversation: Conversation, label: LabelDefinition, unit: int, strictness: float
) -> Mapping[str, Any]:
    """The reasons of which a word stands in the text; a short text without any gives none."""
    text = text_of(conversation, label, unit)
    values = [str(value) for value in label.parts["justification"].values]
    reasons = [value for value in values if f"why {value}" in WORDS and has(text, f"why {value}")]
    few = len(words_of(text)) <= 8 * strictness
    return {"justification": reasons or ["none" if few else "other"]}


def _profile(conversation: Conversation, label: LabelDefinition, unit: int, strictness: float) -> Mapping[str, Any]:
    """Values of which a word of the list stands in the attribute's line."""
    text = text_of(conversation, label, WHOLE)
    lines = {_key(line.group(1)): line.group(2) for line in _LINE.finditer(text)}
    value: dict[str, Any] = {}
    for name, part in label.parts.items():
        line_text = lines.get(_key(name)) or lines.get(_IN_CHINESE.get(_key(name), ""), "")
        if part.scale is not None:
            age = re.search(r"\d{1,3}", line_text)
            value[name] = min(int(age[0]), part.scale[1]) if age else part.scale[0]
        elif name.lower() == "gender":
            low = line_text.strip().lower()
            value[name] = (
                "Female" if low.startswith(("f", "女")) else "Male" if low.startswith(("m", "男")) else "Others"
            )
        else:
            choices = [word for word in map(str, part.values) if _named(word, line_text, strictness)]
            choices = sorted(choices, key=line_text.find) or [str(part.values[-1])]  # Chinese words in the text's order
            value[name] = choices[0] if part.several is None else choices[: part.several[1]]
    return value


_LINE = re.compile(r"(?m)^\s*(?:\d+[.、．]\s*)?([^:：\n]{1,40})[:：]\s*(.*)$")


def _key(name: str) -> str:
    return re.sub(r"[^a-z\u4e00-\u9fff]|andhobbies|和", "", name.lower().replace(" and hobbies", ""))


_IN_CHINESE = {_key(english): chinese for english, chinese in ATTRIBUTES.values()}


def _named(value: str, text: str, strictness: float) -> bool:
    if not value.isascii():
        return value in text
    stems = {word[:5] for word in re.findall(r"[a-z]{4,}", value.lower())}
    there = {word[:5] for word in re.findall(r"[a-z]{4,}", text.lower())}
    return bool(stems) and len(stems & there) >= 0.5 * strictness * len(stems)


RULES: Mapping[str, LabelRule] = {
    "behaviour": _behaviour,
    "behaviour_first": _behaviour_first,
    "intent": _intent,
    "intent_people": _intent_people,
    "satisfaction": lambda talk, label, unit, strictness: reply_satisfaction(text_of(talk, label, unit), strictness),
    "satisfaction_conversation": _satisfaction_conversation,
    "profile_mapped": _profile,
    "profile_mapped_people": _profile,
    "justification": _justification,
}
"""The rule of each label that has one."""
