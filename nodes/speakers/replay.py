"""Replay: a speaker that repeats one side of stored conversations, message by message."""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, cast

from langgraph.runtime import Runtime

from ...data import Loaded, load
from ...data.identity import digest, ordinals
from ...data.records import Conversation, Message, Role, bare
from ...errors import DataError, at
from ..limits import Limits
from ..state import Draft, State, Update


def replayed(path: str | Path) -> Loaded:
    """The conversations of a path, read once for both sides, and again only if the files changed."""
    return _loaded(Path(path), version_of(path))


def version_of(path: str | Path) -> str:
    """A digest of the names, sizes and times of a path's files: another one once these have changed."""
    files = sorted(file for file in (Path(path), *Path(path).rglob("*")) if file.is_file())
    return digest([(str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files])


@lru_cache(maxsize=2)
def _loaded(path: Path, version: str) -> Loaded:
    return load(path)


@dataclass(frozen=True)
class ReplaySpeaker:
    """Repeats the messages of its side in the stored conversation with the same scenario, turn by turn.

    Equal scenarios are matched by their ordinal. When no turn is left, a user ends the conversation, and an
    assistant writes no draft.
    """

    role: Role
    source: str
    """The file's name, for the record."""
    conversations: tuple[Conversation, ...] = field(repr=False)
    prompted: ClassVar[bool] = False
    """No prompt is sent to it, so the record of its messages names none."""
    read_only: ClassVar[bool] = True
    """No tool is called again."""

    @classmethod
    def of(cls, path: str | Path, role: Role) -> "ReplaySpeaker":
        """The speaker of a data set's file, a run folder or a file of records; DataError for an empty one."""
        loaded = replayed(path)
        if not loaded.conversations:
            raise DataError(f"{at(path)}: holds no conversation to replay")
        return cls(role, Path(path).name, tuple(loaded.conversations))

    @cached_property
    def by_scenario(self) -> dict[tuple[str, int], Conversation]:
        """The conversations by the digest of their scenario and their number among those of an equal one."""
        numbers = ordinals(one.scenario for one in self.conversations)
        return {(digest(one.scenario), n): one for one, n in zip(self.conversations, numbers, strict=True)}

    @property
    def longest(self) -> int:
        """Turns of the longest conversation."""
        return max(len(one.exchanges) for one in self.conversations)

    def about(self, state: State) -> Conversation | None:
        """The conversation that the state's is to repeat."""
        return self.by_scenario.get((digest(state["scenario"]), state.get("origin", {}).get("ordinal", 0)))

    def ended(self, state: State, limits: Limits) -> str | None:
        """Stop once as many turns are complete as the replayed conversation has, because its user ended there."""
        stored = self.about(state)
        return "user_ended" if stored is not None and state.get("turn", 0) >= len(stored.exchanges) else None

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if (stored := self.about(state)) is None:
            title = state["scenario"].get("title") or state["scenario"].get("task") or "?"
            raise DataError(f"{self.source}: has no conversation about {title!r}: replay a file on its own topics")
        turn, is_user = state.get("turn", 0), self.role == "user"
        is_over = turn >= len(stored.exchanges)
        side = () if is_over else stored.exchanges[turn].user if is_user else stored.exchanges[turn].assistant
        update = Update(drafts=[_draft(message) for message in side])
        if is_user and (is_over or (side and not any(message.stored for message in side))):
            update["stop"] = "user_ended"  # also at a goodbye, which gets no reply
        return update

    async def labels(self, state: State, runtime: Runtime[Limits]) -> Update:
        """The closing node where both sides replay the same data set: it restores the conversation's labels.

        Those of a conversation that was not replayed to its end might be wrong: they are left out.
        """
        stored = self.about(state) if state.get("stop") == "user_ended" else None
        return {} if stored is None else {"labels": bare(stored.labels)}

    def provenance(self) -> dict[str, Any]:
        return {"replays": self.source, "digest": self._digest}

    @cached_property
    def _digest(self) -> str:  # computed once, because every record names it
        return digest([one.model_dump(exclude_defaults=True) for one in self.conversations])[:16]


def _draft(message: Message) -> Draft:
    listed = {"spans": message.spans, "tool_calls": message.tool_calls, "parts": message.parts}
    values: dict[str, Any] = {name: [one.plain() for one in records] for name, records in listed.items()}
    values |= {"labels": bare(message.labels), "extra": dict(message.extra), "kept": dict(message.kept)}
    rest = {} if message.stored else {"stored": False}
    return cast(Draft, {"text": message.text} | {name: value for name, value in values.items() if value} | rest)
