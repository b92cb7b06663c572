"""Every call of a model: found among the kept replies, or reserved, asked through its endpoint's gate, and kept."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from ...data.text.words import tokens_about
from ...errors import DuologueError
from ..models.faults import check_reply, counted
from ..models.offline.model import OfflineChatModel
from ..models.specs import endpoint_host, model_provenance, seeded
from ..replies import reply_of, usage_of
from ..settings.redaction import error_line, without_known_secrets
from ..state import Draft
from .gate import CallError, EndpointError, Gate, RunOverError
from .spending import Reservations, Spending, asked_model
from .store import Call, Replies, RepliesError, SentRequest, StoredReply, message_of, plain_reply

T = TypeVar("T")

MOST_TOKENS = 2_000_000
"""Tokens that no call takes: what is reported beyond is no number to wait for."""
CONVERSATIONS = 8
"""Conversations at the same time, until an endpoint has shown that it bears more."""


@dataclass
class Calls:
    """A run's calls in one event loop: its kept replies, budgets and gates, and whether it goes on.

    A run ends early in two ways: nothing new begins any more (`end`), or what is under way ends before its next turn too
    (`cut`).
    """

    concurrency: int | None = None
    """Most calls to an endpoint at the same time; None: as many as it bears."""
    replies: Replies | None = None
    spending: Spending = field(default_factory=Spending)
    notify: Callable[[str], None] | None = None
    """Called with one line when an endpoint becomes unreachable or reachable."""
    ending: str | None = None
    """Why no further conversation begins, in words; None if they do."""
    cutting: bool = False
    on_room: Callable[[], object] | None = None  # called when `room` has changed
    gates: dict[str, Gate] = field(default_factory=dict)
    stopped: DuologueError | None = None  # why no call of the run can succeed any more
    lost: dict[str, str] = field(default_factory=dict)
    """The first call of each conversation that got no reply, in one line: also where its error was caught."""
    works: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]])  # such as conversations under way
    made_anew: int = 0
    """Turns of agents that no kept reply answers, since their tools act on a world."""
    reservations: Reservations = field(init=False)

    def __post_init__(self) -> None:
        self.reservations = Reservations(self.spending)

    @contextmanager
    def active(self, version: str | None = None) -> Iterator["Calls"]:
        """Inside, and in the tasks that begin inside, calls are this run's; `version`: of the agent, None as outside."""
        with during(_CURRENT, _Current(self, _CURRENT.get().version if version is None else version)):
            yield self

    @property
    def room(self) -> int:
        """The useful number of conversations under way."""
        return max(CONVERSATIONS, sum(gate.room for gate in self.gates.values()))

    @property
    def goes_on(self) -> bool:
        """Whether another conversation may begin."""
        return not self.is_over and self.ending is None

    @property
    def is_over(self) -> bool:
        """Whether what is under way ends at its next turn: a budget is spent, or no reply can be kept."""
        if not self.cutting and (reason := self.spending.over()) is not None:
            self.cut(reason)
        return self.cutting or (self.stopped is not None and not isinstance(self.stopped, EndpointError))

    def begin(self) -> None:
        """A run begins, maybe not the first one: an endpoint that an earlier one gave up is tried again."""
        self.stopped, self.lost = None, {}
        for endpoint in [name for name, gate in self.gates.items() if gate.ended]:
            del self.gates[endpoint]

    def end(self, reason: str) -> None:
        """Begin nothing new from now on; what is under way goes on."""
        self.ending = self.ending or reason

    def cut(self, reason: str) -> None:
        """Begin nothing new from now on, no call either; what is under way ends at its next turn (`budget`)."""
        self.end(reason)
        self.cutting = True
        self.reservations.close()
        for gate in self.gates.values():
            gate.close()
        if self.on_room is not None:
            self.on_room()

    def gate(self, endpoint: str, rates: Mapping[str, float] | None = None) -> Gate:
        """The gate of an endpoint; `rates`: requests and tokens a minute (`rpm`, `tpm`) that a model's name sets."""
        if (gate := self.gates.get(endpoint)) is None:
            pace: dict[str, Any] = {"concurrency": self.concurrency, **(rates or {})}
            gate = self.gates[endpoint] = Gate(endpoint, notify=self.notify, **pace)
            gate.on_room = lambda: self.on_room and self.on_room()
            if self.reservations.closed:
                gate.close()
        return gate

    async def reply(self, model: BaseChatModel, messages: Sequence[BaseMessage], call: Call, attempt: int) -> Draft:
        """A chat model's reply to the messages as a draft."""
        chosen, arguments = seeded(model, call.seed_of(attempt))
        if call.repeats > 1 and (warmer := getattr(model, "warmer", None)) is not None:
            arguments = {**arguments, **warmer()}
        sent, query = list(messages), asked_model(model)
        about = sum(tokens_about(str(message.content)) for message in sent)
        tokens = 100 + about
        replies = self.replies if query is not None else None  # the offline model replies the same again

        async def ask() -> StoredReply:
            async with self._reserved(tokens) as took:
                send = partial(chosen.ainvoke, sent, None, **cast(Any, arguments))
                message, retried = await self._through_gate(model, send, tokens)
                served = message.response_metadata.get("model_name") or message.response_metadata.get("model")
                usage, text = usage_of([message]), str(message.text)
                took(*self.spending.add(served, usage, query=query, sent=about, reply=text))
            return StoredReply(plain_reply(message) if replies is not None else {}, retried, message=message)

        version = _CURRENT.get().version
        with self._noting(call.conversation):
            if replies is not None:
                request = SentRequest.of({**model_provenance(model), **arguments}, sent)
                reply = await replies.once(call.place(attempt, version), version, request, ask)
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
            async with self._reserved(0) as took:
                update = await ask()
                took(*self.spending.add_update(update))
            return StoredReply(without_known_secrets(update))

        with self._noting(call.conversation):
            if keep and self.replies is not None:
                version = _CURRENT.get().version
                place = call.place(attempt, version)
                reply = await self.replies.once(place, version, SentRequest.of(to, messages), asked)
            else:
                self.made_anew += 1
                reply = await asked()
        return dict(reply.value)

    @asynccontextmanager
    async def _reserved(self, expected: int) -> AsyncIterator[Callable[[int, float], None]]:
        """Inside, a call has its part of the budget; one that an agent makes in its turn has it already."""
        now = _CURRENT.get()
        if now.in_turn:
            yield lambda tokens, dollars: None
            return
        try:
            async with self.reservations.room(expected) as took:
                with during(_CURRENT, _Current(self, now.version, in_turn=True)):
                    yield took
        except RunOverError:
            self.is_over  # noqa: B018 - the run learns at once that it is over
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
            if isinstance(error, EndpointError | RepliesError):
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
    version: str = ""
    in_turn: bool = False  # whether a call is under way that has its part of the budget


_CURRENT: ContextVar[_Current] = ContextVar("duologue_calls", default=_Current())  # noqa: B039 - it is a tuple


def current() -> Calls:
    """The calls of the run that is under way; new ones outside a run."""
    return _CURRENT.get().calls or Calls()


def kept_in(replies: Replies) -> AbstractContextManager[Calls]:
    """Inside, calls of models are answered from these replies, and kept in them; also those of runs without a folder."""
    return Calls(replies=replies).active()


def replies_outside() -> Replies | None:
    """The replies of the surrounding `kept_in`; None without one."""
    calls = _CURRENT.get().calls
    return None if calls is None else calls.replies


def run_is_over() -> bool:
    """Whether a budget of the run that is under way is spent, so that it ends at its next turn."""
    calls = _CURRENT.get().calls
    return calls is not None and calls.is_over


async def drafted(model: BaseChatModel, messages: Sequence[BaseMessage], call: Call, attempt: int = 1) -> Draft:
    """A chat model's reply to the messages, with the seed of this attempt at the call.

    In a run with a folder the reply is kept there, and found there if the same call was made before. CallError: the
    endpoint gave no usable reply; EndpointError: it will give none; RunOverError: the run ends before this call.
    """
    return await current().reply(model, messages, call, attempt)


def _tokens_of(reply: AIMessage) -> int:
    """The tokens that the endpoint reports, as far as a reply can have them; 0 if it reports none."""
    tokens = counted(reply.usage_metadata) or {}
    return min(MOST_TOKENS, tokens.get("input_tokens", 0) + tokens.get("output_tokens", 0))
