"""Judges: chat models that are asked with a prompt template about a draft or about a conversation.

A `Judge` asks for any kind of answer. `judge` is a validator, whose answer is one reason of a list or none; the scorer
`judged` asks for a value, and `satisfaction_of` for that of a simulated user.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from langchain_core.language_models import BaseChatModel
from langgraph.runtime import Runtime
from pydantic import BeforeValidator, ConfigDict, create_model

from ..data.files.json import read_text
from ..data.records import NAME_PATTERN, Broken, Message, Role
from ..data.rules.notices import noticed
from ..errors import DataError, SettingError
from ..prompts import Library, Page, PromptError, shipped
from .calls.store import Call
from .contract import Node
from .limits import Limits
from .messages import MARKS, as_text, fenced
from .models.offline.model import OfflineChatModel
from .models.specs import chat_model, model_provenance
from .requests import Parse, RequestAnswer, ask, parse_json
from .scorers import Score, Scorer
from .state import Draft, State, Update, Verdict, attempt_number, id_of, merged, said, standing
from .validators import models_of

T = TypeVar("T")

REQUEST = "judge/request"
"""Name that the page of a request has."""
ATTEMPTS = 3
"""Most calls for an opinion, unless another number is asked for."""
NOT_JUDGED = "not_judged"
"""Note of a draft that stands because its judge gave no readable reply."""

_MARKS = ("conversation", "draft", "user", "assistant", "tool_calls", "tool_call", "ended")
_UNTOLD = ("kind", "success", "digest")
"""Keys that `{{ scenario }}` leaves out: a judge gets the material to judge, not the rule of a program."""
_PUBLIC = frozenset({"conversation", "draft", "speaker", "tool_calls"})
"""Gaps whose values the writer of the draft knows."""
_NOTHING = ("none", "null", "")


def given_page(page: Page | Path | str) -> Page:
    """A page of one's own, from a page, its text, or its file: a `Path`, or a name that ends in `.md`, else PromptError."""
    if isinstance(page, Path) or (isinstance(page, str) and page.endswith(".md") and "\n" not in page):
        try:
            page = read_text(page)
        except DataError as error:
            raise PromptError(f"the template {page} cannot be read ({error})") from None
    own_page = page if isinstance(page, Page) else Page(REQUEST, page)
    if not own_page.source.strip():
        raise PromptError(f"prompt {own_page.name}: is empty: write what is to be judged")
    own_page.check()
    return own_page


@lru_cache(maxsize=8)
def pages_in(language: str) -> Library:
    """The shipped pages for judges."""
    return shipped("judge", language)


def judging_model(model: str | BaseChatModel, what: str) -> BaseChatModel:
    """The chat model of an identifier, or the given one; SettingError for the offline model, which cannot judge."""
    judge_model = chat_model(model)
    if isinstance(judge_model, OfflineChatModel):
        raise SettingError(f"{what}: the offline model cannot judge: give openai:NAME, or a chat model")
    return judge_model


@dataclass(frozen=True, kw_only=True)
class Judge:
    """A chat model that is asked about a draft, or about a conversation, until its reply can be parsed."""

    model: BaseChatModel
    page: Page
    """The page as it was given. One without a variable for what is judged is followed by it, with shipped words."""
    form: str
    """The lines of the system prompt on the form of the reply."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Values of the template's variables beside those of the conversation."""
    language: str = "en"
    """Of the other templates."""

    async def ask(
        self,
        state: State,
        parse: Parse[T],
        call: Call,
        attempts: int = ATTEMPTS,
        *,
        draft: Draft | None = None,
        earlier: Sequence[Draft] = (),
    ) -> RequestAnswer[T]:
        """The answer about the conversation, or about a draft for it; PromptError for a variable without a value.

        `call` identifies the request in the run, `attempts`: most calls. `earlier`: drafts of the same reply before this
        one.
        """
        values = self._values(state, draft, earlier)
        pages = Library(
            {**pages_in(self.language).pages, REQUEST: self.page_about("draft" if draft else "conversation")}
        )
        return await ask(self.model, REQUEST, values, parse, attempts, pages=pages, call=call)

    def texts(self, state: State) -> tuple[str, str]:
        """The texts of the first call, system prompt and request, so that they can be counted before they are paid for."""
        page, values = self.page_about("conversation"), self._values(state, None)
        return pages_in(self.language)["judge/system"].fill_from(values), page.fill_from(values)

    def page_about(self, what: Literal["draft", "conversation"]) -> Page:
        """The template of a request about this."""
        if what in self.page.gaps:
            return self.page
        added = pages_in(self.language)[f"judge/about_{what}"].source
        return Page(self.page.name, f"{self.page.source.strip()}\n\n{added}")

    def _values(self, state: State, draft: Draft | None, earlier: Sequence[Draft] = ()) -> dict[str, str]:
        """The values of the template's variables, of which none can end or imitate a mark.

        Of the tool calls before a draft only those of its own role are shown: the judge's words may reach its writer.
        """
        page = self.page_about("draft" if draft else "conversation")
        marks = (*MARKS, *(f"{end}{name}" for name in _MARKS for end in ("", "/")), *page.marks)
        values = {str(key): fenced(as_text(value), *marks) for key, value in state["scenario"].items()}
        values["scenario"] = "\n".join(f"{key}: {value}" for key, value in values.items() if key not in _UNTOLD)
        values |= {key: fenced(text, *marks) for key, text in self.also.items()}
        role: Role = state.get("speaking") or "user"
        marked = [*_marked_texts(state, None if draft is None else role), *((role, one["text"]) for one in earlier)]
        if draft is None and (stop := state.get("stop")):
            marked.append(("ended", stop))
        lines = (f"<{mark}>{fenced(text, *marks)}</{mark}>" for mark, text in marked)
        values["conversation"] = "\n".join(("<conversation>", *lines, "</conversation>"))
        if draft is not None:
            calls = as_text(draft.get("tool_calls", []))
            values["draft"] = f"<draft>\n{fenced(draft['text'], *marks)}\n</draft>"
            values["tool_calls"] = f"<tool_calls>\n{fenced(calls, *marks)}\n</tool_calls>"
            values["speaker"] = pages_in(self.language)[f"judge/speaker_{role}"].fill()
        return {**values, "form": self.form}

    @property
    def own_pages(self) -> dict[str, Page]:
        """The pages that it is asked with, by name: the shipped ones, and `judge/DIGEST` for one's own."""
        ours = pages_in(self.language).pages
        return dict(ours) if self.page in ours.values() else {**ours, f"judge/{self.page.digest}": self.page}

    def provenance(self) -> dict[str, Any]:
        return {"model": model_provenance(self.model), "page": self.page.digest, "language": self.language}


def _marked_texts(state: State, side: Role | None) -> Iterator[tuple[str, str]]:
    """Mark and text of each message, after the tool calls of its accepted draft if it is of the side, or of both."""
    for message in said(state):
        for call in standing(message).get("tool_calls", []) if side in (None, message["role"]) else ():
            details = {key: call[key] for key in ("arguments", "result", "error") if call.get(key) is not None}
            yield "tool_call", f"{call['name']} {as_text(details)}"
        yield message["role"], message["text"]


@dataclass(frozen=True, kw_only=True)
class ModelJudge(Judge):
    """A validator that asks a chat model about each draft, until one of the reply is rejected."""

    reasons: Mapping[str, str]
    """Each reason with what it means, or an empty text."""
    attempts: int = ATTEMPTS
    """Most calls about one draft."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        verdicts: list[Verdict] = []
        drafts = state.get("drafts") or []
        for number, draft in enumerate(drafts):
            settled = any(not verdict["accepted"] or verdict.get("failed") for verdict in verdicts)
            verdict: Verdict = {"accepted": True}
            verdicts.append(verdict if settled else await self._judged(draft, drafts[:number], state, runtime.context))
        return {"verdicts": verdicts}

    async def _judged(self, draft: Draft, earlier: Sequence[Draft], state: State, limits: Limits) -> Verdict:
        page = self.page_about("draft").digest
        role = f"{state.get('speaking')} judge {page} {attempt_number(state)} {len(earlier)}"
        call = Call(limits.seed, id_of(state), role, state.get("turn", 0))
        answer = await self.ask(state, parse_json(self._opinion()), call, self.attempts, draft=draft, earlier=earlier)
        verdict: Verdict = {"accepted": True}
        if answer.usage.calls:
            verdict["judging"] = answer.usage.model_dump()
        if (opinion := answer.value) is None:
            return {**verdict, "failed": answer.error} if answer.error else {**verdict, "notes": [NOT_JUDGED]}
        if explanation := opinion.explanation.strip():
            verdict["explanation"] = explanation
        if opinion.reason is None:
            return verdict
        # A judge that sees more than the writer could give it away: then the writer gets only the reason.
        repair = self.reasons[opinion.reason] or (explanation if self.page.gaps <= _PUBLIC else "")
        return {**verdict, "accepted": False, "reason": opinion.reason, "repair": repair or None}

    def _opinion(self) -> Any:
        none = BeforeValidator(lambda reason: None if str(reason).strip().lower() in _NOTHING else reason)
        reason: Any = Annotated[Literal[tuple(self.reasons)] | None, none]
        return create_model(
            "Opinion", __config__=ConfigDict(extra="forbid"), reason=(reason, ...), explanation=(str, "")
        )

    def provenance(self) -> dict[str, Any]:
        return super().provenance() | {"reasons": dict(self.reasons), "attempts": self.attempts}


def judge(
    model: str | BaseChatModel,
    page: Page | Path | str,
    reasons: Iterable[str] | Mapping[str, str],
    *,
    attempts: int = ATTEMPTS,
    language: str = "en",
) -> Node:
    """A validator that asks a model: `judge("openai:NAME", "Reject what is rude.", ["rude"])`.

    A model that fails ends the conversation as `model_failed`. SettingError, PromptError or ModelError for what cannot
    be used.

    Args:
        model: A model identifier or a chat model.
        page: The rule as a text, a file or a template. Its variables are `{{ draft }}`, `{{ conversation }}`, `{{
            speaker }}`, `{{ tool_calls }}`, `{{ scenario }}` and the scenario's values. Without `{{ draft }}`,
            conversation and draft follow it.
        reasons: Names of reasons to reject, or a meaning for each. Judge and writer of the draft get the meanings.
        attempts: Most calls until the reply can be parsed; then the draft stands with the note `not_judged`.
        language: Language of the other templates.
    """
    meanings = dict(reasons) if isinstance(reasons, Mapping) else dict.fromkeys(reasons, "")
    if isinstance(reasons, str) or not meanings:
        raise SettingError("judge: give the reasons for which it may reject, a list of names: ['rude', 'off_topic']")
    for name, meaning in meanings.items():
        is_name = isinstance(name, str) and NAME_PATTERN.fullmatch(name) and name not in _NOTHING
        if not is_name or not isinstance(meaning, str):
            raise SettingError(
                f"judge: a reason is a name of a-z, 0-9 and _, such as off_topic, with a text, not {name!r}: {meaning!r}"
            )
    if attempts < 1:
        raise SettingError(f"judge: attempts must be at least 1, not {attempts}")
    lines = "\n".join(f"- {name}: {meaning}" if meaning else f"- {name}" for name, meaning in meanings.items())
    form = pages_in(language)["judge/verdict"].fill(reasons=lines)
    return ModelJudge(
        model=judging_model(model, "judge"), page=given_page(page), form=form, language=language,
        reasons=meanings, attempts=attempts,
    )  # fmt: skip


# Scores of the finished conversation


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


def by_model(model: str | BaseChatModel, *, language: str = "en") -> Scorer:
    """The scorer that asks a chat model, as the user of the conversation, for its satisfaction: 1 to 5.

    SettingError for the offline model, which can only play a role.
    """
    page = pages_in(language)["judge/satisfaction"]
    return AsUser(**vars(judged(model, page=page, labels=POINTS, language=language)))


def satisfaction_of(user: Any, language: str = "en") -> tuple[str, Scorer]:
    """The kind of a user node's satisfaction, `model` or `rule`, and its scorer."""
    model = next(models_of(user), None)
    if model is None or isinstance(model, OfflineChatModel):
        return "rule", by_rule
    return "model", by_model(model, language=language)
