"""The SimQuAC cast: a student asks about a section that only the teacher sees.

"Let the LLMs Talk" (WSDM 2024). In code student is `user`, teacher is `assistant`.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ..data.grounding import NO_ANSWER
from ..data.records import Role
from ..data.rules import QUESTION_WORDS
from ..data.simquac.dataset_checks import ANSWER_TOKENS
from ..nodes.contract import Node
from ..nodes.simquac import as_released as as_released_nodes
from ..nodes.simquac import roles as nodes
from ..nodes.simquac.roles import ANSWER_CHARACTERS
from .casts.assembling import assembled
from .casts.cast import Cast
from .casts.registry import CastFactory, register
from .casts.settings import CastSettings, documented, library
from .casts.sides import Speaker, side
from .graph import conversation
from .scenarios.topics import TopicSource
from .scenarios.topics import scenario as scenario
from .scenarios.topics import scenarios as scenarios

NAME = "simquac"
PUBLISHED = "simquac_as_released"
"""Name of the cast with the published script's rules; ids and random draws depend on it."""
TURNS = 12
"""Turns of a conversation, as in the published data set."""
OFFLINE: Mapping[Role, str] = {"user": "student", "assistant": "teacher"}
"""Whose part the offline model plays for each role."""


class SimQuACSettings(CastSettings):
    """Settings of the SimQuAC cast.

    If a role replays stored conversations, its validator only takes notes, and the number of turns is that of the
    stored conversation.
    """

    question_words: int = Field(
        default=QUESTION_WORDS,
        ge=1,
        description="Set the maximum number of words of a question or message of the user.",
    )
    one_question: bool = Field(
        default=False, description="Reject a message with several questions. Default: accept and count it."
    )
    no_repeats: bool = Field(
        default=False, description="Reject a message that the user has sent before. Default: accept and count it."
    )
    interesting_once: bool = Field(
        default=True, description="Let the student ask for something interesting at most once in a conversation."
    )
    answer_tokens: int = Field(
        default=ANSWER_TOKENS, ge=1, description="Ask the teacher for answers of this number of tokens."
    )
    answer_characters: int = Field(
        default=ANSWER_CHARACTERS,
        ge=1,
        description="Reject an answer with more characters, without a search in the section.",
    )
    as_published: bool = Field(
        default=False,
        description="Use the rules of the published program instead of the paper's; docs/research/as_released.md "
        "lists them.",
    )


def _build(settings: SimQuACSettings) -> Cast:
    pages = library(NAME, settings.prompts)
    student = side("user", settings.user, nodes.StudentMessages(pages, settings.question_words), OFFLINE["user"])
    teacher = side(
        "assistant", settings.assistant, nodes.TeacherMessages(pages, settings.answer_tokens), OFFLINE["assistant"]
    )
    question_validator: Node = nodes.QuestionValidator(
        settings.question_words, settings.one_question, settings.no_repeats
    )
    answer_validator: Node = nodes.AnswerValidator(settings.answer_characters)
    student_prompts: Node = nodes.StudentPrompts(pages, settings.question_words, settings.interesting_once)
    teacher_prompts: Node = nodes.TeacherPrompts(pages)
    if settings.as_published:
        question_validator = as_released_nodes.ReleasedQuestionValidator(settings.question_words)
        answer_validator = as_released_nodes.ReleasedAnswerValidator()
        student_prompts = as_released_nodes.ReleasedStudentPrompts(
            pages, settings.question_words, settings.interesting_once
        )
        teacher_prompts = as_released_nodes.ReleasedTeacherPrompts(pages)
    return assembled(
        settings,
        turns=TURNS,
        name=PUBLISHED if settings.as_published else NAME,
        user_prompt_selector=student_prompts,
        user_simulator=student,
        question_validator=question_validator,
        assistant_prompt_selector=teacher_prompts,
        assistant=teacher,
        answer_validator=answer_validator,
        fallback=NO_ANSWER,
        prompts=pages,
        offline=OFFLINE,
    )


FACTORY = register(
    CastFactory(
        name=NAME,
        build=_build,
        settings=SimQuACSettings,
        source=TopicSource,
        summary='A student asks about a section that only the teacher sees ("Let the LLMs Talk", WSDM 2024).',
    )
)


@documented(SimQuACSettings)
def cast(user: Speaker = "offline", assistant: Speaker = "offline", **settings: Any) -> Cast:
    """Student and teacher.

    `user` and `assistant`: a model identifier, a chat model, an agent with a `messages` channel, a function of
    messages, `replay:FILE`, `people:FILE`, `agent:URL`, `MODULE:NAME`, or a node. `prompts`: a folder, or a whole
    library.
    """
    return FACTORY(user=user, assistant=assistant, **settings)


@documented(SimQuACSettings)
def as_published(user: Speaker = "offline", assistant: Speaker = "offline", **settings: Any) -> Cast:
    """The cast that follows the published script's rules instead of the paper's; settings as for `cast`.

    Where the script crashes or repeats without end, this cast has limits: four calls a turn for both roles, twelve
    turns. `docs/research/as_released.md` lists every difference between paper, script and this project.
    """
    return FACTORY(user=user, assistant=assistant, **(settings | {"as_published": True}))


graph = conversation(cast())
"""The conversation of two offline speakers: what `langgraph dev` serves."""
