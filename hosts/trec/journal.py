"""What a run has sent and got, on the disk before anything follows from it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ...data.records import Conversation, Record
from ...errors import SettingError
from ...runs.asking.store import AnswerFolder, AnswerStore, codec_of

STEPS, SETTINGS = "steps.jsonl", "settings.json"


class TrackStep(Record):
    """A message of the user that is sent, or an answer of the platform."""

    number: int
    """Which request it belongs to: 0 begins the run."""
    kind: Literal["sent", "received"]
    request: dict[str, Any] | None = None
    """What is sent."""
    heard: tuple[dict[str, str], ...] = ()
    """The conversation before a message that is sent, in OpenAI's form."""
    scenario: dict[str, Any] | None = None
    """The platform's scenario of a message that is sent."""
    record: Conversation | None = None
    """The conversation up to a message that is sent, with its rejected drafts."""
    status: int | None = None
    body: dict[str, Any] | None = None
    """What is received."""


FORM = AnswerFolder(
    STEPS,
    SETTINGS,
    codec_of(
        TrackStep,
        lambda step: f"{step.number}/{step.kind}",
        "is not a line of a run of the track: choose another folder",
        lambda step: True,
    ),
)


@dataclass
class RunJournal:
    """The steps of a run so far."""

    store: AnswerStore[TrackStep]
    steps: list[TrackStep] = field(default_factory=list[TrackStep])

    @classmethod
    def open(cls, folder: Path | None, settings: dict[str, Any], opened: ExitStack) -> "RunJournal":
        """The journal of a folder, which `opened` closes; None: in memory.

        SettingError if the folder holds a run with other settings, and names the first that differs.
        """

        def settle(stored: Any) -> dict[str, Any]:
            for name, value in settings.items():
                if stored is not None and stored.get(name) != value:
                    raise SettingError(
                        f"{folder}: holds a run with {name} {stored.get(name)!r}, and {value!r} is asked for: "
                        "give the same settings, or another folder"
                    )
            return settings

        store = FORM.open(folder, settle, opened)
        return cls(store, list(store.done.values()))

    def keep(self, step: TrackStep) -> None:
        """Write an step down, at once."""
        self.store.keep(step)
        self.steps.append(step)

    def turns(self) -> Iterator[tuple[TrackStep, TrackStep | None]]:
        """Each message of the user, with the platform's answer, or None before it is there."""
        received = {step.number: step for step in self.steps if step.kind == "received"}
        for step in self.steps:
            if step.kind == "sent" and step.number and step.request is not None:
                yield step, received.get(step.number)


def texts_sent(steps: Sequence[TrackStep]) -> list[str]:
    """The texts of the user's messages, in order."""
    requests = [one.request for one in steps if one.kind == "sent" and one.number and one.request]
    return [str(request["user_utterance"]["text"]) for request in requests]
