"""Asking a chat model to word the goals and facts of designed scenarios as people would say them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, create_model

from ...data.identity import digest
from ...data.records import Attempt
from ...data.test_design.wording_checks import WordingChecks, WordingFault
from ...data.text.languages import Language
from ...errors import SettingError
from ...nodes.calls.store import Call
from ...nodes.messages.building import MARKS, Refusal, fenced
from ...nodes.models.offline.model import OfflineChatModel
from ...nodes.models.specs import chat_model, model_provenance
from ...nodes.requests import Parse, ask, parse_json
from ...prompts import Library, shipped
from .questions import Asking, ModelAnswer

PAGES, SIDE = "scenario_wording", "writer"
ATTEMPTS = 3
"""Most calls for a scenario."""
REPAIRS: Mapping[Language, Mapping[WordingFault, str]] = {
    "en": {
        "lost_value": "it lacks a value of the goal or the facts.",
        "invented_value": "it has a value that neither the goal nor the facts have.",
        "lost_fact": "it has another number of facts.",
        "tool_name": "it has the name of a program.",
        "gives_answer": "it gives the answer away.",
        "other_language": "it is in another language.",
        "near_double": "another customer's goal has almost the same words.",
    },
    "zh": {
        "lost_value": "缺少目标或事实里的一个值。",
        "invented_value": "有一个目标和事实里都没有的值。",
        "lost_fact": "事实的数目不一样。",
        "tool_name": "提到了程序的名称。",
        "gives_answer": "把答案说出来了。",
        "other_language": "用了另一种语言。",
        "near_double": "和另一位顾客的目标几乎一样。",
    },
}
"""What is said of a rejected wording; the words that show the fault follow as a quotation."""


class WordedScenario(ModelAnswer):
    """A model's wording of a scenario, with every reply."""

    called: ClassVar[str] = "a wording of a model"

    goal: str = ""
    facts: tuple[str, ...] = ()
    persona: str = ""
    attempts: tuple[Attempt, ...] = ()
    """Every reply with its verdict; an accepted one is the last."""


class _Wording(BaseModel):
    model_config = ConfigDict(extra="forbid")

    goal: str = Field(min_length=1)
    facts: list[str]


@dataclass(frozen=True)
class WordingRequest:
    """A scenario to word, and what its wording has to keep."""

    scenario: Mapping[str, Any]
    checks: WordingChecks

    def values(self, pages: Library, *, personas: bool) -> dict[str, str]:
        """The values of the variables of the templates."""
        facts = "\n".join(map(str, self.scenario.get("facts", ())))
        form = {"goal": "...", "facts": ["..."] * self.checks.facts} | ({"persona": "..."} if personas else {})
        return {
            "goal": fenced(str(self.scenario.get("goal", "")), *MARKS),
            "facts": fenced(facts, *MARKS),
            "form": json.dumps(form),
            "persona_line": pages[f"{SIDE}/persona"].source if personas else "",
        }


def wordings(
    model: Any,
    scenarios: Sequence[Mapping[str, Any]],
    language: Language,
    tools: Sequence[str] = (),
    *,
    personas: bool = False,
) -> Asking[WordingRequest, WordedScenario]:
    """The requests to a model for a wording of each designed scenario.

    `tools`: names that no wording may have. `personas`: the model adds who writes, and how. A rejected reply is sent back
    with its fault, three calls in all; every reply is kept.

    SettingError for the offline model; ModelError for a model that cannot be made.
    """
    writer = chat_model(model)
    if isinstance(writer, OfflineChatModel):
        raise SettingError("--model: the offline model cannot word scenarios: give openai:NAME, or a chat model")
    pages = shipped(PAGES, language)
    accepted: list[str] = []

    async def worded(name: str, request: WordingRequest) -> WordedScenario:
        call = Call(0, name, f"wording {pages[f'{SIDE}/request'].digest}")
        values = request.values(pages, personas=personas)
        parse = _parser(request.checks, language, accepted, personas=personas)
        answer = await ask(writer, f"{SIDE}/request", values, parse, ATTEMPTS, pages=pages, call=call)
        error = "" if answer.value is not None else f"the model gave no wording: {answer.failure}"
        return WordedScenario(
            id=name,
            **(answer.value or {}),
            attempts=answer.attempts,
            usage=answer.usage.model_dump(),
            error=error,
            unreadable=answer.unreadable,
        )

    def texts(request: WordingRequest) -> tuple[str, str]:
        values = request.values(pages, personas=personas)
        return pages[f"{SIDE}/system"].fill_from(values), pages[f"{SIDE}/request"].fill_from(values)

    requests = [WordingRequest(one, WordingChecks.of(one, language, tools)) for one in scenarios]
    shown = [page.digest for _, page in sorted(pages.pages.items())]
    named = [
        (digest("wording", model_provenance(writer), shown, personas, number, texts(request))[:32], request)
        for number, request in enumerate(requests)
    ]
    return Asking(writer, WordedScenario, named, worded, texts)


def _parser(checks: WordingChecks, language: Language, accepted: list[str], *, personas: bool) -> Parse[dict[str, Any]]:
    """A reply's wording, or the refusal with the fault that the checks find."""
    extra: dict[str, Any] = {"persona": (str, Field(min_length=1))} if personas else {}
    read = parse_json(create_model("Wording", __base__=_Wording, **extra))

    def parse(text: str) -> dict[str, Any] | Refusal:
        value = read(text)
        if isinstance(value, Refusal):
            return value
        wording: dict[str, Any] = value.model_dump()
        if fault := checks.fault(wording["goal"], wording["facts"], accepted):
            reason, quote = fault
            return Refusal(reason, REPAIRS[language][reason], quote)
        accepted.append(wording["goal"])
        return wording

    return parse
