"""The line of a scenario: a goal and facts in a customer's sentences, from the words of a tool."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..text.languages import Language, language_of
from .cases import DesignedCase, ToolSchema

PHRASES: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "goal": "I want to {deed}.",
        "fact": "The {label} {is_} {value}.",
        "unknown": "the {label}",
        "either": " The {label} {is_} {other} or {value}.",
        "resolved": "The {label} {is_} {value}, not {other}.",
    },
    "zh": {
        "goal": "我想{deed}。",
        "fact": "{label}是{value}。",
        "unknown": "{label}",
        "either": "{label}是{other}或者{value}。",
        "resolved": "{label}是{value}，不是{other}。",
    },
}
_VERBS = frozenset(
    "add apply block book buy calculate cancel change check close compare compute confirm correct create delete deliver "
    "edit exchange extend file find get give hold list look make modify move open order pay place prolong rate read "
    "rebook refund register remove renew rent replace report request reschedule reserve return schedule search see send "
    "set share show sign start stop submit suspend switch tell track transfer unblock update upgrade verify view".split()
)
"""First words of a description that say what a customer wants done; "fetch", "query" and "returns" are a program's."""
_TAIL = {
    "en": re.compile(
        r",.*|\s*[(:;].*|\s(?:as|by|from|if|in|given|using|via|when|where|which|whose|with)\s.*|\sfor (?:a|an|the) (?:given|specified)\b.*",
        re.DOTALL,
    ),
    "zh": re.compile(r"[，,：:；;（(].*", re.DOTALL),
}
"""From here on a description says how the tool is called."""
_END = re.compile(r"(?<=[.!?])\s|[。！？\n]")
_ARTICLE = re.compile(r"\b(?:an?|the|(?:an?|the) (?:user|customer|reader)'s) (?=([a-z]+))", re.IGNORECASE)


def deed_of(tool: ToolSchema, language: Language) -> str:
    """What a customer has the tool do: the beginning of its description if that names a deed, else its name in words.

    An article before the name of an argument is the customer's own: "move my booking".
    """
    text = _END.split(re.sub(r"`[^`]*`", "", tool.description).strip(), maxsplit=1)[0]
    text = " ".join(_TAIL[language].sub("", text).split()).strip(" .!。")
    if language == "zh":
        return re.sub(r"(?:用户|顾客|读者|客户)的", "我的", text) or tool.name
    words = [word.lower() for word in re.findall(r"[A-Z]?[^\W_A-Z]+|[A-Z]+(?![^\W_A-Z])", tool.name)]
    if text.split(" ")[0].casefold() not in _VERBS or len(text.split()) < 2:
        return " my ".join([words[0], " ".join(words[1:])]) if len(words) > 1 else words[0] if words else tool.name
    own = {*words[1:]}.union(*(one.label.split() for one in tool.arguments if one.schema.get("type") == "string"))
    text = _ARTICLE.sub(lambda found: "my " if found[1] in own else found[0], text, count=1)
    return text[0].lower() + text[1:]


def line_of(case: DesignedCase, language: Language, number: int) -> dict[str, Any]:
    """The scenario of a case, without what the oracle adds; its number begins its title."""
    phrases = PHRASES[language]
    odd = case.argument.name if case.argument is not None else ""
    goal = phrases["goal"].format(deed=deed_of(case.tool, language))
    facts, unknown = [], []
    for argument in case.tool.arguments:
        if argument.name not in case.arguments:
            continue
        value = in_words(case.arguments[argument.name], language)
        words = {"label": argument.label, "value": value, "other": in_words(case.value, language)}
        words["is_"] = "are" if re.search(r"(?<![isu])s$", argument.label) else "is"
        if argument.name == odd and case.kind == "missing":
            unknown.append(phrases["unknown"].format(**words))
        elif argument.name == odd and case.kind == "ambiguous":
            goal += phrases["either"].format(**words)
            facts.append(phrases["resolved"].format(**words))
        else:
            facts.append(phrases["fact"].format(**words))
    about = f"{case.argument.label}: {case.kind}" if case.argument is not None else case.kind
    return {
        "title": f"{number}. {case.tool.name} ({about})",
        "goal": goal,
        "facts": facts,
        **({"unknown": unknown} if unknown else {}),
        **case.example.scenario,
        "case": {"tool": case.tool.name, "kind": case.kind, **({"argument": odd} if odd else {})},
    }


def in_words(value: Any, language: Language) -> str:
    """A value as a person writes it."""
    if isinstance(value, bool):
        return {"en": ("no", "yes"), "zh": ("否", "是")}[language][value]
    if isinstance(value, list | tuple):
        return {"en": ", ", "zh": "、"}[language].join(in_words(one, language) for one in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {in_words(one, language)}" for name, one in value.items())
    return str(value)


def language_of_tools(tools: Sequence[ToolSchema]) -> Language:
    """The language of the tools' descriptions; English without any."""
    return language_of(" ".join(tool.description for tool in tools)) or "en"
