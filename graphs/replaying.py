"""A replay: the user's stored turns are taken while the assistant's answers before them are those of the record.

The origin of the state holds the stored conversation (`replays`). While what was said agrees with it, the user's
prompts, drafts and verdicts come from it, and at the end labels that a model gave: nothing is asked for the user's side.
Answers are judged again. From the first other answer on, every node is called as in any conversation.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, cast

from ..data.records import SIDES, Fork, NodeInfo, Usage, as_object, bare, labels_from
from ..nodes.contract import OF_THE_CALL, OF_THE_VERDICT
from ..nodes.state import (
    OF_A_MESSAGE,
    Draft,
    NodePlace,
    Prompt,
    State,
    Update,
    Verdict,
    attempt_number,
    merged,
    said,
    worded,
)

RecordedDraft: TypeAlias = tuple[dict[str, Any], dict[str, Any] | None]
"""An attempt, and the message that it became, as plain JSON."""
_OF_THE_ANSWER = ("role", "text", "parts", "stored", "name")


def fork_of(place: NodePlace, state: State) -> dict[str, Any]:
    """The fork that a replay becomes which leaves its record here; empty if it does not."""
    replay = _Replay(state)
    number = replay.first_difference
    if number is None and not replay.is_over(place, state):
        return {}
    at = (len(replay.so_far) if number is None else number) - 1
    fork = Fork(id=str(replay.record["id"]), at=at, source=replay.source, answers_only=True)
    return fork.model_dump(exclude_defaults=True)


def recorded_update(place: NodePlace, state: State) -> Update | None:
    """The update of a place from the record of a replay; None if its node is to be called."""
    replay = _Replay(state)
    if place == "closing":
        return replay.closing(state)
    return replay.of_user(place, state) if SIDES.get(place) == "user" else None


def without_record(state: State) -> State:
    """The state without the record of its replay: no node sees what the user will say."""
    return merged(state, {"origin": {key: value for key, value in state["origin"].items() if key != "replays"}})


class _Replay:
    """A state that agrees with its record so far, and what the record has next."""

    def __init__(self, state: State) -> None:
        replays: Mapping[str, Any] = state["origin"]["replays"]
        self.record: Mapping[str, Any] = replays["record"]
        self.source = str(replays["source"])
        self.messages = [worded(message) for message in self.record.get("messages", ())]
        self.so_far = said(state)

    @property
    def first_difference(self) -> int | None:
        """Number of the first message that is not that of the record."""
        for number, message in enumerate(self.so_far):
            stored = self.messages[number] if number < len(self.messages) else {}
            if any(stored.get(key) != message.get(key) for key in _OF_THE_ANSWER):
                return number
        return None

    def is_over(self, place: NodePlace, state: State) -> bool:
        """Whether the record has no more to take, although all messages agree: a third one's are said by itself alone."""
        if place == "closing":
            return len(self.so_far) < len(self.messages) or state.get("stop") != self.record.get("stop")
        following = self.messages[len(self.so_far) :]
        spent = not self.turn and (not following or bool(following[0].get("name")))
        return SIDES.get(place) == "user" and spent and not self.ends_here

    @cached_property
    def turn(self) -> list[RecordedDraft]:
        """The drafts of the user's recorded turn, each with its message if it became one."""
        drafts: list[RecordedDraft] = []
        for turn in self.record.get("unsaid", ()):
            if turn["role"] == "user" and turn["after"] == len(self.so_far):
                drafts += [(attempt, None) for attempt in turn["attempts"]]
        for message in self.messages[len(self.so_far) :]:
            if message["role"] != "user" or message.get("name"):
                break
            attempts = message.get("attempts") or [{"text": message["text"], "verdict": "accepted"}]
            drafts += [(attempt, None) for attempt in attempts[:-1]] + [(attempts[-1], message)]
        return drafts

    @property
    def ends_here(self) -> bool:
        """Whether the recorded conversation ends with the user's turn."""
        count = sum(message is not None for _, message in self.turn)
        if len(self.so_far) + count < len(self.messages):
            return False
        return not self.record.get("provenance") or self.record.get("stopped_at") == "question_validator"

    def of_user(self, place: NodePlace, state: State) -> Update:
        """The recorded prompt, drafts or verdicts of the user's turn."""
        number = attempt_number(state)
        turn = self.turn
        drafts = [(attempt, message) for attempt, message in turn if attempt.get("number", 1) == number]
        if place == "user_prompt_selector":
            return _prompt(drafts)
        last = number >= max((attempt.get("number", 1) for attempt, _ in turn), default=1)
        stop = {"stop": self.record.get("stop") or "user_ended"} if last and self.ends_here else {}
        if place == "user_simulator":
            update: dict[str, Any] = {"drafts": [_draft(attempt, message) for attempt, message in drafts], **stop}
            memory = as_object(self.record.get("memory")).get("user")
            return cast(Update, update | ({"memory": memory} if memory and self._is_last_turn else {}))
        judged = [(attempt, message) for attempt, message in drafts if attempt["verdict"] != "unjudged"]
        verdicts = [_verdict(attempt, message) for attempt, message in judged]
        return cast(Update, {"verdicts": verdicts, **(stop if len(judged) < len(drafts) else {})})

    @property
    def _is_last_turn(self) -> bool:
        count = sum(message is not None for _, message in self.turn)
        later = self.messages[len(self.so_far) + count :]
        return all(message["role"] != "user" or message.get("name") for message in later)

    def closing(self, state: State) -> Update | None:
        """The recorded labels if models were asked for them by this very node; None for rules, which are called again."""
        usage = _usage(self.record.get("closing_usage"))
        if usage is None or _closing(self.record.get("provenance")) != _closing(state["origin"]):
            return None
        given = state.get("labels", {})
        labels = bare(labels_from(self.record.get("labels", {})))
        return {"labels": {name: value for name, value in labels.items() if name not in given}, "usage": usage}


def _closing(origin: object) -> NodeInfo | None:
    node = as_object(as_object(origin).get("nodes")).get("closing")
    return None if node is None else NodeInfo.model_validate(node)


def _prompt(drafts: Sequence[RecordedDraft]) -> Update:
    """The recorded prompt of a call."""
    prompt = next((attempt["prompt"] for attempt, _ in drafts if "prompt" in attempt), None)
    return {"prompt": cast(Prompt, {"digest": "", "text": "", **prompt}) if prompt else None}


def _usage(stored: Mapping[str, int] | None) -> dict[str, int] | None:
    """A recorded usage with every key; records leave out what is at its default."""
    return None if stored is None else Usage.model_validate(stored).model_dump()


def _draft(attempt: Mapping[str, Any], message: Mapping[str, Any] | None) -> Draft:
    """A recorded draft as its speaker gave it."""
    draft: dict[str, Any] = {"text": attempt["text"]} | {key: attempt[key] for key in OF_THE_CALL if key in attempt}
    if usage := _usage(attempt.get("usage")):
        draft["usage"] = usage
    if message is not None:
        draft |= {key: message[key] for key in OF_A_MESSAGE if key in message}
    return cast(Draft, draft)


def _verdict(attempt: Mapping[str, Any], message: Mapping[str, Any] | None) -> Verdict:
    """The verdict on a recorded draft."""
    verdict: dict[str, Any] = {"accepted": attempt["verdict"] != "rejected"}
    verdict |= {key: attempt[key] for key in OF_THE_VERDICT if key in attempt}
    if judging := _usage(attempt.get("judging")):
        verdict["judging"] = judging
    if attempt["verdict"] == "observed":
        verdict["observed"] = True
    if message is not None and message["text"] != attempt["text"]:
        verdict["text"] = message["text"]
    return cast(Verdict, verdict)
