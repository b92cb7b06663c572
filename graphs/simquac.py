"""The SimQuAC cast: a student asks about a section that only the teacher sees.

"Let the LLMs Talk" (WSDM 2024). In code student is `user`, teacher is `assistant`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from pydantic import Field

from ..data import simquac as data
from ..data.grounding import NO_ANSWER
from ..data.records import Message
from ..data.simquac import Topic
from ..data.simquac.domain import QUESTION_WORDS
from ..errors import DataError
from ..nodes.contract import Node
from ..nodes.simquac import roles as nodes
from ..nodes.simquac import validators
from ..nodes.speakers.replay import replayed
from ..nodes.state import Planned
from .casts.cast import Cast, stored_words
from .casts.registry import Assistant, Common, Count, User, assembled, library, ships
from .graph import conversation
from .scenarios.sources import Scenarios, ScenarioSource, chosen, numbered, of_another_kind, replayed_paths

NAME = "simquac"
PUBLISHED = "simquac_as_released"
"""Name of the cast with the published script's rules; ids and random draws depend on it."""
TURNS = 12
"""Turns of a conversation, as in the published data set."""


class TopicSource(ScenarioSource):
    """Topics from a file, from the data set that a side replays, or from the shipped samples."""

    subjects = ("topics",)
    topics: Path | None = Field(
        default=None,
        description="Take the topics of this source: a document of yours (.md, .txt, .html, .docx) or a folder of them, JSON lines, SimQuAC or QuAC JSON, or a run folder. Default: those of the replayed file, or the shipped samples.",
    )
    sample: int | None = Field(
        default=None, ge=1, description="Draw N topics at random with the seed, in the file's order. Default: all."
    )

    def fitting(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """The topic as a scenario, or a line without a kind as in --topics; DataError for another kind."""
        kind = scenario.get("kind", data.KIND if "section" in scenario else None)
        if kind != data.KIND:
            raise DataError(of_another_kind(kind, "topics with a section", data.KIND))
        topic = {"kind": kind, "background": ""} | scenario
        if "kind" not in scenario:  # as a line of a file of topics, where these say nothing of what is talked about
            topic = {key: value for key, value in topic.items() if key != "id"}
            topic["section"] = str(topic["section"]).removesuffix(data.ENDING)
        if problem := data.problem_of(Topic.of(topic)):
            raise DataError(problem)
        return topic

    def selected(self, states: Sequence[Planned], seed: int) -> Sequence[Planned]:
        """The first ones, or the sample."""
        return chosen(states, limit=self.limit, sample=self.sample, seed=seed)

    def own(self, settings: Any, seed: int) -> Scenarios:
        """One scenario for each topic; equal topics get different numbers."""
        replays = replayed_paths(settings)
        notes = [f"{path}: {note}" for path in dict.fromkeys(replays) for note in replayed(path).notes]
        if self.topics is not None:
            topic_set = data.topic_set(self.topics)
            topics, source = topic_set.topics, {"source": self.topics.absolute().name}
            notes += topic_set.notes
        elif replays:
            topics = data.topics_of(replayed(replays[0]), replays[0])
            source = {"source": replays[0].name}
        else:
            topics, licence = data.samples(), {"licence": "MIT, written for duologue", "licence_id": "mit"}
            source = {"source": "samples/topics.jsonl"} | licence
        states = scenarios(topics)
        if equal := sum(bool(state.get("ordinal")) for state in states):
            notes.append(f"topics that repeat an earlier one: {equal} of {len(topics)}; each is simulated")
        return Scenarios(self.selected(states, seed), source, notes=tuple(notes))


def scenario(topic: Topic | Mapping[str, Any], *, messages: Iterable[Message] = ()) -> Planned:
    """A planned conversation about a topic; `messages` come first. With them `graphs.begun` makes a graph's input of it."""
    topic = topic if isinstance(topic, Topic) else Topic.model_validate(topic)
    state: Planned = {"scenario": topic.scenario(), "messages": [message.plain() for message in messages]}
    if topic.id is not None:
        state["labels"] = {"topic_id": topic.id}
    return state


def scenarios(topics: Sequence[Topic]) -> list[Planned]:
    """One initial state for each topic, in order; equal topics get different numbers."""
    return numbered([scenario(topic) for topic in topics])


@ships(TopicSource)
def cast(
    user: User = "offline",
    assistant: Assistant = "offline",
    *,
    question_words: Count = QUESTION_WORDS,
    interesting_once: bool = True,
    as_published: bool = False,
    **common: Unpack[Common],
) -> Cast:
    """A student asks about a section that only the teacher sees ("Let the LLMs Talk", WSDM 2024).

    If a role replays stored conversations, its validator only takes notes, and the number of turns is that of the
    stored conversation. `prompts`: a folder, or a whole library.

    Args:
        question_words: Set the maximum number of words of a question or message of the user.
        interesting_once: Let the student ask for something interesting at most once in a conversation.
        as_published: Use the rules of the published program instead of the paper's; docs/papers/deviations.md
            lists them.
    """
    pages = library(NAME, common.get("prompts"))
    question_validator: Node = validators.QuestionValidator(question_words)
    answer_validator: Node = validators.AnswerValidator()
    student_prompts: Node = nodes.StudentPrompts(pages, question_words, interesting_once)
    teacher_prompts: Node = nodes.TeacherPrompts(pages)
    if as_published:
        question_validator = validators.ReleasedQuestionValidator(question_words)
        answer_validator = validators.ReleasedAnswerValidator()
        student_prompts = nodes.ReleasedStudentPrompts(pages, question_words, interesting_once)
        teacher_prompts = nodes.ReleasedTeacherPrompts(pages)
    return assembled(
        common,
        turns=TURNS,
        as_published=as_published,
        name=PUBLISHED if as_published else NAME,
        user_view=nodes.StudentMessages("user", pages, question_words),
        user_prompt_selector=student_prompts,
        user_simulator=stored_words("user", user),
        question_validator=question_validator,
        assistant_prompt_selector=teacher_prompts,
        assistant_view=nodes.TeacherMessages("assistant", pages),
        assistant=stored_words("assistant", assistant),
        answer_validator=answer_validator,
        fallback=NO_ANSWER,
        prompts=pages,
    )


graph = conversation(cast())
"""The conversation of two offline speakers: what `langgraph dev` serves."""
