"""The progress of a run: figures that are counted during it, and the lines that show them."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import floor, log10
from time import monotonic
from typing import Any, NamedTuple

from ...data.records import Conversation, Role
from ...nodes.calls.spending import ModelSpending, Spending
from ...nodes.state import State
from .reports import EndpointNow, Tally

RECENT = 30.0
"""Seconds over which the calls a second are counted."""
ENOUGH = 5
"""Finished conversations from which the time left is shown."""
BETWEEN = "  "
_ORDER = {"user": 0, "assistant": 1}
"""Sides in the order in which they speak, not in that of their first replies; what judges take comes last."""


class FigureWords(NamedTuple):
    """The progress of a run in words, each part on its own."""

    conversations: str
    turns: str
    rejected: Sequence[str]
    """The same with fewer and fewer reasons, as there is room; nothing if no draft was rejected."""
    spent: list[str]
    calls: list[str]
    left: list[str]
    waiting: list[str]


class RunFigures:
    """Counts the states and conversations that `watch` and `keep` receive.

    A call of either costs little, and makes no text.
    """

    def __init__(
        self,
        planned: int,
        spending: Spending | None = None,
        endpoints: Callable[[], Iterable[EndpointNow]] = tuple,
        clock: Callable[[], float] = monotonic,
        ending: Callable[[], str | None] = lambda: None,
    ) -> None:
        self.planned, self.tally = planned, Tally()
        self._spending, self._endpoints, self._clock, self._ending = spending, endpoints, clock, ending
        self._recorded: dict[Role, ModelSpending] = {"user": ModelSpending(), "assistant": ModelSpending()}
        self._seen: dict[str, tuple[int, int]] = {}
        self._began = clock()
        self._samples: deque[tuple[float, int]] = deque([(self._began, 0)])

    def watch(self, state: State) -> None:
        """Count a state's new turns and rejections."""
        origin = state.get("origin", {})
        if "opened" not in origin:
            return
        name, attempts = origin["id"], state.get("attempts", [])
        turns, seen_attempts = self._seen.get(name, (0, 0))
        now_turns = state.get("turn", 0) - origin["opened"]
        if (turns, seen_attempts) == (now_turns, len(attempts)) and name in self._seen:
            return
        for attempt in attempts[seen_attempts:]:
            if attempt["verdict"] == "rejected":
                self.tally.rejected[attempt.get("reason") or "other"] += 1
        self.tally.turns += now_turns - turns
        self._seen[name] = (now_turns, len(attempts))
        self.tally.under_way = len(self._seen)

    def keep(self, conversation: Conversation) -> None:
        """Count a conversation that is over."""
        self._seen.pop(conversation.id, None)
        self.tally.under_way = len(self._seen)
        became = _became(conversation)
        if became is None:
            self.tally.finished += 1
        else:
            self.tally.unfinished[became] += 1
        for role, spent in self._recorded.items():
            for attempt in conversation.attempts(role, new_only=True):
                if attempt.usage is not None:
                    spent.add(attempt.usage.calls, vars(attempt.usage), None, by_characters=False)

    def under_way(self) -> int:
        """Conversations that have begun and are not over."""
        return self.tally.under_way

    @property
    def finished(self) -> int:
        """Conversations that came to their own end."""
        return self.tally.finished

    @property
    def sides(self) -> Mapping[Any, ModelSpending]:
        """What each side has spent: of each call if calls are counted, else of each conversation that is over."""
        counted = self._spending is not None and self._spending.total.calls
        return self._spending.by_role if counted and self._spending else self._recorded

    @property
    def left(self) -> float | None:
        """Estimated seconds until the plan is done; None with too few conversations, or if the run is ending."""
        counted = self.tally
        over = counted.finished + counted.unfinished.total()
        if over < ENOUGH or over >= self.planned or self._ending() is not None:
            return None
        return (self._clock() - self._began) * (self.planned - over) / over

    def calls_a_second(self) -> float | None:
        """Calls a second, of late; None if nothing counts them."""
        endpoints = list(self._endpoints())
        total = sum(endpoint.requests for endpoint in endpoints) if endpoints else self._calls()
        now = self._clock()
        self._samples.append((now, total))
        while len(self._samples) > 2 and self._samples[1][0] <= now - RECENT:
            self._samples.popleft()
        since, before = self._samples[0]
        return (total - before) / (now - since) if now > since and total else None

    def _calls(self) -> int:
        return self._spending.total.calls if self._spending is not None else 0

    def lines(self, width: int = 80) -> list[str]:
        """Two lines about the progress of the run, and one for each endpoint that is waited for.

        No line is wider than `width`.
        """
        words = self.words()
        first, second = [words.conversations, words.turns, *words.left], [*words.spent, *words.calls]
        room = width - len(BETWEEN.join(first)) - len(BETWEEN)
        rejected = next((form for form in words.rejected if len(form) <= room), None)
        if rejected:
            first.insert(2, rejected)
        return [
            _fitting(first, width),
            *filter(None, [_fitting(second, width)]),
            *(line[:width] for line in words.waiting),
        ]

    def line(self) -> str:
        """All of it in one line, for a log."""
        words = self.words()
        parts = [words.conversations, words.turns, *words.rejected[:1]]
        return ", ".join([*parts, *words.spent, *words.calls, *words.left, *words.waiting])

    def words(self) -> FigureWords:
        """The figures as they are now, in words."""
        tally, left = self.tally, self.left
        return FigureWords(
            conversations=", ".join(self._conversations(tally)),
            turns=f"{tally.turns:,} turns",
            rejected=_rejections(tally.rejected),
            spent=self._spent(),
            calls=[*self._rate(), *self._faults()],
            left=[] if left is None else [f"about {duration(left)} left"],
            waiting=[f"{endpoint.endpoint}: {endpoint.waiting}" for endpoint in self._endpoints() if endpoint.waiting],
        )

    def _conversations(self, tally: Tally) -> Iterator[str]:
        """How many are finished, what became of others, and how many are waited for where nothing new begins."""
        yield f"{tally.finished:,}/{self.planned:,} conversations"
        for became, number in sorted(tally.unfinished.items()):
            yield f"{number:,} {became}"
        if self._ending() is not None and (count := tally.under_way):
            yield f"finishing {count:,} conversation{'' if count == 1 else 's'}"

    def _spent(self) -> list[str]:
        amounts = []
        for role, spent in sorted(self.sides.items(), key=lambda side: _ORDER.get(side[0], len(_ORDER))):
            if spent.tokens:
                mark = "about " if spent.by_characters else ""
                cost = f" {dollars(spent.cost)}" if spent.cost else ""
                amounts.append(f"{role} {mark}{_short(spent.tokens)} tokens{cost}")
        return amounts

    def _rate(self) -> list[str]:
        rate = self.calls_a_second()
        return [] if rate is None else [f"{rate:.1f} calls/s"]

    def _faults(self) -> list[str]:
        faults: Counter[str] = Counter()
        for endpoint in self._endpoints():
            faults.update(dict(endpoint.faults))
        limited, others = faults.pop("rate_limited", 0), sum(faults.values())
        fault_counts = [f"{limited:,} rate limited"] if limited else []
        return fault_counts + ([f"{others:,} fault{'' if others == 1 else 's'}"] if others else [])


def _became(conversation: Conversation) -> str | None:
    """What became of a conversation without an end of its own, in a word or two; None for others."""
    if not conversation.finished:
        return "cancelled" if conversation.stop == "cancelled" else "failed"
    return "cut short" if conversation.cut_by_run else None


def _rejections(rejected: Counter[str]) -> Sequence[str]:
    """How many drafts were rejected, and by which reasons: as many words as may be, then fewer."""
    count = rejected.total()
    if not count:
        return ()
    reason_counts = [f"{reason.replace('_', ' ')} {number:,}" for reason, number in rejected.most_common(3)]
    forms = [
        f"{count:,} rejected ({', '.join([*reason_counts[:number], *['…'] * (number < len(rejected))])})"
        for number in range(len(reason_counts), 0, -1)
    ]
    return (*forms, f"{count:,} rejected")


def dollars(cost: float) -> str:
    """An amount with two significant digits, or with its cents.

    >>> dollars(0.00123), dollars(0.05), dollars(1234.5)
    ('$0.0012', '$0.050', '$1,234.50')
    """
    places = 2 if cost >= 0.1 else min(8, 1 - floor(log10(cost)))
    return f"${cost:,.{places}f}"


def _short(number: int) -> str:
    """A number in few characters: `950`, `12.3k`, `4.56M`."""
    if number < 10_000:
        return f"{number:,}"
    return f"{number / 1000:.1f}k" if number < 1_000_000 else f"{number / 1e6:.2f}M"


def _fitting(parts: list[str], width: int) -> str:
    """The parts in a line, without the last ones if it would be too wide."""
    while len(parts) > 1 and len(BETWEEN.join(parts)) > width:
        parts = parts[:-1]
    return BETWEEN.join(parts)[:width]


def duration(seconds: float) -> str:
    """A duration in few words, such as `45 s`, `12 min` or `2 h 5 min`."""
    if seconds < 90:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes and hours < 24 else f"{hours} h"
