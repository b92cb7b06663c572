"""The other side of the track: a platform that gives scenarios, plays the agents and keeps what every team sends.

It answers as the track's published examples do, so any client may be tried on it.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

from ...data.attempts import as_list, as_object
from ...data.files.folders import make_folder
from ...data.files.json_files import dumps, read_lines
from ...data.identity import digest
from ...data.records import Conversation, Message
from ...data.test_cases.trec import NAME, written
from ...errors import DataError
from ...graphs.casts.cast import Cast
from ...graphs.single_turn import answering
from ...nodes.recllmsim.goals import goal_of
from ...nodes.state import State
from ...nodes.stops import MANY_TURNS
from ...runs.journals.journal import AppendedFile
from ...runs.simulation import asimulate
from .protocol import COMPLETE, NEW_CONVERSATION, STARTED_BEFORE, TASKS, USER, TrackTask

BUDGET = 10
"""Messages of a user that a conversation may have."""
SAFE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"


@dataclass(frozen=True)
class PlatformAnswer:
    """What a request gets: a status, and an object or the lines of a run."""

    status: int
    body: Mapping[str, Any] | str


@dataclass(frozen=True)
class Place:
    """A conversation of task 2, or in task 1 a history whose next message is asked for."""

    conversation_id: str
    scenario: Mapping[str, Any]
    """In the track's shape."""
    agent: str = ""
    history: tuple[Message, ...] = ()


@dataclass
class TeamRun:
    """A run of a team, as its file has it."""

    task: TrackTask
    begun: Mapping[str, Any]
    """The request that began it."""
    places: Sequence[Place]
    lines: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    position: int = 0
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Those of the conversation under way, in the track's form."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def place(self) -> Place | None:
        """Where the run stands; None if it is complete."""
        return self.places[self.position] if self.position < len(self.places) else None

    def take(self, line: Mapping[str, Any]) -> None:
        """Go on by a line of its file."""
        self.lines.append(dict(line))
        self.messages += as_list(line.get("chat_messages"))
        if line.get("ended"):
            self.position, self.messages = self.position + 1, []

    def described(self) -> dict[str, Any]:
        """The scenario and the messages of the place at which it stands."""
        place = self.place
        assert place is not None
        history = [_utterance(message.role, message.text, place.conversation_id) for message in place.history]
        talk = {"chat_messages": [*history, *self.messages]} if self.task == "task1" or self.messages else {}
        return {"conversation_id": place.conversation_id, "scenario": place.scenario, **talk}


@dataclass
class TrackPlatform:
    """Gives scenarios and agents, or people's histories, to the runs of teams.

    Each run is a file of JSON lines in the folder; a platform that is started again goes on with them.
    """

    folder: Path
    scenarios: Sequence[Mapping[str, Any]] = ()
    """Those of task 2: scenarios of `agent_test`, or read from the track's shape."""
    agents: Mapping[str, Cast] = field(default_factory=dict[str, Cast])
    """The casts whose assistants answer, by name; every scenario is played with each."""
    histories: Sequence[Conversation] = ()
    """Conversations for task 1: what is asked for is each message of their users but the first."""
    budget: int = BUDGET
    runs: dict[tuple[str, str], TeamRun] = field(default_factory=dict[tuple[str, str], TeamRun])
    """By kind (`run` or `debug`) and id."""

    def __post_init__(self) -> None:
        make_folder(self.folder)
        for path in sorted(self.folder.glob("*/*.jsonl")):
            if path.parent.name in ("run", "debug"):
                first, *lines = (value for _, value in read_lines(path, torn=True))
                run = self._run(as_object(first))
                for line in lines:
                    run.take(line)
                self.runs[path.parent.name, path.stem] = run

    def places(self, task: TrackTask) -> list[Place]:
        """The places of a task, in order."""
        if task == "task2":
            return [
                Place(digest("track", number, scenario, agent)[:32], written(scenario), agent)
                for number, (scenario, agent) in enumerate(product(self.scenarios, self.agents))
            ]
        return [
            Place(digest("track", number, turn)[:32], written(_with_goal(conversation)), history=before)
            for number, conversation in enumerate(self.histories)
            for turn, before in enumerate(_histories(conversation))
        ]

    async def answer(self, method: str, path: str, params: Mapping[str, str], body: Any) -> PlatformAnswer:
        """The answer to a request; never an exception for what a client sends."""
        match (method, *path.strip("/").split("/")):
            case ("POST", ("task1" | "task2") as name, ("run" | "debug") as kind, ("start" | "continue") as step):
                task: TrackTask = "task1" if name == "task1" else "task2"
                answered = self._start if step == "start" else self._continue
                return await answered(task, kind, as_object(body))
            case ("GET", ("run" | "debug") as kind, ("session" | "status" | "dump") as what):
                run = self.runs.get((kind, params.get("run_id", "")))
                return _refused(404, "there is no such run") if run is None else _state(run, what)
        return _refused(404, "there is no such route")

    async def _start(self, task: TrackTask, kind: str, request: Mapping[str, Any]) -> PlatformAnswer:
        run_id = str(request.get("run_id") or "")
        if not run_id or len(run_id) > 100 or set(run_id) - set(SAFE) or run_id.startswith("."):
            return _refused(422, "run_id must be 1 to 100 letters, digits, '.', '_' and '-'")
        if request.get("task_name") not in (None, TASKS[task]):
            return _refused(422, f"task_name of {task} is {TASKS[task]}")
        if (kind, run_id) in self.runs:
            return _refused(STARTED_BEFORE, "the run was begun before")
        begun = {**request, "run_id": run_id, "task_name": TASKS[task]}
        run = self._run(begun)
        if not run.places:
            return _refused(404, f"this platform does not give {task}")
        make_folder(self.folder / kind)
        self._append(kind, run_id, begun)
        self.runs[kind, run_id] = run
        return PlatformAnswer(200, run.described())

    def _run(self, begun: Mapping[str, Any]) -> TeamRun:
        by_name: dict[Any, TrackTask] = {name: task for task, name in TASKS.items()}
        task = by_name.get(begun.get("task_name"))
        if task is None:
            raise DataError(f"{self.folder}: holds a file that is not a run of the track: choose another folder")
        return TeamRun(task, begun, self.places(task))

    async def _continue(self, task: TrackTask, kind: str, request: Mapping[str, Any]) -> PlatformAnswer:
        run_id = str(request.get("run_id") or "")
        run = self.runs.get((kind, run_id))
        if run is None or run.task != task:
            return _refused(404, "there is no such run: begin it")
        utterance = as_object(request.get("user_utterance"))
        text = utterance.get("text")
        if not isinstance(text, str):
            return _refused(422, "user_utterance has no text")
        async with run.lock:  # a second message of a run waits for the answer to the first
            place = run.place
            if place is None:
                return PlatformAnswer(COMPLETE, {"detail": "the run is complete"})
            if str(utterance.get("conversation_id") or place.conversation_id) != place.conversation_id:
                return _refused(409, f"the run stands at the conversation {place.conversation_id}")
            own = _utterance("user", text, place.conversation_id, is_final=bool(utterance.get("is_final")))
            own |= {
                "annotations": as_object(utterance.get("annotations")),
                "sources": as_list(utterance.get("sources")),
            }
            spent = 1 + sum(one["participant_name"] == USER for one in run.messages) >= self.budget
            ended = task == "task1" or own["is_final"]
            answer = [] if ended else await self._agents_answer(place, [*run.messages, own])
            if not ended and not answer:
                return _refused(503, "the agent could not answer: send the message again")
            line: dict[str, Any] = {"run_id": run_id, "conversation_id": place.conversation_id, "agent": place.agent}
            line |= {"scenario": place.scenario, "chat_messages": [own, *answer], "ended": ended or spent}
            self._append(kind, run_id, line)
            run.take(line)
            if not (ended or spent):
                return PlatformAnswer(200, run.described())
            if run.place is None:
                return PlatformAnswer(COMPLETE, {"detail": "the run is complete"})
            return PlatformAnswer(200 if task == "task1" else NEW_CONVERSATION, run.described())

    async def _agents_answer(self, place: Place, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The agent's message; none if it failed."""
        plain = [
            {"role": "user" if one["participant_name"] == USER else "assistant", "text": one["text"]}
            for one in messages
        ]
        state: State = {"scenario": dict(place.scenario), "messages": plain, "ordinal": 0, "repeat": 0}
        cast = answering(self.agents[place.agent])
        limits = replace(cast.limits, max_turns=MANY_TURNS)  # the budget is the platform's own
        [record] = await asimulate(cast, [state], limits=limits)
        answers = [message for message in record.messages[len(plain) :] if message.role == "assistant"]
        text = "\n\n".join(message.text for message in answers)
        return [_utterance("agent", text, place.conversation_id)] if answers and record.failure is None else []

    def _append(self, kind: str, run_id: str, line: Mapping[str, Any]) -> None:
        file = AppendedFile(self.folder / kind / f"{run_id}.jsonl")
        try:
            file.cut_torn_line()  # of a process that was killed while it wrote
            file.append(dumps(line) + "\n")
        finally:
            file.close()


def _with_goal(conversation: Conversation) -> Mapping[str, Any]:
    """The scenario; where it has no goal, it is what its person asked for first."""
    scenario, first = conversation.scenario, next(iter(conversation.messages), None)
    if goal_of(dict(scenario)) or NAME in scenario or first is None or first.role != "user":
        return scenario
    return {**scenario, "goal": scenario.get("task_context") or first.text}


def _histories(conversation: Conversation) -> Iterator[tuple[Message, ...]]:
    """What comes before each message of the user but the first, up to an answer of the assistant."""
    messages = conversation.messages
    for number, message in enumerate(messages):
        if number and message.role == "user" and messages[number - 1].role == "assistant":
            yield messages[:number]


def _utterance(role: str, text: str, conversation_id: str, *, is_final: bool = False) -> dict[str, Any]:
    return {
        "timestamp": datetime.now(UTC).isoformat(),  # noqa: TID251 - the protocol wants it; nothing depends on it
        "conversation_id": conversation_id,
        "participant_name": USER if role == "user" else "agent",
        "text": text,
        "sources": [],
        "annotations": {},
        "is_final": is_final,
    }


def _state(run: TeamRun, what: str) -> PlatformAnswer:
    if what == "dump":
        return PlatformAnswer(200, "".join(dumps(line) + "\n" for line in run.lines))
    if what == "status":
        return PlatformAnswer(
            200, {"conversations": len(run.places), "ended": run.position, "is_complete": run.place is None}
        )
    if run.place is None:
        return PlatformAnswer(COMPLETE, {"detail": "the run is complete"})
    return PlatformAnswer(200, run.described())


def _refused(status: int, reason: str) -> PlatformAnswer:
    return PlatformAnswer(status, {"detail": reason})
