"""The scorer that asks a judge about the finished conversation, for true or false or one of some labels."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from pydantic import ConfigDict, create_model

from ...errors import SettingError
from ...prompts import Page
from ..calls.store import Call
from ..judges import Judge, ask_judge, given_page, judging_model, pages_in
from ..models.specs import model_provenance
from ..requests import Parse, RequestAnswer, parse_json
from ..state import State, id_of
from .scores import Score

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
        page, values = self.request(state)
        value: Any = Literal[self.labels] if self.labels else bool
        shape = create_model("Judgement", __config__=ConfigDict(extra="forbid"), reason=(str, ...), value=(value, ...))
        seed = state.get("origin", {}).get("limits", {}).get("seed", 0)
        call = Call(seed, id_of(state), f"scorer {page.digest} {self.criterion}", state.get("turn", 0))
        parse: Parse[Any] = parse_json(shape)
        return await ask_judge(self.model, page, values, parse, self.form, call=call, language=self.language)

    def score(self, answer: RequestAnswer[Any]) -> Score:
        """The score of a judgement."""
        usage = answer.usage.model_dump()
        if answer.value is None:
            return Score(None, error=f"the judge gave no judgement: {answer.failure}", usage=usage)
        value, reason = answer.value.value, " ".join(answer.value.reason.split())
        if self.passing:
            return Score(value in self.passing, f"{value}: {reason}", usage)
        return Score(value, reason, usage)

    @property
    def also(self) -> Mapping[str, str]:
        answers = ", ".join(json.dumps(word, ensure_ascii=False) for word in self.labels or (True, False))
        return {"criterion": self.criterion, "answers": answers}

    @property
    def form(self) -> str:
        return pages_in(self.language)["judge/score"].fill(answers=self.also["answers"])

    def provenance(self) -> dict[str, Any]:
        asked = {"model": model_provenance(self.model), "criterion": self.criterion, "page": self.page.digest}
        own = {name: list(value) for name in ("labels", "passing") if (value := getattr(self, name))}
        return {**asked, **own, "language": self.language}


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
    `usage`, and count as the conversation's.

    Args:
        model: A model identifier or a chat model.
        criterion: The question for the judge, in a sentence: "The assistant names the fee before it cancels."
        page: A prompt template of your own, as a text, a file or an object. Its variables are `{{ conversation }}`, `{{
            criterion }}`, `{{ scenario }}`, `{{ answers }}` and the scenario's values. Without `{{ conversation }}`,
            the conversation follows it. The judge is instructed to answer `{"reason": ..., "value": ...}`.
        labels: The possible values; default: true or false.
        passing: The labels that are a success; the score is then true or false.
        language: Language of the shipped template.

    Raises:
        SettingError: The model cannot judge, a criterion is missing or has no variable, or `passing` has a value that
            `labels` lacks.
    """
    if not criterion.strip() and page is None:
        raise SettingError("judged: give a criterion, or a template of your own")
    if odd := [label for label in passing if label not in labels]:
        raise SettingError(f"judged: {odd[0]!r} is passing, but none of the labels ({', '.join(labels)})")
    own_page = given_page(pages_in(language)[_CRITERION] if page is None else page)
    if criterion.strip() and "criterion" not in own_page.gaps:
        raise SettingError("judged: the template has no variable {{ criterion }}: add it, or leave the criterion out")
    return JudgedScore(
        model=judging_model(model, "judged"), page=own_page, language=language,
        criterion=criterion, labels=tuple(labels), passing=tuple(passing),
    )  # fmt: skip
