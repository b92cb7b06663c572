"""Annotators: what labels a conversation. A chat model with a page, a function, rules, or anything of this form.

One call is about all messages of a conversation that a label is about: the conversation is sent once and not once for
each of its messages. Where later messages would give the answer away (`asked: so far`), or where the label needs one text
alone (`asked: alone`), each message has a call of its own.
"""

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, TypeAlias, runtime_checkable

from langchain_core.language_models import BaseChatModel

from ..data.attempts import Attempt, Json
from ..data.label_rules import rule_values, rules_for
from ..data.label_units import WHOLE
from ..data.labels import LabelDefinition
from ..data.records import Conversation
from ..errors import SettingError
from ..prompts import Library, shipped
from .annotation_replies import Values, form_of, material, parser_of, schema_of, task_line
from .calls.kept import Call
from .contract import ContractError
from .environment import error_line
from .import_path import imported
from .models.offline.model import OfflineChatModel
from .models.providers import takes_seed
from .models.specs import chat_model, model_provenance, names_model
from .requests import ask

ATTEMPTS = 3
"""Most calls for a reply, the first included."""
REQUEST = "annotator/request"


@dataclass(frozen=True)
class Question:
    """What an annotator is asked: the units of a conversation that lack a label, and which vote this is."""

    conversation: Conversation
    label: LabelDefinition
    units: tuple[int, ...]
    """Indices of messages from 0, or `data.label_units.WHOLE` alone."""
    seed: int = 0
    subject: str = ""
    """What the seeds of the calls are derived from."""
    number: int = 1
    """Number of the vote, from 1."""
    count: int = 1
    """How many votes there are."""


@dataclass(frozen=True)
class Opinion:
    """One annotator's vote."""

    values: Mapping[int, Json | None]
    """The value of each unit that was asked about; None where every reply was refused or could not be read."""
    attempts: tuple[Attempt, ...] = ()
    """Every reply as it came, with its usage."""
    error: str | None = None
    """Why the annotator failed, in one line without secrets: it is asked again when the work is resumed."""


@runtime_checkable
class Annotator(Protocol):
    """Labels units of a conversation."""

    async def __call__(self, question: Question) -> Opinion: ...

    def provenance(self) -> dict[str, Any]: ...


Labelling: TypeAlias = Callable[[Conversation, LabelDefinition], Any]
"""A function of one's own: a conversation's value for a label, or for labels of messages a list with a value for each of
them, None where there is none. Async or not."""


@dataclass(frozen=True)
class ModelAnnotator:
    """A chat model that is asked with the label's page, and again with what was wrong until its reply is a value."""

    model: BaseChatModel
    attempts: int = ATTEMPTS
    structured: bool = False
    """Whether the label's JSON schema is sent with each call (`response_format`). The reply is checked in any case."""

    def provenance(self) -> dict[str, Any]:
        return {"model": model_provenance(self.model), "attempts": self.attempts, "structured": self.structured}

    async def __call__(self, question: Question) -> Opinion:
        answers = await asyncio.gather(*(self._asked(question, units) for units in groups(question)))
        values: dict[int, Json | None] = dict.fromkeys(question.units)
        attempts: list[Attempt] = []
        for value, tried, _ in answers:
            values |= value
            attempts += tried
        return Opinion(values, tuple(attempts), next((error for *_, error in answers if error), None))

    async def _asked(self, question: Question, units: Sequence[int]) -> tuple[Values, tuple[Attempt, ...], str | None]:
        model = self._held_to(question.label, units)
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

    def _held_to(self, label: LabelDefinition, units: Sequence[int]) -> BaseChatModel:
        """The model, whose endpoint is told the schema if that is wanted."""
        if not self.structured:
            return self.model
        if "extra_body" not in type(self.model).model_fields:
            raise SettingError(f"a JSON schema can be sent to openai: models alone, not {type(self.model).__name__}")
        schema = _strict(schema_of(label, units))
        wanted = {"type": "json_schema", "json_schema": {"name": "label", "strict": True, "schema": schema}}
        body = {**(getattr(self.model, "extra_body", None) or {}), "response_format": wanted}
        return self.model.model_copy(update={"extra_body": body})


@dataclass(frozen=True)
class FunctionAnnotator:
    """A function of one's own. It gives the same value each time, so it has one vote."""

    function: Labelling
    name: str = field(default="")

    def provenance(self) -> dict[str, Any]:
        name = getattr(self.function, "__qualname__", type(self.function).__name__)
        return {"function": self.name or f"{getattr(self.function, '__module__', '')}:{name}"}

    async def __call__(self, question: Question) -> Opinion:
        label = question.label
        try:
            given = self.function(question.conversation, label)
            if inspect.isawaitable(given):
                given = await given
        except Exception as error:  # the other conversations are labelled, and this one is asked for again
            return Opinion(dict.fromkeys(question.units), error=error_line(error))
        values = {} if given is None else self._by_unit(given, question)
        for unit, value in values.items():
            if value is not None and (problems := label.problems(value)):
                of = "" if unit == WHOLE else f"message {unit} of "
                raise ContractError(
                    f"annotator {self.provenance()['function']}: its value for {label.name!r} of {of}"
                    f"{question.conversation.id}: {problems[0]}"
                )
        return Opinion({unit: values.get(unit) for unit in question.units})

    def _by_unit(self, given: Any, question: Question) -> dict[int, Json | None]:
        label, talk = question.label, question.conversation
        if question.units[0] == WHOLE:
            return {WHOLE: _whole(given, label)}
        if isinstance(given, Mapping):
            return {int(unit): _whole(value, label) for unit, value in given.items()}
        of_role = [n for n, each in enumerate(talk.messages) if each.stored and label.role in (None, each.role)]
        if not isinstance(given, (list, tuple)) or len(given) != len(of_role):
            raise ContractError(
                f"annotator {self.provenance()['function']}: gives no list with a value for each of the {len(of_role)} "
                f"messages that {label.name!r} is about"
            )
        return {unit: _whole(value, label) for unit, value in zip(of_role, given, strict=True)}


@dataclass(frozen=True)
class RuleAnnotator:
    """The offline annotator: a rule-based baseline of word lists, lengths and question marks; it is no language model.

    Its votes differ by how much of a sign they ask for: as much as the rule says, three quarters of it, a third more.
    """

    def provenance(self) -> dict[str, Any]:
        return {"rules": "offline"}

    async def __call__(self, question: Question) -> Opinion:
        values = rule_values(question.conversation, question.label, question.units, question.number)
        return Opinion(values)

    def check(self, label: LabelDefinition) -> None:
        """SettingError if there is no rule for the label."""
        rules_for(label)


def annotator(
    given: "str | BaseChatModel | Labelling | Annotator", *, attempts: int = ATTEMPTS, structured: bool = False
) -> Annotator:
    """The annotator of a model's spec, a chat model, a function `conversation, label -> value`, or one that is one.

    Specs: `offline` for the rule-based baseline, `openai:NAME`, `PROVIDER:NAME`, or `MODULE:NAME` for a function.
    """
    if isinstance(given, str):
        if given == "offline":
            return RuleAnnotator()
        if ":" in given and not names_model(given):
            return annotator(imported(given, "--model"), attempts=attempts, structured=structured)
        given = chat_model(given)
    if isinstance(given, OfflineChatModel):
        return RuleAnnotator()
    if isinstance(given, BaseChatModel):
        return ModelAnnotator(given, attempts, structured)
    if isinstance(given, (ModelAnnotator, FunctionAnnotator, RuleAnnotator)) or (
        isinstance(given, Annotator) and not inspect.isfunction(given)
    ):
        return given
    if not callable(given):
        raise ContractError(f"an annotator is a model, a function or a spec, not {type(given).__name__}")
    return FunctionAnnotator(given)


def takes_label(function: Callable[..., Any]) -> bool:
    """Whether a function takes a conversation and a label, as an annotator does, and not a conversation alone."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # such as of some built-in functions
        return False
    needed = [each for each in parameters if each.default is each.empty and each.kind in _BY_PLACE]
    return len(needed) == 2


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def groups(question: Question) -> list[tuple[int, ...]]:
    """The units of each call."""
    if question.label.asked == "together":
        return [question.units]
    return [(unit,) for unit in question.units]


def gaps_of(question: Question, units: Sequence[int]) -> dict[str, object]:
    """What the pages of a call are filled with."""
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
    """The shipped pages for annotators."""
    return shipped("annotate")


def is_unseeded(one: Annotator) -> bool:
    """Whether an annotator is a model that takes no seed."""
    return isinstance(one, ModelAnnotator) and not takes_seed(one.model)


def _whole(value: Any, label: LabelDefinition) -> Json | None:
    """A value of one part may be given without its name."""
    if value is None or isinstance(value, Mapping):
        return None if value is None else dict(value)
    return {next(iter(label.parts)): value} if len(label.parts) == 1 else value


def _strict(schema: Any) -> Any:
    """The schema without what endpoints with strict schemas refuse; our own check has it all the same."""
    if isinstance(schema, Mapping):
        return {key: _strict(value) for key, value in schema.items() if key != "minLength"}
    return [_strict(each) for each in schema] if isinstance(schema, list) else schema


__all__ = ["Annotator", "FunctionAnnotator", "ModelAnnotator", "Opinion", "Question", "RuleAnnotator", "annotator"]
