"""Scorers of a simulated user's satisfaction with the finished conversation, 1 to 5.

A chat model that plays the user is asked as that user, with a prompt template. Any other user has a rule: the faults
that a user would notice (`data.rules.user_notices`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from ...data.records import Message
from ...data.rules.user_notices import noticed
from ...prompts import Page
from ..judges import pages_in
from ..models.offline.model import OfflineChatModel
from ..requests import RequestAnswer
from ..state import State, merged, said
from ..validators import models_of
from .judged import JudgedScore, judged
from .scores import Score, Scorer

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
