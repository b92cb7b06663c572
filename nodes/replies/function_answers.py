"""Drafts from a function's answer: a text, messages of LangChain or of OpenAI's form, or pieces of either."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage, BaseMessageChunk, convert_to_messages
from pydantic import BaseModel

from ...errors import DuologueError
from ..state import Draft
from .conversion import drafts_of, new_messages, text_draft
from .worker_threads import in_thread

FunctionAnswer: TypeAlias = Any
"""A text, a message, a list of messages, or an iterator of pieces, async or not."""

ACCEPTED = (
    "a text, a LangChain message, a message of OpenAI's form ({'role': 'assistant', 'content': ...}), a list of such "
    "messages, or a generator of texts"
)


class AnswerError(DuologueError, TypeError):
    """A function's answer is not a message."""

    is_of_function = True


async def drafts_answered(answer: FunctionAnswer, sent: Sequence[BaseMessage]) -> list[Draft]:
    """The drafts of a function's answer; of a list that begins with the sent messages, those of the rest.

    AnswerError if it is not a possible answer.
    """
    if isinstance(answer, (AsyncIterator, Iterator)):
        answer = _joined(await _pieces(answer))
    if isinstance(answer, str):
        return [text_draft(answer)]
    if not (isinstance(answer, (BaseMessage, Mapping, BaseModel)) or _is_list(answer)):
        raise AnswerError(f"the function answered with {_shown(answer)}: it must answer with {ACCEPTED}")
    messages = _messages(answer)
    if _is_list(answer) or len(messages) > 1:
        messages = new_messages(messages, sent)
    if not messages:
        raise AnswerError(f"the function answered with no message of its own: it must answer with {ACCEPTED}")
    return drafts_of(messages)


async def _pieces(answer: AsyncIterator[Any] | Iterator[Any]) -> list[Any]:
    if isinstance(answer, AsyncIterator):
        return [piece async for piece in answer]
    return await in_thread(list, answer)  # other conversations go on between its pieces


def _joined(pieces: list[Any]) -> FunctionAnswer:
    """Pieces of a text as a text, chunks of a message as a message; others are messages."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    if all(isinstance(piece, BaseMessageChunk) for piece in pieces):
        first, *rest = pieces
        return sum(rest, first)
    return pieces


def _messages(answer: Any) -> list[BaseMessage]:
    """The messages in an answer that is not a text: of a state with `messages`, a completion, or itself."""
    if isinstance(answer, BaseModel) and not isinstance(answer, BaseMessage):
        answer = answer.model_dump(mode="json", exclude_none=True)  # as the client of OpenAI gives them
    if isinstance(answer, Mapping) and isinstance(choices := answer.get("choices"), Sequence) and choices:
        answer = _message_of(answer, choices[0]) if isinstance(choices[0], Mapping) else None
    if isinstance(answer, Mapping) and isinstance(answer.get("messages"), (list, tuple)):
        answer = answer["messages"]
    items: list[Any] = list(answer) if _is_list(answer) else [answer]
    for one in items:
        if not isinstance(one, BaseMessage) and not (
            isinstance(one, Mapping) and {"content", "tool_calls", "refusal"} & set(one)
        ):
            raise AnswerError(f"the function answered with {_shown(one)} as a message: it must answer with {ACCEPTED}")
    try:
        return convert_to_messages([one if isinstance(one, BaseMessage) else _whole(one) for one in items])
    except (ValueError, TypeError, KeyError, AttributeError, NotImplementedError) as error:
        line = " ".join(str(error).split())[:200]
        raise AnswerError(f"the function's message cannot be read ({line}): it must answer with {ACCEPTED}") from None


def _message_of(completion: Mapping[str, Any], choice: Mapping[str, Any]) -> Any:
    """The message of a choice, with the finish reason and the model's name."""
    message = choice.get("message")
    if not isinstance(message, Mapping):
        return message
    details = {"finish_reason": choice.get("finish_reason"), "model_name": completion.get("model")}
    metadata = {name: text for name, text in details.items() if isinstance(text, str)}
    return {**message, "response_metadata": metadata} if metadata else message


def _whole(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message with a role and a content, of which OpenAI's form may lack the content beside tool calls."""
    return {"role": "assistant", **message, "content": message.get("content") or ""}


def _is_list(answer: Any) -> bool:
    return isinstance(answer, (list, tuple))


def _shown(answer: Any) -> str:
    if answer is None:
        return "nothing (None)"
    keys = f" with the keys {', '.join(map(repr, list(answer)[:5])) or '(none)'}" if isinstance(answer, Mapping) else ""
    return f"{type(answer).__name__}{keys}"
