"""Asking a cast's user for its next turn at many moments, with a journal, pace, budgets and resuming.

A folder holds `said.jsonl`, a line for each moment (`data.next_turns.NextTurn`), `settings.json`, and while something is
missing `calls.jsonl`, the replies of models.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...data.behaviours import KEY as BEHAVIOURS
from ...data.files.journals import Codec
from ...data.files.json import dumps, parsed
from ...data.identity import VERSION, digest
from ...data.next_turns import Moment, NextTurn
from ...data.records import Conversation
from ...graphs import Cast, conversation
from ...graphs.opening import of_cast
from ...graphs.single_turn import asking, limits_of, next_turn, state_of
from ...nodes.calls.spending import PriceQuery, asked_model
from ...nodes.people import PeopleSpeaker
from ...nodes.state import Planned
from ...nodes.validators import models_of
from ..asking.questions import Payment, ask_missing
from ..asking.store import AnswerFolder, AnswerStore, reader_of
from ..engine.conduct import Conduct
from ..engine.conversing import Concurrency, converse, name_of, planned
from ..engine.event_loop import waiting
from ..journals.calls import CallFile, ReplyCost
from ..journals.journal import RunError
from ..planning.conversations import conversations_planned
from ..planning.plans import CallPlan

REPLIES = "said.jsonl"
SETTINGS = "settings.json"

NextTurnWatch = Callable[[NextTurn], None]
"""Called with each turn as soon as it is there."""


async def anext_turns(
    cast: Cast,
    moments: Iterable[Moment],
    *,
    seed: int = 0,
    attempts: int | None = None,
    behaviours: Sequence[str] = (),
    out: str | Path | None = None,
    concurrency: Concurrency = "auto",
    conduct: Conduct | None = None,
    on_turn: NextTurnWatch | None = None,
) -> list[NextTurn]:
    """As `next_turns`, whose parameters, result and errors it has, to be awaited."""
    asking_cast, conduct, limits = asking(cast), conduct or Conduct(), limits_of(cast, seed=seed, attempts=attempts)
    plan, of_id = _planned(asking_cast, moments, behaviours)
    control = conduct.controlled()
    # Its user ends where the conversation ended that it goes on with: no message before the moment shows which that is.
    leaves = not isinstance(asking_cast.nodes["user_simulator"], PeopleSpeaker)
    model = next(models_of(asking_cast.nodes["user_simulator"]), None)
    price_query = None if model is None else asked_model(model)
    settings = _settings(cast, asking_cast, limits.plain()) | ({BEHAVIOURS: list(behaviours)} if behaviours else {})
    folder = None if out is None else Path(out)
    with ExitStack() as opened:
        store = FORM.open(folder, lambda stored_settings: _settled(folder, stored_settings, settings), opened)

        def begin(file: CallFile) -> None:
            for name, turn in store.failed.items():
                if turn.silent:
                    file.ask_again(name, "user")

        graph = conversation(asking_cast)

        async def ask(state: Planned, keep: NextTurnWatch) -> None:
            def over(record: Conversation) -> None:
                keep(next_turn(of_id[record.id], record, leaves=leaves))

            await converse(graph, state, limits, over)

        stopped = await ask_missing(
            store,
            {name_of(state): state for state in plan},
            ask,
            conduct=conduct,
            control=control,
            concurrency=concurrency,
            payments=lambda turn: _payments(turn, price_query),
            price_query=price_query,
            begin=begin,
            on_answer=on_turn,
        )
        why = stopped or control.ending or "it was not asked"  # other users are asked all the same
        turns = {
            name: store.of(name) or NextTurn(id=name, key=moment.key, stop="cancelled", failure=why)
            for name, moment in of_id.items()
        }
        # The source may be in another order than when the turn was stored.
        return [turns[name].model_copy(update={"key": moment.key}) for name, moment in of_id.items()]


@waiting(anext_turns)
def next_turns() -> None:
    """The user's next turn at each moment where it can be asked, in the order of the moments.

    Args:
        cast: The cast whose user is asked.
        moments: The moments of people's conversations.
        seed: Seed of all calls.
        attempts: Maximum number of calls for a turn, rejected drafts included; default: the cast's.
        behaviours: Behaviours of the user at every moment.
        out: A folder. Stored turns are not asked for again, and replies that came before a kill are not paid for again.
        concurrency: Number of calls at the same time, or `auto`.
        conduct: Pace and bounds of the calls, as for `simulate`; processes are not used.
        on_turn: Called with each turn.

    Returns:
        The turns. One that failed, or that a bound of `conduct` cut off, has the reason (`failure`), and the next call
        asks for it again.

    Raises:
        RunError: The folder has turns of other settings.
    """


def turns_planned(
    cast: Cast,
    moments: Iterable[Moment],
    *,
    seed: int = 0,
    attempts: int | None = None,
    out: str | Path | None = None,
) -> CallPlan:
    """The plan of `next_turns`, whose parameters it has: of the turns that the folder has not."""
    asking_cast, store = asking(cast), AnswerStore(FORM.codec)
    if out is not None:
        store.read(Path(out) / REPLIES)
    states = [state for state in _planned(asking_cast, moments)[0] if name_of(state) not in store.done]
    plan = conversations_planned(asking_cast, states, None, limits_of(cast, seed=seed, attempts=attempts))
    return replace(plan, what="turns", length="each one turn of a user")


def _planned(
    asking_cast: Cast, moments: Iterable[Moment], behaviours: Sequence[str] = ()
) -> tuple[list[Planned], dict[str, Moment]]:
    """The state at each moment where the user can be asked, and the moments by the names of the states."""
    states = [(moment, state) for moment in moments if (state := state_of(moment, asking_cast.name)) is not None]
    extra: dict[str, Any] = {BEHAVIOURS: list(behaviours)} if behaviours else {}
    plan = planned(asking_cast, [{**state, "extra": {**state.get("extra", {}), **extra}} for _, state in states])
    return plan, {name_of(state): moment for state, (moment, _) in zip(plan, states, strict=True)}


def folder_name(user: str) -> str:
    """The name of a user's folder: the readable part of its model identifier, and a digest of all of it.

    >>> folder_name("offline")
    'offline-65482f01'
    """
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", user)[:60].strip("._-")
    return f"{readable or 'user'}-{digest('user', user)[:8]}"


def _settings(cast: Cast, asking_cast: Cast, limits: dict[str, Any]) -> dict[str, Any]:
    """The settings that decide the turns: the cast with its prompt templates, and the limits."""
    described: dict[str, Any] = parsed(dumps(of_cast(asking_cast) | {"limits": limits, "version": VERSION}), cast.name)
    # Only the user's side speaks.
    described["nodes"] = {
        place: node
        for place, node in described["nodes"].items()
        if place in ("user_prompt_selector", "user_simulator", "question_validator", "stop")
    }
    return described


def _settled(folder: Path | None, stored_settings: Any, settings: dict[str, Any]) -> Any:
    """The settings of the folder's turns; RunError if they are others."""
    if stored_settings is None:
        return settings
    stored = stored_settings if isinstance(stored_settings, dict) else {}
    if differing := next((name for name in settings if stored.get(name) != settings[name]), None):
        raise RunError(f"{folder}: was made with another {differing}: choose another --out folder, or go on with that")
    return stored_settings


def _payments(turn: NextTurn, price_query: PriceQuery | None) -> Iterator[Payment]:
    if turn.calls:
        used = {name: getattr(turn, name) for name in ("input_tokens", "output_tokens", "calls")}
        yield ReplyCost("user", turn.model, used, reply=turn.text), price_query


FORM = AnswerFolder(
    REPLIES,
    SETTINGS,
    Codec[NextTurn](
        key=lambda turn: turn.id,
        to_plain=lambda turn: turn.plain(),
        from_plain=reader_of(NextTurn, "is not a turn of a user: choose another folder"),
        settled=lambda turn: turn.failure is None,
    ),
)
"""A folder of turns."""
