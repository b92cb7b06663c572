"""Every call of a model: found among the kept replies, or reserved, asked through its endpoint's gate, and kept."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from ...data.text.words import tokens_about
from ...errors import DuologueError
from ..models.flaws import check_reply, counted
from ..models.offline.model import OfflineChatModel
from ..models.specs import endpoint_host, model_provenance, seeded
from ..replies import reply_of, usage_of
from ..settings.redaction import error_line, without_known_secrets
from ..state import Draft
from .gate import CallError, EndpointError, Gate, Pace, RunOverError
from .spending import PriceQuery, Reservations, Spending, asked_model
from .store import Call, CallStore, Replies, SentRequest, StoredReply, message_of, plain_reply

T = TypeVar("T")

MOST_TOKENS = 2_000_000
"""Tokens that no call takes: what is reported beyond is no number to wait for."""
CONVERSATIONS = 8
"""Conversations at the same time, until an endpoint has shown that it bears more."""


@dataclass
class Calls:
    """The calls of a run in one event loop: its kept replies, budgets and gates."""

    pace: Pace = field(default_factory=Pace)
    replies: Replies = field(default_factory=Replies)
    spending: Spending = field(default_factory=Spending)
    over: Callable[[], str | None] | None = None
    """Why the run is to end in order, in words; None if it goes on. Called after each turn."""
    notify: Callable[[str], None] | None = None
    """Called with one line when an endpoint becomes unreachable or reachable."""
    on_room: Callable[[], object] | None = None  # called when `room` has changed
    gates: dict[str, Gate] = field(default_factory=dict)
    stopped: DuologueError | None = None  # why no call of the run can succeed any more
    lost: dict[str, str] = field(default_factory=dict)
    """The first call of each conversation that got no reply, in one line: also where its error was caught."""
    agents: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]])  # the turns of agents under way
    dropped: bool = False  # whether agents are waited for no more
    reservations: Reservations = field(init=False)

    def __post_init__(self) -> None:
        self.reservations = Reservations(self.spending)

    @contextmanager
    def active(self) -> Iterator["Calls"]:
        """Inside, and in the tasks that begin inside, calls are this run's."""
        with during(_CURRENT, _Current(self)):
            yield self

    @property
    def room(self) -> int:
        """The useful number of conversations under way."""
        return max(CONVERSATIONS, sum(gate.room for gate in self.gates.values()))

    @property
    def spent_out(self) -> bool:
        """Whether what is under way ends at its next turn: a budget is spent, or no reply can be kept."""
        broken = self.stopped is not None and not isinstance(self.stopped, EndpointError)
        return broken or bool((self.over or self.spending.over)())

    def gate(self, endpoint: str, rates: Mapping[str, float] | None = None) -> Gate:
        """The gate of an endpoint; `rates`: requests and tokens a minute (`rpm`, `tpm`) that a model's name sets."""
        if (gate := self.gates.get(endpoint)) is None:
            own: Any = rates or {}
            gate = self.gates[endpoint] = Gate(endpoint, self.pace, notify=self.notify, **own)
            gate.on_room = lambda: self.on_room and self.on_room()
            if self.reservations.closed:
                gate.close()
        return gate

    def close(self) -> None:
        """Begin no call and no further try."""
        self.reservations.close()
        for gate in self.gates.values():
            gate.close()

    @contextmanager
    def agent_turn(self, turn: asyncio.Task[Any]) -> Iterator[None]:
        """Inside, an agent's turn is waited for; RunOverError once agents are waited for no more."""
        self.agents.add(turn)
        try:
            if not self.dropped:
                yield
            if self.dropped:
                raise RunOverError
        finally:
            self.agents.discard(turn)

    def drop_agents(self) -> None:
        """Wait for no agent any more: the run ends."""
        self.dropped = True
        for turn in self.agents:
            turn.cancel()

    async def reply(self, model: BaseChatModel, messages: Sequence[BaseMessage], call: Call, attempt: int) -> Draft:
        """A chat model's reply to the messages as a draft."""
        chosen, arguments = seeded(model, call.seed_of(attempt))
        if call.repeats > 1 and (warmer := getattr(model, "warmer", None)) is not None:
            arguments = {**arguments, **warmer()}
        sent, query = list(messages), asked_model(model)
        tokens = 100 + sum(tokens_about(str(message.content)) for message in sent)
        is_kept = self.replies.keeps(call.role) and query is not None  # the offline model replies the same again

        async def ask() -> StoredReply:
            async with self._reserved(call.role, query, tokens) as took:
                send = partial(chosen.ainvoke, sent, None, **cast(Any, arguments))
                message, retried = await self._through_gate(model, send, tokens)
                took(*self._paid(message, sent, call.role, query))
            return StoredReply(plain_reply(message) if is_kept else {}, retried, message=message)

        with self._noting(call.conversation):
            if is_kept:
                request = SentRequest.of({**model_provenance(model), **arguments}, sent)
                reply = await self.replies.once(call.key(attempt), request, ask)
            else:
                reply = await ask()
        if reply.message is None and not reply.shared:  # it has answered this run: when it is gone it is waited for
            self._gate_of(model).answered = True
        draft = reply_of([message_of(reply)])
        if reply.shared:
            draft["shared"] = True
        if reply.retried:
            draft["retried"] = dict(reply.retried)
        return draft

    async def update(
        self,
        to: Mapping[str, Any],
        messages: Sequence[BaseMessage],
        call: Call,
        attempt: int,
        ask: Callable[[], Awaitable[Any]],
        *,
        keep: bool = True,
    ) -> Any:
        """An agent's update of the state, as `ask` gives it; a complete one is kept, unless its tools act on a world."""

        async def asked() -> StoredReply:
            async with self._reserved(f"agent as {call.role}", None, 0) as took:
                update, before = await ask(), self.spending.total.cost or 0.0
                tokens = self.spending.add_update(update, side_of(call.role))
                took(0, tokens, (self.spending.total.cost or 0.0) - before)
            return StoredReply(without_known_secrets(update))

        with self._noting(call.conversation):
            if keep and self.replies.keeps(call.role):
                reply = await self.replies.once(call.key(attempt), SentRequest.of(to, messages), asked)
            else:
                reply = await asked()
        return dict(reply.value)

    @asynccontextmanager
    async def _reserved(self, role: str, query: PriceQuery | None, expected: int) -> AsyncIterator[Callable[..., None]]:
        """Inside, a call has its part of the budget; one that an agent makes in its turn has it already."""
        if _CURRENT.get().in_turn:
            yield lambda *taken: None
            return
        try:
            async with self.reservations.room((role, query), expected) as took:
                with during(_CURRENT, _Current(self, in_turn=True)):
                    yield took
        except RunOverError:
            self.spent_out  # noqa: B018 - the run learns at once that it is over
            raise

    async def _through_gate(
        self, model: BaseChatModel, send: Callable[[], Awaitable[AIMessage]], tokens: int
    ) -> tuple[AIMessage, dict[str, int]]:
        """The reply of a call that is made now, and how often it was made again, by fault."""
        if self.stopped is not None:
            raise self.stopped
        if isinstance(model, OfflineChatModel):
            return await send(), {}

        async def checked() -> AIMessage:
            reply = await send()
            if endpoint_host(model) is not None:  # one's own model may have nothing to say
                check_reply(reply)
            return reply

        return await self._gate_of(model).call(
            checked,
            tokens=tokens,
            spent=_tokens_of,
            headers=lambda reply: reply.response_metadata.get("headers") or {},
        )

    def _paid(
        self, message: AIMessage, sent: Sequence[BaseMessage], role: str, query: PriceQuery | None
    ) -> tuple[int, int]:
        """Count a reply; its tokens, sent and replied."""
        served = message.response_metadata.get("model_name") or message.response_metadata.get("model")
        texts = (str(one.content) for one in sent)
        usage, reply, side = usage_of([message]), str(message.text), side_of(role)
        tokens = self.spending.add(served, usage, role=side, query=query, sent=texts, reply=reply)
        return tokens.get("input_tokens", 0), tokens.get("output_tokens", 0)

    def _gate_of(self, model: BaseChatModel) -> Gate:
        """The gate of a model's endpoint; one of its own where its name sets rates."""
        name, metadata = endpoint_host(model) or type(model).__name__, model.metadata or {}
        rates = metadata.get("pace") if "spec" in metadata else None
        return self.gate(f"{name} {metadata['spec']} {rates}" if rates else name, rates)

    @contextmanager
    def _noting(self, conversation: str) -> Iterator[None]:
        """Note a call that gets no reply, and that no call will get one any more."""
        try:
            yield
        except (DuologueError, CallError) as error:
            self.lost.setdefault(conversation, error_line(error))
            if isinstance(error, EndpointError) or error is self.replies.broken:
                self.stopped = self.stopped or error
            raise


@contextmanager
def during(variable: ContextVar[Any], value: T) -> Iterator[T]:
    """Inside, and in the tasks that begin inside, the variable has this value."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


class _Current(NamedTuple):
    calls: Calls | None = None
    in_turn: bool = False  # whether a call is under way that has its part of the budget
    is_outside: bool = False  # whether these calls are of no run, and only say where replies are kept


_CURRENT: ContextVar[_Current] = ContextVar("duologue_calls", default=_Current())  # noqa: B039 - it is a tuple


def current() -> Calls:
    """The calls of the run that is under way; outside a run, new ones, whose replies are where `kept_in` keeps them."""
    now = _CURRENT.get()
    if now.is_outside and now.calls is not None:
        return Calls(replies=now.calls.replies)
    return now.calls or Calls()


@contextmanager
def kept_in(store: CallStore) -> Iterator[CallStore]:
    """Inside, calls of models are answered from this store, and kept in it; also those of runs without a folder."""
    with during(_CURRENT, _Current(Calls(replies=Replies(store)), is_outside=True)):
        yield store


def store_outside() -> CallStore | None:
    """The store of the surrounding `kept_in`; None without one."""
    now = _CURRENT.get()
    return now.calls.replies.store if now.calls is not None and now.is_outside else None


def run_is_over() -> bool:
    """Whether a budget of the run that is under way is spent, so that it ends at its next turn."""
    calls = _CURRENT.get().calls
    return calls is not None and calls.spent_out


async def drafted(model: BaseChatModel, messages: Sequence[BaseMessage], call: Call, attempt: int = 1) -> Draft:
    """A chat model's reply to the messages, with the seed of this attempt at the call.

    In a run with a folder the reply is kept there, and found there if the same call was made before. CallError: the
    endpoint gave no usable reply; EndpointError: it will give none; RunOverError: the run ends before this call.
    """
    return await current().reply(model, messages, call, attempt)


def side_of(role: str) -> str:
    """`user` and `assistant` for what these say, else `judge`: a judge's role says more than that."""
    return role if role in ("user", "assistant") else "judge"


def _tokens_of(reply: AIMessage) -> int:
    """The tokens that the endpoint reports, as far as a reply can have them; 0 if it reports none."""
    tokens = counted(reply.usage_metadata) or {}
    return min(MOST_TOKENS, tokens.get("input_tokens", 0) + tokens.get("output_tokens", 0))
