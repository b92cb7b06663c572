"""Annotators label conversations: a chat model with a prompt template, or a function.

One call is about all units of a conversation: the conversation is sent once and not once for each message. Each message
has a call of its own in two cases. Later messages would give the answer away (`asked: so far`), or the label needs a
single text (`asked: alone`). A reply is one JSON object, checked strictly.
"""

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeAlias, cast

from langchain_core.language_models import BaseChatModel

from ..data.files.json import parsed
from ..data.identity import digest
from ..data.labels.definition import LabelDefinition, PartDefinition
from ..data.labels.table import WHOLE, text_of
from ..data.records import Attempt, Conversation, Json
from ..errors import DataError, SettingError
from ..prompts import Library, shipped
from .calls.store import Call
from .contract import ContractError
from .messages import as_text, fenced
from .models.offline.model import OfflineChatModel
from .models.specs import chat_model, model_provenance, names_model
from .prompt_selectors import Refusal
from .requests import Parse, ask, unfenced_reply
from .settings.import_path import imported
from .settings.redaction import error_line, without_known_secrets

ATTEMPTS = 3
"""Maximum calls for a reply, the first included."""
_SHOWN = 12
"""Maximum number of problems in the message about a reply."""


@dataclass(frozen=True)
class LabelQuestion:
    """A question to an annotator: the units of a conversation without a label; vote `number`, from 1, of `count`.

    `units`: indices of messages from 0, or only `data.labels.table.WHOLE`. The seeds of the calls are derived from
    `subject`.
    """

    conversation: Conversation
    label: LabelDefinition
    units: tuple[int, ...]
    seed: int = 0
    subject: str = ""
    number: int = 1
    count: int = 1

    def calls(self) -> list[tuple[int, ...]]:
        """The units of each call."""
        return [self.units] if self.label.asked == "together" else [(unit,) for unit in self.units]

    def values(self, units: Sequence[int]) -> dict[str, object]:
        """The values of the variables in a call's prompt templates."""
        return {
            "title": self.label.title,
            "definition": self.label.definition,
            "material": material(self.conversation, self.label, units),
            "task": _task(self.label, units),
            "form": form_of(self.label, units, self.seed, self.number),
            "number": self.number,
            "count": self.count,
        }


@dataclass(frozen=True)
class AnnotatorReply:
    """One annotator's vote: the value of each unit, None where every reply was refused, and every unchanged reply."""

    values: Mapping[int, Json | None]
    attempts: tuple[Attempt, ...] = ()
    error: str | None = None
    """The annotator's failure, in one line without secrets: the question is repeated when the work is resumed."""


Labelling: TypeAlias = Callable[[Conversation, LabelDefinition], Any]
"""A function of one's own, async or not: it returns a conversation's value for a label, or for labels of messages a list
with a value for each message, None for a message without one."""


@dataclass(frozen=True)
class ModelAnnotator:
    """A chat model that answers the label's prompt, and retries with the error until its reply is a value."""

    model: BaseChatModel
    attempts: int = ATTEMPTS

    def provenance(self) -> dict[str, Any]:
        return {"model": model_provenance(self.model), "attempts": self.attempts, "structured": False}

    async def __call__(self, question: LabelQuestion) -> AnnotatorReply:
        role = f"annotator {question.label.name}"

        async def asked(units: Sequence[int]) -> Any:
            parse: Parse[dict[int, Json]] = partial(_read, question=question, units=units)
            call = Call(question.seed, question.subject, role, units[0] + 1, question.number)
            values, page = question.values(units), "annotator/request"
            return await ask(self.model, page, values, parse, self.attempts, pages=pages(), call=call)

        answers = await asyncio.gather(*map(asked, question.calls()))
        values: dict[int, Json | None] = dict.fromkeys(question.units)
        for answer in answers:
            values |= answer.value or {}
        attempts = tuple(attempt for answer in answers for attempt in answer.attempts)
        return AnnotatorReply(values, attempts, next((answer.error for answer in answers if answer.error), None))


@dataclass(frozen=True)
class FunctionAnnotator:
    """A function of one's own, with one vote, as it returns the same value each time."""

    function: Labelling

    def provenance(self) -> dict[str, Any]:
        name = getattr(self.function, "__qualname__", type(self.function).__name__)
        return {"function": f"{getattr(self.function, '__module__', '')}:{name}"}

    async def __call__(self, question: LabelQuestion) -> AnnotatorReply:
        label, conversation = question.label, question.conversation
        try:
            answer = self.function(conversation, label)
            answer = await answer if inspect.isawaitable(answer) else answer
        except Exception as error:  # the other conversations are labelled, and a resumed run repeats this one
            return AnnotatorReply(dict.fromkeys(question.units), error=error_line(error))
        about = [WHOLE]
        if question.units[0] != WHOLE:
            messages = enumerate(conversation.messages)
            about = [number for number, one in messages if one.stored and label.role in (None, one.role)]
            if not isinstance(answer, list | tuple | None) or (answer is not None and len(answer) != len(about)):
                problem = f"gives no list with a value for each of the {len(about)} messages of {label.name!r}"
                raise ContractError(f"annotator {self.provenance()['function']}: {problem}")
        given = [answer] if question.units[0] == WHOLE else answer or [None] * len(about)
        values = dict(zip(about, given, strict=True))
        for unit, value in values.items():
            if value is not None and not isinstance(value, Mapping) and len(label.parts) == 1:
                values[unit] = {next(iter(label.parts)): value}  # a label of one part needs no name of it
            if value is not None and (problems := label.problems(values[unit])):
                of = conversation.id if unit == WHOLE else f"message {unit} of {conversation.id}"
                wrong = f"its value for {label.name!r} of {of}: {problems[0]}"
                raise ContractError(f"annotator {self.provenance()['function']}: {wrong}")
        return AnnotatorReply({unit: values.get(unit) for unit in question.units})


Annotator: TypeAlias = ModelAnnotator | FunctionAnnotator


def annotator(source: str | BaseChatModel | Labelling | Annotator, *, attempts: int = ATTEMPTS) -> Annotator:
    """The annotator of a model identifier, a chat model, or a function `conversation, label -> value`.

    `source`: `openai:NAME`, `PROVIDER:NAME`, `MODULE:NAME` for a function, or the object; ContractError for anything
    else, SettingError for the offline model, which cannot label. `attempts`: most calls of a model for a vote.
    """
    if isinstance(source, str):
        is_path = ":" in source and not names_model(source)
        return annotator(imported(source, "--model") if is_path else chat_model(source), attempts=attempts)
    if isinstance(source, OfflineChatModel):
        raise SettingError("the offline model cannot label: give openai:NAME, or a function")
    if isinstance(source, BaseChatModel):
        return ModelAnnotator(source, attempts)
    if hasattr(source, "provenance"):  # is one already, or another object that answers questions
        return cast(Annotator, source)
    if not callable(source):
        raise ContractError(f"an annotator is a model, a function or an identifier, not {type(source).__name__}")
    return FunctionAnnotator(source)


async def votes_on(
    conversation: Conversation,
    label: LabelDefinition,
    units: Sequence[int],
    annotators: Sequence[Annotator],
    *,
    seed: int = 0,
    subject: str = "",
) -> list[dict[str, Any]]:
    """A vote of each annotator on units of a conversation, asked at the same time, in their order, as plain JSON.

    A vote has its `number` from 1, the `values` by unit (as text; null where no reply could be used), all `attempts`
    with verdict and usage, and the `error` of an annotator that failed. It has no secrets, and of prompts only names and
    digests. `units`: indices of messages, or only -1 for the conversation. `subject`: what the seeds of the calls are
    derived from; empty: the conversation's id and the label's name.
    """
    subject = subject or f"{conversation.id}/{label.name}"

    def bare(attempt: Attempt) -> dict[str, Any]:  # its prompt's text holds the conversation
        prompt = attempt.prompt and attempt.prompt.model_copy(update={"text": ""})
        return attempt.model_copy(update={"prompt": prompt}).plain()

    async def vote(number: int, ask: Annotator) -> dict[str, Any]:
        question = LabelQuestion(conversation, label, tuple(units), seed, subject, number, len(annotators))
        reply = await ask(question)
        values = {str(unit): value for unit, value in reply.values.items()}
        attempts = [bare(attempt) for attempt in reply.attempts]
        plain = {"number": number, "values": values, "attempts": attempts, "error": reply.error}
        return dict(without_known_secrets(plain))

    return await asyncio.gather(*(vote(number, one) for number, one in enumerate(annotators, start=1)))


@cache
def pages() -> Library:
    """The shipped prompt templates for annotators."""
    return shipped("annotate")


# The request


def material(conversation: Conversation, label: LabelDefinition, units: Sequence[int]) -> str:
    """The scenario's values that the label names, and the messages numbered from 1; none can imitate a mark."""
    shown = [name for name in label.shows if conversation.scenario.get(name)]
    names = ("conversation", "message", "text", "quote", *shown)
    marks = tuple(f"{end}{name}" for name in names for end in ("", "/"))
    if label.asked == "alone" or (units[0] == WHOLE and label.unit != "conversation"):
        return f"<text>\n{fenced(text_of(conversation, label, units[0]), *marks)}\n</text>"
    blocks = [f"<{name}>\n{fenced(as_text(conversation.scenario[name]), *marks)}\n</{name}>" for name in shown]
    end = units[0] + 1 if label.asked == "so far" and units[0] != WHOLE else len(conversation.messages)
    lines = [
        f'<message number="{number}" role="{message.role}">{fenced(message.text, *marks)}</message>'
        for number, message in enumerate(conversation.messages[:end], start=1)
        if message.stored
    ]
    return "\n".join((*blocks, "<conversation>", *lines, "</conversation>"))


def _task(label: LabelDefinition, units: Sequence[int]) -> str:
    if len(units) > 1:
        return f"Label each of these messages: {', '.join(str(unit + 1) for unit in units)}."
    if units[0] == WHOLE or label.asked == "alone":
        return "Label the conversation." if label.unit == "conversation" else "Label the text."
    return f"Label message {units[0] + 1}{', the last one' if label.asked == 'so far' else ''}."


_quoted = partial(json.dumps, ensure_ascii=False)
_FORM = "Reply with one JSON object and nothing else, with exactly these keys:"
_FORM_OF_MESSAGES = """\
Reply with one JSON object and nothing else: {"messages": [...]}, with an object for each message that you are asked \
about, in order, each with exactly these keys:
- "message": its number"""


def form_of(label: LabelDefinition, units: Sequence[int], seed: int, vote: int) -> str:
    """The instructions for the reply; values without an order stand in another one in each vote after the first."""
    lines = [f"- {_quoted(name)}: {_part_line(name, part, seed, vote)}" for name, part in label.parts.items()]
    return "\n".join((_FORM_OF_MESSAGES if len(units) > 1 else _FORM, *lines))


def _part_line(name: str, part: PartDefinition, seed: int, vote: int) -> str:
    if part.text:
        one = "a text"
    elif part.scale is not None:
        one = f"a whole number from {part.scale[0]} to {part.scale[1]}"
    else:
        values = list[str | bool](part.values)
        if vote > 1 and not part.ordered:
            values.sort(key=lambda value: digest("order of values", seed, name, vote, value))
        one = "one of " + ", ".join(map(_quoted, values))
    if part.several is not None:
        low, high = part.several
        one = f"a list of {low} to {high}, each {one}"
    for other, allowed in part.only_if.items():
        one += f"; null unless {other} is {'' if len(allowed) == 1 else 'one of '}{', '.join(map(_quoted, allowed))}"
    return one


# The reply


def _read(text: str, question: LabelQuestion, units: Sequence[int]) -> dict[int, Json] | Refusal:
    label = question.label
    try:
        value = parsed(unfenced_reply(text), "the reply")
    except DataError as error:
        problem = str(error).removeprefix("the reply: ")
        return Refusal("not_json", f"{problem[:300]}. Answer with one JSON object and nothing else.")
    values = {units[0]: value} if len(units) == 1 else _by_message(value, units)
    if isinstance(values, Refusal):
        return values
    several = len(units) > 1
    wrong = ((unit, line) for unit, unit_value in values.items() for line in label.problems(unit_value))
    if problems := [f"message {unit + 1}: {line}" if several else line for unit, line in wrong]:
        return Refusal("wrong_value", f"{'; '.join(problems[:_SHOWN])}.")
    return values


def _by_message(value: Any, units: Sequence[int]) -> dict[int, Any] | Refusal:
    listed = value.get("messages") if isinstance(value, Mapping) and set(value) == {"messages"} else None
    if not isinstance(listed, list) or not all(isinstance(entry, Mapping) for entry in listed):
        return Refusal("wrong_value", 'it is not an object with only "messages", a list of objects.')
    if [entry.get("message") for entry in listed] != [unit + 1 for unit in units]:
        expected = ", ".join(str(unit + 1) for unit in units)
        return Refusal("wrong_value", f"its messages are not those that were asked for, in order: {expected}.")
    parts = ({key: part for key, part in entry.items() if key != "message"} for entry in listed)
    return dict(zip(units, parts, strict=True))
