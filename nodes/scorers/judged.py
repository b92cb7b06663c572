"""What is asked about the finished conversation: of a judge, of the user its satisfaction, 1 to 5, of both sides in words."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

from langchain_core.language_models import BaseChatModel
from langgraph.runtime import Runtime
from pydantic import ConfigDict, create_model

from ...data.identity import digest
from ...data.records import Attempt, Broken, Message, Role
from ...data.rules.notices import noticed
from ...errors import SettingError
from ...prompts import Library, Page
from ..calls.store import Call
from ..contract import Node
from ..judges import Judge, given_page, judging_model, pages_in
from ..limits import Limits
from ..messages import Refusal, filled
from ..models.offline.model import OfflineChatModel
from ..requests import RequestAnswer, Respondent, asked_of, parse_json
from ..state import Draft, Prompt, State, Update, id_of, merged, said, without_rejected
from ..validators import cut_off, models_of
from .scores import Score, Scorer, total

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


# Questions to the speakers, as RecLLMSim's post-conversation questions: each follows the complete conversation and not the
# other questions. Its tokens count for the conversation's closing, not as a message's


LABEL = "post_questions"
"""The conversation's label: by role a list of `{query, response}`, as the published generator writes it."""
_ORDER = ("human", "specific", "objectives", "profile", "plan", "solved", "open", "fit")
"""The order of the published questions, of the assistant and of the user; further ones follow by name."""
_ATTEMPTS = 2
"""Maximum calls for a question."""


@dataclass(frozen=True)
class PostQuestions:
    """Asks each role the questions of the prompt templates `<role>/post_<name>`.

    After an answer that is empty or cut off, the question is asked once more; then its response is null, with an `error`.
    """

    pages: Library
    speakers: Mapping[Role, Node]
    """The speakers to ask, without a role that replays stored messages."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if not state.get("messages"):
            return {}
        exchanges: dict[str, list[dict[str, Any]]] = {}
        usages = []
        for role, speaker in sorted(self.speakers.items()):
            for name in self.questions(role):
                prompt = filled(self.pages[name], {})
                reply = _speaker(role, speaker, name, state, runtime)
                answer = await asked_of(reply, prompt, _not_empty, lambda *_, again=prompt: again, _ATTEMPTS)
                exchange: dict[str, Any] = {"query": prompt["text"], "response": answer.value}
                if answer.value is None:
                    exchange["error"] = answer.error or answer.attempts[-1].reason
                exchanges.setdefault(role, []).append(exchange)
                usages += [tried.usage.model_dump() for tried in answer.attempts if tried.usage is not None]
        update: Update = {"labels": {LABEL: exchanges}}
        if usage := total(usages):
            update["usage"] = usage
        return update

    def asking(self, speakers: Mapping[Role, Node]) -> Self:
        """The same questions to other speakers."""
        return replace(self, speakers={**self.speakers, **speakers})

    def questions(self, role: Role) -> Sequence[str]:
        """Names of the prompt templates with a role's questions, in the published order."""
        begins = f"{role}/post_"
        words = sorted(name.removeprefix(begins) for name in self.pages.pages if name.startswith(begins))
        published = [word for word in _ORDER if word in words]
        return [f"{begins}{word}" for word in dict.fromkeys((*published, *words))]

    def provenance(self) -> dict[str, Any]:
        return {"asks": {role: list(self.questions(role)) for role in self.speakers}}


def _not_empty(text: str) -> str | Refusal:
    return text if text.strip() else Refusal("empty")


def _speaker(role: Role, speaker: Node, name: str, state: State, runtime: Runtime[Limits]) -> Respondent:
    """A speaker as a `Respondent`: it is called as for its next message, with a seed of its own."""
    origin = {**state.get("origin", {}), "id": digest(id_of(state), name)[:16]}
    changes: dict[str, Any] = {"drafts": [], "verdicts": [], "stop": None, "origin": origin}
    ended = merged(state, {**changes, "speaking": None})  # its prompt is not a part of a turn

    async def reply(prompt: Prompt, tried: Sequence[Attempt]) -> Draft:
        asked = without_rejected(ended, [attempt.plain() for attempt in tried], role)
        asked = merged(asked, {"prompt": prompt})  # what the speaker remembers of it is dropped
        drafts = (await speaker(asked, runtime)).get("drafts", [])
        joined: Draft = {"text": "\n".join(draft["text"] for draft in drafts)}
        for draft in drafts:
            if "usage" in draft:
                joined.setdefault("usage", draft["usage"])
            if cut_off(draft) is not None:
                joined["finish_reason"] = draft.get("finish_reason", "length")
        return joined

    return reply
