"""Annotators label conversations: a chat model with a prompt template, a function, or any object of this form.

One call is about all units of a conversation: the conversation is sent once and not once for each message. Each message
has a call of its own in two cases. Later messages would give the answer away (`asked: so far`), or the label needs a
single text (`asked: alone`).
"""

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, TypeAlias, runtime_checkable

from langchain_core.language_models import BaseChatModel

from ...data.attempts import Attempt, Json
from ...data.labels.definition import LabelDefinition
from ...data.labels.units import WHOLE
from ...data.records import Conversation
from ...errors import SettingError
from ...prompts import Library, shipped
from ..asking.requests import ask
from ..calls.store import Call
from ..contract import ContractError, required_arguments
from ..models.offline.model import OfflineChatModel
from ..models.specs import chat_model, model_provenance, names_model, takes_seed
from ..settings.import_path import imported
from ..settings.redaction import error_line
from .replies import LabelValues, form_of, material, parser_of, schema_of, task_line

ATTEMPTS = 3
"""Maximum calls for a reply, the first included."""
REQUEST = "annotator/request"


@dataclass(frozen=True)
class LabelQuestion:
    """A question to an annotator: the units of a conversation without a label, and the vote's number."""

    conversation: Conversation
    label: LabelDefinition
    units: tuple[int, ...]
    """Indices of messages from 0, or only `data.labels.units.WHOLE`."""
    seed: int = 0
    subject: str = ""
    """The text from which the seeds of the calls are derived."""
    number: int = 1
    """Number of the vote, from 1."""
    count: int = 1
    """Number of votes."""


@dataclass(frozen=True)
class AnnotatorReply:
    """One annotator's vote."""

    values: Mapping[int, Json | None]
    """The value of each unit of the question; None where every reply was refused or unreadable."""
    attempts: tuple[Attempt, ...] = ()
    """Every unchanged reply, with its usage."""
    error: str | None = None
    """The annotator's failure, in one line without secrets: the question is repeated when the work is resumed."""


@runtime_checkable
class Annotator(Protocol):
    """Labels units of a conversation."""

    async def __call__(self, question: LabelQuestion) -> AnnotatorReply: ...

    def provenance(self) -> dict[str, Any]: ...


Labelling: TypeAlias = Callable[[Conversation, LabelDefinition], Any]
"""A function of one's own, async or not: it returns a conversation's value for a label, or for labels of messages a list
with a value for each message, None for a message without one."""


@dataclass(frozen=True)
class ModelAnnotator:
    """A chat model that answers the label's prompt, and retries with the error until its reply is a value."""

    model: BaseChatModel
    attempts: int = ATTEMPTS
    structured: bool = False
    """Whether the label's JSON schema is sent with each call (`response_format`). The reply is checked in any case."""

    def provenance(self) -> dict[str, Any]:
        return {"model": model_provenance(self.model), "attempts": self.attempts, "structured": self.structured}

    async def __call__(self, question: LabelQuestion) -> AnnotatorReply:
        answers = await asyncio.gather(*(self._answer(question, units) for units in groups(question)))
        values: dict[int, Json | None] = dict.fromkeys(question.units)
        attempts: list[Attempt] = []
        for value, tried, _ in answers:
            values |= value
            attempts += tried
        return AnnotatorReply(values, tuple(attempts), next((error for *_, error in answers if error), None))

    async def _answer(
        self, question: LabelQuestion, units: Sequence[int]
    ) -> tuple[LabelValues, tuple[Attempt, ...], str | None]:
        model = self._with_schema(question.label, units)
        call = Call(question.seed, question.subject, f"annotator {question.label.name}", units[0] + 1, question.number)
        answer = await ask(
            model,
            REQUEST,
            gaps_of(question, units),
            parser_of(question.conversation, question.label, units),
            self.attempts,
            pages=pages(),
            call=call,
        )
        return answer.value or {}, answer.attempts, answer.error

    def _with_schema(self, label: LabelDefinition, units: Sequence[int]) -> BaseChatModel:
        """The model, whose requests contain the schema if `structured` is set."""
        if not self.structured:
            return self.model
        field = next((name for name in ("arguments", "extra_body") if name in type(self.model).model_fields), None)
        if field is None:
            raise SettingError(f"a JSON schema can be sent only to openai: models, not {type(self.model).__name__}")
        schema = _strict(schema_of(label, units))
        response_format = {"type": "json_schema", "json_schema": {"name": "label", "strict": True, "schema": schema}}
        more = {**(getattr(self.model, field) or {}), "response_format": response_format}
        return self.model.model_copy(update={field: more})


@dataclass(frozen=True)
class FunctionAnnotator:
    """A function of one's own, with one vote, as it returns the same value each time."""

    function: Labelling
    name: str = field(default="")

    def provenance(self) -> dict[str, Any]:
        name = getattr(self.function, "__qualname__", type(self.function).__name__)
        return {"function": self.name or f"{getattr(self.function, '__module__', '')}:{name}"}

    async def __call__(self, question: LabelQuestion) -> AnnotatorReply:
        label = question.label
        try:
            answer = self.function(question.conversation, label)
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as error:  # the other conversations are labelled, and a resumed run repeats this one
            return AnnotatorReply(dict.fromkeys(question.units), error=error_line(error))
        values = {} if answer is None else self._by_unit(answer, question)
        for unit, value in values.items():
            if value is not None and (problems := label.problems(value)):
                of = "" if unit == WHOLE else f"message {unit} of "
                raise ContractError(
                    f"annotator {self.provenance()['function']}: its value for {label.name!r} of {of}"
                    f"{question.conversation.id}: {problems[0]}"
                )
        return AnnotatorReply({unit: values.get(unit) for unit in question.units})

    def _by_unit(self, answer: Any, question: LabelQuestion) -> dict[int, Json | None]:
        label, talk = question.label, question.conversation
        if question.units[0] == WHOLE:
            return {WHOLE: _whole(answer, label)}
        if isinstance(answer, Mapping):
            return {int(unit): _whole(value, label) for unit, value in answer.items()}
        of_role = [
            n for n, message in enumerate(talk.messages) if message.stored and label.role in (None, message.role)
        ]
        if not isinstance(answer, (list, tuple)) or len(answer) != len(of_role):
            raise ContractError(
                f"annotator {self.provenance()['function']}: gives no list with a value for each of the {len(of_role)} "
                f"messages that {label.name!r} is about"
            )
        return {unit: _whole(value, label) for unit, value in zip(of_role, answer, strict=True)}


def annotator(
    source: "str | BaseChatModel | Labelling | Annotator", *, attempts: int = ATTEMPTS, structured: bool = False
) -> Annotator:
    """The annotator of a model identifier, a chat model, a function `conversation, label -> value`, or an annotator.

    Args:
        source: `openai:NAME`, `PROVIDER:NAME`, `MODULE:NAME` for a function, or the object.
        attempts: Maximum number of calls of a model for a vote.
        structured: Whether a model's requests contain the schema of the reply.

    Returns:
        The annotator; a given one unchanged.

    Raises:
        ContractError: `source` is something else.
        SettingError: `source` is the offline model, which cannot label.
    """
    if isinstance(source, str):
        if ":" in source and not names_model(source):
            return annotator(imported(source, "--model"), attempts=attempts, structured=structured)
        source = chat_model(source)
    if isinstance(source, OfflineChatModel):
        raise SettingError("the offline model cannot label: give openai:NAME, or a function")
    if isinstance(source, BaseChatModel):
        return ModelAnnotator(source, attempts, structured)
    if isinstance(source, Annotator) and not inspect.isfunction(source):
        return source
    if not callable(source):
        raise ContractError(f"an annotator is a model, a function or an identifier, not {type(source).__name__}")
    return FunctionAnnotator(source)


def takes_label(function: Callable[..., Any]) -> bool:
    """Whether a function takes a conversation and a label, as an annotator does, and not only a conversation."""
    return required_arguments(function) == 2


def groups(question: LabelQuestion) -> list[tuple[int, ...]]:
    """The units of each call."""
    if question.label.asked == "together":
        return [question.units]
    return [(unit,) for unit in question.units]


def gaps_of(question: LabelQuestion, units: Sequence[int]) -> dict[str, object]:
    """The values of the variables in a call's prompt templates."""
    label = question.label
    return {
        "title": label.title,
        "definition": label.definition,
        "material": material(question.conversation, label, units),
        "task": task_line(label, units),
        "form": form_of(label, units, question.seed, question.number),
        "number": question.number,
        "count": question.count,
    }


@cache
def pages() -> Library:
    """The shipped prompt templates for annotators."""
    return shipped("annotate")


def is_unseeded(one: Annotator) -> bool:
    """Whether an annotator is a model without a seed."""
    return isinstance(one, ModelAnnotator) and not takes_seed(one.model)


def _whole(value: Any, label: LabelDefinition) -> Json | None:
    """The value by part; a label of one part may omit the part's name."""
    if value is None or isinstance(value, Mapping):
        return None if value is None else dict(value)
    return {next(iter(label.parts)): value} if len(label.parts) == 1 else value


def _strict(schema: Any) -> Any:
    """The schema without keywords that endpoints with strict schemas refuse; our own check still has them."""
    if isinstance(schema, Mapping):
        return {key: _strict(value) for key, value in schema.items() if key != "minLength"}
    return [_strict(inner) for inner in schema] if isinstance(schema, list) else schema
