"""Scenarios about topics, for the SimQuAC cast: from records of topics, and from files of many formats."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from ..data import simquac
from ..data.identity import equals, ordinals
from ..data.records import Message
from ..data.simquac import Topic
from ..nodes.replay import replayed
from ..nodes.state import State
from .sources import Scenarios, ScenarioSource, chosen, replayed_paths


class TopicSource(ScenarioSource):
    """Topics: of a file, of the data set that a side replays, or the shipped samples."""

    topics: Path | None = Field(
        default=None,
        description="Topics: JSON lines, SimQuAC or QuAC JSON, a run. Default: the shipped samples, or a replayed file's own.",
    )
    sample: int | None = Field(default=None, ge=1, description="N topics drawn by the seed, in the file's order.")

    def read(self, settings: Any, seed: int) -> Scenarios:
        """One scenario for each topic; equal topics are told apart by number."""
        replays = replayed_paths(settings)
        notes = [f"{path}: {note}" for path in dict.fromkeys(replays) for note in replayed(path).notes]
        if len(set(replays)) == 2:
            notes.insert(0, "user and assistant replay two files: answers belong to the questions of their own file")
        if self.topics is not None:
            topics, source = simquac.read_topics(self.topics, max_bytes=self.max_topic_bytes), self.topics.name
        elif replays:
            topics = simquac.topics_of(replayed(replays[0]), replays[0], max_bytes=self.max_topic_bytes)
            source = replays[0].name
        else:
            topics, source = simquac.samples(), "samples/topics.jsonl"
        shipped = self.topics is None and not replays
        about = {"licence": "MIT, written for duologue", "licence_id": "mit"} if shipped else {}
        if repeated := equals(ordinals(topic.scenario() for topic in topics)):
            verb = "repeats" if repeated == 1 else "repeat"
            notes.append(f"{repeated} of {len(topics)} topics {verb} an earlier one; each is simulated")
        states = chosen(scenarios(topics), limit=self.limit, sample=self.sample, seed=seed)
        return Scenarios(self.repeated(states, settings), self.about(source=source, **about), notes=tuple(notes))


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
