"""Scorers of a simulated user's satisfaction with the finished conversation, 1 to 5.

A chat model that plays the user is asked as that user, with a prompt template. Any other user has a rule: the faults
that a user would notice (`data.rules.user_notices`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from ...data.records import Message
from ...data.rules.user_notices import noticed
from ...prompts import Page
from ..asking.judges import pages_in
from ..models.offline.model import OfflineChatModel
from ..state import State, said
from ..validators.composition import models_of
from .judges import JudgedScore, judged
from .scores import Score, Scorer

PAGE = "judge/satisfaction"
"""The shipped prompt template that asks a model for its satisfaction as the user."""
POINTS = ("1", "2", "3", "4", "5")
USER_DETAILS = "told"
"""Key of a state's `extra` for a stored conversation's facts about its user besides the scenario."""
RULE = "rule"
"""Name of the scorer for a user without a chat model."""


@dataclass(frozen=True)
class AsUser(JudgedScore):
    """A chat model that rates its satisfaction as the user of the conversation."""

    async def __call__(self, state: State) -> Score:
        details = state.get("extra", {}).get(USER_DETAILS)
        scenario = {**details, **state["scenario"]} if isinstance(details, Mapping) else state["scenario"]
        return await super().__call__({**state, "scenario": scenario})


def by_rule(state: State) -> Score:
    """The satisfaction from 1 to 5 by the faults that a user would notice, with its parts as the reason."""
    messages = [Message.model_validate(message) for message in said(state)]
    signs = noticed(messages, state.get("stop"))
    parts = ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in signs.model_dump().items())
    return Score(signs.satisfaction, parts)


def by_model(model: str | BaseChatModel, *, page: str | Path | Page | None = None, language: str = "en") -> Scorer:
    """The scorer that asks a chat model, as the user of the conversation, for its satisfaction: 1 to 5.

    `page`: a prompt template of your own in place of the shipped one, with the variables of `nodes.judged`.
    SettingError for the offline model, which can only play a role.
    """
    own = pages_in(language)[PAGE] if page is None else page
    scorer = judged(model, page=own, labels=POINTS, language=language)
    return AsUser(**{field.name: getattr(scorer, field.name) for field in fields(scorer)})


def satisfaction_of(user: Any, language: str = "en") -> tuple[str, Scorer]:
    """The kind of a user node's satisfaction, `model` or `rule`, and its scorer."""
    model = next(models_of(user), None)
    if model is None or isinstance(model, OfflineChatModel):
        return RULE, by_rule
    return "model", by_model(model, language=language)


Satisfaction = Callable[[State], Score]
"""A rule of one's own in place of these: from the state of a finished conversation to its satisfaction."""
