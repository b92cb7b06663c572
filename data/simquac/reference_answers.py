"""Reference answers: every answer that a data set has for a question."""

from collections.abc import Mapping, Sequence
from typing import Any, overload

from ..grounding import MARKER, NO_ANSWER, gives_no_answer
from ..records import Conversation, Message, as_object


@overload
def references(source: Message) -> tuple[str, ...]: ...
@overload
def references(source: Conversation) -> tuple[tuple[str, ...], ...]: ...
def references(source: Message | Conversation) -> tuple[str, ...] | tuple[tuple[str, ...], ...]:
    """Every answer of a data set: to the question of a message, or to the question of each turn.

    These are the answer of the conversation and the further references of QuAC's own layout (`orig_answer`), in the
    file's order. The conversation's answer comes first if it is not among the references. A refusal, or a turn without
    an answer, gives `NO_ANSWER`.
    """
    if isinstance(source, Conversation):
        return tuple(_references(exchange.assistant) for exchange in source.exchanges)
    return _references((source,))


def _references(messages: Sequence[Message]) -> tuple[str, ...]:
    refused = all(map(gives_no_answer, messages))
    answer = NO_ANSWER if refused else "\n".join(message.text for message in messages)
    further: list[str] = []
    for message in messages:
        values = _values(message)
        answers = values.get("answers")
        if "orig_answer" not in values or not isinstance(answers, list):  # the spans of this answer itself
            continue
        texts = (str(answer_object.get("text", "")) for answer_object in answers if isinstance(answer_object, dict))
        further += [NO_ANSWER if text == MARKER else text for text in texts]
    return tuple(further if answer in further else [answer, *further])


def by_people(conversation: Conversation) -> bool:
    """Whether the file's layout shows that people answered.

    The signs are QuAC's own layout (`orig_answer`) and numbers as ids of questions; simulated data sets have neither.
    """
    return any(
        "orig_answer" in values or type(values.get("id")) is int for values in map(_values, conversation.messages)
    )


def _values(message: Message) -> Mapping[str, Any]:
    """The file's values of a question or an answer that differ from what we would write."""
    return as_object(as_object(message.extra.get("qa")).get("values"))
