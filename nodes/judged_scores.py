"""Scorers that ask a judge about the finished conversation: the answer is true or false, or one of some labels."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, ConfigDict, create_model

from ..errors import SettingError
from ..prompts import Page
from .calls.kept import Call
from .judges import ask_judge, first_texts, given_page, judging_model, pages_in, request_page, values_about
from .models.specs import model_provenance
from .requests import parse_json
from .scores import Score
from .state import State

CRITERION = "judge/criterion"
"""The shipped page with a criterion."""


@dataclass(frozen=True)
class Judged:
    """What a chat model says of the conversation. See `judged`."""

    model: BaseChatModel
    criterion: str
    page: Page
    """The page as it was given, or the shipped one."""
    labels: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    language: str = "en"

    async def __call__(self, state: State) -> Score:
        page, values, form = self._request(state)
        seed = state.get("provenance", {}).get("limits", {}).get("seed", 0)
        answer = await ask_judge(
            self.model,
            page,
            values,
            parse_json(_answer(self.labels)),
            form,
            call=Call(seed, str(state.get("id", "")), f"scorer {page.digest} {self.criterion}", state.get("turn", 0)),
            language=self.language,
        )
        usage = answer.usage.model_dump()
        if answer.value is None:
            return Score(None, error=f"the judge gave no judgement: {answer.failure}", usage=usage)
        found, reason = answer.value.value, " ".join(answer.value.reason.split())  # type: ignore[attr-defined]
        if self.passing:
            return Score(found in self.passing, f"{found}: {reason}", usage)
        return Score(found, reason, usage)

    def texts(self, state: State) -> tuple[str, str]:
        """What is sent first about a conversation, so that it can be counted before it is paid for."""
        return first_texts(*self._request(state), self.language)

    def _request(self, state: State) -> tuple[Page, dict[str, str], str]:
        """The page, the values of its gaps, and how to answer."""
        page = request_page(self.page, "conversation", self.language)
        answers = ", ".join(json.dumps(word, ensure_ascii=False) for word in self.labels or (True, False))
        values = values_about(state, page, language=self.language, also={"criterion": self.criterion})
        form = pages_in(self.language)["judge/score"].fill(answers=answers)
        return page, {**values, "answers": answers}, form

    def provenance(self) -> dict[str, Any]:
        described = {"model": model_provenance(self.model), "criterion": self.criterion, "page": self.page.digest}
        described |= {name: list(value) for name in ("labels", "passing") if (value := getattr(self, name))}
        return described | {"language": self.language}


def judged(
    model: str | BaseChatModel,
    criterion: str = "",
    *,
    page: str | Path | Page | None = None,
    labels: Sequence[str] = (),
    passing: Sequence[str] = (),
    language: str = "en",
) -> Judged:
    """What a chat model says of the finished conversation: true or false, or one of `labels`, with its reason.

    `criterion`: what is to be judged, in a sentence: "The assistant names the fee before it cancels." `page`: a page of
    your own in place of the shipped one, as its text, a file or a page, with gaps `{{ conversation }}`, `{{ criterion }}`,
    `{{ scenario }}`, `{{ answers }}` and the scenario's values; without `{{ conversation }}`, that is shown after it. The
    judge is told to answer `{"reason": ..., "value": ...}`. `passing`: the labels that are a success; the score is then
    true or false. The model is asked up to three times for an answer that can be read; then the score has failed.
    Its tokens stand in the score's `usage`, and count as the conversation's.
    """
    if not criterion.strip() and page is None:
        raise SettingError("judged: give a criterion, or a page of your own")
    if odd := [label for label in passing if label not in labels]:
        raise SettingError(
            f"judged: {odd[0]!r} is passing, but none of the labels {', '.join(labels) or '(there are none)'}"
        )
    asked = given_page(pages_in(language)[CRITERION] if page is None else page)
    if criterion.strip() and "criterion" not in asked.gaps:
        raise SettingError("judged: the page has no gap {{ criterion }}: add it, or leave the criterion out")
    return Judged(judging_model(model, "judged"), criterion, asked, tuple(labels), tuple(passing), language)


def _answer(labels: tuple[str, ...]) -> type[BaseModel]:
    """The shape of the judge's answer."""
    value: Any = Literal[labels] if labels else bool
    return create_model("Judgement", __config__=ConfigDict(extra="forbid"), reason=(str, ...), value=(value, ...))
