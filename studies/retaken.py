"""Stored conversations as the scenarios of a test: one taken up at a message, or each replayed with a changed agent."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ..analysis.outcomes import score_of
from ..analysis.testing.replays import ReplayResult, replay_result
from ..data.loading import DataSource
from ..data.records import Conversation, Fork
from ..errors import DataError, SettingError
from ..graphs import Cast
from ..graphs.casts.rebuilding import Rebuilding
from ..graphs.scenarios.forks import forked, replayed
from ..graphs.scenarios.sources import Scenarios, repeated
from ..nodes.limits import Limits
from ..nodes.speakers.tools import tools_of
from ..nodes.state import Planned
from .agent_trials import AgentTest
from .sources import one_conversation


@dataclass(frozen=True, kw_only=True)
class RetakenTest(AgentTest):
    """A test whose scenarios are stored conversations."""

    stored: tuple[Conversation, ...]
    replays: bool = False
    """Whether they are replayed; else one is taken up at a message."""

    def retaken(self, records: Iterable[Conversation]) -> tuple[list[str], ReplayResult | None]:
        """What became of the stored conversations, in words, and of each replay."""
        if self.replays:
            result = replay_result(self.stored, {one.id: one for one in records})
            return result.lines(), result
        scores = [score for one in records if not isinstance(score := score_of(one), str)]
        if not scores:
            return [], None
        stored = score_of(self.stored[0])
        before = f"has no score: {stored}" if isinstance(stored, str) else "succeeded" if stored[0] else "failed"
        reached = sum(success for success, _ in scores)
        return [f"{reached} of {len(scores)} futures succeeded; the stored conversation {before}"], None


NEEDLESS = ("judge", "behaviour", "against", "limits")
"""Arguments that say nothing about stored conversations, which have all of it."""


def taken_up(
    agent: Any, source: Any, asked: Mapping[str, Any], settings: Callable[..., dict[str, Any]], out: Path | None
) -> RetakenTest:
    """The test of `from_` or `replay_user`, with the arguments and errors of `test`.

    Everything is as in the run of the conversations but for what is given; it is rebuilt from their records.
    """
    place, replays, cast = asked["from_"], asked["replay_user"], asked["cast"]
    flag = "replay_user" if replays else "from_"
    if replays and place is not None:
        raise SettingError("from_ and replay_user exclude each other: give one")
    if wrong := [name for name in NEEDLESS if asked[name]]:
        raise SettingError(
            f"{wrong[0]}: goes without {flag}, which takes what the stored conversations have: leave it out"
        )
    if replays and (asked["user"] is not None or asked["repeats"] != 1):
        raise SettingError("replay_user: the users say what they said: leave user and repeats out")
    first, colon, number = (place or "").rpartition(":")
    if not replays and (not colon or not number.isdecimal()):
        raise SettingError(f"from_ {place}: write ID:MESSAGE, such as 21adbf:3; the page of the run has both")
    of_limits = {one.name for one in fields(Limits)}

    def of_cast(model: Any = None) -> dict[str, Any]:
        return {name: value for name, value in settings(model).items() if name not in of_limits | {"world"}}

    given = settings() | {name: asked[name] for name in ("max_turns", "seed") if asked[name] is not None}
    changed = {name: value for name, value in given.items() if name in of_limits}
    own = of_cast() if isinstance(cast, Cast) else of_cast
    rebuilding = Rebuilding(cast, asked["user"], agent, given.get("world"), own)
    read, manifest, name = _stored(source, out)
    about: dict[str, Any] = {"source": name or ("conversations" if replays else "a conversation")}
    if replays:
        stored, notes = _finished(read, name, asked["limit"])
        states = [replayed(one, name) for one in stored]
        about["replays"] = about["source"]
    else:
        stored, notes = [one_conversation(read, first or None, Path(name or "the source"))], []
        states = [forked(stored[0], int(number), source=name)]
    rebuilt, limits, another, others = rebuilding.fitted(stored, manifest, states)
    if replays and another:  # a log may be longer than the cast's conversations
        limits = replace(limits, max_turns=max(len(one.exchanges) for one in stored))
    limits = replace(limits, **changed)
    if not replays:
        _check_turns(states[0], limits)
        fork = Fork.model_validate(states[0].get("forks"))
        lacking = [*_without_world(stored[0], fork.at, rebuilt)] if rebuilt.world is None else []
        fork = fork.model_copy(update={"notes": (*fork.notes, *lacking)})
        states[0]["forks"], notes = fork.plain(), list(fork.notes)
        about["forks"] = fork.model_dump(include={"id", "at"})
    return RetakenTest(
        cast=rebuilt,
        scenarios=Scenarios(states if replays else repeated(states, asked["repeats"]), about),
        limits=limits,
        notes=(*notes, *others),
        stored=tuple(stored),
        replays=replays,
    )


def _stored(
    source: "str | Path | Iterable[Conversation]", out: Path | None
) -> tuple[list[Conversation], Mapping[str, Any], str]:
    """The conversations, also those that were cut short, the manifest of their run, and the name of their source."""
    if not isinstance(source, str | Path):
        return list(source), {}, ""
    if out is not None and out.resolve() == Path(source).resolve():
        raise SettingError(f"{out}: is the run that is taken up: choose another folder")
    opened = DataSource(source)
    loaded, cut = opened.load(), () if opened.run is None else opened.run.cut_short()
    return [*chain(loaded, cut)], loaded.manifest, Path(source).resolve().name


def _finished(read: list[Conversation], source: str, limit: int | None) -> tuple[list[Conversation], list[str]]:
    """The conversations that can be replayed, and a note on the others; DataError without any."""
    read = [one for one in read if one.messages]
    stored = [one for one in read if one.failure is None and not one.cut_by_run]
    if not stored:
        raise DataError(f"{source or 'the source'}: has no conversation with messages that came to its end")
    left = len(read) - len(stored)
    return stored[:limit], [f"{left} conversations failed or were cut short: left out"] if left else []


def _check_turns(state: Planned, limits: Limits) -> None:
    """SettingError if no turn is left after the kept messages."""
    prefix = Conversation(id="", scenario={}, messages=state["messages"])  # type: ignore[arg-type]
    turns = sum(any(message.stored for message in exchange.assistant) for exchange in prefix.exchanges)
    stored = [message for message in prefix.messages if message.stored]
    is_answered = not stored or stored[-1].role != "user"
    if limits.max_turns is not None and turns >= limits.max_turns and is_answered:
        raise SettingError(
            f"the kept messages have {turns} turns, and max_turns is {limits.max_turns}: nothing would follow; "
            "give a higher max_turns, or an earlier message"
        )


def _without_world(conversation: Conversation, at: int, cast: Cast) -> Iterator[str]:
    """A note if tools would act on nothing that the kept messages did."""
    calls = sum(len(message.tool_calls) for message in conversation.messages[: at + 1])
    if calls or any(True for _ in tools_of(getattr(cast.nodes["assistant"], "agent", None))):
        yield "no world is given, so the tools act on nothing that was done before the fork (world, as MODULE:NAME, gives one)"
