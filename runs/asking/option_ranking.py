"""Asking a chat model which options of closed vocabularies fit the user of a conversation, the likeliest first."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, create_model

from ...data.identity import digest
from ...data.records import Role
from ...nodes.calls.store import Call
from ...nodes.judges import Judge, judging_model, pages_in
from ...nodes.messages import Refusal
from ...nodes.models.specs import model_provenance
from ...nodes.requests import Parse, parse_json
from ...nodes.state import State, state_from
from .questions import Asking, ModelAnswer

RANKING, FORM = "judge/ranking", "judge/ranking_form"
"""The shipped pages."""
FEWEST, MOST = 3, 5
"""Options of each aspect, as published ("When Synthetic Meets Real")."""


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


class RankedOptions(ModelAnswer):
    """A model's ranking for one conversation."""

    called: ClassVar[str] = "a ranking of a model"

    options: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """For each aspect three to five options, the likeliest first; empty without a readable reply."""


def ranking(
    model: Any, talks: Sequence[RankedConversation], options: Mapping[str, Sequence[str]]
) -> Asking[RankedConversation, RankedOptions]:
    """The requests to a model for a ranking for each conversation.

    It ranks 3 to 5 options of each aspect, those that fit the user best.

    `model`: a spec or a LangChain chat model. It is shown the messages between marks, and the numbered options of each
    aspect. There is one call for each conversation, and up to two more for a reply that cannot be read.

    SettingError for the offline model, which can only speak; ModelError for a model that cannot be made.
    """
    chat_model = judging_model(model, "ranking")
    judges = {language: _judge(chat_model, language, options) for language in {talk.language for talk in talks}}
    parse = _parser(options)

    async def ranked(name: str, talk: RankedConversation) -> RankedOptions:
        judge = judges[talk.language]
        call = Call(0, talk.id, f"ranking {judge.page_about('conversation').digest}")
        answer = await judge.ask(talk.state(), parse, call)
        usage = answer.usage.model_dump()
        if answer.value is None:
            return RankedOptions(
                id=name, usage=usage, error=f"the model gave no ranking: {answer.failure}", unreadable=answer.unreadable
            )
        return RankedOptions(id=name, options=answer.value, usage=usage)

    named = [(_name(chat_model, talk, options), talk) for talk in talks]
    return Asking(chat_model, RankedOptions, named, ranked, lambda talk: judges[talk.language].texts(talk.state()))


def _judge(model: Any, language: str, options: Mapping[str, Sequence[str]]) -> Judge:
    """Who is asked with the shipped pages: the numbered options, and the form of the answer."""
    pages = pages_in(language)
    numbered_options = "\n".join(
        f"{aspect}: " + ", ".join(f"{number} {option}" for number, option in enumerate(of, start=1))
        for aspect, of in options.items()
    )
    form = pages[FORM].fill(form=json.dumps({aspect: [1, 2, 3] for aspect in options}))
    return Judge(model=model, page=pages[RANKING], form=form, also={"options": numbered_options}, language=language)


def _parser(options: Mapping[str, Sequence[str]]) -> Parse[dict[str, tuple[str, ...]]]:
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


def _name(model: Any, talk: RankedConversation, options: Mapping[str, Sequence[str]]) -> str:
    pages = [pages_in(talk.language)[page].digest for page in (RANKING, FORM)]
    shown = {aspect: list(of) for aspect, of in options.items()}
    return digest("ranking", model_provenance(model), pages, shown, [list(message) for message in talk.messages])[:32]
