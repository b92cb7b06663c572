"""The SimQuAC cast: a student asks about a section that only the teacher sees.

"Let the LLMs Talk" (WSDM 2024). In code student is `user`, teacher is `assistant`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..data.checks import QUESTION_WORDS
from ..data.grounding import NO_ANSWER
from ..data.identity import ordinals
from ..data.records import Message
from ..data.simquac import Topic
from ..data.simquac.checks import ANSWER_TOKENS
from ..nodes import as_released as released
from ..nodes import simquac as nodes
from ..nodes.contract import Node, Stop
from ..nodes.limits import Limits
from ..nodes.replay import ReplayedOut, ReplaySpeaker
from ..nodes.state import State
from ..nodes.stops import any_of, until_spent
from ..nodes.validators import Observing
from ..prompts import Library, shipped
from .cast import Cast, Speaker, side
from .compiled import conversation

NAME = "simquac"
RELEASED = "simquac_as_released"
TURNS = 12
"""Exchanges of a conversation, as in the published data set."""


def cast(
    user: Speaker = "offline",
    assistant: Speaker = "offline",
    *,
    prompts: str | Path | Library | None = None,
    question_words: int = QUESTION_WORDS,
    one_question: bool = False,
    no_repeats: bool = False,
    interesting_once: bool = True,
    answer_tokens: int = ANSWER_TOKENS,
    stop: Stop | None = None,
    limits: Limits | None = None,
) -> Cast:
    """Student and teacher.

    `user` and `assistant`: a model's spec, a chat model, an agent that speaks `messages`, `replay:FILE`, or
    a node. `prompts`: a folder whose pages replace those of the same names, or a whole library.
    `question_words`: most words of a question. `one_question`, `no_repeats`: reject several questions in
    one, and a question that was asked before; otherwise both are counted. `interesting_once`: ask what is
    interesting at most once a conversation. `answer_tokens`: length of answers that the teacher is asked
    for. A side that replays a file is observed by its validator, and the file's conversations set the
    number of turns.
    """
    pages = prompts if isinstance(prompts, Library) else shipped(NAME)
    if isinstance(prompts, (str, Path)):
        pages = pages.replaced(prompts)
    student = side("user", user, nodes.StudentView(pages, question_words))
    teacher = side("assistant", assistant, nodes.TeacherView(pages, answer_tokens))
    question_validator: Node = nodes.QuestionValidator(question_words, one_question, no_repeats)
    answer_validator: Node = nodes.AnswerValidator()
    replaying = [speaker for speaker in (student, teacher) if isinstance(speaker, ReplaySpeaker)]
    turns = max((speaker.longest for speaker in replaying), default=TURNS)
    return Cast(
        name=NAME,
        user_prompt_selector=nodes.StudentPrompts(pages, question_words, interesting_once),
        user_simulator=student,
        question_validator=Observing(question_validator) if student in replaying else question_validator,
        assistant_prompt_selector=nodes.TeacherPrompts(pages),
        assistant=teacher,
        answer_validator=Observing(answer_validator) if teacher in replaying else answer_validator,
        stop=stop or any_of(*map(ReplayedOut, replaying), until_spent),
        limits=(limits or Limits()).or_else(Limits(max_turns=turns)),
        fallback=NO_ANSWER,
        prompts=pages,
    )


def as_released(user: Speaker = "offline", assistant: Speaker = "offline", **settings: Any) -> Cast:
    """The cast that follows the published script's rules instead of the paper's; settings as for `cast`.

    What the script crashes on or repeats for ever is bounded here: four calls a turn on both sides, twelve
    exchanges. `docs/as_released.md` lists each deviation between paper, script and this project.
    """
    plain = cast(user, assistant, **settings)
    selector = plain.user_prompt_selector
    pages = plain.prompts
    words = settings.get("question_words", QUESTION_WORDS)
    observed = isinstance(plain.question_validator, Observing), isinstance(plain.answer_validator, Observing)
    question: Node = released.ReleasedQuestionValidator(words)
    answer: Node = released.ReleasedAnswerValidator()
    assert isinstance(selector, nodes.StudentPrompts)
    return plain.replace(
        name=RELEASED,
        user_prompt_selector=released.ReleasedStudentPrompts(pages, words, selector.interesting_once),
        question_validator=Observing(question) if observed[0] else question,
        assistant_prompt_selector=released.ReleasedTeacherPrompts(pages),
        answer_validator=Observing(answer) if observed[1] else answer,
    )


def scenario(
    topic: Topic | Mapping[str, Any],
    *,
    ordinal: int = 0,
    repeat: int = 0,
    messages: Iterable[Message] = (),
) -> State:
    """The initial state of a conversation about a topic; `messages` were already said."""
    about = topic if isinstance(topic, Topic) else Topic.model_validate(topic)
    state: State = {
        "scenario": about.scenario(),
        "ordinal": ordinal,
        "repeat": repeat,
        "messages": [message.plain() for message in messages],
    }
    if about.id is not None:
        state["labels"] = {"topic_id": about.id}
    return state


def scenarios(topics: Sequence[Topic]) -> list[State]:
    """One initial state for each topic, in order; equal topics are told apart by number."""
    numbers = ordinals(topic.scenario() for topic in topics)
    return [scenario(topic, ordinal=ordinal) for topic, ordinal in zip(topics, numbers, strict=True)]


graph = conversation(cast())
"""The conversation of two offline speakers: what `langgraph dev` serves."""
