"""Every call of a model: answered from the journal, or made through its endpoint's gate, counted and kept."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from ...errors import DuologueError
from ..context_values import during
from ..messages.attachments import for_model
from ..models.faults import CallFault
from ..models.flaws import check_reply
from ..models.offline.model import OfflineChatModel
from ..models.specs import endpoint_host, model_provenance, seeded
from ..replies.conversion import drafts_of, usage_of
from ..settings.redaction import without_known_secrets
from ..state import Draft
from ..world_journal import WorldInJournal
from .agent_turns import CONVERSATION, AgentTurns
from .call_store import AMBIENT, Call, CallKey, CallStore, SentRequest, StoredReply, message_of, plain_reply
from .called_models import address_digest, endpoint_of, most_tries, served_name, side_of, tokens_expected, tokens_taken
from .endpoint_gate import EndpointError, Gate, Pace
from .prices import asked_model
from .reservations import CallKind, Reservations, RunOverError
from .shared_replies import SharedReplies
from .spending import Spending
from .tries import note_lost, reply_despite_cancellation

CONVERSATIONS = 8
"""Conversations at the same time, until an endpoint has shown that it bears more."""
LAST_SECONDS = 10.0
"""Most seconds that calls under way have when a run ends before its plan is done."""


@dataclass
class CallService:
    """The calls of a run in one event loop: its gates, journal and spending."""

    pace: Pace = field(default_factory=Pace)
    store: CallStore | None = None
    spending: Spending = field(default_factory=Spending)
    over: Callable[[], str | None] | None = None
    """Why the run is to end in order, in words; None if it goes on. Called after each turn."""
    notify: Callable[[str], None] | None = None
    """Called with one line when an endpoint becomes unreachable or reachable."""
    on_room: Callable[[], object] | None = None
    """Called when `room` has changed."""
    gates: dict[str, Gate] = field(default_factory=dict)
    stopped: DuologueError | None = None
    """Why no call of the run can succeed any more."""
    shared: SharedReplies = field(default_factory=SharedReplies)
    """What the user's model replied to other versions of the conversations."""
    replayed: int = 0
    """Replies that were taken from the journal."""
    agents: AgentTurns = field(default_factory=AgentTurns)
    works: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]])
    """The pieces of work under way, such as conversations, each a task."""
    reservations: Reservations = field(init=False)
    _is_closing: bool = False

    def __post_init__(self) -> None:
        self.reservations = Reservations(self.spending)

    def active(self) -> AbstractContextManager["CallService"]:
        """Inside, and in the tasks that begin inside, calls are this run's."""
        return during(_CURRENT, self)

    @property
    def room(self) -> int:
        """The useful number of conversations under way."""
        return max(CONVERSATIONS, sum(gate.room for gate in self.gates.values()))

    @property
    def spent_out(self) -> bool:
        """Whether what is under way ends at its next turn: a budget is spent, or the journal cannot be written."""
        lost = self.stopped is not None and not isinstance(self.stopped, EndpointError)
        return lost or bool((self.over or self.spending.over)())

    def gate(self, endpoint: str) -> Gate:
        """The gate of an endpoint."""
        if (gate := self.gates.get(endpoint)) is None:
            gate = self.gates[endpoint] = Gate(endpoint, self.pace, notify=self.notify)
            gate.on_room.append(lambda _: self.on_room and self.on_room())
            if self.reservations.closed:
                gate.close()
        return gate

    def close(self) -> None:
        """Begin no call and no further try.

        Work that would is cancelled, and after ten seconds what is left of it.
        """
        if not self._is_closing:
            self._is_closing = True
            self.reservations.close()
            for gate in self.gates.values():
                gate.close()
            asyncio.get_running_loop().call_later(LAST_SECONDS, self._cancel_works)

    def _cancel_works(self) -> None:
        for task in list(self.works):
            task.cancel()

    async def _end_work(self, error: RunOverError) -> NoReturn:
        """End the piece of work whose next call may not begin; it can be taken up again."""
        _ = self.spent_out  # the run learns at once that it is over
        task = CONVERSATION.get()
        if task is None or task.done():
            raise error
        task.cancel()
        await asyncio.Event().wait()
        raise error  # never, as the task is cancelled meanwhile

    async def reply(self, model: BaseChatModel, messages: Sequence[BaseMessage], call: Call, attempt: int) -> Draft:
        """A chat model's reply to the messages as a draft."""
        endpoint = endpoint_of(model)
        chosen, arguments = seeded(model, call.seed_of(attempt))
        sent = for_model(chosen, messages)
        key = call.key(attempt)
        request = None
        if self._keeps(key) and not isinstance(chosen, OfflineChatModel):  # which replies the same again, at no cost
            request = SentRequest.of({**model_provenance(model), **arguments}, sent)
        async with self.shared.alone(key, request):
            if request is not None and (stored_reply := self._find_stored(key, request)) is not None:
                if endpoint is not None and stored_reply.endpoint == address_digest(endpoint):
                    self.gate(endpoint).answered_before()
                return _draft(message_of(stored_reply.value), stored_reply.retried, shared=stored_reply.shared)
            cancelled: asyncio.CancelledError | None = None

            async def send() -> AIMessage:
                nonlocal cancelled
                work = chosen.ainvoke(sent, None, **cast(Any, arguments))
                # One's own model may have nothing to say.
                check = check_reply if endpoint_host(model) is not None else None
                if request is None:  # nothing is kept
                    reply = await work
                    if check is not None:
                        check(reply)
                else:
                    reply, cancelled = await reply_despite_cancellation(work, check)
                return reply

            query = asked_model(model)
            try:
                expected = tokens_expected(sent) if self.spending.bounded and query is not None else 0
                async with self.reservations.room(CallKind(call.role, query), expected) as took:
                    message, retried = await self._new_reply(endpoint, model, send, sent, key, request)
                    tokens = self.spending.add(
                        served_name(message),
                        usage_of([message]),
                        role=side_of(call.role),
                        query=query,
                        sent=(str(sent_message.content) for sent_message in sent),
                        reply=str(message.text),
                    )
                    took(tokens.get("input_tokens", 0), tokens.get("output_tokens", 0))
            except RunOverError as error:
                await self._end_work(error)
            if request is not None:
                self._keep(key, request, StoredReply(plain_reply(message), retried, address_digest(endpoint)))
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
        world: WorldInJournal | None = None,
    ) -> Any:
        """An agent's update of the state, as `ask` gives it.

        A complete one is kept, with what brings back the world of its tools. RepeatError if that fails.
        """
        most, key = self.snapshot_bytes, call.key(attempt)
        request = SentRequest.of(to, messages) if (most if world else self._keeps(key)) else None
        async with self.shared.alone(key, None if world else request):
            stored_reply = None if request is None else self._find_stored(key, request)
            if stored_reply is not None:
                stored_world = stored_reply.world
                if world is None or (stored_world is not None and await world.put(stored_world, stored_reply.value)):
                    return dict(stored_reply.value)
            try:
                async with self.reservations.room(CallKind(f"agent as {call.role}", None), 0) as took:
                    update = await ask()
                    took(0, self.spending.add_update(update, side_of(call.role)))
            except RunOverError as error:
                await self._end_work(error)
            if request is not None and not update.get("failed"):
                plain = None if world is None or not most else await world.after(update, most)
                if world is None or plain is not None:
                    self._keep(key, request, StoredReply(without_known_secrets(update), world=plain))
            return update

    @property
    def snapshot_bytes(self) -> int | None:
        """Most bytes of a world's snapshot in the journal of the run; None without one."""
        return None if self._store is None else self._store.snapshot_bytes

    @property
    def _store(self) -> CallStore | None:
        return AMBIENT.get() if self.store is None else self.store

    def _keeps(self, key: CallKey) -> bool:
        return self._store is not None or self.shared.has(key.role)

    def _find_stored(self, key: CallKey, request: SentRequest) -> StoredReply | None:
        try:
            stored_reply = self.shared.find(self._store, key, request)
        except DuologueError as error:  # of a store that must contain every call
            note_lost(error)
            raise
        self.replayed += stored_reply is not None and not stored_reply.shared
        return stored_reply

    def _keep(self, key: CallKey, request: SentRequest, outcome: StoredReply | CallFault) -> None:
        """Store the outcome of a call; a failure ends the run, as all later calls would be lost too."""
        try:
            if not isinstance(outcome, CallFault):
                self.shared.keep(self._store, key, request, outcome)
            elif self._store is not None:
                self._store.keep_fault(key, request, outcome)
        except DuologueError as error:
            self.stopped = self.stopped or error
            raise

    async def _new_reply(
        self,
        endpoint: str | None,
        model: BaseChatModel,
        send: Callable[[], Awaitable[AIMessage]],
        sent: Sequence[BaseMessage],
        key: CallKey,
        request: SentRequest | None,
    ) -> tuple[AIMessage, dict[str, int]]:
        """The reply of a call that is made now, and how often it was made again."""
        if self.stopped is not None:
            note_lost(self.stopped)
            raise self.stopped
        if endpoint is None:
            return await send(), {}
        gate = self.gate(endpoint)

        def failed(fault: CallFault) -> None:
            if request is not None:
                self._keep(key, request, fault)

        try:
            tokens = tokens_expected(sent)
            return await gate.call(send, tokens=tokens, spent=tokens_taken, failed=failed, most=most_tries(model))
        except Exception as error:
            self.stopped = self.stopped or (error if isinstance(error, EndpointError) else None)
            note_lost(error)
            raise


_CURRENT: ContextVar[CallService | None] = ContextVar("duologue_calls", default=None)


def current() -> CallService:
    """The calls of the run that is under way; outside a run, new ones."""
    return _CURRENT.get() or CallService()


def run_is_over() -> bool:
    """Whether a budget of the run that is under way is spent, so that it ends at its next turn."""
    calls = _CURRENT.get()
    return calls is not None and calls.spent_out


async def drafted(model: BaseChatModel, messages: Sequence[BaseMessage], call: Call, attempt: int = 1) -> Draft:
    """A chat model's reply to the messages, with the seed of this attempt at the call.

    In a run with a journal the reply is kept there, and taken from there if the same call was made before. CallError:
    the endpoint gave no usable reply; EndpointError: it will give none.
    """
    return await current().reply(model, messages, call, attempt)


async def answered(model: BaseChatModel, text: str, call: Call) -> str:
    """A chat model's reply to one text, which is all that it is sent; errors as for `drafted`."""
    return str((await drafted(model, [HumanMessage(text)], call))["text"])


def _draft(message: AIMessage, retried: Mapping[str, int], *, shared: bool = False) -> Draft:
    draft = drafts_of([message])[0]
    if shared:
        draft["shared"] = True
    if retried:
        draft["retried"] = dict(retried)
    return draft
