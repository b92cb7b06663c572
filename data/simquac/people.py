"""People's answers in what was read: every reference that a data set gives to a question."""

from collections.abc import Sequence
from typing import Any, overload

from ..grounding import MARKER, NO_ANSWER, gives_no_answer
from ..records import Conversation, Message


@overload
def references(source: Message) -> tuple[str, ...]: ...
@overload
def references(source: Conversation) -> tuple[tuple[str, ...], ...]: ...
def references(source: Message | Conversation) -> tuple[str, ...] | tuple[tuple[str, ...], ...]:
    """Every answer that a data set gives: to a message's question, or to the question of each exchange.

    The answer of the talk, and the further ones of QuAC's own layout in the file's order (the talk's own first,
    unless it is one of them). A refusal is `NO_ANSWER`, and so is what was said in an exchange without an answer.
    """
    if isinstance(source, Conversation):
        return tuple(_references(exchange.assistant) for exchange in source.exchanges)
    return _references((source,))


def _references(messages: Sequence[Message]) -> tuple[str, ...]:
    refused = all(map(gives_no_answer, messages))
    answer = NO_ANSWER if refused else "\n".join(message.text for message in messages)
    further: list[str] = []
    for message in messages:
        answers = _values(message).get("answers")
        texts = (
            [str(each.get("text", "")) for each in answers if isinstance(each, dict)]
            if isinstance(answers, list)
            else []
        )
        if texts != [span.text for span in message.spans]:  # else they are the spans of this answer, oddly written
            further += [NO_ANSWER if text == MARKER else text for text in texts]
    return tuple(further if answer in further else [answer, *further])


def by_people(conversation: Conversation) -> bool:
    """Whether it was read from a file whose layout says that people answered.

    That is QuAC's own layout (`orig_answer`), and a number as a question's id, which simulated data sets do not have.
    """
    return any(
        "orig_answer" in values or type(values.get("id")) is int for values in map(_values, conversation.messages)
    )


def _values(message: Message) -> dict[str, Any]:
    """What the file has of a question or an answer beyond what we would write."""
    return _mapping(_mapping(message.extra.get("qa")).get("values"))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
