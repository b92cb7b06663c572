"""Every call of a model: answered from the journal, or made through its endpoint's gate, counted and kept."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from ...data.identity import digest
from ...data.text.model_tokens import tokens_about
from ...errors import DuologueError
from ..environment import error_line, without_known_secrets
from ..flaws import check_reply
from ..models.offline.model import OfflineChatModel
from ..models.providers import seeded
from ..models.specs import endpoint_host, model_provenance
from ..parts import for_model
from ..replies import drafts_of, usage_of
from ..state import Draft
from .faults import Fault
from .gates import EndpointError, Gate, Pace
from .kept import AMBIENT, Call, CallKey, CallStore, Reply, Sent, message_of, plain_reply
from .prices import asked_model
from .spending import Spending
from .tries import came

CONVERSATIONS = 8
"""Conversations at the same time as long as no endpoint is known that bears more."""


@dataclass
class Calls:
    """The calls of a run: its gates, journal and spending. It belongs to one event loop."""

    pace: Pace = field(default_factory=Pace)
    store: CallStore | None = None
    spending: Spending = field(default_factory=Spending)
    over: Callable[[], str | None] | None = None
    """Why the run is to end in order, in words; None if it goes on. Sent after each turn."""
    said: Callable[[str], None] | None = None
    """Is told in a line when an endpoint goes and comes back."""
    on_room: Callable[[], object] | None = None
    """Is called when `room` has changed."""
    gates: dict[str, Gate] = field(default_factory=dict)
    stopped: DuologueError | None = None
    """Why no call of the run can succeed any more."""
    replayed: int = 0
    """Replies that were taken from the journal."""

    @contextmanager
    def active(self) -> Iterator[None]:
        """Inside, and in the tasks that begin inside, calls are this run's."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)

    @property
    def room(self) -> int:
        """How many conversations are worth having under way."""
        return max(CONVERSATIONS, sum(gate.room for gate in self.gates.values()))

    @property
    def spent_out(self) -> bool:
        """Whether what is under way is to end at its next turn: a bound is reached, or nothing can be kept any more."""
        lost = self.stopped is not None and not isinstance(self.stopped, EndpointError)
        return lost or bool((self.over or self.spending.over)())

    def gate(self, endpoint: str) -> Gate:
        """The gate of an endpoint."""
        gate = self.gates.get(endpoint)
        if gate is None:
            gate = self.gates[endpoint] = Gate(endpoint, self.pace, said=self.said)
            gate.on_room.append(self._room_changed)
        return gate

    def _room_changed(self, room: int) -> None:
        if self.on_room is not None:
            self.on_room()

    async def reply(self, model: BaseChatModel, messages: Sequence[BaseMessage], call: Call, attempt: int) -> Draft:
        """A chat model's reply to the messages as a draft."""
        endpoint = endpoint_of(model)
        chosen, arguments = seeded(model, call.seed_of(attempt))
        sent = for_model(chosen, messages)
        key = call.key(attempt)
        # The embedded model gives the same reply again and costs nothing: it is asked.
        kept_ones = self._store is not None and not isinstance(chosen, OfflineChatModel)
        asked = Sent.of({**model_provenance(model), **arguments}, sent) if kept_ones else None
        if asked is not None and (kept := self._found(key, asked)) is not None:
            if endpoint is not None and kept.endpoint == _address(endpoint):
                self.gate(endpoint).answered_before()
            return _draft(message_of(kept.value), kept.retried)

        cancelled: asyncio.CancelledError | None = None

        async def send() -> AIMessage:
            nonlocal cancelled
            work = chosen.ainvoke(sent, None, **cast(Any, arguments))
            check = check_reply if endpoint_host(model) is not None else None  # one's own model may have nothing to say
            if asked is None:  # nothing is kept
                reply = await work
                if check is not None:
                    check(reply)
            else:
                reply, cancelled = await came(work, check)
            return reply

        message, retried = await self._made(endpoint, model, send, sent, key, asked)
        self.spending.add(
            _served(message),
            usage_of([message]),
            role=_side(call.role),
            asked=asked_model(model),
            sent=(str(each.content) for each in sent),
            reply=str(message.text),
        )
        if asked is not None:
            self._keep(key, asked, Reply(plain_reply(message), retried, _address(endpoint)))
        if cancelled is not None:
            raise cancelled
        return _draft(message, retried)

    async def update(
        self,
        to: Mapping[str, Any],
        messages: Sequence[BaseMessage],
        call: Call,
        attempt: int,
        ask: Callable[[], Awaitable[Any]],
    ) -> Any:
        """An agent's update of the state, as `ask` gives it; a complete one is kept."""
        asked = None if self._store is None else Sent.of(to, messages)
        key = call.key(attempt)
        if asked is not None and (kept := self._found(key, asked)) is not None:
            return dict(kept.value)
        update = await ask()
        for draft in update.get("drafts", []) if isinstance(update, Mapping) else []:
            if isinstance(draft, Mapping) and (usage := draft.get("usage")):
                # What an agent's own calls cost is not known, only how many tokens they took.
                self.spending.add(draft.get("model") or "agent", usage, role=_side(call.role), asked=None)
        if asked is not None and not update.get("failed"):
            self._keep(key, asked, Reply(without_known_secrets(update)))
        return update

    @property
    def _store(self) -> CallStore | None:
        return AMBIENT.get() if self.store is None else self.store

    def _found(self, key: CallKey, asked: Sent) -> Reply | None:
        try:
            kept = None if self._store is None else self._store.find(key, asked)
        except DuologueError as error:  # of a store that must know every call
            _lost(error)
            raise
        self.replayed += kept is not None
        return kept

    def _keep(self, key: CallKey, asked: Sent, came: Reply | Fault) -> None:
        """Keep what came of a call. What cannot be kept is lost, and so would be all that is paid after it: the run ends."""
        if (store := self._store) is None:
            return
        try:
            if isinstance(came, Fault):
                store.keep_fault(key, asked, came)
            else:
                store.keep(key, asked, came)
        except DuologueError as error:
            self.stopped = self.stopped or error
            raise

    async def _made(
        self,
        endpoint: str | None,
        model: BaseChatModel,
        send: Callable[[], Awaitable[AIMessage]],
        sent: Sequence[BaseMessage],
        key: CallKey,
        asked: Sent | None,
    ) -> tuple[AIMessage, dict[str, int]]:
        """The reply of a call that is made now, and how often it was made again."""
        if self.stopped is not None:
            _lost(self.stopped)
            raise self.stopped
        if endpoint is None:
            return await send(), {}
        gate = self.gate(endpoint)

        def failed(fault: Fault) -> None:
            if asked is not None:
                self._keep(key, asked, fault)

        try:
            tokens = _about(sent) if gate.pace.tokens_per_minute else 0
            return await gate.call(send, tokens=tokens, spent=_tokens, failed=failed, most=_tries(model))
        except EndpointError as error:
            self.stopped = self.stopped or error
            _lost(error)
            raise
        except Exception as error:
            _lost(error)
            raise


_CURRENT: ContextVar[Calls | None] = ContextVar("duologue_calls", default=None)


_LOST: ContextVar[list[str] | None] = ContextVar("duologue_lost_calls", default=None)


@contextmanager
def lost_calls() -> Iterator[list[str]]:
    """The calls inside that got no reply, each in one line: also those whose error somebody caught."""
    lost: list[str] = []
    token = _LOST.set(lost)
    try:
        yield lost
    finally:
        _LOST.reset(token)


def _lost(error: Exception) -> None:
    if (lost := _LOST.get()) is not None:
        lost.append(error_line(error))


def current() -> Calls:
    """The calls of the run that is under way; outside a run, new ones."""
    return _CURRENT.get() or Calls()


def run_is_over() -> bool:
    """Whether a budget of the run that is under way is spent: what is under way ends at its next turn."""
    calls = _CURRENT.get()
    return calls is not None and calls.spent_out


async def drafted(model: BaseChatModel, messages: Sequence[BaseMessage], call: Call, attempt: int = 1) -> Draft:
    """A chat model's reply to the messages. Its seed, for models that take one, is that of the attempt at this call.

    In a run with a journal the reply is kept there, and taken from there if the same call was made before. CallError:
    the endpoint gave no usable reply; EndpointError: it will give none.
    """
    return await current().reply(model, messages, call, attempt)


async def answered(model: BaseChatModel, text: str, call: Call) -> str:
    """A chat model's reply to one text, which is all that it is sent; errors as for `drafted`."""
    return str((await drafted(model, [HumanMessage(text)], call))["text"])


def endpoint_of(model: BaseChatModel) -> str | None:
    """Which endpoint a model calls: its host, else the name of its class; None for the embedded offline model."""
    return None if isinstance(model, OfflineChatModel) else endpoint_host(model) or type(model).__name__


@lru_cache(maxsize=64)
def _address(endpoint: str | None) -> str:
    """What is kept of an endpoint's address: its digest."""
    return digest(endpoint or "")[:16]


def _draft(message: AIMessage, retried: Mapping[str, int]) -> Draft:
    draft = drafts_of([message])[0]
    if retried:
        draft["retried"] = dict(retried)
    return draft


def _served(message: AIMessage) -> str | None:
    """The name of the model that answered, as the endpoint gives it."""
    served = message.response_metadata.get("model_name") or message.response_metadata.get("model")
    return str(served) if served else None


def _side(role: str) -> str:
    """`user` and `assistant` for what these say, else `judge`: a judge's role says more than that."""
    return role if role in ("user", "assistant") else "judge"


def _tries(model: BaseChatModel) -> int | None:
    """How often a call may be made, as the model's spec says it (`max_retries`); None if it does not."""
    given = (model.metadata or {}).get("arguments")
    retries = given.get("max_retries") if isinstance(given, Mapping) else None
    return retries + 1 if isinstance(retries, int) else None


def _about(messages: Sequence[BaseMessage]) -> int:
    """About how many tokens a call takes: a guess before it, which its usage corrects."""
    return sum(tokens_about(str(message.content)) for message in messages) + 100


def _tokens(message: AIMessage) -> int:
    return int(message.usage_metadata["total_tokens"]) if message.usage_metadata else 0
