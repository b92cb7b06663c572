"""Scenarios for the SimQuAC cast: one for each topic, from objects in code or from files of several formats."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from ...data import simquac
from ...data.identity import equals, ordinals
from ...data.records import Message
from ...data.simquac import Topic
from ...errors import DataError, SettingError
from ...nodes.speakers.replay import replayed
from ...nodes.state import Planned
from .planned_states import chosen, numbered
from .sources import Scenarios, ScenarioSource, of_another_kind, replayed_paths


class TopicSource(ScenarioSource):
    """Topics from a file, from the data set that a side replays, or from the shipped samples."""

    topics: Path | None = Field(
        default=None,
        description="Take the topics of this source: a document of yours (.md, .txt, .html, .docx) or a folder of them, JSON lines, SimQuAC or QuAC JSON, or a run folder. Default: those of the replayed file, or the shipped samples.",
    )
    sample: int | None = Field(
        default=None, ge=1, description="Draw N topics at random with the seed, in the file's order. Default: all."
    )

    background: simquac.Background = Field(
        default="lead",
        description="Take the background from a document: the text between its title and the next heading, only that text's first paragraph, or none.",
    )
    max_section_bytes: int = Field(
        default=simquac.MAX_SECTION_BYTES,
        ge=200,
        description="Set the maximum of bytes of a section of a document; a longer one is split into several topics.",
    )

    def check(self) -> None:
        """Raise SettingError for topics beside stored ones."""
        if self.topics is not None:
            raise SettingError(
                "--topics and --scenarios: each gives the subjects of the conversations: give one of the two"
            )

    def fitting(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """The topic as a scenario; DataError for another kind.

        A line without a kind may be a topic as in --topics.
        """
        kind = scenario.get("kind", simquac.KIND if "section" in scenario else None)
        if kind != simquac.KIND:
            raise DataError(of_another_kind(kind, "topics with a section", simquac.KIND))
        topic = {"kind": kind, "background": ""} | scenario
        if "kind" not in scenario:  # as a line of a file of topics, where these say nothing of what is talked about
            topic = {key: value for key, value in topic.items() if key != "id"}
            topic["section"] = str(topic["section"]).removesuffix(simquac.ENDING)
        if problem := simquac.problem_of(Topic.of(topic)):
            raise DataError(problem)
        return topic

    def selected(self, states: Sequence[Planned], seed: int) -> Sequence[Planned]:
        """The first ones, or the sample."""
        return chosen(states, limit=self.limit, sample=self.sample, seed=seed)

    def own(self, settings: Any, seed: int) -> Scenarios:
        """One scenario for each topic; equal topics get different numbers."""
        replays = replayed_paths(settings)
        notes = [f"{path}: {note}" for path in dict.fromkeys(replays) for note in replayed(path).notes]
        if len(set(replays)) == 2:
            notes.insert(0, "user and assistant replay two files: answers belong to the questions of their own file")
        if self.topics is not None:
            topic_set = simquac.topic_set(
                self.topics,
                max_bytes=self.max_topic_bytes,
                background=self.background,
                max_section_bytes=self.max_section_bytes,
            )
            topics, source = topic_set.topics, self.topics.absolute().name
            notes += topic_set.notes
        elif replays:
            topics = simquac.topics_of(replayed(replays[0]), replays[0], max_bytes=self.max_topic_bytes)
            source = replays[0].name
        else:
            topics, source = simquac.samples(), "samples/topics.jsonl"
        shipped = self.topics is None and not replays
        licence = {"licence": "MIT, written for duologue", "licence_id": "mit"} if shipped else {}
        if repeated := equals(ordinals(topic.scenario() for topic in topics)):
            verb = "repeats" if repeated == 1 else "repeat"
            notes.append(f"{repeated} of {len(topics)} topics {verb} an earlier one; each is simulated")
        states = chosen(scenarios(topics), limit=self.limit, sample=self.sample, seed=seed)
        return Scenarios(
            self.repeated(states, settings), self.source_info(source=source, **licence), notes=tuple(notes)
        )


def scenario(
    topic: Topic | Mapping[str, Any],
    *,
    ordinal: int = 0,
    repeat: int = 0,
    messages: Iterable[Message] = (),
) -> Planned:
    """The initial state of a conversation about a topic; `messages` come first."""
    topic = topic if isinstance(topic, Topic) else Topic.model_validate(topic)
    state: Planned = {
        "scenario": topic.scenario(),
        "ordinal": ordinal,
        "repeat": repeat,
        "messages": [message.plain() for message in messages],
    }
    if topic.id is not None:
        state["labels"] = {"topic_id": topic.id}
    return state


def scenarios(topics: Sequence[Topic]) -> list[Planned]:
    """One initial state for each topic, in order; equal topics get different numbers."""
    return numbered([scenario(topic) for topic in topics])
