"""Asking a chat model to word the goals and facts of designed scenarios as people would say them, and rules as data."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from ...data.identity import digest
from ...data.records import Attempt
from ...data.test_design import ToolSchema
from ...data.text.languages import Language, language_of
from ...errors import SettingError
from ...nodes.calls.store import Call
from ...nodes.messages import MARKS, Refusal, fenced
from ...nodes.models.offline.model import OfflineChatModel
from ...nodes.models.specs import chat_model, model_provenance
from ...nodes.requests import Parse, ask, parse_json
from ...prompts import shipped
from .questions import Asking, ModelAnswer

PAGES = "scenario_wording"
ATTEMPTS = 3
"""Most calls for a scenario."""
WordingFault: TypeAlias = Literal["lost_value", "invented_value", "lost_fact", "tool_name", "other_language"]
"""Why a wording is rejected."""
REPAIRS: Mapping[Language, Mapping[WordingFault, str]] = {
    "en": {
        "lost_value": "it lacks a value of the goal or the facts.",
        "invented_value": "it has a value that neither the goal nor the facts have.",
        "lost_fact": "it has another number of facts.",
        "tool_name": "it has the name of a program.",
        "other_language": "it is in another language.",
    },
    "zh": {
        "lost_value": "缺少目标或事实里的一个值。",
        "invented_value": "有一个目标和事实里都没有的值。",
        "lost_fact": "事实的数目不一样。",
        "tool_name": "提到了程序的名称。",
        "other_language": "用了另一种语言。",
    },
}
"""What is said of a rejected wording; the words that show the fault follow as a quotation."""
_VALUE = re.compile(r"[A-Za-z]*\d[\w./:-]*\w|\d")
"""A word with a digit: a code, a date, a number."""


class _Answer(ModelAnswer):
    attempts: tuple[Attempt, ...] = ()
    """Every reply with its verdict; an accepted one is the last."""


class WordedScenario(_Answer):
    """A model's wording of a scenario."""

    called: ClassVar[str] = "a wording of a model"

    goal: str = ""
    facts: tuple[str, ...] = ()


class _Wording(BaseModel):
    model_config = ConfigDict(extra="forbid")

    goal: str = Field(min_length=1)
    facts: list[str]


@dataclass(frozen=True)
class WordingRequest:
    """A scenario to word, and what its wording has to keep."""

    goal: str
    facts: tuple[str, ...]
    tools: tuple[str, ...]
    """Names that no wording may have."""
    language: Language

    @property
    def values(self) -> dict[str, str]:
        """The values of the variables of the templates."""
        form = json.dumps({"goal": "...", "facts": ["..."] * len(self.facts)})
        return {"goal": fenced(self.goal, *MARKS), "facts": fenced("\n".join(self.facts), *MARKS), "form": form}

    def fault(self, goal: str, facts: Sequence[str]) -> tuple[WordingFault, str] | None:
        """The first fault of a wording, with the words that show it."""
        whole, kept = "\n".join([goal, *facts]), _VALUE.findall("\n".join([self.goal, *self.facts]))
        if lost := [value for value in kept if value not in whole]:
            return "lost_value", lost[0]
        if len(facts) != len(self.facts):
            return "lost_fact", f"{len(facts)} / {len(self.facts)}"
        if invented := [value for value in _VALUE.findall(whole) if not any(value in own for own in kept)]:
            return "invented_value", invented[0]
        if named := [name for name in self.tools if re.search(r"_|[a-z][A-Z]", name) and name in whole]:
            return "tool_name", named[0]
        return None if language_of(goal) == self.language else ("other_language", str(language_of(goal) or "-"))

    def parse(self, text: str) -> dict[str, Any] | Refusal:
        """The wording of a reply, or the refusal with its fault."""
        read: Parse[_Wording] = parse_json(_Wording)
        value = read(text)
        if isinstance(value, Refusal):
            return value
        if fault := self.fault(value.goal, value.facts):
            return Refusal(fault[0], REPAIRS[self.language][fault[0]], fault[1])
        return value.model_dump()


class ProposedRule(_Answer):
    """A sentence of a policy as a model words it as data; it forbids nothing before a person has confirmed it."""

    called: ClassVar[str] = "a rule of a model"

    forbids: tuple[str, ...] = ()
    """Names of tools; empty if the sentence forbids no call of one."""
    when: dict[str, Any] = Field(default_factory=dict)


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid")

    forbids: list[str]
    when: dict[str, Any]


@dataclass(frozen=True)
class RuleRequest:
    """A sentence of a policy, and what a rule may name."""

    sentence: str
    tools: tuple[ToolSchema, ...]
    fields: tuple[str, ...]

    @property
    def values(self) -> dict[str, str]:
        """The values of the variables of the templates."""
        lines = [f"- {one.name}({', '.join(a.name for a in one.arguments)}): {one.description}" for one in self.tools]
        sentence = fenced(self.sentence, *MARKS)
        return {"sentence": sentence, "tools": "\n".join(lines), "fields": ", ".join(self.fields)}

    def parse(self, text: str) -> dict[str, Any] | Refusal:
        """The rule of a reply, or the refusal with a name that there is not."""
        read: Parse[_Rule] = parse_json(_Rule)
        value = read(text)
        if isinstance(value, Refusal):
            return value
        unknown = {*value.forbids} - {tool.name for tool in self.tools} or {*value.when} - {*self.fields}
        return (
            Refusal("unknown_name", "there is no such tool or field.", min(unknown)) if unknown else value.model_dump()
        )


def wordings(
    model: Any, scenarios: Sequence[Mapping[str, Any]], language: Language, tools: Sequence[str] = ()
) -> Asking[WordingRequest, WordedScenario]:
    """The requests to a model for a wording of each designed scenario.

    `tools`: names that no wording may have. A rejected reply is sent back with its fault, three calls in all; every reply
    is kept. SettingError for the offline model; ModelError for a model that cannot be made.
    """
    requests = [
        WordingRequest(str(one.get("goal", "")), tuple(map(str, one.get("facts", ()))), tuple(tools), language)
        for one in scenarios
    ]
    return _asking(model, "writer", requests, WordedScenario, language)


def proposed_rules(
    model: Any, sentences: Sequence[str], tools: Sequence[ToolSchema], fields: Sequence[str], language: Language
) -> Asking[RuleRequest, ProposedRule]:
    """The requests to a model for a rule of each sentence of a policy; errors as for `wordings`."""
    requests = [RuleRequest(sentence, tuple(tools), tuple(fields)) for sentence in sentences]
    return _asking(model, "rule", requests, ProposedRule, language)


R = TypeVar("R", WordingRequest, RuleRequest)
A = TypeVar("A", bound=_Answer)


def _asking(model: Any, side: str, requests: Sequence[R], answer_type: type[A], language: Language) -> Asking[R, A]:
    writer = chat_model(model)
    if isinstance(writer, OfflineChatModel):
        raise SettingError("--model: the offline model cannot word scenarios: give openai:NAME, or a chat model")
    pages = shipped(PAGES, language)

    async def asked(name: str, request: R) -> A:
        call = Call(0, name, f"wording {pages[f'{side}/request'].digest}")
        parse: Parse[dict[str, Any]] = request.parse
        answer = await ask(writer, f"{side}/request", request.values, parse, ATTEMPTS, pages=pages, call=call)
        return answer_type(
            id=name,
            **(answer.value or {}),
            attempts=answer.attempts,
            usage=answer.usage.model_dump(),
            error="" if answer.value is not None else f"the model gave no wording: {answer.failure}",
            unreadable=answer.unreadable,
        )

    def texts(request: R) -> tuple[str, str]:
        return pages[f"{side}/system"].fill_from(request.values), pages[f"{side}/request"].fill_from(request.values)

    shown = [page.digest for name, page in sorted(pages.pages.items()) if name.startswith(side)]
    made = model_provenance(writer)
    named = [
        (digest("wording", made, shown, number, texts(request))[:32], request)
        for number, request in enumerate(requests)
    ]
    return Asking(writer, answer_type, named, asked, texts)
