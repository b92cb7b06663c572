"""The scorer that asks a judge about the finished conversation, and those of the user's satisfaction, 1 to 5."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from pydantic import ConfigDict, create_model

from ...data.records import Broken, Message
from ...data.rules.notices import noticed
from ...errors import SettingError
from ...prompts import Page
from ..calls.store import Call
from ..judges import Judge, given_page, judging_model, pages_in
from ..models.offline.model import OfflineChatModel
from ..requests import RequestAnswer, parse_json
from ..state import State, id_of, merged, said
from ..validators import models_of
from .scores import Score, Scorer

_CRITERION = "judge/criterion"
"""The shipped prompt template with a criterion."""


@dataclass(frozen=True, kw_only=True)
class JudgedScore(Judge):
    """A chat model's judgement of the conversation: see `judged`."""

    criterion: str
    labels: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()

    async def __call__(self, state: State) -> Score:
        return self.score(await self.answer(state))

    async def answer(self, state: State) -> RequestAnswer[Any]:
        """The model's judgement, with every reply."""
        value: Any = Literal[self.labels] if self.labels else bool
        shape = create_model("Judgement", __config__=ConfigDict(extra="forbid"), reason=(str, ...), value=(value, ...))
        seed, page = state.get("origin", {}).get("limits", {}).get("seed", 0), self.page_about("conversation").digest
        call = Call(seed, id_of(state), f"scorer {page} {self.criterion}", state.get("turn", 0))
        return await self.ask(state, parse_json(shape), call)

    def score(self, answer: RequestAnswer[Any]) -> Score:
        """The score of a judgement."""
        usage = answer.usage.model_dump()
        if answer.value is None:
            return Score(None, error=f"the judge gave no judgement: {answer.failure}", usage=usage)
        value, reason = answer.value.value, " ".join(answer.value.reason.split())
        if self.passing:
            value, reason = value in self.passing, f"{value}: {reason}"
        return Score(value, reason, usage, found=(Broken(kind="judged"),))

    def provenance(self) -> dict[str, Any]:
        own = {name: list(value) for name in ("labels", "passing") if (value := getattr(self, name))}
        return super().provenance() | {"criterion": self.criterion, **own}


def judged(
    model: str | BaseChatModel,
    criterion: str = "",
    *,
    page: str | Path | Page | None = None,
    labels: Sequence[str] = (),
    passing: Sequence[str] = (),
    language: str = "en",
) -> JudgedScore:
    """A chat model's judgement of the finished conversation: true or false, or one of `labels`, with its reason.

    The model is asked up to three times for a readable answer; then the score has failed. Its tokens are in the score's
    `usage`, and count as the conversation's. SettingError for a model or a setting that cannot be used.

    Args:
        model: A model identifier or a chat model.
        criterion: The question for the judge, in a sentence: "The assistant names the fee before it cancels."
        page: A prompt template of your own, as a text, a file or an object. Its variables are `{{ conversation }}`, `{{
            criterion }}`, `{{ scenario }}`, `{{ answers }}` and the scenario's values. Without `{{ conversation }}`,
            the conversation follows it. The judge is instructed to answer `{"reason": ..., "value": ...}`.
        labels: The possible values; default: true or false.
        passing: The labels that are a success; the score is then true or false.
        language: Language of the shipped template.
    """
    if not criterion.strip() and page is None:
        raise SettingError("judged: give a criterion, or a template of your own")
    if odd := [label for label in passing if label not in labels]:
        raise SettingError(f"judged: {odd[0]!r} is passing, but none of the labels ({', '.join(labels)})")
    own_page = given_page(pages_in(language)[_CRITERION] if page is None else page)
    if criterion.strip() and "criterion" not in own_page.gaps:
        raise SettingError("judged: the template has no variable {{ criterion }}: add it, or leave the criterion out")
    answers = ", ".join(json.dumps(word, ensure_ascii=False) for word in labels or (True, False))
    form, also = pages_in(language)["judge/score"].fill(answers=answers), {"criterion": criterion, "answers": answers}
    return JudgedScore(
        model=judging_model(model, "judged"), page=own_page, form=form, also=also, language=language,
        criterion=criterion, labels=tuple(labels), passing=tuple(passing),
    )  # fmt: skip


# A simulated user's satisfaction: a model that plays the user is asked as that user, any other user has a rule


POINTS = ("1", "2", "3", "4", "5")
USER_DETAILS = "told"
"""Key of a state's `extra` for a stored conversation's facts about its user besides the scenario."""


@dataclass(frozen=True, kw_only=True)
class AsUser(JudgedScore):
    """A chat model that rates its satisfaction as the user of the conversation."""

    async def answer(self, state: State) -> RequestAnswer[Any]:
        details = state.get("extra", {}).get(USER_DETAILS)
        known = {**details, **state["scenario"]} if isinstance(details, Mapping) else state["scenario"]
        return await super().answer(merged(state, {"scenario": known}))


def by_rule(state: State) -> Score:
    """The satisfaction from 1 to 5 by the faults that a user would notice, with its parts as the reason."""
    signs = noticed([Message.model_validate(message) for message in said(state)], state.get("stop"))
    parts = ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in signs.model_dump().items())
    return Score(signs.satisfaction, parts)


def by_model(model: str | BaseChatModel, *, page: str | Path | Page | None = None, language: str = "en") -> Scorer:
    """The scorer that asks a chat model, as the user of the conversation, for its satisfaction: 1 to 5.

    `page`: a prompt template of your own in place of the shipped one, with the variables of `nodes.judged`.
    SettingError for the offline model, which can only play a role.
    """
    own = pages_in(language)["judge/satisfaction"] if page is None else page
    return AsUser(**vars(judged(model, page=own, labels=POINTS, language=language)))


def satisfaction_of(user: Any, language: str = "en") -> tuple[str, Scorer]:
    """The kind of a user node's satisfaction, `model` or `rule`, and its scorer."""
    model = next(models_of(user), None)
    if model is None or isinstance(model, OfflineChatModel):
        return "rule", by_rule
    return "model", by_model(model, language=language)
