"""A cast that answers one question about a section: the graph of a run that begins with the question.

The first messages of its state are the earlier turns and the question. So only the assistant's nodes run: its prompt
selector, the assistant, its validator and the loop between them. A chat model as a reader gets prompt templates of its
own (`prompts/reading`) and may answer in any words. A teacher is the assistant of the simquac cast with its validator.
"""

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any

from ..data.grounding import gives_no_answer
from ..data.records import Conversation
from ..data.simquac import ReadingQuestion
from ..data.stop_reasons import in_words
from ..nodes.limits import Limits
from ..nodes.scorers.post_questions import closing
from ..nodes.simquac.reading import NoPrompt, ReadingValidator
from ..nodes.state import Planned
from ..nodes.stops import MANY_TURNS, AfterOneAnswer
from ..prompts import Library
from . import simquac
from .casts.cast import Cast, Speaker
from .casts.shipped import library

NAME = "reading"
"""Folder of the pages that a chat model is asked with."""


def reader(
    assistant: Speaker, *, prompts: str | Library | None = None, seed: int = 0, attempts: int | None = None
) -> Cast:
    """A reader in any words: a model's spec, a chat model, an agent, a function of messages or a node.

    `prompts`: a folder whose pages replace those of `prompts/reading`, or a library. `attempts`: most calls for an
    answer; default: 4.
    """
    reader_cast = simquac.cast(assistant=assistant, prompts=library(NAME, prompts))
    return _reading(reader_cast.replace(answer_validator=ReadingValidator()), seed, attempts)


def teacher(
    assistant: Speaker = "offline", *, prompts: str | Library | None = None, seed: int = 0, attempts: int | None = None
) -> Cast:
    """A teacher as a reader: the assistant of the simquac cast, whose answers its validator finds in the section."""
    return _reading(simquac.cast(assistant=assistant, prompts=prompts), seed, attempts)


def _reading(cast: Cast, seed: int, attempts: int | None) -> Cast:
    limits = Limits(max_turns=MANY_TURNS, seed=seed, answer_attempts=attempts or cast.limits.answer_attempts)
    stop = AfterOneAnswer("assistant", cast.stop)
    return cast.replace(stop=stop, closing=closing, user_prompt_selector=NoPrompt(), limits=limits)


def states(questions: Iterable[ReadingQuestion]) -> Iterator[Planned]:
    """The state right before each answer."""
    for question in questions:
        messages: list[dict[str, Any]] = []
        for asked_text, answer_text in question.earlier:
            messages += [{"role": "user", "text": asked_text}, {"role": "assistant", "text": answer_text}]
        yield {"scenario": question.scenario(), "messages": [*messages, {"role": "user", "text": question.text}]}


def answer_of(conversation: Conversation) -> tuple[str | None, str | None]:
    """What was answered, None for a refusal; and why there is no answer to score, None if there is one."""
    new = list(takewhile(lambda message: message.role == "assistant", reversed(conversation.messages)))[::-1]
    if conversation.failure is not None:
        return None, f"{conversation.failure.node}: {conversation.failure.error}"
    if not new or not conversation.finished:
        return None, in_words(conversation.stop)
    return (None if all(map(gives_no_answer, new)) else "\n".join(message.text for message in new)), None
