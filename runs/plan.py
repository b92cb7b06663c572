"""What a run would ask models, before the first call: conversations, the most calls, and tokens by the finished ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..data.executed_graph import SPEAKER_OF, SPEAKERS, VALIDATOR_OF
from ..data.formats.record_lines import StoredRun
from ..data.formats.source import CONVERSATIONS, MANIFEST
from ..graphs import Cast
from ..graphs.casts.cast import STORED, check_scenarios
from ..graphs.scenarios.sources import repeated
from ..nodes.calls.spending import Spending, asked_model
from ..nodes.calls.store import Replies
from ..nodes.contract import parts_of
from ..nodes.judges import ATTEMPTS, JudgedScore, ModelJudge
from ..nodes.limits import AfterOneTurn, Limits
from ..nodes.state import PLACES, Planned
from ..nodes.success import KEY, success_of
from ..nodes.validators import models_of
from .engine import planned
from .settings import REPLIES, RunSettings
from .store import is_owed, name_of

UNKNOWN = "unknown before a conversation is finished: run it with --limit 3 first"


@dataclass(frozen=True)
class CallPlan:
    """How much there is to do, and how many calls that takes."""

    count: int
    what: str
    """Of what, such as `conversations`."""
    usual: int
    """Calls if no draft is rejected and every conversation is as long as it may be."""
    most: int
    """Calls if every draft is rejected as often as may be."""
    length: str
    """How long each is, in words."""
    tokens: int | None = None
    """About how many in all, by the mean of the finished ones; None where nothing is finished."""
    cost: float | None = None
    """In US dollars, likewise."""
    further: tuple[str, ...] = ()
    """What makes calls of its own, which are not counted."""

    @property
    def line(self) -> str:
        """The plan in one line."""
        what = self.what.removesuffix("s") if self.count == 1 else self.what
        calls = f"up to {self.usual:,} calls, and up to {self.most:,} if drafts are rejected"
        beside = f"; calls made by {' and '.join(self.further)} are not counted" if self.further else ""
        return f"{self.count:,} {what} planned, {self.length}: {calls if self.most else 'no calls of a model'}{beside}"

    @property
    def lines(self) -> list[str]:
        """The plan in words."""
        if not self.most:
            return [self.line]
        tokens = UNKNOWN if self.tokens is None else f"about {self.tokens:,}, by the mean of the finished ones"
        return [self.line, f"tokens: {tokens}", *([] if self.cost is None else [f"cost:   about ${self.cost:.2g}"])]

    def plain(self) -> dict[str, Any]:
        """The plan as JSON values."""
        calls = {"usual": self.usual, "most": self.most}
        more = {"tokens": self.tokens, "cost": self.cost, "not_counted": list(self.further)}
        return {self.what: self.count, "calls": calls, **more}


def joined(plans: Iterable[CallPlan], what: str, length: str) -> CallPlan:
    """The plan of several plans; `what`: of what: the plans of anything else count only with their calls."""
    plans = list(plans)
    tokens, costs = [one.tokens for one in plans], [one.cost for one in plans]
    return CallPlan(
        sum(one.count for one in plans if one.what == what),
        what,
        sum(one.usual for one in plans),
        sum(one.most for one in plans),
        length,
        None if None in tokens else sum(filter(None, tokens)),
        None if None in costs else sum(filter(None, costs)),
        tuple(dict.fromkeys(place for one in plans for place in one.further)),
    )


def conversations_planned(
    casts: Mapping[str, Cast], scenarios: Iterable[Planned], settings: RunSettings, limits: Limits | None = None
) -> CallPlan:
    """The plan of `simulate.arun` with these casts by version: of what its folder lacks."""
    cast = casts[""]
    states = list(scenarios if settings.repeats == 1 else repeated(scenarios, settings.repeats))
    check_scenarios(cast, states)
    states = settings.part(planned(cast, states))
    done = dict[str, set[str]]()
    tokens, cost = None, None
    if settings.out is not None and all((settings.out / name).is_file() for name in (MANIFEST, CONVERSATIONS)):
        for version in casts:
            stored = StoredRun(settings.out, version=version)
            done[version] = {one.id for one in stored.finished() if not is_owed(one)}
        tokens, cost = _by_finished(settings.out, sum(map(len, done.values())))
    plans = []
    for version, one in casts.items():
        missing = [state for state in states if name_of(state) not in done.get(version, ())]
        plan = _of_cast(one, missing, (limits or one.limits).or_else(one.limits))
        plans.append(
            replace(
                plan,
                tokens=None if tokens is None else round(tokens * len(missing)),
                cost=None if cost is None else cost * len(missing),
            )
        )
    return plans[0] if len(plans) == 1 else joined(plans, plans[0].what, plans[0].length)


def _by_finished(folder: Path, count: int) -> tuple[float | None, float | None]:
    """Tokens and dollars of a conversation, by the kept replies of so many."""
    if not count or not (folder / REPLIES).is_file():
        return None, None
    spending = Spending(priced=find_spec("genai_prices") is not None)
    with Replies(folder / REPLIES, frozen=True) as replies:
        spending.add_kept(replies)
    cost = spending.counted_cost
    return spending.total.tokens / count, None if cost is None else cost / count


def _of_cast(cast: Cast, states: Sequence[Planned], limits: Limits) -> CallPlan:
    one_turn = isinstance(cast.stop, AfterOneTurn)
    roles: Sequence[Any] = (cast.stop.role,) if isinstance(cast.stop, AfterOneTurn) else tuple(SPEAKER_OF)
    most_turns = 1 if one_turn else limits.max_turns or 1
    attempts = {"user": limits.question_attempts, "assistant": limits.answer_attempts}
    scored = sum(len(_judges_of(cast, state)) for state in states)
    usual, most, turns = scored, scored * ATTEMPTS, len(states) * most_turns
    for role in roles:
        speaker: Any = cast.nodes[SPEAKER_OF[role]]
        tries = 0 if isinstance(speaker, STORED) and not models_of(speaker) else attempts[role]
        judges = [part for part in parts_of(cast.nodes[VALIDATOR_OF[role]]) if isinstance(part, ModelJudge)]
        usual += turns * (bool(tries) + len(judges))
        most += turns * (tries + sum((tries or 1) * judge.attempts for judge in judges))
    each = "each of one turn" if most_turns == 1 else f"each of up to {most_turns} turns"
    return CallPlan(len(states), "conversations", usual, most, each, further=tuple(own_callers(cast)))


def _judges_of(cast: Cast, state: Planned) -> list[JudgedScore]:
    """The judges of the finished conversation: of the cast, and of the scenario."""
    described = state["scenario"].get(KEY)
    own = [*parts_of(cast.closing), *(parts_of(success_of(described)) if isinstance(described, dict) else ())]
    return [part for part in own if isinstance(part, JudgedScore)]


# --- The models of a cast


def models_of_cast(cast: Cast) -> list[Any]:
    """Every chat model that a node or a scorer of the cast asks, in the graph's order."""
    return [model for place in PLACES for model in models_of(cast.nodes[place])]


def asks_model(node: object) -> bool:
    """Whether a node asks a model that costs something."""
    return any(asked_model(model) is not None for model in models_of(node))


def own_callers(cast: Cast) -> list[str]:
    """The speakers that are neither chat models nor stored messages: what they call is their own matter."""
    nodes = {place: node for place, node in cast.describe().items() if place in SPEAKERS}
    return [place for place, node in nodes.items() if not node.stored and "model" not in node.settings]
