"""A task with a profile as a form to fill in."""

from typing import Any

from pydantic import Field

from ...errors import DataError
from ..input_forms import Form
from ..text.languages import Language
from .profiles import shipped_profiles
from .situations import Situation
from .tasks import shipped_tasks

TASKS: dict[Language, str] = {"en": "travel planning", "zh": "旅行规划"}
"""The shipped task of an empty form."""


class TaskForm(Form):
    """A person with something to plan.

    The user is told all of it; the assistant knows only what the user writes.
    """

    task: str = Field(
        default="",
        description="Name of the task. Empty: travel planning.",
        examples=["travel planning", "gift preparation", "recipe planning"],
    )
    task_context: str = Field(
        default="",
        description='The situation, in the second person: "You want ...". Empty: the first one of the shipped task.',
        examples=["You want to go away for a long weekend in late spring. You have not settled on a place yet."],
    )
    profile: str = Field(
        default="",
        description="Who the user is, a line for each attribute. Empty: the first shipped profile.",
        examples=["1. Gender: Female\n2. Age: 34\n3. Occupation: Nurse\n4. Travel Habits: Goes by train"],
    )
    language: Language = Field(default="en", description="Language of the task and the profile.")

    def scenario(self) -> dict[str, Any]:
        """The situation's scenario; DataError if a task of one's own has no context."""
        tasks = shipped_tasks(self.language)
        task = self.task or TASKS[self.language]
        if not self.task_context and task not in tasks:
            raise DataError(
                f"the input's 'task_context' is empty, and {task!r} is not a shipped task: write one, or name "
                + ", ".join(tasks)
            )
        situation = Situation(
            language=self.language,
            task=task,
            task_context=self.task_context or tasks[task][0],
            preference=self.profile or shipped_profiles(self.language).texts[0],
        )
        return situation.scenario()

    def settings(self) -> dict[str, Any]:
        """The language of the task, if it is not the cast's own."""
        return {} if self.language == "en" else {"language": self.language}
