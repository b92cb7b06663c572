"""A run as it grows: its counts, results and groups of failures so far, each conversation counted when it ends."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from time import monotonic, time

from ..data.formats.growing_runs import GrowingRun
from ..data.records import Conversation
from ..data.summaries.executed_graph import GraphCounts
from ..data.summaries.outlines import Outline, outline
from .attempts import model_tokens
from .labels.reliability import Trusts
from .outcomes import SUCCESS, Outcome, content_key, outcome
from .over_users.rates import clustered
from .testing.failed_conversations import FailedConversation, FailureGroup, failed_conversation, joined_groups
from .testing.shares import Share

NEWEST = 100
"""Most conversations that are listed."""
MINUTE = 60
AT_ONCE = 0.5
"""Seconds of reading after which a look ends; the next one goes on."""

PriceOf = Callable[[Conversation], float | None]
"""US dollars of a conversation; None if a price is unknown."""


@dataclass(frozen=True, eq=False)
class GrownConversation:
    """A conversation that is over, as the list of a growing run shows it."""

    conversation: Conversation
    outcome: Outcome
    tokens: int
    cost: float | None
    """US dollars; None if a price is unknown."""
    finished: bool
    """Whether it came to its end; otherwise it failed or was cut short."""

    @cached_property
    def outline(self) -> Outline:
        """Its figures."""
        return outline(self.conversation)

    @property
    def is_scored(self) -> bool:
        """Whether it is one of a test: its scenario has a `success`, or it has a score."""
        return self.outcome.success is not None or SUCCESS in self.conversation.scenario


@dataclass(frozen=True)
class _CutShort:
    """What counts of a conversation that failed or was cut short; a resumed run may still finish it."""

    key: str
    tokens: int
    cost: float | None
    success: bool | None
    failure: FailedConversation | None
    stop: str
    error: str


@dataclass
class _Sums:
    """The sums over the finished conversations."""

    finished: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    graph: GraphCounts = field(default_factory=GraphCounts)
    scenarios: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """Successes and scored conversations by scenario."""
    failures: dict[str, FailedConversation] = field(default_factory=dict[str, FailedConversation])
    """By their ids."""
    trusts: Trusts = field(default_factory=Trusts)
    """The reliability of the scores, also of conversations that were cut short."""
    ends: Counter[int] = field(default_factory=Counter[int])
    """Conversations by the second at which they ended."""
    began: float | None = None
    """When the first conversation began, in seconds."""


class RunGrowth:
    """What is in a run folder so far. It only reads, and each look reads only what was added.

    `price_of`: the cost of a conversation; None: no cost is counted.
    """

    def __init__(
        self,
        folder: str | Path,
        name: str = "",
        *,
        price_of: PriceOf | None = None,
        clock: Callable[[], float] = time,
        newest: int = NEWEST,
    ) -> None:
        self.path = Path(folder)
        self.name = name or self.path.resolve().name
        self.priced = price_of is not None
        self.looks = 0
        """How often something new was found."""
        self.newest: deque[GrownConversation] = deque(maxlen=newest)
        """The last conversations that are over, the newest last."""
        self._price_of, self._clock = price_of, clock
        self._run = GrowingRun(self.path)
        self._sums, self._cut = _Sums(), dict[str, _CutShort]()
        self._rows: dict[str, int] = {}

    def look(self, seconds: float = AT_ONCE) -> bool:
        """Read what was added, for about so many seconds; gives whether there was anything."""
        began, number = monotonic(), 0
        if anew := self._run.begins_anew():
            self._sums, self._cut = _Sums(), {}
            self.newest.clear()
        before = len(self._run.begun)
        for conversation, replaced in self._run.news():
            if replaced is not None:
                self._count(replaced, -1)
            self._add(conversation)
            number += 1
            if monotonic() - began > seconds:
                break
        is_new = anew or bool(number) or before != len(self._run.begun)
        self.looks += is_new
        return is_new

    @property
    def planned(self) -> int:
        """Planned conversations; 0 before the run has begun."""
        return self._run.planned

    @property
    def finished(self) -> int:
        """Conversations that came to their end."""
        return self._sums.finished

    @property
    def cut_short(self) -> int:
        """Those that failed or were cut short."""
        return len(self._cut)

    @property
    def under_way(self) -> int:
        """Those that have calls in the journal and are not over; rule-based speakers make no calls."""
        return len(self._run.begun)

    @property
    def missing(self) -> int:
        """Planned conversations that are not over."""
        return max(0, self.planned - self.finished - self.cut_short)

    @property
    def has_ended(self) -> bool:
        """Whether every planned conversation is over."""
        return self.planned > 0 and not self.missing

    @property
    def tokens(self) -> int:
        """Tokens of all calls of models, in conversations that are over."""
        return self._sums.tokens + sum(one.tokens for one in self._cut.values())

    @property
    def cost(self) -> float | None:
        """US dollars of the same; None if a price is unknown."""
        costs = [self._sums.cost, *(one.cost for one in self._cut.values())]
        priced = [cost for cost in costs if cost is not None]
        return sum(priced) if len(priced) == len(costs) else None

    @property
    def a_minute(self) -> float:
        """Conversations a minute, in the last minute."""
        now = self._clock()
        self._sums.ends = Counter({second: n for second, n in self._sums.ends.items() if second > now - MINUTE})
        began = now - MINUTE if self._sums.began is None else self._sums.began
        return self._sums.ends.total() * MINUTE / min(MINUTE, max(1.0, now - began))

    @property
    def graph(self) -> GraphCounts:
        """The executed graph of the finished conversations."""
        return self._sums.graph

    @property
    def share(self) -> Share | None:
        """The share of successes with its interval; None if no conversation has a score."""
        scenarios = dict(self._sums.scenarios)
        for one in self._cut.values():
            _count(scenarios, one.key, one.success)
        if not (pairs := [pair for pair in scenarios.values() if pair[1]]):
            return None
        reached, total = (sum(numbers) for numbers in zip(*pairs, strict=True))
        rate = clustered(pairs)
        return Share(
            conversations=total,
            successes=reached,
            success=rate,
            first_draft=None,
            pass_hat={},
            pass_hat_intervals={},
        )

    @property
    def trust(self) -> str:
        """Reliability of the success, as in a test's result; empty if no conversation has a score."""
        return self._sums.trusts.mark_of_score(SUCCESS)

    @property
    def failures(self) -> Iterator[FailedConversation]:
        """The conversations without success."""
        return chain(self._sums.failures.values(), filter(None, (one.failure for one in self._cut.values())))

    @property
    def stops(self) -> dict[str, int]:
        """Why conversations were cut short, the most frequent reason first."""
        return dict(Counter(one.stop for one in self._cut.values()).most_common())

    @property
    def last_error(self) -> str:
        """The error of the last conversation that failed; empty without one."""
        return next((one.error for one in reversed(self._cut.values()) if one.error), "")

    def conversation(self, name: str) -> Conversation | None:
        """A conversation that is over, by its id."""
        return self._run.conversation(name)

    def _add(self, conversation: Conversation) -> None:
        self._cut.pop(conversation.id, None)
        self._sums.trusts.add_scores(conversation)
        grown = self._count(conversation) if conversation.finished else self._note_cut_short(conversation)
        self.newest.append(grown)
        self._note_time(conversation)

    def _count(self, conversation: Conversation, times: int = 1) -> GrownConversation:
        """Add a finished conversation to the sums, or with -1 take it away."""
        sums, grown, key = self._sums, self._grown(conversation), content_key(conversation)
        sums.finished += times
        sums.tokens += times * grown.tokens
        sums.cost = None if sums.cost is None or grown.cost is None else sums.cost + times * grown.cost
        sums.graph.add(conversation, times)
        _count(sums.scenarios, key, grown.outcome.success, times)
        sums.failures.pop(conversation.id, None)
        if times > 0 and (failure := self._failure(grown, key)) is not None:
            sums.failures[conversation.id] = failure
        return grown

    def _note_cut_short(self, conversation: Conversation) -> GrownConversation:
        grown, key = self._grown(conversation), content_key(conversation)
        self._cut[conversation.id] = _CutShort(
            key=key,
            tokens=grown.tokens,
            cost=grown.cost,
            success=grown.outcome.success,
            failure=self._failure(grown, key),
            stop=conversation.stop or "not told",
            error=conversation.failure.error if conversation.failure else "",
        )
        return grown

    def _grown(self, conversation: Conversation) -> GrownConversation:
        tokens = model_tokens(conversation)
        cost = self._price_of(conversation) if self._price_of is not None and tokens else 0.0
        return GrownConversation(conversation, outcome(conversation, "failure"), tokens, cost, conversation.finished)

    def _failure(self, grown: GrownConversation, key: str) -> FailedConversation | None:
        if grown.outcome.success is not False:
            return None
        return failed_conversation(grown.conversation, grown.outcome, self._rows.setdefault(key, len(self._rows)))

    def _note_time(self, conversation: Conversation) -> None:
        """Note when a conversation ended, by its record: a watcher that begins late knows the pace too."""
        try:
            began = datetime.fromisoformat(conversation.timing.started or "").timestamp()
        except ValueError:
            return
        sums = self._sums
        sums.began = began if sums.began is None else min(sums.began, began)
        if (end := began + (conversation.timing.seconds or 0)) > self._clock() - MINUTE:
            sums.ends[int(end)] += 1


def _count(scenarios: dict[str, tuple[int, int]], key: str, success: bool | None, times: int = 1) -> None:
    if success is not None:
        reached, total = scenarios.get(key, (0, 0))
        scenarios[key] = reached + times * success, total + times


def groups_of_runs(runs: Sequence[RunGrowth]) -> tuple[FailureGroup, ...]:
    """The groups of failures of one run, or of several by their names."""
    return joined_groups({run.name if len(runs) > 1 else "": list(run.failures) for run in runs})
