"""A scorer that asks a chat model about the finished conversation, with a page."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, ConfigDict, create_model

from ..errors import SettingError
from ..prompts import Library, Page, PromptError, shipped
from .messages import fenced
from .models.specs import chat_model, model_provenance
from .requests import Call, ask, parse_json
from .scores import Score
from .state import State

REQUEST = "judge/request"
GAPS = frozenset({"criterion", "scenario", "conversation", "answers"})
"""Gaps that a page of your own may have."""
MARKS = ("criterion", "/criterion", "scenario", "/scenario", "conversation", "/conversation")
ATTEMPTS = 3
"""Most calls for a judgement."""
UNTOLD = ("kind", "success", "digest")
"""Keys of a scenario that a judge is not shown: it is told its criterion, not how a program would decide."""


@dataclass(frozen=True)
class Judged:
    """What a chat model says of the conversation. See `judged`."""

    model: BaseChatModel
    criterion: str
    pages: Library
    labels: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()

    async def __call__(self, state: State) -> Score:
        words = self.labels or ("true", "false")
        values = {
            "criterion": fenced(self.criterion, *MARKS),
            "scenario": fenced(_scenario(state["scenario"]), *MARKS),
            "conversation": fenced(transcript(state), *MARKS),
            "answers": ", ".join(json.dumps(word, ensure_ascii=False) if self.labels else word for word in words),
        }
        seed = state.get("provenance", {}).get("limits", {}).get("seed", 0)
        call = Call(seed, str(state.get("id", "")), "judge", state.get("turn", 0))
        parse = parse_json(_answer(self.labels))
        answer = await ask(self.model, REQUEST, values, parse, ATTEMPTS, pages=self.pages, call=call)
        usage = answer.usage.model_dump()
        if answer.value is None:
            raise SettingError(f"the judge gave no judgement: {answer.error or answer.attempts[-1].reason}")
        found, reason = answer.value.value, " ".join(answer.value.reason.split())  # type: ignore[attr-defined]
        if self.passing:
            return Score(found in self.passing, f"{found}: {reason}", usage)
        return Score(found, reason, usage)

    def provenance(self) -> dict[str, Any]:
        described = {"model": model_provenance(self.model), "criterion": self.criterion, "pages": self.pages.digests}
        return described | {name: list(value) for name in ("labels", "passing") if (value := getattr(self, name))}


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
    your own in place of the shipped one, as a file or its text, with the gaps `{{ conversation }}` and, if it likes,
    `{{ criterion }}`, `{{ scenario }}` and `{{ answers }}`; it asks for JSON, `{"reason": ..., "value": ...}`.
    `passing`: the labels that are a success; the score is then true or false. The model is asked again up to three
    times for an answer that cannot be read; then the score has failed. Its tokens stand in the score's `usage`.
    """
    if not criterion.strip() and page is None:
        raise SettingError("judged: give a criterion, or a page of your own")
    if odd := [label for label in passing if label not in labels]:
        raise SettingError(
            f"judged: {odd[0]!r} is passing, but none of the labels {', '.join(labels) or '(there are none)'}"
        )
    pages = shipped("judging", language)
    if page is not None:
        pages = Library({**pages.pages, REQUEST: _page(page)})
    return Judged(chat_model(model), criterion, pages, tuple(labels), tuple(passing))


def _page(page: str | Path | Page) -> Page:
    if isinstance(page, Path) or (isinstance(page, str) and page.endswith(".md") and "\n" not in page):
        try:
            page = Path(page).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise PromptError(f"judged: the page {page} cannot be read ({error})") from None
    made = page if isinstance(page, Page) else Page(REQUEST, page)
    if "conversation" not in made.gaps or made.gaps - GAPS:
        raise PromptError(
            f"judged: the page must have the gap {{{{ conversation }}}} and may have {', '.join(sorted(GAPS))}; "
            f"it has {', '.join(sorted(made.gaps)) or 'none'}"
        )
    return Page(REQUEST, made.source)


def _answer(labels: tuple[str, ...]) -> type[BaseModel]:
    """The shape of the judge's answer."""
    value: Any = Literal[labels] if labels else bool
    return create_model("Judgement", __config__=ConfigDict(extra="forbid"), reason=(str, ...), value=(value, ...))


def _scenario(scenario: Mapping[str, Any]) -> str:
    told = {key: value for key, value in scenario.items() if key not in UNTOLD}
    return "\n".join(
        f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for key, value in told.items()
    )


def transcript(state: State) -> str:
    """The conversation as text, a line for each message and before it one for each tool call of its accepted draft."""
    lines = []
    for message in state.get("messages", []):
        attempts = [each for each in message.get("attempts", [])[-1:] if each.get("verdict") != "rejected"]
        for call in (call for attempt in attempts for call in attempt.get("tool_calls", [])):
            told = {key: call[key] for key in ("arguments", "result", "error") if call.get(key) is not None}
            lines.append(f"[{message['role']} calls {call['name']}] {json.dumps(told, ensure_ascii=False)}")
        lines.append(f"{message['role']}: {message['text']}")
    return "\n".join([*lines, f"[the conversation ended: {state.get('stop') or 'not told'}]"])
