"""Each stored conversation of a run again with a changed agent, as a function for notebooks and scripts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from pydantic import Field

from ..analysis.testing.replays import ReplayResult, replay_result
from ..data.loading import DataSource
from ..data.records import Conversation
from ..errors import DataError, SettingError
from ..graphs import Cast
from ..graphs.casts.rebuilding import Rebuilding
from ..graphs.scenarios.forks import replayed
from ..graphs.scenarios.sources import Scenarios
from ..runs.settings import RunSettings
from .forks import RebuiltPlan
from .sources import Notify, logged

REPLAYS = "replays"
"""Key of a manifest's source for the run that is replayed."""


class Replays(ReplayResult):
    """The result of `replay`, with the conversations."""

    folder: Path | None = None
    """The run folder; None without `out`."""
    records: tuple[Conversation, ...] = Field(default=(), exclude=True)
    """The replays, in the order of the stored conversations; they are not part of its JSON."""

    def __repr__(self) -> str:
        return f"<{'; '.join(self.lines())}>"

    __str__ = __repr__


@dataclass(frozen=True, kw_only=True)
class ReplayPlan(RebuiltPlan):
    """Replays to be made."""

    stored: tuple[Conversation, ...] = field(repr=False)
    """The stored conversations."""

    @classmethod
    def of(
        cls,
        source: "str | Path | Iterable[Conversation]",
        *,
        rebuilding: Rebuilding,
        limit: int | None = None,
        limits: Mapping[str, Any] | None = None,
        out: str | Path | None = None,
    ) -> Self:
        """The plan with the parameters of `replay`; `limits`: those that are to differ, by name."""
        manifest: Mapping[str, Any] = {}
        name = ""
        if isinstance(source, str | Path):
            if out is not None and Path(out).resolve() == Path(source).resolve():
                raise SettingError(f"{out}: is the run that is replayed: choose another folder")
            loaded = DataSource(source).load()
            manifest, name = loaded.manifest, Path(source).resolve().name
            source = loaded
        read = [conversation for conversation in source if conversation.messages]
        stored = [conversation for conversation in read if conversation.failure is None and not conversation.cut_by_run]
        if not stored:
            raise DataError(f"{name or 'the source'}: has no conversation with messages that came to its end")
        notes = (
            [f"{left} conversations failed or were cut short: left out"] if (left := len(read) - len(stored)) else []
        )
        stored = stored[:limit]
        states = [replayed(conversation, name) for conversation in stored]
        cast, base, another, others = rebuilding.fitted(stored, manifest, states)
        if another:  # a log may be longer than the cast's conversations
            base = replace(base, max_turns=max(len(conversation.exchanges) for conversation in stored))
        about = {"source": name or "conversations", REPLAYS: name or "conversations"}
        return cls(
            cast=cast,
            scenarios=Scenarios(states, about),
            limits=replace(base, **(limits or {})),
            stored=tuple(stored),
            notes=(*notes, *others),
        )

    def result(self, replays: Iterable[Conversation]) -> ReplayResult:
        """The result of these replays."""
        return replay_result(self.stored, {conversation.id: conversation for conversation in replays})


def replay(
    source: "str | Path | Iterable[Conversation]",
    *,
    assistant: Any = None,
    world: Any = None,
    cast: Cast | str | None = None,
    parts: Mapping[str, Any] | None = None,
    limit: int | None = None,
    max_turns: int | None = None,
    out: str | Path | None = None,
    notify: Notify = logged,
    **settings: Any,
) -> Replays:
    """Replay each stored conversation with a changed agent; `duologue test --replay-user` as a function.

    The agent is asked at every message. The user's stored messages are taken as long as what they answer has equal text and parts, and
    so are its prompts, its rejected drafts, and the verdicts and scores that models gave: no model is asked. From the
    first other answer on, the user is simulated, with the seed of the stored run.

    Args:
        source: A run folder or another path that `load` reads, or conversations.
        assistant: The changed agent; default: that of the run.
        world: Another world, which the agent's tools work on.
        cast: A cast by name or as an object, as for `fork`.
        parts: Parts of the cast to replace, as of `Cast.replace`.
        limit: Number of conversations, the first ones; None: all.
        max_turns: Maximum number of turns; default: that of the run.
        out: Run folder, as for `simulate`.
        notify: Called with each note; default: log it.
        settings: How the run is made, as for `simulate`, and settings of the cast that are to differ.

    Returns:
        At which message each replay leaves its record, the share of calls saved, and success before and after in pairs,
        with the `records`.

    Raises:
        DataError: There is no conversation to replay.
        SettingError: The cast cannot be built.

    Example::

        >>> import duologue
        >>> goal = {"goal": "book a table", "success": {"text_contains": "booked"}}
        >>> run = duologue.test(lambda messages: "For when?", [goal], max_turns=2).records
        >>> duologue.replay(run, assistant=lambda messages: "It is booked.").differs_at
        {1: 1}
    """
    run_settings = RunSettings.of(
        out=out, **{name: settings.pop(name) for name in [*settings] if name in RunSettings.model_fields}
    )
    plan = ReplayPlan.of(
        source,
        rebuilding=Rebuilding(cast, None, assistant, world, settings, parts or {}),
        limit=limit,
        limits={} if max_turns is None else {"max_turns": max_turns},
        out=out,
    )
    records = plan.simulated(notify, run_settings)
    return Replays(**dict(plan.result(records)), folder=run_settings.out, records=tuple(records))
