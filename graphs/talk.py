"""The cast of a plain talk, for trying out an agent: a person who wants something, and any assistant."""

from typing import Any

from pydantic import Field

from ..data.forms import Form
from ..nodes.goodbyes import Ending
from ..nodes.limits import Limits
from ..nodes.messages import PageMessages
from ..nodes.recllmsim import UserValidator
from .cast import Cast, side
from .casts import CastFactory
from .serving import served
from .settings import CastSettings, criterion, library

NAME = "talk"
TURNS = 4
"""Exchanges of a conversation that is given no limit."""


class Settings(CastSettings):
    """Settings of the talk: who plays the user, and which assistant is tried out."""


class TalkForm(Form):
    """The first messages to the assistant, and what the user wants. All of it may be left out."""

    goal: str = Field(
        default="",
        description="What the simulated user wants. Empty: what the messages ask for.",
        examples=["You want to change a booking to the third of May."],
    )

    def scenario(self) -> dict[str, Any]:
        """The goal's scenario."""
        return {"kind": NAME, "goal": self.goal}


def _build(settings: Settings) -> Cast:
    pages = library(NAME, settings.prompts)
    return Cast(
        name=NAME,
        user_simulator=side("user", settings.user, PageMessages("user", pages), "task_user"),
        question_validator=UserValidator(Ending()),
        assistant=side("assistant", settings.assistant, PageMessages("assistant", pages), "task_assistant"),
        **({"stop": criterion(settings.stop)} if settings.stop else {}),
        limits=(settings.limits or Limits()).or_else(Limits(max_turns=TURNS)),
        prompts=pages,
        offline={"user": "task_user", "assistant": "task_assistant"},
    )


FACTORY = CastFactory(
    name=f"{__name__}:FACTORY",  # not registered: another process finds it by its import path
    build=_build,
    settings=Settings,
    summary="A person who wants something talks to an assistant.",
)

graph = served(FACTORY, form=TalkForm)
"""The talk of two offline speakers: what `langgraph dev` serves as `talk`."""
