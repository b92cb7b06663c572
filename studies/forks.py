"""A stored conversation taken up again at one of its messages, as a function for notebooks and scripts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Self, TypeAlias

from ..analysis.outcomes import score_of
from ..data.loading import DataSource
from ..data.records import Conversation, Fork
from ..errors import DataError, SettingError
from ..graphs import Cast
from ..graphs.casts.rebuilding import Rebuilding
from ..graphs.scenarios.forks import forked
from ..graphs.scenarios.sources import Scenarios, repeated
from ..nodes.limits import Limits
from ..nodes.speakers.tools import tools_of
from ..nodes.state import Planned
from ..runs.loop import blocking
from ..runs.settings import RunSettings
from ..runs.simulate import arun
from .sources import Notify, logged, one_conversation

__all__ = ["ForkPlan", "ForkSource", "Rebuilding", "fork"]

ForkSource: TypeAlias = Conversation | str | Path
"""A conversation, or a path that `load` reads."""


@dataclass(frozen=True, kw_only=True)
class RebuiltPlan:
    """Stored conversations to be taken up again, by a cast that is rebuilt from their record."""

    cast: Cast
    scenarios: Scenarios
    limits: Limits
    notes: tuple[str, ...] = ()
    """What the record lacks, what is another than in the record, and what is left out; a line each."""

    def simulated(self, notify: Notify, settings: RunSettings) -> list[Conversation]:
        """The conversations; `notify` gets each note."""
        for note in self.notes:
            notify(note)
        run = blocking(arun({"": self.cast}, self.scenarios, settings, limits=self.limits), settings.out)
        records = run.records()
        run.check(records)
        run.warn(records)
        return records


@dataclass(frozen=True, kw_only=True)
class ForkPlan(RebuiltPlan):
    """A fork to be simulated."""

    conversation: Conversation
    """The conversation that is forked."""

    @classmethod
    def of(
        cls,
        source: ForkSource,
        *,
        at: int,
        id: str | None = None,
        edit: str | None = None,
        scenario: Mapping[str, Any] | None = None,
        rebuilding: Rebuilding | None = None,
        repeats: int = 1,
        limits: Mapping[str, Any] | None = None,
    ) -> Self:
        """The plan with the parameters of `fork`; `limits`: those that are to differ, by name."""
        rebuilding = rebuilding or Rebuilding()
        conversation, manifest, folder = _stored(source, id)
        state = forked(conversation, at, edit=edit, scenario=scenario, source="" if folder is None else folder.name)
        cast, base, _, others = rebuilding.fitted([conversation], manifest, [state])
        planned = replace(base, **(limits or {}))
        _check_turns(state, planned)
        notes = [*_without_world(conversation, at, cast)] if cast.world is None else []
        recorded = Fork.model_validate(state.get("forks"))
        recorded = recorded.model_copy(update={"notes": (*recorded.notes, *notes)})
        state["forks"] = recorded.plain()
        about = {
            "source": recorded.source or "a conversation",
            "forks": recorded.model_dump(include={"id", "at", "edited"}),
        }
        return cls(
            cast=cast,
            scenarios=Scenarios(repeated([state], repeats), about),
            limits=planned,
            conversation=conversation,
            notes=(*recorded.notes, *others),
        )

    def counts(self, futures: Iterable[Conversation]) -> dict[str, Any]:
        """How many futures have a score and how many succeeded, and whether the forked conversation did."""
        scores = [score for one in futures if not isinstance(score := score_of(one), str)]
        stored = score_of(self.conversation)
        return {
            "scored": len(scores),
            "successes": sum(success for success, _ in scores),
            "stored_success": None if isinstance(stored, str) else stored[0],
        }

    def success_lines(self, futures: Iterable[Conversation]) -> list[str]:
        """The same in words; none without a score."""
        counts, stored = self.counts(futures), score_of(self.conversation)
        before = f"has no score: {stored}" if isinstance(stored, str) else _in_words(*stored)
        line = f"{counts['successes']} of {counts['scored']} futures succeeded; the stored conversation {before}"
        return [line] if counts["scored"] else []


def _in_words(success: bool, reason: str) -> str:
    return "succeeded" if success else f"failed: {reason}" if reason else "failed"


def fork(
    source: ForkSource,
    *,
    at: int,
    id: str | None = None,
    edit: str | None = None,
    user: Any = None,
    assistant: Any = None,
    world: Any = None,
    cast: Cast | str | None = None,
    scenario: Mapping[str, Any] | None = None,
    parts: Mapping[str, Any] | None = None,
    repeats: int = 1,
    max_turns: int | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    notify: Notify = logged,
    **settings: Any,
) -> list[Conversation]:
    """Take up a stored conversation at one of its messages and simulate its futures; `duologue test --from` as a function.

    The messages up to that one are kept as they are recorded, and not paid for again. After a user's message the
    assistant speaks next, after an assistant's message the user. It needs no checkpointer: state, memories and world
    are rebuilt from the record. What the record lacks is a note, logged and recorded (`Provenance.forks`).

    Args:
        source: A conversation (simulated, logged or of people), or a path that `load` reads.
        at: Number of the last message to keep, from 0, as pages print it.
        id: The id of the conversation in a path, or its beginning.
        edit: A text in place of that message's.
        user: Another user simulator; default: that of its run.
        assistant: Another assistant.
        world: Another world, which the agent's tools work on.
        cast: A cast by name or as an object; default: that of its run or record. For a log or people's conversation it
            is the cast with the name of its kind, else the one that tests agents.
        scenario: Keys of the scenario that are to have other values, such as `profile`.
        parts: Parts of the cast to replace, as of `Cast.replace`.
        repeats: Number of futures.
        max_turns: Maximum number of turns, those before the fork included; default: that of its run.
        seed: Seed; default: that of its run.
        out: Run folder, as for `simulate`.
        notify: Called with each note; default: log it.
        settings: How the run is made, as for `simulate`, and settings of the cast that are to differ, such as `prompts`.

    Returns:
        The conversations, each with the kept messages at its beginning.

    Raises:
        SettingError: There is no such message, nothing can follow it, or the cast cannot be built.
        DataError: There is no such conversation, it has no message, or another cast cannot take its scenario.

    Example::

        >>> import duologue
        >>> goal = {"goal": "book a table", "success": {"text_contains": "booked"}}
        >>> talk = duologue.test(lambda messages: "For when?", [goal], max_turns=2).records[0]
        >>> (future,) = duologue.fork(talk, at=1, assistant=lambda messages: "It is booked.")
        >>> [message.text for message in future.messages[1:4:2]], future.forks.at
        (['For when?', 'It is booked.'], 1)
    """
    run_settings = RunSettings.of(
        out=out, **{name: settings.pop(name) for name in [*settings] if name in RunSettings.model_fields}
    )
    plan = ForkPlan.of(
        source,
        at=at,
        id=id,
        edit=edit,
        scenario=scenario,
        rebuilding=Rebuilding(cast, user, assistant, world, settings, parts or {}),
        repeats=repeats,
        limits={name: value for name, value in (("max_turns", max_turns), ("seed", seed)) if value is not None},
    )
    return plan.simulated(notify, run_settings)


def _stored(source: ForkSource, name: str | None) -> tuple[Conversation, Mapping[str, Any], Path | None]:
    """The conversation, the manifest of its run, and its path."""
    if isinstance(source, Conversation):
        if name is not None and not source.id.startswith(name):
            raise DataError(f"the conversation has the id {source.id}, not {name!r}")
        return source, {}, None
    path = Path(source)
    opened = DataSource(path)
    loaded, cut = opened.load(), () if opened.run is None else opened.run.cut_short()
    return one_conversation(chain(loaded, cut), name, path), loaded.manifest, path


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
