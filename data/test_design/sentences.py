"""Goals and facts in plain sentences, English and Chinese, from the descriptions of tools and arguments."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..text.languages import Language, language_of
from .case_space import AMBIGUOUS, FORBIDDEN, MISSING, VALID, DesignedCase
from .tool_schemas import ToolArgument, ToolSchema

PHRASES: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "fact": "The {label} is {value}.",
        "unknown": "I do not have the {label}.",
        "either": "{goal}; the {label} is {one} or {other}",
        "resolved": "The {label} is {value}, not {other}.",
        "and": " and ",
    },
    "zh": {
        "fact": "{label}是{value}。",
        "unknown": "我没有{label}。",
        "either": "{goal}，{label}是{one}或者{other}",
        "resolved": "{label}是{value}，不是{other}。",
        "and": "、",
    },
}
KIND_WORDS: Mapping[Language, Mapping[str, str]] = {
    "en": {},
    "zh": {VALID: "有效", MISSING: "缺少", AMBIGUOUS: "有歧义", "out of range": "超出范围", FORBIDDEN: "规则不许"},
}
"""Kinds of argument in titles; English ones are as they are."""

_HINT_EN = re.compile(
    r",? (?:written|given|formatted) as\b.*|,? in (?:the )?(?:form|format)\b.*|,? such as\b.*|,? e\.g\..*|\s*[(:;].*"
)
_HINT_ZH = re.compile(r"[，,]?(?:格式|例如|写成|形如).*|\s*[（(:：;；].*")
_END = re.compile(r"(?<=[.!?。！？])(?:\s|$|(?<=[。！？]))|\n")
_CODE = re.compile(r"`[^`]*`")


def goal_of_tool(tool: ToolSchema, language: Language) -> str:
    """What a user wants of a tool: the first sentence of its description without forms of values.

    An article before an argument's name is the user's own: "move my booking". Names of tools in it are left out.
    """
    text = _END.split(_CODE.sub("", tool.description).strip(), maxsplit=1)[0].strip(" .。!！")
    text = (_HINT_ZH if language == "zh" else _HINT_EN).sub("", text).strip(" .。,，")
    if not text:
        return " ".join(re.findall(r"[^\W_]+", tool.name)).lower()
    text = " ".join(text.replace(tool.name, " ").split()) if "_" in tool.name else text
    if language == "zh":
        return re.sub(r"用户的|顾客的|读者的|客户的", "我的", text)
    text = text if text[:2].isupper() else text[0].lower() + text[1:]
    nouns = {one.label.split()[0] for one in tool.arguments} | {one.name.split("_")[0] for one in tool.arguments}
    return (
        re.sub(rf"\b(?:an?|the) (?=(?:{'|'.join(map(re.escape, sorted(nouns)))})\b)", "my ", text, count=1)
        if nouns
        else text
    )


def goal_of(case: DesignedCase, language: Language) -> str:
    """The user's goal in a case; where a value is ambiguous, it names both, the wrong one first."""
    goal = goal_of_tool(case.tool, language)
    if case.kind != AMBIGUOUS or case.argument is None:
        return goal
    meant = case.example.value(case.argument.name)
    label = _label(case.argument)
    return PHRASES[language]["either"].format(goal=goal, label=label, one=case.value, other=meant)


def facts_of(case: DesignedCase, language: Language) -> list[str]:
    """The user's facts in a case, a sentence for each argument.

    One that the user does not have is named as lacking.
    """
    phrases, facts = PHRASES[language], []
    for argument in case.tool.arguments:
        if argument.name not in case.arguments:
            continue
        is_odd = case.argument is not None and argument.name == case.argument.name
        value, label = in_words(case.arguments[argument.name], language), _label(argument)
        if is_odd and case.kind == MISSING:
            facts.append(phrases["unknown"].format(label=label))
        elif is_odd and case.kind == AMBIGUOUS:
            facts.append(phrases["resolved"].format(label=label, value=value, other=in_words(case.value, language)))
        else:
            facts.append(phrases["fact"].format(label=label, value=value))
    return facts


def title_of(case: DesignedCase, language: Language) -> str:
    """The name of a case in tables: the goal, the argument and its kind."""
    kind = KIND_WORDS[language].get(case.kind, case.kind)
    about = f"{_label(case.argument)}: {kind}" if case.argument is not None else kind
    return f"{goal_of_tool(case.tool, language)} ({about})"


def in_words(value: Any, language: Language) -> str:
    """A value as a person writes it."""
    if isinstance(value, bool):
        return {"en": ("no", "yes"), "zh": ("否", "是")}[language][value]
    if isinstance(value, list | tuple):
        return PHRASES[language]["and"].join(in_words(one, language) for one in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {in_words(one, language)}" for name, one in value.items())
    return str(value)


def language_of_tools(tools: Sequence[ToolSchema], rules: Sequence[str] = ()) -> Language:
    """The language of the descriptions of tools; without any, that of the rules, else English."""
    described = " ".join(tool.description for tool in tools)
    return language_of(described) or language_of(" ".join(rules)) or "en"


def _label(argument: ToolArgument) -> str:
    return re.sub(r"^(?:the|an?) ", "", argument.label)
