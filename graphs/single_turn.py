"""Casts that are asked for one turn: of a user after what people said, or of a reader who answers a question.

Prompt selector, speaker, validator and the loop between them are those of the cast; the other side, its closing node and
its world are not used. A reader's conversation begins with the earlier turns and the question. A chat model as a reader
has pages of its own (`prompts/reading`) and may answer in any words; a teacher is the simquac cast's assistant.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from ..data import domains
from ..data.formats.messages import further
from ..data.grounding import gives_no_answer
from ..data.people import STORED, Moment, NextTurn, text_of, user_of
from ..data.records import Attempt, Conversation, stop_in_words
from ..data.scenarios import of_log
from ..data.simquac import ReadingQuestion
from ..errors import SettingError
from ..nodes.contract import closing
from ..nodes.limits import MANY_TURNS, AfterOneTurn, Limits
from ..nodes.prompt_selectors import selector
from ..nodes.recllmsim import goal_of
from ..nodes.simquac.validators import ReadingValidator
from ..nodes.state import Planned
from ..nodes.success import KEY as SUCCESS
from . import agent_test, casts, simquac
from .casts.cast import Cast, Speaker
from .casts.registry import library

FAILED = ("model_failed", "cancelled", "budget", "agent_interrupted", "user_timeout", "agent_timeout")
"""Stop reasons with which a user that was asked has not answered."""


def asking(cast: Cast) -> Cast:
    """The cast, whose conversations end when its user's first turn has been judged."""
    return cast.replace(stop=AfterOneTurn("user", cast.stop), closing=closing, world=None)


def limits_of(cast: Cast, *, seed: int = 0) -> Limits:
    """The limits of each question."""
    return Limits(max_turns=MANY_TURNS, seed=seed, question_attempts=cast.limits.question_attempts)


def cast_name(moments: Sequence[Moment]) -> str:
    """The name of the cast for the conversations: that of their kind, else `agent_test`."""
    kinds = {str(moment.conversation.scenario.get("kind", "")) for moment in moments}
    named = sorted(kinds & casts.registered().keys())
    if named and len(kinds) > 1:
        raise SettingError(f"the conversations are of several kinds ({', '.join(sorted(kinds))}): name a cast (--cast)")
    return named[0] if named else agent_test.NAME


def cast_for(moments: Sequence[Moment], user: Speaker, cast: str | None = None, **settings: Any) -> Cast:
    """The cast in which a user is asked, with pages in the language of most of the conversations.

    `cast`: its name, else that of `cast_name`. `settings`: the cast's own, such as `prompts`.
    """
    factory = casts.find(cast or cast_name(moments))
    if "language" in factory.settings.model_fields and "language" not in settings:
        spoken = Counter(domains.of(one.conversation).language(one.conversation) or "en" for one in moments)
        settings["language"] = max(spoken, key=lambda language: (spoken[language], language), default="en")
    return factory(user=user, **settings)


def state_of(moment: Moment, cast: str) -> Planned | None:
    """The state right before the moment; None if the user would have neither a goal nor a message.

    The user of `agent_test` has a goal. Where the source has no goal, the goal is the request of the person's first
    message. So the first turn cannot be asked for there, nor where the scenario itself holds the first message.
    """
    # `success` would have the end judged.
    scenario = {key: value for key, value in moment.conversation.scenario.items() if key != SUCCESS}
    if cast == agent_test.NAME:
        named, further_details = named_of_user(moment.conversation)
        scenario |= {key: value for key, value in named.items() if key not in scenario}
        scripted = "first_message" in scenario
        if not goal_of(scenario) and (context := scenario.get("task_context") or further_details.get("task_context")):
            scenario["goal"] = str(context)
        elif not goal_of(scenario):
            texts = (message.text for message in moment.before if message.role == "user" and message.stored)
            scripted, scenario["first_message"] = True, next(texts, "")
        if scripted and not moment.turn:
            return None
    # A user that says what stored people said leaves out the person who is asked about.
    stored = {"id": moment.conversation.id, "user": user_of(moment.conversation)}
    return {
        "scenario": scenario,
        "ordinal": moment.ordinal,
        "repeat": 0,
        "messages": [message.plain() for message in moment.before],
        "extra": {STORED: stored},
    }


def named_of_user(conversation: Conversation) -> tuple[dict[str, Any], dict[str, Any]]:
    """Goal, facts and persona that a stored conversation names of its user, and all that its source names besides."""
    details = further(conversation)
    line, _ = of_log(conversation, details)
    return {key: line[key] for key in ("goal", "facts", "persona") if key in line}, details


def next_turn(moment: Moment, conversation: Conversation, *, leaves: bool = True) -> NextTurn:
    """The user's turn, from the record of the conversation that was simulated from the moment on.

    `leaves`: whether the user can end the conversation at a moment.
    """
    after = len(moment.before)
    new = [message for message in conversation.messages[after:] if message.role == "user"]
    unsaid = [turn for turn in conversation.unsaid if turn.role == "user" and turn.after >= after]
    tried: list[Attempt] = [attempt for message in new for attempt in message.attempts]
    tried += [attempt for turn in unsaid for attempt in turn.attempts]
    failure = f"{conversation.failure.node}: {conversation.failure.error}" if conversation.failure is not None else None
    if failure is None and conversation.stop in FAILED:
        failure = f"ended as {conversation.stop}"
    return NextTurn(
        id=conversation.id,
        key=moment.key,
        text="" if failure else text_of(new),
        stopped=(failure is None and conversation.stop not in (None, "max_turns", "user_rejected")) if leaves else None,
        stop=conversation.stop,
        rejected=len({attempt.number for attempt in tried if attempt.verdict == "rejected"}),
        failure=failure,
    )


def reader(assistant: Speaker) -> Cast:
    """A reader in any words."""
    reader_cast = simquac.cast(assistant=assistant, prompts=library("reading", None))
    return _reading(reader_cast.replace(answer_validator=ReadingValidator()))


def teacher(assistant: Speaker = "offline") -> Cast:
    """A teacher as a reader: the assistant of the simquac cast, whose answers its validator finds in the section."""
    return _reading(simquac.cast(assistant=assistant))


def _reading(cast: Cast) -> Cast:
    limits = Limits(max_turns=MANY_TURNS, answer_attempts=cast.limits.answer_attempts)
    stop = AfterOneTurn("assistant", cast.stop)
    return cast.replace(stop=stop, closing=closing, user_prompt_selector=selector(_unprompted), limits=limits)


def _unprompted(state: object) -> None:
    """The scenario holds the question: its reader's user is told nothing."""


def question_states(questions: Iterable[ReadingQuestion]) -> Iterator[Planned]:
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
        return None, stop_in_words(conversation.stop)
    return (None if all(map(gives_no_answer, new)) else "\n".join(message.text for message in new)), None
