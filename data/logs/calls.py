"""Conversations put together from logged calls of a model, each of which was sent the history again."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from heapq import heappop, heappush
from typing import Any

from ..formats.spooled import VALUES_IN_MEMORY, Spooled
from ..formats.tool_messages import called, calls_tools
from ..formats.turns import SYSTEM, spoken
from .logged_lines import Unread

CallTurns = list[dict[str, Any]]
_TRIED = 16
"""Latest conversations with an id that a line with this id may go on from: an id of all lines is not a name."""


@dataclass(frozen=True)
class LoggedCall:
    """A call, or a traced step that holds messages."""

    turns: CallTurns
    """What was sent and what came back, in order."""
    conversation: str = ""
    """Id of the conversation, thread or session; empty if the log names none."""
    trace: str = ""
    """Id of the trace; empty without one."""
    begun: str = ""
    """Sorts the calls in time; equal ones keep their order."""
    outer: bool = False
    """Whether it is the step around all others of its trace."""
    usage: Mapping[str, int] = field(default_factory=dict[str, int])
    """`input_tokens` and `output_tokens`, if the log has them."""
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further keys for the conversation."""
    sent: int = 0
    """How many of the turns were sent."""
    own: str = ""
    """The id of the line itself, which may name the call or the conversation; empty if it has none."""
    name: str = ""
    """The id of the response."""
    after: str = ""
    """The id of the response that it goes on from; empty if its turns are the whole history."""
    unread: Unread = field(default_factory=dict[str, tuple[str, ...]])
    """Keys of its request and its response of which nothing is kept."""


def spooled_calls() -> Spooled[LoggedCall]:
    """Calls of a log of any size."""
    return Spooled(
        VALUES_IN_MEMORY,
        lambda call: json.dumps(vars(call)).encode() + b"\n",
        lambda line: LoggedCall(**json.loads(line)),
    )


def with_conversations(calls: Sequence[LoggedCall]) -> list[LoggedCall]:
    """The calls, each with the conversation that another call of its trace names."""
    named = {call.trace: call.conversation for call in calls if call.conversation}
    return [call if call.conversation else replace(call, conversation=named.get(call.trace, "")) for call in calls]


def together(calls: Sequence[LoggedCall] | Spooled[LoggedCall]) -> Iterator[dict[str, Any]]:
    """An object with `id`, `messages`, `usage` and further keys for each conversation, in order of appearance.

    Of the calls of one trace the longest history counts. The histories of a conversation's traces are joined where they
    overlap, so that no message occurs twice. Calls without a conversation and a trace are joined if one begins with all
    messages of another, its answer included. Several calls with the same id of their own are joined if one goes on from
    another, or has no answer. Then their id names the conversation. Answers to one request stay apart.

    Of the calls only their numbers are held, for they may be on disk (`spooled_calls`).
    """
    groups: dict[str, list[int]] = {}
    nameless = _NamelessCalls()
    shared: dict[str, list[list[int]]] = {}
    of_id = Counter(call.own for call in calls if not (call.conversation or call.trace))
    for number, call in enumerate(calls):
        if call.conversation or call.trace:
            groups.setdefault(call.conversation or call.trace, []).append(number)
        elif call.own and of_id[call.own] > 1:
            alike = shared.setdefault(call.own, [])
            group = next((group for group in alike[: -_TRIED - 1 : -1] if _goes_on(calls[group[-1]], call)), None)
            if group is None:
                group = groups.setdefault(f"\0{call.own}\0{len(alike)}", [])
                alike.append(group)
            group.insert(0 if len(group) == 1 and _answers(call, calls[group[0]]) else len(group), number)
        else:
            groups.setdefault(f"\0{nameless.group_of(call)}", []).append(number)
    for group in groups.values():
        yield _conversation([calls[number] for number in group])


def left_out(calls: Iterable[LoggedCall], values: Iterable[Mapping[str, Any]]) -> int:
    """How many of the calls have a message that no conversation has."""
    messages = {words for value in values for words in spoken(value["messages"])}
    return sum(not messages.issuperset(spoken(call.turns)) for call in calls)


def _goes_on(earlier: LoggedCall, later: LoggedCall) -> bool:
    """Whether two calls with one id are of one conversation, and not two answers to the same request."""
    if later.sent and spoken(earlier.turns[: earlier.sent]) == spoken(later.turns[: later.sent]):
        return False
    unanswered = any(call.sent == len(call.turns) for call in (earlier, later))
    return unanswered or bool(_joined(earlier.turns, later.turns))


def _answers(request: LoggedCall, earlier: LoggedCall) -> bool:
    """Whether a call is only the answer to a request that the log has after it."""
    return not earlier.sent and request.sent == len(request.turns)


@dataclass
class _NamelessCalls:
    """Calls without a conversation and a trace, each found by all that was said up to its end."""

    ends: dict[bytes, list[int]] = field(default_factory=dict[bytes, list[int]])
    """The groups whose last call ends so, by a digest: a heap of negative numbers."""
    groups: int = 0

    def group_of(self, call: LoggedCall) -> int:
        """The number of the group that a call goes on with, of several the last; else of a new one."""
        histories = _histories(_with_calls(call.turns))
        before = [heap for length, history in histories[:-1] if length > 1 and (heap := self.ends.get(history))]
        heap = min(before, key=lambda heap: heap[0], default=None)
        number = self.groups if heap is None else -heappop(heap)
        self.groups += heap is None
        if histories:
            heappush(self.ends.setdefault(histories[-1][1], []), -number)
        return number


def _with_calls(turns: CallTurns) -> list[tuple[str, str]]:
    """The words of a history, and the names and ids of the calls in turns without words."""
    words = []
    for turn in turns:
        spoken_here = spoken([turn])
        if isinstance(turn, Mapping) and calls_tools(turn) and not "".join(text for _, text in spoken_here):
            spoken_here = [("assistant", f"\0{called(turn)}")]
        words += spoken_here
    return words


def _histories(words: Sequence[tuple[str, str]]) -> list[tuple[int, bytes]]:
    """The number of messages up to each reply of an assistant, and up to the end, with their digest."""
    histories = []
    so_far = sha256()
    for length, (role, text) in enumerate(words, start=1):
        so_far.update(f"{role}\0{len(text)}\0{text}".encode("utf-8", "surrogatepass"))
        if role == "assistant" or length == len(words):
            histories.append((length, so_far.digest()))
    return histories


def _conversation(calls: Sequence[LoggedCall]) -> dict[str, Any]:
    calls = sorted(calls, key=lambda call: call.begun)
    traces: dict[str, list[LoggedCall]] = {}
    for number, call in enumerate(calls):
        traces.setdefault(call.trace or f"\0{number}", []).append(call)
    turns: CallTurns = []
    histories: dict[tuple[str, str], list[list[tuple[str, str]]]] = {}  # by their first message
    for of_trace in traces.values():
        history = _longest(of_trace)
        words = spoken(history)
        earlier = histories.setdefault(words[0], []) if words else []
        turns = _joined(turns, history) or [*turns, *_without_system(_unshared(history, words, earlier), turns)]
        earlier.append(words)
    usage = [call.usage for call in calls if call.usage]
    value: dict[str, Any] = {}
    if name := calls[0].conversation or calls[0].trace or calls[0].own:
        value["id"] = name
    value["messages"] = turns
    if usage:
        keys = dict.fromkeys(key for counts in usage for key in counts)
        value["usage"] = {key: sum(counts.get(key, 0) for counts in usage) for key in keys}
    for call in calls:
        value |= {key: more for key, more in call.more.items() if key not in ("id", "messages", "usage")}
    return value


def _longest(calls: Sequence[LoggedCall]) -> CallTurns:
    """The history of a trace: of its outer step or of a call that continues it, else the longest."""
    chains: list[CallTurns] = []
    for call in sorted(calls, key=lambda call: not call.outer):
        for number, chain in enumerate(chains):
            if joined := _joined(chain, call.turns):
                chains[number] = joined
                break
        else:
            chains.append(call.turns)
    outer = next((spoken(call.turns) for call in calls if call.outer), [])
    if {role for role, _ in outer} == {"user", "assistant"}:
        around = [chain for chain in chains if holds(spoken(chain), outer)]
        chains = around or chains
    return max(chains, key=lambda chain: (len(spoken(chain)), len(chain)), default=[])


def holds(all_said: Sequence[tuple[str, str]], part: Sequence[tuple[str, str]]) -> bool:
    """Whether the conversation contains all of a part in a row."""
    return any(list(all_said[at : at + len(part)]) == list(part) for at in range(len(all_said) - len(part) + 1))


def _joined(first: CallTurns, second: CallTurns) -> CallTurns:
    """Both as one history, where the second goes on from or repeats the first; empty if they do not overlap."""
    a, b = spoken(first), spoken(second)
    if not b:
        return [*first, *_without_system([turn for turn in second if turn not in first], first)]
    if not a:
        return [*(turn for turn in first if turn not in second and turn.get("role") not in SYSTEM), *second]
    if b[: len(a)] == a and len(second) >= len(first):
        return _with_reasons(first, second)
    if a[: len(b)] == b or (len(b) > 1 and a[-len(b) :] == b):
        return _with_reasons(second, first)
    shared = next((count for count in range(min(len(a), len(b)), 0, -1) if a[-count:] == b[:count]), 0)
    if not shared:
        return []
    places = [at for at, turn in enumerate(second) if spoken([turn])]
    return [*first, *_without_system(second[places[shared - 1] + 1 :], first)]


def _unshared(
    history: CallTurns, words: Sequence[tuple[str, str]], earlier: Iterable[Sequence[tuple[str, str]]]
) -> CallTurns:
    """The turns after those that an earlier history has too, because a message was edited.

    All of them, where no reply is among those that both have.
    """
    shared = max((_alike(one, words) for one in earlier), default=0)
    if all(role == "user" for role, _ in words[:shared]):
        return history
    places = [at for at, turn in enumerate(history) if spoken([turn])]
    return history[places[shared - 1] + 1 :]


def _alike(first: Sequence[tuple[str, str]], second: Sequence[tuple[str, str]]) -> int:
    """How many messages two histories have in common at their beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(first), len(second)))


def _without_system(turns: CallTurns, before: CallTurns) -> CallTurns:
    """The turns without instructions, which were given before."""
    instructed = any(turn.get("role") in SYSTEM for turn in before)
    return [turn for turn in turns if not (instructed and turn.get("role") in SYSTEM)]


def _with_reasons(older: CallTurns, newer: CallTurns) -> CallTurns:
    """The newer turns with the finish reasons of the older ones, because a sent history has none."""
    reasons = {words: turn["finish_reason"] for turn in older if "finish_reason" in turn for words in spoken([turn])}
    return [
        turn | {"finish_reason": reasons[words[0]]}
        if (words := spoken([turn])) and words[0] in reasons and "finish_reason" not in turn
        else turn
        for turn in newer
    ]
