"""Validators that ask a judge about each draft: the answer is one reason of a list, or none."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict

from ...data.stop_reasons import NAME
from ...errors import SettingError
from ...prompts import Page
from ..asking.judges import (
    ATTEMPTS,
    ask_judge,
    first_texts,
    given_page,
    judging_model,
    pages_in,
    request_page,
    values_about,
)
from ..asking.requests import Parse, parse_json
from ..calls.store import Call
from ..contract import Node
from ..limits import Limits
from ..messages.selectors import Refusal
from ..models.specs import model_provenance
from ..state import Draft, State, Update, Verdict, attempt_number, id_of

NOT_JUDGED = "not_judged"
"""Note of a draft that stands because its judge gave no readable reply."""

_PUBLIC = frozenset({"conversation", "draft", "speaker", "tool_calls"})
"""Gaps whose values the writer of the draft knows."""
_NOTHING = ("none", "null", "")


class Opinion(BaseModel):
    """A judge's reply about a draft."""

    model_config = ConfigDict(extra="forbid")

    reason: str | None
    """Why it is to be rejected; None if nothing is wrong with it."""
    explanation: str = ""


def one_of(reasons: Iterable[str]) -> Parse[Opinion]:
    """A parser of opinions without a reason or with one of these; any other is refused as `unknown_reason`."""
    names = tuple(reasons)
    read = parse_json(Opinion)

    def parse(text: str) -> Opinion | Refusal:
        opinion = read(text)
        if isinstance(opinion, Refusal):
            return opinion
        if opinion.reason is None or opinion.reason.strip().lower() in _NOTHING:
            return opinion.model_copy(update={"reason": None})
        if opinion.reason not in names:
            return Refusal("unknown_reason", f"use null, or one of {', '.join(names)}.")
        return opinion

    return parse


@dataclass(frozen=True)
class ModelJudge:
    """A validator that asks a chat model about each draft, until one of the reply is rejected."""

    model: BaseChatModel
    page: Page
    """The page as it was given."""
    reasons: Mapping[str, str]
    """Each reason with what it means, or an empty text."""
    attempts: int = ATTEMPTS
    """Most calls about one draft."""
    language: str = "en"

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        verdicts: list[Verdict] = []
        drafts = state.get("drafts") or []
        for number, draft in enumerate(drafts):
            settled = any(not verdict["accepted"] or verdict.get("failed") for verdict in verdicts)
            verdicts.append(
                {"accepted": True} if settled else await self._judged(draft, drafts[:number], state, runtime.context)
            )
        return {"verdicts": verdicts}

    def texts(self, state: State, draft: Draft) -> tuple[str, str]:
        """The texts of the first call about a draft, so that they can be counted before they are paid for."""
        page = request_page(self.page, "draft", self.language)
        values = values_about(state, page, draft, (), self.language)
        return first_texts(page, values, self._form(), self.language)

    async def _judged(self, draft: Draft, earlier: Sequence[Draft], state: State, limits: Limits) -> Verdict:
        page = request_page(self.page, "draft", self.language)
        role = f"{state.get('speaking')} judge {page.digest} {attempt_number(state)} {len(earlier)}"
        answer = await ask_judge(
            self.model,
            page,
            values_about(state, page, draft, earlier, self.language),
            one_of(self.reasons),
            self._form(),
            call=Call(limits.seed, id_of(state), role, state.get("turn", 0)),
            attempts=self.attempts,
            language=self.language,
        )
        verdict: Verdict = {"accepted": True}
        if answer.usage.calls:
            verdict["judging"] = answer.usage.model_dump()
        if answer.error is not None:
            return {**verdict, "failed": answer.error}
        if answer.value is None:
            return {**verdict, "notes": [NOT_JUDGED]}
        if answer.value.explanation.strip():
            verdict["explanation"] = answer.value.explanation.strip()
        if answer.value.reason is None:
            return verdict
        return {
            **verdict,
            "accepted": False,
            "reason": answer.value.reason,
            "repair": self._repair(answer.value),
        }

    def _form(self) -> str:
        lines = (f"- {name}: {meaning}" if meaning else f"- {name}" for name, meaning in self.reasons.items())
        return pages_in(self.language)["judge/verdict"].fill(reasons="\n".join(lines))

    def _repair(self, opinion: Opinion) -> str | None:
        """The repair line for the writer of the draft: the meaning of the reason, else the judge's words.

        A judge that sees more than the writer could give it away: then the writer gets only the reason.
        """
        explanation = opinion.explanation.strip() if self.page.gaps <= _PUBLIC else ""
        return self.reasons[str(opinion.reason)] or explanation or None

    def provenance(self) -> dict[str, Any]:
        return {
            "model": model_provenance(self.model),
            "page": self.page.digest,
            "reasons": dict(self.reasons),
            "attempts": self.attempts,
            "language": self.language,
        }


def judge(
    model: str | BaseChatModel,
    page: Page | Path | str,
    reasons: Iterable[str] | Mapping[str, str],
    *,
    attempts: int = ATTEMPTS,
    language: str = "en",
) -> Node:
    """A validator that asks a model: `judge("openai:NAME", "Reject what is rude.", ["rude"])`.

    A model that fails ends the conversation as `model_failed`.

    Args:
        model: A model identifier or a chat model.
        page: The rule as a text, a file or a template. Its variables are `{{ draft }}`, `{{ conversation }}`, `{{
            speaker }}`, `{{ tool_calls }}`, `{{ scenario }}` and the scenario's values. Without `{{ draft }}`,
            conversation and draft follow it.
        reasons: Names of reasons to reject, or a meaning for each. Judge and writer of the draft get the meanings.
        attempts: Maximum number of calls until the reply can be parsed; then the draft stands with the note
            `not_judged`.
        language: Language of the other templates.

    Returns:
        The validator.

    Raises:
        SettingError: A reason, `attempts` or the model cannot be used.
        PromptError: The template cannot be used.
        ModelError: The model cannot be made.
    """
    meanings = dict(reasons) if isinstance(reasons, Mapping) else dict.fromkeys(reasons, "")
    if isinstance(reasons, str) or not meanings:
        raise SettingError("judge: give the reasons for which it may reject, a list of names: ['rude', 'off_topic']")
    for name, meaning in meanings.items():
        if not isinstance(name, str) or not NAME.fullmatch(name) or name in _NOTHING:
            raise SettingError(f"judge: a reason is a name of a-z, 0-9 and _, such as off_topic, not {name!r}")
        if not isinstance(meaning, str):
            raise SettingError(f"judge: expected a text for what {name} means, got {type(meaning).__name__}")
    if attempts < 1:
        raise SettingError(f"judge: attempts must be at least 1, not {attempts}")
    judge_model = judging_model(model, "judge")
    return ModelJudge(judge_model, given_page(page), meanings, attempts, language)
