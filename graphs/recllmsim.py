"""The RecLLMSim cast: a user with a profile and a task plans something with an assistant.

After RecLLMSim and RecUserSim: travel, presents, meals, skills, restaurants. The user knows its situation
and itself; the assistant knows what it is told.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..data.identity import ordinals
from ..data.recllmsim import KIND, Situation
from ..data.records import Conversation, Message, Role
from ..data.text.languages import Language
from ..nodes import recllmsim as nodes
from ..nodes.contract import Node, Stop
from ..nodes.endings import Ending
from ..nodes.limits import Limits
from ..nodes.post_questions import PostQuestions, closing
from ..nodes.replay import ReplayedLabels, ReplayedOut, ReplaySpeaker
from ..nodes.state import State
from ..nodes.stops import any_of, until_spent
from ..nodes.validators import Observing
from ..prompts import Library, shipped
from .cast import Cast, Speaker, side
from .compiled import conversation

NAME = KIND
PUBLISHED = "recllmsim_as_published"
TURNS = 10
"""Most exchanges of a conversation, as in the published data."""


def cast(
    user: Speaker = "offline",
    assistant: Speaker = "offline",
    *,
    language: Language = "en",
    opens: Role = "user",
    proactive: bool = False,
    handshake: bool = False,
    strict_ending: bool = False,
    may_give_up: bool = False,
    no_repeats: bool = False,
    no_plans: bool = False,
    post_questions: bool = False,
    prompts: str | Path | Library | None = None,
    stop: Stop | None = None,
    limits: Limits | None = None,
) -> Cast:
    """A user with a profile and a task, and an assistant.

    `user` and `assistant`: a model's spec, a chat model, an agent that speaks `messages`, a function of
    messages, `replay:FOLDER`, or a node. `language`: of the prompts and the closing phrase. `opens`: the user, or the
    assistant with a greeting that is not part of the published history. `proactive`: the assistant is told
    what to bring up of its own accord in such a task. `handshake`: the user's pages are acknowledged one by
    one, in scripted words. `strict_ending`: only the closing phrase alone at a message's end ends the talk,
    otherwise its words anywhere in it. `may_give_up`: a second phrase is offered. `no_repeats`, `no_plans`:
    reject what is otherwise counted. `post_questions`: both sides are asked about the talk when it is over.
    `prompts`: a folder whose pages replace those of the same names, or a whole library. A side that replays
    is observed by its validator, and the replayed conversations set the number of turns.
    """
    pages = prompts if isinstance(prompts, Library) else shipped(NAME, language)
    if isinstance(prompts, (str, Path)):
        pages = pages.replaced(prompts)
    asker = side("user", user, nodes.UserMessages(pages, handshake))
    helper = side("assistant", assistant, nodes.AssistantMessages(pages, proactive))
    replaying = [one for one in (asker, helper) if isinstance(one, ReplaySpeaker)]
    played = asker in replaying
    validator = nodes.UserValidator(None if played else Ending(strict_ending, may_give_up), no_repeats, no_plans)
    turns = max((one.longest for one in replaying), default=TURNS)
    sides: tuple[tuple[Role, Node], ...] = (("user", asker), ("assistant", helper))
    asked: dict[Role, Node] = {role: one for role, one in sides if one not in replaying}
    ended = PostQuestions(pages, asked) if post_questions else closing
    if len(replaying) == 2 and replaying[0].conversations == replaying[1].conversations:
        ended = ReplayedLabels(replaying[0])
    return Cast(
        name=NAME,
        user_prompt_selector=nodes.UserPrompts(pages, language, may_give_up),
        user_simulator=asker,
        question_validator=Observing(validator) if played else validator,
        assistant_prompt_selector=nodes.AssistantPrompts(pages),
        assistant=helper,
        answer_validator=Observing(nodes.reply_validator) if helper in replaying else nodes.reply_validator,
        closing=ended,
        stop=stop or any_of(*map(ReplayedOut, replaying), until_spent),
        limits=(limits or Limits()).or_else(Limits(max_turns=turns)),
        greeting=pages["assistant/greeting"].fill() if opens == "assistant" and not replaying else None,
        prompts=pages,
    )


def as_published(user: Speaker = "offline", assistant: Speaker = "offline", **settings: Any) -> Cast:
    """The cast with every switch as in the published generator; settings as for `cast` win over them.

    The assistant greets, the user acknowledges its pages, the closing words count anywhere in a message, and
    nothing that the user writes is rejected: its validator counts.
    """
    published: dict[str, Any] = {"opens": "assistant", "handshake": True}
    plain = cast(user, assistant, **(published | settings))
    validator = plain.question_validator
    if isinstance(validator, nodes.UserValidator):
        validator = Observing(replace(validator, ends_anyway=True))
    replies = plain.answer_validator
    if replies is nodes.reply_validator:
        replies = nodes.published_reply_validator
    return plain.replace(name=PUBLISHED, question_validator=validator, answer_validator=replies)


def scenario(
    about: Situation | Conversation | Mapping[str, Any],
    *,
    ordinal: int = 0,
    repeat: int = 0,
    messages: Iterable[Message] = (),
) -> State:
    """The initial state of a conversation about a situation; `messages` were already said.

    Of a conversation that is played again: its situation and its place. What annotators said of it as a whole
    is true of it alone: a cast whose two sides replay it adds that at its end.
    """
    situation = Situation.of(about) if isinstance(about, Conversation) else Situation.model_validate(about)
    state: State = {
        "scenario": situation.scenario(),
        "ordinal": ordinal,
        "repeat": repeat,
        "messages": [message.plain() for message in messages],
    }
    if isinstance(about, Conversation):
        state["extra"] = dict(about.extra)
    return state


def scenarios(about: Sequence[Situation | Conversation]) -> list[State]:
    """One initial state for each, in order; equal situations are told apart by number."""
    states = [scenario(one) for one in about]
    for state, ordinal in zip(states, ordinals(state["scenario"] for state in states), strict=True):
        state["ordinal"] = ordinal
    return states


graph = conversation(cast())
"""The conversation of two offline speakers: what `langgraph dev` serves."""
