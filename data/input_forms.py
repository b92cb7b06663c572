"""Scenarios as forms to fill in: what a served graph asks for, such as in LangGraph Studio."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator

from ..errors import DataError, first_invalid
from .records import Message, Role

_SIDES: Mapping[str, Role] = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant"}
"""Role of a message by the names that LangChain and OpenAI give it."""


class FormText(BaseModel):
    """A message of a conversation that has begun."""

    model_config = ConfigDict(frozen=True)

    role: Literal["user", "assistant"] = Field(description="Who said it.")
    content: str = Field(description="Its text.")


class Form(BaseModel):
    """The fields that every form has.

    A domain's form adds the keys of its scenario and makes the scenario from them in `scenario`. Each field has a
    description, and a default or examples, because people fill it in.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    messages: tuple[FormText, ...] = Field(
        default=(),
        description="The messages so far, in order. If the user wrote last, the assistant answers first.",
        examples=[[{"role": "user", "content": "Hello, can you help me?"}]],
    )

    def scenario(self) -> dict[str, Any]:
        """The scenario that was filled in, as plain JSON."""
        raise NotImplementedError

    def settings(self) -> dict[str, Any]:
        """Settings of the cast that follow from what was filled in unless they are chosen, such as the language."""
        return {}

    @field_validator("messages", mode="before")
    @classmethod
    def _as_forms(cls, value: Any) -> Any:
        return [_form_text(message) for message in value] if isinstance(value, (list, tuple)) else value

    @classmethod
    def filled(cls, values: Mapping[str, Any]) -> Self:
        """The form with these values; DataError names the field that is missing or wrong."""
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            first = first_invalid(error)
            fields = ", ".join(cls.model_fields)
            raise DataError(
                f"the input's {first.path!r}: {first.message}: the form has the fields {fields}; a state has a 'scenario'"
            ) from None

    def plain_messages(self) -> list[dict[str, Any]]:
        """The messages as plain forms of `Message`."""
        return [Message(role=message.role, text=message.content).plain() for message in self.messages]


class ScenarioForm(Form):
    """Any scenario, as JSON."""

    scenario_as_json: dict[str, JsonValue] = Field(
        alias="scenario",
        title="Scenario",
        description="The scenario as a JSON object. Its `kind` names the domain.",
        examples=[{"kind": "mine", "goal": "change a booking"}],
    )

    def scenario(self) -> dict[str, Any]:
        """The object as it was given."""
        return dict(self.scenario_as_json)


def _form_text(message: Any) -> Any:
    """A message of OpenAI's, LangChain's or this project's form; anything else unchanged, for pydantic to refuse."""
    if isinstance(message, (list, tuple)) and len(message) == 2:
        role, content = message
    elif isinstance(message, str):
        role, content = "user", message
    else:
        fields = message if isinstance(message, Mapping) else getattr(message, "__dict__", {})
        role, content = fields.get("role", fields.get("type")), fields.get("content", fields.get("text"))
    if isinstance(content, list):  # parts, as a model that also takes pictures is sent them
        texts: list[Any] = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        content = "".join(texts) if all(isinstance(text, str) for text in texts) else content
    return {"role": _SIDES.get(role, role) if isinstance(role, str) else role, "content": content}
