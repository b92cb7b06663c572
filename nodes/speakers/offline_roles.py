"""The part of the offline model on a side of a conversation, and whether it can read its pages."""

from collections.abc import Mapping

from langchain_core.language_models import BaseChatModel

from ...data.records import Role
from ...prompts import PromptError
from ..messages.building import MessageBuilder, PageMessages
from ..models.offline.model import OfflineChatModel
from ..models.offline.reading import GOAL_MARKS
from ..models.specs import chat_model

PARTS: Mapping[Role, str] = {"user": "goal_user", "assistant": "task_assistant"}
"""The part that it plays for each role where a view does not say: a user with a goal, and a helper."""

MATERIAL = "user/material"


def taking_part(choice: str | BaseChatModel, role: Role, build: MessageBuilder) -> BaseChatModel:
    """The chat model for a side; an offline one without a part gets that which the view names (`offline`), else its role's.

    PromptError if it plays a user with a goal and the pages do not mark the goal: it reads marks, not words.
    """
    model = chat_model(choice, side=getattr(build, "offline", PARTS[role]))
    if isinstance(model, OfflineChatModel) and model.side == "goal_user" and isinstance(build, PageMessages):
        marks = build.pages[MATERIAL].marks if MATERIAL in build.pages else ()
        if not any(mark in GOAL_MARKS for mark in marks):
            raise PromptError(
                f"prompt {MATERIAL}: the offline user finds no goal in it: write <goal>{{{{ goal }}}}</goal> there, and "
                "the user's facts as <facts>{{ facts }}</facts>"
            )
    return model
