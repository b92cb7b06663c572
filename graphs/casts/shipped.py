"""What the shipped casts share: settings, prompt pages, and what a side that replays stored conversations changes."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypedDict

from pydantic import BeforeValidator, Field, SkipValidation

from ...nodes.limits import Limits, Stop, any_of, until_spent
from ...nodes.messages import BEHAVIOURS
from ...nodes.people import PeopleSpeaker
from ...nodes.settings.import_path import import_path_of
from ...nodes.speakers.replay import ReplaySpeaker
from ...nodes.validators import Observing
from ...nodes.worlds import World
from ...prompts import Library, shipped
from .cast import Cast, Speaker, WhenRejected

User: TypeAlias = Annotated[
    Speaker,
    SkipValidation,
    Field(
        description="Play the user with this model: openai:NAME (a model), PROVIDER:NAME (a model of another provider, such as anthropic or ollama), offline (rules, no network). Or replay:PATH (the user of stored conversations), people:PATH (turns of many such users), agent:URL (a LangGraph server) or MODULE:NAME (your own)."
    ),
]
Assistant: TypeAlias = Annotated[
    Speaker,
    SkipValidation,
    Field(
        description="Play the assistant with this model: openai:NAME, PROVIDER:NAME, offline, replay:PATH, people:PATH (recorded replies), agent:URL or MODULE:NAME."
    ),
]
Count: TypeAlias = Annotated[int, Field(ge=1)]


class Common(TypedDict, total=False):
    """The settings that every shipped cast has besides its sides; a cast with a live object runs in this process only.

    Args:
        prompts: Read prompt templates from this folder; each replaces the shipped one of the same name.
        stop: Stop by this criterion of yours, in place of the cast's: MODULE:NAME.
        world: Make a world for each conversation, which the agents' tools work on: MODULE:NAME.
        user_tokens: Set the most tokens of a reply of an openai: or local: model as the user. Default: 256; of the published
            programs no bound is sent.
        assistant_tokens: The same of the assistant. Default: 1024.
        when_rejected: Choose what follows the assistant's last rejected attempt: send it anyway, send the cast's
            fallback, or stop the conversation.
        approve: Answer an agent that stops for an approval: all, none, ask-user (the simulated user decides) or
            MODULE:NAME (your function of the interrupt's value). Default: the conversation ends.
        context: Call the agent's graph with this context: MODULE:NAME, a value or your function of scenario and world.
            Default: the defaults of its `context_schema`.
        limits: Limits of a run that sets none itself.
    """

    prompts: SkipValidation[str | Path | Library | None]
    stop: SkipValidation[str | Stop | None]
    world: SkipValidation[str | World | None]
    user_tokens: Annotated[int | None, Field(ge=1)]
    assistant_tokens: Annotated[int | None, Field(ge=1)]
    when_rejected: WhenRejected | None
    approve: Annotated[
        SkipValidation[str | Callable[..., Any] | None],
        # by its import path, so that the cast can be built in other processes
        BeforeValidator(lambda approve: import_path_of(approve) or approve),
    ]
    context: SkipValidation[Any]
    limits: Limits | None


def library(name: str, prompts: Any, language: str = "en") -> Library:
    """The pages of a shipped cast; `prompts`: a folder whose pages replace those of the same names, or a whole library."""
    if isinstance(prompts, Library):
        return prompts
    pages = shipped(name, language)
    if prompts is None:
        return pages
    behaviours = shipped(BEHAVIOURS, language).pages  # of these only the folder's own are pages of the cast
    full = Library({**behaviours, **pages.pages}).replaced(prompts).pages
    return Library({key: page for key, page in full.items() if page != behaviours.get(key)})


AS_PUBLISHED = {"user_tokens": None, "assistant_tokens": None}
"""Parts of a cast whose requests are those of a published program: it bounds no reply."""


def assembled(settings: Common, *, turns: int, as_published: bool = False, **parts: Any) -> Cast:
    """A cast of its settings and parts, whose stored words have been found (`stored_words`).

    The validator of a side that replays stored conversations only observes. If the settings have no criterion of their
    own, a conversation ends where a stored one ended. If they have no limits, it ends after `turns` turns.
    """
    ends, longest = list[Any](), list[int]()
    for place, validator in (("user_simulator", "question_validator"), ("assistant", "answer_validator")):
        side = parts[place]
        if isinstance(side, ReplaySpeaker):
            ends.append(side.ended)
            if not isinstance(parts[validator], Observing):
                parts[validator] = Observing(parts[validator])
        elif isinstance(side, PeopleSpeaker) and side.role == "user":
            ends.append(side.left)
        else:
            continue  # the assistant's replies out of people's conversations go on as long as the user does
        longest.append(side.longest)
    own = {name: part for name, part in settings.items() if name not in ("prompts", "limits") and part is not None}
    limits = (settings.get("limits") or Limits()).or_else(Limits(max_turns=max(longest, default=turns)))
    published = AS_PUBLISHED if as_published else {}
    return Cast(**{"limits": limits, "stop": any_of(*ends, until_spent), **published, **own, **parts})
