"""The domain of task-oriented conversations: a task, its context and the user's profile, and their rules for `check`."""

from collections.abc import Mapping
from typing import Any

from ...errors import DataError
from ..domains import Dataset, Domain, Material, labelled
from ..formats.source import Format
from ..records import Conversation
from ..rules.linter import DIALOGUE_RULES
from .dataset import cluster, holds_conversations, read_folder, variant, write
from .profiles import KIND

_SHOWN_FIRST = ("task", "task_context", "preference", "profile")


class RecLLMSim(Domain):
    """A user with a profile plans something with an assistant (RecLLMSim, SIGIR-AP 2025)."""

    kind = KIND
    formats = (Format("recllmsim", "RecLLMSim JSON", holds_conversations, read_folder),)
    dataset = Dataset("", "a conversation a file, in RecLLMSim's format", write, "TASK/FILE.json")
    rules = DIALOGUE_RULES

    def material(self, scenario: Mapping[str, Any]) -> tuple[Material, ...]:
        others = (key for key, value in scenario.items() if isinstance(value, (str, dict)))
        keys = dict.fromkeys((*_SHOWN_FIRST, *others))
        return labelled(scenario, [key for key in keys if key not in ("kind", "digest")])

    def user(self, conversation: Conversation) -> str:
        return cluster(conversation)

    def simulated(self, conversation: Conversation) -> bool | None:
        try:
            return variant(conversation) == "simulated"
        except DataError:  # a scenario of one's own under this kind
            return None


DOMAIN = RecLLMSim()
