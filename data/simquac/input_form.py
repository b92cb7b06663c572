"""A topic as a form to fill in."""

from typing import Any

from pydantic import Field

from ..input_forms import Form
from .topics import Topic


class TopicForm(Form):
    """A section of a document.

    The student sees all but its text, asks about it, and the teacher answers from it.
    """

    title: str = Field(
        min_length=1, description="Title of the document. Both see it.", examples=["The lighthouse on the pier"]
    )
    background: str = Field(
        default="",
        description="What the document is about, in a few sentences. Both see it; it may be empty.",
        examples=["The lighthouse stands at the end of a stone pier and was lit in 1871."],
    )
    header: str = Field(
        default="", description="Header of the section. Both see it. Empty: the title.", examples=["Keepers"]
    )
    section: str = Field(
        min_length=1,
        description="Text of the section. Only the teacher sees it, and answers with pieces of it.",
        examples=[
            "Three keepers lived there with their families. They took turns at the lamp, each for eight hours. "
            "The last of them left in 1968, when the lamp was fitted with a motor."
        ],
    )

    def scenario(self) -> dict[str, Any]:
        """The topic's scenario."""
        topic = Topic(
            title=self.title, background=self.background, header=self.header or self.title, section=self.section
        )
        return topic.scenario()
