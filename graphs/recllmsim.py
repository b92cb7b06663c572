"""The RecLLMSim cast: a user with a profile and a task plans something with an assistant.

After RecLLMSim and RecUserSim: travel, presents, meals, skills, restaurants. The user knows its profile and its
task; the assistant knows only what the user says.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ..data.recllmsim import KIND
from ..data.records import Role
from ..data.text.languages import Language
from ..errors import SettingError
from ..nodes.contract import Node
from ..nodes.goodbyes import Ending
from ..nodes.messages.selectors import RepairPrompts
from ..nodes.people import PeopleSpeaker, RewritePeople, people_path, rewrites
from ..nodes.recllmsim import roles as nodes
from ..nodes.scorers.post_questions import PostQuestions, closing
from ..nodes.speakers.replay import ReplayedLabels, replayed_path
from ..nodes.validators.composition import Observing, not_empty
from .casts.assembling import assembled, replaying, says_stored
from .casts.cast import Cast
from .casts.registry import CastFactory, register
from .casts.settings import CastSettings, documented, library
from .casts.sides import Speaker, side
from .graph import conversation
from .scenarios.tasks import TaskSource
from .scenarios.tasks import scenario as scenario
from .scenarios.tasks import scenarios as scenarios

NAME = KIND
PUBLISHED = "recllmsim_as_published"
TURNS = 10
"""Maximum turns of a conversation, as in the published data."""
OFFLINE: Mapping[Role, str] = {"user": "task_user", "assistant": "task_assistant"}
"""Whose part the offline model plays for each role."""


class RecLLMSimSettings(CastSettings):
    """Settings of the RecLLMSim cast.

    If a role replays stored conversations, its validator only takes notes, and the number of turns is that of the
    stored conversation.
    """

    language: Language | None = Field(
        default=None,
        description="Choose the language of prompts, shipped tasks and profiles. Default: that of the replayed "
        "conversations, or en.",
    )
    opens: Role | None = Field(
        default=None,
        description="Begin with the user or the assistant. The assistant begins with a fixed greeting, which the "
        "published files leave out. "
        "Default: user; with --as-published: assistant.",
    )
    handshake: bool | None = Field(
        default=None,
        description="Show the user model one prompt template at a time, each acknowledged in fixed words. Default: "
        "only with --as-published.",
    )
    post_questions: bool = Field(default=False, description="Ask both roles questions about the finished conversation.")
    proactive: bool = Field(default=False, description="Give the assistant a list of matters to raise by itself.")
    may_give_up: bool = Field(default=False, description="Give the user a phrase for giving up.")
    strict_ending: bool = Field(
        default=False,
        description="End only if a message ends with the whole closing phrase. Default: its words may be anywhere.",
    )
    no_repeats: bool = Field(
        default=False, description="Reject a message that the user has sent before. Default: accept and count it."
    )
    no_plans: bool = Field(default=False, description="Reject messages in which the user writes the plan itself.")
    question_words: int | None = Field(
        default=None,
        ge=1,
        description="Set the maximum number of words of a question or message of the user. Default: no limit.",
    )
    one_question: bool = Field(default=False, description="Reject a message with several questions.")
    as_published: bool = Field(
        default=False,
        description="Use the settings of the published program; user messages are never rejected, only counted.",
    )

    def check(self) -> None:
        """Raise SettingError for switches that have no effect on a replayed side."""
        user, assistant = (replayed_path(side) is not None for side in (self.user, self.assistant))
        asker, helper = (_is_stored(side) for side in (self.user, self.assistant))
        fitted = isinstance(self.user, RewritePeople) or rewrites(self.user)
        idle = {
            "opens": user or assistant,
            "handshake": asker,
            "strict_ending": asker or fitted,
            "may_give_up": asker or fitted,
            "proactive": helper,
            "post_questions": asker and helper,
        }
        useless = [name for name, without_effect in idle.items() if without_effect and getattr(self, name)]
        if useless:
            options = ", ".join("--" + name.replace("_", "-") for name in useless)
            played = "a replayed side" if user or assistant else "a side made from people"
            raise SettingError(f"{options}: without effect, {played} repeats its stored messages: leave it out")


def _is_stored(side: Any) -> bool:
    return replayed_path(side) is not None or people_path(side) is not None or isinstance(side, PeopleSpeaker)


def _build(settings: RecLLMSimSettings) -> Cast:
    language = settings.language or "en"
    pages = library(NAME, settings.prompts, language)
    handshake = settings.as_published if settings.handshake is None else settings.handshake
    opens = settings.opens or ("assistant" if settings.as_published else "user")
    asker = side("user", settings.user, nodes.UserMessages(pages, handshake), OFFLINE["user"])
    helper = side(
        "assistant", settings.assistant, nodes.AssistantMessages(pages, settings.proactive), OFFLINE["assistant"]
    )
    ending = None if says_stored(asker) else Ending(settings.strict_ending, settings.may_give_up)
    validator: Node = nodes.UserValidator(
        ending,
        settings.no_repeats,
        settings.no_plans,
        ends_anyway=settings.as_published,
        words=settings.question_words,
        one_question=settings.one_question,
    )
    reply_validator: Node = nodes.published_reply_validator if settings.as_published else not_empty
    sides: tuple[tuple[Role, Node], ...] = (("user", asker), ("assistant", helper))
    respondents: dict[Role, Node] = {role: speaker for role, speaker in sides if not says_stored(speaker)}
    ended = PostQuestions(pages, respondents) if settings.post_questions else closing
    replayed = replaying(asker, helper)
    if len(replayed) == 2 and replayed[0].conversations == replayed[1].conversations:
        ended = ReplayedLabels(replayed[0])
    return assembled(
        settings,
        turns=TURNS,
        name=PUBLISHED if settings.as_published else NAME,
        user_prompt_selector=nodes.UserPrompts(pages, language, settings.may_give_up, settings.question_words),
        user_simulator=asker,
        question_validator=Observing(validator) if settings.as_published else validator,
        assistant_prompt_selector=RepairPrompts("assistant", pages),
        assistant=helper,
        answer_validator=reply_validator,
        closing=ended,
        greeting=pages["assistant/greeting"].fill() if opens == "assistant" and not replayed else None,
        prompts=pages,
        offline=OFFLINE,
    )


FACTORY = register(
    CastFactory(
        name=NAME,
        build=_build,
        settings=RecLLMSimSettings,
        source=TaskSource,
        summary="A user with a profile and a task plans something with an assistant (RecLLMSim, RecUserSim).",
    )
)


@documented(RecLLMSimSettings)
def cast(user: Speaker = "offline", assistant: Speaker = "offline", **settings: Any) -> Cast:
    """A user with a profile and a task, and an assistant.

    `user` and `assistant`: a model identifier, a chat model, an agent with a `messages` channel, a function of
    messages, `replay:FOLDER`, `people:FOLDER`, `agent:URL`, `MODULE:NAME`, or a node. `prompts`: a folder, or a whole
    library.
    """
    return FACTORY(user=user, assistant=assistant, **settings)


@documented(RecLLMSimSettings)
def as_published(user: Speaker = "offline", assistant: Speaker = "offline", **settings: Any) -> Cast:
    """The cast that works as the program that made the published data; settings as for `cast` come before its own.

    The assistant greets, and the user model acknowledges its instructions page by page. The closing words count
    anywhere in a message, and no user message is rejected: the validator only counts.
    """
    return FACTORY(user=user, assistant=assistant, **(settings | {"as_published": True}))


graph = conversation(cast())
"""The conversation of two offline speakers: what `langgraph dev` serves."""
