"""A cast that answers one question about a section: the graph of a run that begins with the question.

The first messages of its state are the earlier exchanges and the question, so only the assistant's side speaks: its
prompt selector, the assistant, its validator and the loop between them. A chat model as a reader gets pages of its own
(`prompts/reading`) and may answer in any words. A teacher is the assistant of the simquac cast with its validator.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..data.grounding import gives_no_answer
from ..data.records import Conversation
from ..data.simquac import Question
from ..data.stop_reasons import in_words
from ..nodes.contract import Stop, describe
from ..nodes.limits import Limits
from ..nodes.post_questions import closing
from ..nodes.reading import NoPrompt, ReadingValidator
from ..nodes.state import State
from ..prompts import Library
from . import simquac
from .cast import Cast, Speaker
from .settings import library

NAME = "reading"
"""Folder of the pages that a chat model is asked with."""

_ANSWERED = "max_turns"
"""Why the conversation ends after the one answer."""
_MOST_TURNS = 10_000
"""Exchanges that a conversation may have before the question."""


@dataclass(frozen=True)
class AfterOneAnswer:
    """Stop as soon as the question is answered; the cast's own criterion is not asked, as it counts turns."""

    own: Stop

    def __call__(self, state: State, limits: Limits) -> str | None:
        """Why the conversation ends now; None before the answer."""
        return _ANSWERED if state.get("turn", 0) > state.get("opened", 0) else None

    def provenance(self) -> dict[str, Any]:
        """The cast's own criterion."""
        return {"own": describe(self.own)}


def reader(
    assistant: Speaker, *, prompts: str | Library | None = None, seed: int = 0, attempts: int | None = None
) -> Cast:
    """A reader in any words: a model's spec, a chat model, an agent, a function of messages or a node.

    `prompts`: a folder whose pages replace those of `prompts/reading`, or a library. `attempts`: most calls for an
    answer; default: 4.
    """
    made = simquac.cast(assistant=assistant, prompts=library(NAME, prompts))
    return _reading(made.replace(answer_validator=ReadingValidator()), seed, attempts)


def teacher(
    assistant: Speaker = "offline", *, prompts: str | Library | None = None, seed: int = 0, attempts: int | None = None
) -> Cast:
    """A teacher as a reader: the assistant of the simquac cast, whose answers its validator finds in the section."""
    return _reading(simquac.cast(assistant=assistant, prompts=prompts), seed, attempts)


def _reading(made: Cast, seed: int, attempts: int | None) -> Cast:
    changes: dict[str, Any] = {
        "stop": AfterOneAnswer(made.stop),
        "closing": closing,
        "user_prompt_selector": NoPrompt(),
        "limits": Limits(max_turns=_MOST_TURNS, seed=seed, answer_attempts=attempts or made.limits.answer_attempts),
    }
    return made.replace(**changes)


def states(questions: Iterable[Question]) -> list[State]:
    """The state right before each answer."""
    made: list[State] = []
    for question in questions:
        said: list[dict[str, Any]] = []
        for asked, answered in question.earlier:
            said += [{"role": "user", "text": asked}, {"role": "assistant", "text": answered}]
        made.append({"scenario": question.scenario(), "messages": [*said, {"role": "user", "text": question.text}]})
    return made


def answer_of(made: Conversation, question: Question) -> tuple[str | None, str | None]:
    """What was answered, None for a refusal; and why there is no answer to score, None if there is one."""
    new = [message for message in made.messages[2 * len(question.earlier) + 1 :] if message.role == "assistant"]
    if made.failure is not None:
        return None, f"{made.failure.node}: {made.failure.error}"
    if not new or not made.finished:
        return None, in_words(made.stop)
    return (None if all(map(gives_no_answer, new)) else "\n".join(message.text for message in new)), None
