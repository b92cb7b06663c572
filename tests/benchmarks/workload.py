"""What every implementation is given: how many conversations, how long, and the pages that both sides are sent."""

import time
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

MODEL = "m"


@dataclass(frozen=True, kw_only=True)
class Pages:
    """The texts around the conversation, taken from what the cast itself sends, so that all send as much."""

    user: str
    """The system message of the user's model."""
    situation: str
    """Its first message: task, profile, rules."""
    opening: str
    """What is appended to it before the user has spoken."""
    reminder: str
    """What is appended to the assistant's last reply."""
    assistant: str
    """The system message of the assistant's model."""

    @classmethod
    def of(cls, bodies: list[dict[str, Any]]) -> Self:
        """From the first three requests of a conversation that the cast held."""
        first, second, third = ([message["content"] for message in body["messages"]] for body in bodies[:3])
        situation = third[1]
        assert first[1].startswith(situation), "the cast words its requests otherwise than the benchmark knows"
        return cls(
            user=first[0],
            situation=situation,
            opening=first[1].removeprefix(situation),
            reminder=third[-1][third[-1].index("\n\n<") :],
            assistant=second[0],
        )

    def for_user(self, name: object, messages: list[str]) -> list[tuple[str, str]]:
        """Roles and texts for the user's model, after these messages of both sides in turn."""
        situation = f"{self.situation}\nConversation {name}"
        if not messages:
            return [("system", self.user), ("user", situation + self.opening)]
        history = [("user" if number % 2 else "assistant", text) for number, text in enumerate(messages)]
        history[-1] = ("user", messages[-1] + self.reminder)
        return [("system", self.user), ("user", situation), *history]

    def for_assistant(self, messages: list[str]) -> list[tuple[str, str]]:
        """Roles and texts for the assistant's model."""
        history = [("assistant" if number % 2 else "user", text) for number, text in enumerate(messages)]
        return [("system", self.assistant), *history]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The work of one measurement."""

    port: int
    conversations: int = 64
    turns: int = 10
    """Exchanges of a conversation: two calls each."""
    concurrency: int = 64
    latency: float = 0.0
    jitter: float = 0.0
    in_folder: bool = True
    """Whether our own implementation writes a run folder."""
    pages: dict[str, str] | None = None

    @classmethod
    def of(cls, settings: dict[str, Any]) -> Self:
        return cls(**{field.name: settings[field.name] for field in fields(cls) if field.name in settings})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def calls(self) -> int:
        """How many calls the work takes if each is accepted."""
        return self.conversations * self.turns * 2

    @property
    def texts(self) -> Pages:
        assert self.pages is not None
        return Pages(**self.pages)

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def now() -> float:
    """The clock of a benchmark: seconds."""
    return time.monotonic()
