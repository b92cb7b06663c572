"""Asking models about many things, with a journal of the answers.

Each answer is written as it comes, equal things are asked about once, and a model that only fails is given up. Pace and
bounds are those of a run (`Conduct`).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from ...data.files.journals import Codec
from ...data.records import Record
from ...data.text.words import OF_MESSAGE, tokens_about
from ...nodes.calls.gate import EndpointError
from ...nodes.calls.spending import PriceQuery, Spending, asked_model
from ...nodes.judges import ATTEMPTS
from ...nodes.settings.redaction import error_line
from ..engine.conduct import Conduct, calling
from ..engine.control import Control
from ..engine.conversing import Concurrency, do_all
from ..journals.calls import CallFile, ReplyCost, count
from ..planning.plans import ANSWER, AS_SENT, CallEstimate, CallPlan, ModelCalls
from .store import AnswerStore, codec_of

T = TypeVar("T")
S = TypeVar("S")

Payment: TypeAlias = tuple[ReplyCost, PriceQuery | None]
"""What an answer has taken, and the model that was called; None for one that costs nothing."""

RULE = f"{AS_SENT}, and about {ANSWER[1]} tokens of an answer; nothing is asked again, and reasoning is not foreseen"
GIVE_UP = 10
"""Failures in a row after which a model is not asked any more."""


class ModelAnswer(Record):
    """A model's answer about one thing."""

    called: ClassVar[str] = "an answer of a model"
    """What it is, for the error about a file that holds something else."""

    id: str
    """Digest of the model, the pages and all that it was shown."""
    usage: dict[str, int] | None = None
    """Tokens, by the names of `data.Usage`."""
    error: str = ""
    """The reason of a missing answer, in one line; empty otherwise."""
    unreadable: bool = False
    """Whether replies came of which none could be read: they are paid for, and it is not asked again."""


A = TypeVar("A", bound=ModelAnswer)


async def ask_missing(
    store: AnswerStore[S],
    things: Mapping[str, T],
    ask: Callable[[T, Callable[[S], None]], Awaitable[None]],
    *,
    conduct: Conduct,
    control: Control,
    concurrency: Concurrency = "auto",
    resume: bool = True,
    payments: Callable[[S], Iterable[Payment]] | None = None,
    price_query: PriceQuery | None = None,
    begin: Callable[[CallFile], None] | None = None,
    on_answer: Callable[[S], None] | None = None,
) -> str | None:
    """Ask about the things that the store has no answer about; gives why no endpoint could answer, if so.

    `things`: by the names of their answers. `ask` passes each answer to the function that it is handed. Each is on the
    disk before the next thing is asked about in its place, so a kill loses only what is under way. `resume`: replies
    that came before a kill are used. `begin` is called with the file of calls, where there is one, before the first
    call. When nothing is missing the call journal is removed.

    Budgets hold over all calls, not over those of one command. `payments` gives the cost of a stored answer, and
    `price_query` is the model whose stored replies have no answer yet. Without `payments` nothing of before is counted.

    RunError for a file that cannot be written; an exception in `ask` ends it all, and is raised as it is.
    """
    stopped, spending = None, control.spending
    if payments is not None:
        stored_answers = (store.done[name] for name in things if name in store.done)
        count_payments(spending, (payment for answer in stored_answers for payment in payments(answer)))
    if missing := [thing for name, thing in things.items() if name not in store.done]:
        with conduct.calls(store.folder, name=store.calls, resume=resume, done=frozenset(store.done)) as file:

            def keep(answer: S) -> None:
                store.keep(answer)
                if file is not None:
                    file.forget(store.codec.key(answer))
                if on_answer is not None:
                    on_answer(answer)

            async def one(thing: T) -> None:
                await ask(thing, keep)

            if file is not None and begin is not None:
                begin(file)
            if file is not None and payments is not None:
                count_payments(spending, ((paid, price_query) for paid in file.paid))
            try:
                async with calling(control, file, max_seconds=conduct.max_seconds, check=store.check) as calls:
                    await do_all(missing, one, calls, control, concurrency)
            except EndpointError as error:
                stopped = error_line(error)
    if not conduct.keep_calls and conduct.replay_calls is None:
        store.remove_calls(things)
    return stopped


def count_payments(spending: Spending, payments: Iterable[Payment]) -> None:
    """Count what was paid before, where a bound needs it."""
    if spending.bounded:
        for paid, query in payments:
            count(spending, paid, query)


@dataclass(frozen=True)
class Asking(Generic[T, A]):
    """The requests to one model."""

    model: Any
    """A LangChain chat model."""
    kind: type[A]
    things: Sequence[tuple[str, T]]
    """Each thing with its name, the `id` of its answer; things of one name are one."""
    ask: Callable[[str, T], Awaitable[A]]
    texts: Callable[[T], Sequence[str]]
    """What is sent first about a thing."""

    def missing(self, answers_file: str | Path | None = None) -> dict[str, T]:
        """The things without an answer in the file, each once.

        DataError as for `answers`.
        """
        store = AnswerStore(_codec(self.kind))
        if answers_file is not None:
            store.read(Path(answers_file))
        return {name: thing for name, thing in self.things if name not in store.done}

    async def answers(
        self,
        *,
        answers_file: str | Path | None = None,
        concurrency: Concurrency = "auto",
        conduct: Conduct | None = None,
        on_answer: Callable[[A], None] | None = None,
    ) -> list[A]:
        """The model's answers about the things, in their order.

        `answers_file`: a file of JSON lines. Each answer is on the disk before the next question in its place, so a
        kill loses only the calls under way. Stored answers are not asked for again, failures are.

        `conduct`: pace, bounds, and the file of all calls, to record or to replay. `on_answer` is called with each new
        answer. Asking ends after ten failures in a row, at a budget, or when an endpoint cannot answer. The `error` of
        each missing answer then gives the reason.

        DataError or RunError for a file that holds something else or cannot be written. An exception in `ask` ends it
        all, and is raised as it is.
        """
        conduct = conduct or Conduct()
        control = conduct.controlled()
        failures = 0

        async def one(item: tuple[str, T], keep: Callable[[A], None]) -> None:
            nonlocal failures
            if failures < GIVE_UP:
                answer = await self.ask(*item)
                failures = failures + 1 if answer.error else 0
                keep(answer)

        with ExitStack() as opened:
            store = AnswerStore.in_file(answers_file, _codec(self.kind), opened)
            store.failed.clear()  # a failure of an earlier call does not say why this one did not ask
            stopped = await ask_missing(
                store,
                {name: (name, thing) for name, thing in self.things},
                one,
                conduct=conduct,
                control=control,
                concurrency=concurrency,
                resume=False,
                on_answer=on_answer,
            )
        unasked = stopped or control.ending or f"{GIVE_UP} calls in a row failed"
        return [store.of(name) or self.kind(id=name, error=f"not asked: {unasked}") for name, _ in self.things]


def questions_planned(askings: Iterable[Asking[Any, Any]], what: str, answers_file: str | Path | None) -> CallPlan:
    """The plan of asking about everything without an answer in the file; `what`: the things, such as `turns`."""
    missing = [(asking, list(asking.missing(answers_file).values())) for asking in askings]
    count = sum(len(things) for _, things in missing)

    def estimated() -> CallEstimate:
        calls = (
            ModelCalls.of(
                asked_model(asking.model),
                ((sum(map(tokens_about, asking.texts(one))) + 2 * OF_MESSAGE, ANSWER[1]) for one in things),
            )
            for asking, things in missing
        )
        return CallEstimate(tuple(calls), RULE, is_range=False)

    return CallPlan(count, what, count, ATTEMPTS * count, "each one question to a model", True, estimated)


def _codec(kind: type[A]) -> Codec[A]:
    problem = f"is not {kind.called}: choose another file"
    return codec_of(kind, lambda answer: answer.id, problem, lambda answer: not answer.error or answer.unreadable)
