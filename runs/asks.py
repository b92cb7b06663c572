"""What models are asked about many things: rankings of options, satisfaction with replies, wordings."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, create_model

from ..data import domains
from ..data.records import Conversation, Role
from ..data.text.languages import Language, language_of
from ..errors import DataError, SettingError
from ..nodes.calls.store import Call
from ..nodes.judges import POINTS, Judge, judged, judging_model, pages_in
from ..nodes.messages import MARKS, fenced
from ..nodes.models.offline.model import OfflineChatModel
from ..nodes.models.specs import chat_model
from ..nodes.prompt_selectors import Refusal
from ..nodes.requests import Parse, ask, parse_json
from ..nodes.state import State, state_from
from ..prompts import Page, shipped
from .ask import Asking, ModelAnswer

FEWEST, MOST = 3, 5
"""Options of each aspect in a ranking, as published ("When Synthetic Meets Real")."""
_HIDDEN = ("kind", "success")
"""Keys of a scenario that no judge is shown."""

# Rankings


@dataclass(frozen=True)
class RankedConversation:
    """A conversation to rank options for: its messages, without anything else that its source has about the user."""

    id: str
    language: str
    """Of the pages."""
    messages: tuple[tuple[Role, str], ...]

    def state(self) -> State:
        """The conversation as a judge sees it."""
        messages: list[Any] = [{"role": role, "text": text} for role, text in self.messages]
        return state_from({}, messages, self.id)


@dataclass(frozen=True, kw_only=True)
class RankedOptions(ModelAnswer):
    """A model's ranking for one conversation."""

    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each aspect three to five options, the likeliest first; empty without a readable reply."""


def ranking(
    model: Any, talks: Sequence[RankedConversation], options: Mapping[str, Sequence[str]]
) -> Asking[RankedConversation, RankedOptions]:
    """The questions to a model which options of each aspect fit the user of a conversation best, the likeliest first.

    `model`: a spec or a LangChain chat model. It is shown the messages between marks, and the numbered options; a reply
    that cannot be read is asked for up to twice more. SettingError for the offline model, which can only speak.
    """
    chat = judging_model(model, "ranking")
    numbered = "\n".join(
        f"{aspect}: " + ", ".join(f"{number} {option}" for number, option in enumerate(of, start=1))
        for aspect, of in options.items()
    )
    form = json.dumps({aspect: [1, 2, 3] for aspect in options})

    def judge(language: str) -> Judge:
        pages = pages_in(language)
        filled = pages["judge/ranking_form"].fill(form=form)
        return Judge(
            model=chat, page=pages["judge/ranking"], form=filled, also={"options": numbered}, language=language
        )

    judges = {language: judge(language) for language in {talk.language for talk in talks}}
    parse = _ranking_parser(options)

    async def ranked(talk: RankedConversation) -> RankedOptions:
        answer = await judges[talk.language].ask(talk.state(), parse, Call(0, talk.id, "ranking"))
        error = "" if answer.value is not None else f"the model gave no ranking: {answer.failure}"
        return RankedOptions(options=answer.value or {}, usage=answer.usage.model_dump(), error=error)

    return Asking(chat, RankedOptions, talks, ranked, lambda talk: judges[talk.language].texts(talk.state()))


def _ranking_parser(options: Mapping[str, Sequence[str]]) -> Parse[dict[str, tuple[str, ...]]]:
    """A reply's options by their numbers; refused where a list has too few, too many, or a number twice."""
    fields: dict[str, Any] = {
        aspect: (list[Annotated[int, Field(ge=1, le=len(of))]], Field(min_length=FEWEST, max_length=MOST))
        for aspect, of in options.items()
    }
    shape: type[BaseModel] = create_model("Ranking", __config__=ConfigDict(extra="forbid"), **fields)
    read = parse_json(shape)

    def parse(text: str) -> dict[str, tuple[str, ...]] | Refusal:
        value = read(text)
        if isinstance(value, Refusal):
            return value
        numbers: dict[str, list[int]] = value.model_dump()
        for aspect, own in numbers.items():
            if len(set(own)) < len(own):
                return Refusal("wrong_shape", f"{aspect}: a number stands there twice.")
        return {aspect: tuple(options[aspect][number - 1] for number in own) for aspect, own in numbers.items()}

    return parse


# Satisfaction with replies


@dataclass(frozen=True)
class JudgedReply:
    """A reply to judge: the conversation up to it is shown, and nothing that comes after."""

    conversation: Conversation
    turn: int
    """Which of the assistant's messages, from 1."""

    def state(self) -> State:
        """The conversation up to the reply, without labels; DataError if there is no such reply."""
        messages: list[Any] = []
        left = self.turn
        for message in self.conversation.messages:
            if not message.stored:
                continue
            messages.append({"role": message.role, "text": message.text})
            left -= message.role == "assistant"
            if not left:
                scenario = {key: value for key, value in self.conversation.scenario.items() if key not in _HIDDEN}
                return {**state_from(scenario, messages, self.conversation.id), "turn": self.turn}
        raise DataError(f"conversation {self.conversation.id} has no reply {self.turn}")

    @property
    def language(self) -> str:
        """The language of the prompt templates."""
        return domains.of(self.conversation).language(self.conversation) or "en"


@dataclass(frozen=True, kw_only=True)
class SatisfactionReply(ModelAnswer):
    """A judge's rating of one reply."""

    points: int | None = None
    """1 to 5; None without a readable reply."""
    reason: str = ""


def judging(
    model: Any, replies: Iterable[JudgedReply], page: str | Path | Page | None = None
) -> Asking[JudgedReply, SatisfactionReply]:
    """The questions to a model how satisfied the user is with each reply, 1 to 5 points.

    `model`: a spec or a LangChain chat model, as for `nodes.judged`. It is shown the scenario and the conversation up
    to the reply. `page`: one's own in place of the shipped `judge/reply_satisfaction`; PromptError from the answers for a
    gap that the scenario does not fill. SettingError for the offline model, which cannot judge.
    """
    replies = list(replies)
    chat = judging_model(model, "judged")
    judges = {
        language: judged(
            chat, page=page or pages_in(language)["judge/reply_satisfaction"], labels=POINTS, language=language
        )
        for language in {reply.language for reply in replies}
    }

    async def rated(reply: JudgedReply) -> SatisfactionReply:
        score = await judges[reply.language](reply.state())
        points = int(score.value) if isinstance(score.value, str) and score.value in POINTS else None
        return SatisfactionReply(points=points, reason=score.reason, usage=dict(score.usage or {}), error=score.error)

    return Asking(chat, SatisfactionReply, replies, rated, lambda reply: judges[reply.language].texts(reply.state()))


# Wordings of scenarios

WORDING_ATTEMPTS = 3
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


@dataclass(frozen=True, kw_only=True)
class WordedScenario(ModelAnswer):
    """A model's wording of a scenario; empty without one that keeps every value."""

    goal: str = ""
    facts: tuple[str, ...] = ()


class _Wording(BaseModel):
    model_config = ConfigDict(extra="forbid")

    goal: str = Field(min_length=1)
    facts: list[str]


@dataclass(frozen=True)
class _WordingRequest:
    """A scenario to word, and what its wording has to keep."""

    goal: str
    facts: tuple[str, ...]
    tools: tuple[str, ...]
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

    def parse(self, text: str) -> _Wording | Refusal:
        """The wording of a reply, or the refusal with its fault."""
        value = parse_json(_Wording)(text)
        if not isinstance(value, Refusal) and (fault := self.fault(value.goal, value.facts)):
            return Refusal(fault[0], REPAIRS[self.language][fault[0]], fault[1])
        return value


def wordings(
    model: Any, scenarios: Sequence[Mapping[str, Any]], language: Language, tools: Sequence[str] = ()
) -> Asking[Any, WordedScenario]:
    """The questions to a model for goal and facts of each designed scenario in the words of people.

    `tools`: names that no wording may have. A rejected reply is sent back with its fault, three calls in all.
    SettingError for the offline model; ModelError for a model that cannot be made.
    """
    writer = chat_model(model)
    if isinstance(writer, OfflineChatModel):
        raise SettingError("--model: the offline model cannot word scenarios: give openai:NAME, or a chat model")
    pages = shipped("scenario_wording", language)

    async def worded(request: _WordingRequest) -> WordedScenario:
        call = Call(0, "\n".join([request.goal, *request.facts])[:200], "wording")
        parse: Parse[_Wording] = request.parse
        answer = await ask(writer, "writer/request", request.values, parse, WORDING_ATTEMPTS, pages=pages, call=call)
        usage = answer.usage.model_dump()
        if answer.value is None:
            return WordedScenario(usage=usage, error=f"the model gave no wording: {answer.failure}")
        return WordedScenario(goal=answer.value.goal, facts=tuple(answer.value.facts), usage=usage)

    requests = [
        _WordingRequest(str(one.get("goal", "")), tuple(map(str, one.get("facts", ()))), tuple(tools), language)
        for one in scenarios
    ]

    def texts(request: _WordingRequest) -> tuple[str, ...]:
        return tuple(pages[f"writer/{name}"].fill_from(request.values) for name in ("system", "request"))

    return Asking(writer, WordedScenario, requests, worded, texts)
