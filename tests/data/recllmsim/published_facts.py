"""What is published of RecLLMSim's labels, as facts: whose words a part judges, its values, and which end is more.

Three editions hold the same objects under other keys, so an object is known by its parts. `HvA` is the edition whose
files are in `recllmsim_human_vs_agent`, `main` the one in `recllmsim`, `sat` the third, of which no file is at hand.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

Value: TypeAlias = str | int | bool
Stored: TypeAlias = Literal["word", "integer", "text number", "bool"]


class Fact(NamedTuple):
    """One part of one published object."""

    object: str
    """The name of its label page; without one it begins with `no page:`."""
    part: str
    words: Literal["user", "assistant", "both"]
    """Whose words are judged."""
    values: tuple[Value, ...]
    """In their order from less to more where they have one; empty where the part is a free text."""
    more: str
    """What there is more of at the last value; empty without an order."""
    ordered: bool | None
    """None: nothing published says so, and either is right."""
    stored: Stored
    unit: Literal["conversation", "user turn", "assistant turn"]
    votes: bool
    """Whether it is stored as `{final, 1, 2, 3}`."""
    editions: Mapping[str, str]
    """Key of the object in each edition."""


SOLVING = {"sat": "strategy_V1", "HvA": "strategy_V1"}
BROADNESS = {"HvA": "strategy_V2"}
STYLE = {"sat": "strategy_V4", "HvA": "strategy_V3"}
ADVICE = {"sat": "strategy_V5", "HvA": "strategy_V4"}
FIRST = {"main": "strategy", "sat": "strategy_V1_deprecated"}
ORDER_AND_FEEDBACK = {"main": "strategy_V2", "sat": "strategy_V2"}
BROADNESS_AND_FEEDBACK = {"main": "strategy_V3", "sat": "strategy_V3"}
FIRST_STYLE = {"sat": "strategy_V4_deprecated"}

ORDERS = ("Depth", "Breadth", "DepthBreadth", "BreadthDepth")
REACTIONS = ("NoFeedback", "Positive", "Negative", "Both")
ONE_TO_FIVE = (1, 2, 3, 4, 5)
ZERO_TO_TWO = (0, 1, 2)
LOW_TO_HIGH = ("Low", "Moderate", "High")


def _voted(
    object: str,
    part: str,
    values: tuple[Value, ...],
    editions: Mapping[str, str],
    *,
    more: str = "",
    ordered: bool | None = False,
    words: Literal["user", "assistant"] = "user",
) -> Fact:
    stored: Stored = "integer" if isinstance(values[0], int) else "word"
    return Fact(object, part, words, values, more, ordered, stored, "conversation", True, editions)


def _number(
    object: str,
    part: str,
    values: tuple[Value, ...],
    editions: tuple[str, ...],
    *,
    more: str,
    words: Literal["user", "assistant"],
) -> Fact:
    keys = dict.fromkeys(editions, object.removesuffix("_conversation"))
    return Fact(object, part, words, values, more, True, "integer", "conversation", False, keys)


def _of_replies(
    object: str, part: str, values: tuple[Value, ...], stored: Stored, *, more: str = "", ordered: bool | None = False
) -> Fact:
    keys = dict.fromkeys(("main", "sat", "HvA"), part if part == "reason" else object.removesuffix("_people"))
    return Fact(object, part, "assistant", values, more, ordered, stored, "assistant turn", False, keys)


BEHAVIOUR = [
    _voted("solving", "problem_solving", ("AllInOne", "StepByStep"), SOLVING),
    _voted("solving", "order", ORDERS, SOLVING),
    _voted("broadness", "question_broadness", ONE_TO_FIVE, BROADNESS, more="specific", ordered=True),
    _voted("broadness", "context_dependency", ONE_TO_FIVE, BROADNESS, more="needs context", ordered=True),
    _voted("style", "explanation", ("NoExplanation", "Rare", "Frequent"), STYLE, more="reasons", ordered=True),
    _voted("style", "promise", ("NoPromise", "HavePromise"), STYLE, more="promise", ordered=None),
    _voted("style", "feedback", REACTIONS, STYLE),
    _voted("style", "politeness", ("Impolite", "Neutral", "Polite"), STYLE, more="polite", ordered=True),
    _voted("style", "formality", ("Oral", "Mixed", "Formal"), STYLE, more="formal", ordered=None),
    _voted("advice", "utility", LOW_TO_HIGH, ADVICE, more="helps", ordered=True, words="assistant"),
    _voted("advice", "operability", LOW_TO_HIGH, ADVICE, more="concrete", ordered=True, words="assistant"),
    _voted("first_taxonomy", "information_request", ("Planning", "Sequential"), FIRST),
    _voted("first_taxonomy", "order", ("Depth", "Breadth", "Comprehensive"), FIRST),
    _voted("first_taxonomy", "context", ("Low", "High"), FIRST, more="needs context", ordered=None),
    _voted("first_taxonomy", "question", ("Broad", "Specific"), FIRST, more="specific", ordered=None),
    _voted("order_and_feedback", "order", ORDERS, ORDER_AND_FEEDBACK),
    _voted("order_and_feedback", "feedback", REACTIONS, ORDER_AND_FEEDBACK),
    _voted(
        "broadness_and_feedback",
        "question_broadness",
        ONE_TO_FIVE,
        BROADNESS_AND_FEEDBACK,
        more="specific",
        ordered=True,
    ),
    _voted(
        "broadness_and_feedback",
        "context_dependency",
        ONE_TO_FIVE,
        BROADNESS_AND_FEEDBACK,
        more="needs context",
        ordered=True,
    ),
    _voted("broadness_and_feedback", "feedback", REACTIONS, BROADNESS_AND_FEEDBACK),
]
"""One object a conversation, three choices of one request and what they come to."""

FIRST_WORDING = [
    _voted("no page: first style", "context_dependency", ONE_TO_FIVE, FIRST_STYLE, more="needs context", ordered=True),
    _voted(
        "no page: first style",
        "explanation",
        ("NoExplanation", "Rare", "Frequent"),
        FIRST_STYLE,
        more="reasons",
        ordered=True,
    ),
    _voted("no page: first style", "promise", ("NoPromise", "HavePromise"), FIRST_STYLE, more="promise", ordered=None),
    _voted("no page: first style", "feedback", REACTIONS, FIRST_STYLE),
    _voted(
        "no page: first style",
        "politeness",
        ("Impolite", "Neutral", "Polite"),
        FIRST_STYLE,
        more="polite",
        ordered=True,
    ),
    _voted("no page: first style", "formality", ("Oral", "Formal"), FIRST_STYLE, more="formal", ordered=None),
]
"""The style in its first wording: the parts of `style`, other meanings, no page."""

INTENTS = ("Planning", "Recommendation", "Search", "Search & Recommendation", "Others")
ALL = ("main", "sat", "HvA")

MESSAGES = [
    Fact("intent", "intent", "user", INTENTS, "", False, "word", "user turn", False, dict.fromkeys(ALL, "intent")),
    Fact(
        "intent_people",
        "intent",
        "user",
        ("推荐", "规划", "评估", "其它"),
        "",
        False,
        "word",
        "user turn",
        False,
        dict.fromkeys(("main", "HvA"), "intent"),
    ),
    _of_replies("hallucination", "hallucination", (False, True), "bool", more="made up", ordered=None),
    _of_replies("hallucination", "memo", (), "word"),
    _of_replies("hallucination_people", "hallucination", ("否", "无法判断", "是"), "word", ordered=None),
    _of_replies("satisfaction", "satisfaction", ONE_TO_FIVE, "text number", more="satisfied", ordered=True),
    _of_replies("satisfaction", "reason", ("不够细致", "不满足需求", "不够多样", "不可用", "其它"), "word"),
]

CONVERSATIONS = [
    _number("rating", "Preference Alignment", ZERO_TO_TWO, ALL, more="shows the profile", words="user"),
    _number("rating", "Additional Preferences", (0, 1), ALL, more="further wishes", words="user"),
    _number("rating", "Role-Playing Completeness", ZERO_TO_TWO, ALL, more="complete", words="user"),
    _number("rating", "Memorization", (0, 1), ALL, more="remembers", words="assistant"),
    _number("rating", "Detail Level", ZERO_TO_TWO, ALL, more="detailed", words="assistant"),
    _number("rating", "Diversity", ZERO_TO_TWO, ALL, more="options", words="assistant"),
    _number("rating", "Practical Usefulness", ZERO_TO_TWO, ALL, more="practical", words="assistant"),
    _number("satisfaction_conversation", "detail", ZERO_TO_TWO, ("sat", "HvA"), more="complete", words="assistant"),
    _number("satisfaction_conversation", "utility", ZERO_TO_TWO, ("sat", "HvA"), more="easily done", words="assistant"),
    _number("satisfaction_conversation", "diversity", ZERO_TO_TWO, ("sat", "HvA"), more="several", words="assistant"),
    Fact(
        "preference_summary",
        "preference_summary",
        "user",
        (),
        "",
        False,
        "word",
        "conversation",
        False,
        dict.fromkeys(("main", "sat"), "preference_summary"),
    ),
    Fact(
        "conflict",
        "conflict",
        "both",
        (False, True),
        "conflict",
        None,
        "bool",
        "conversation",
        False,
        dict.fromkeys(("main", "sat"), "conflict"),
    ),
]

QUESTIONNAIRE = [
    Fact(
        "questionnaire",
        part,
        "assistant",
        values,
        more,
        True,
        "word",
        "conversation",
        False,
        dict.fromkeys(ALL, "questionnaire"),
    )
    for part, values, more in (
        ("Memorization", ("否", "是"), "forgot"),
        ("Detail", ("简略", "一般", "详细"), "detailed"),
        ("Availability", ("不可用", "有一定参考", "很有用"), "useful"),
        ("Diversity", ("结果单一", "一般", "结果多样"), "diverse"),
    )
]
"""What people answered after the talk."""

FACTS = [*BEHAVIOUR, *FIRST_WORDING, *MESSAGES, *CONVERSATIONS, *QUESTIONNAIRE]

LIST_LENGTHS = {("intent_people", "intent"): (1, 3), ("preference_summary", "preference_summary"): (1, 5)}
"""Fewest and most values of the parts that are lists."""

EXTRA_PARTS = {("sat", "strategy_V4"): {"context_dependency": ONE_TO_FIVE}}
"""Parts of an edition's object beside those of the fact's own: sat asks one with the style again."""
