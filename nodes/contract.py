"""The contract of nodes and stop criteria: its checks of replacements and their updates, and the forms a node may have."""

import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, cast, runtime_checkable

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langgraph.errors import ParentCommand
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime
from pydantic import TypeAdapter, ValidationError

from ..data.identity import digest
from ..data.records import FAULTS, Attempt, Message, Usage
from ..errors import DuologueError, first_invalid, shown
from .foreign import in_thread
from .langgraph_names import ASKED
from .limits import Limits
from .replies import AnswerError, messages_answered, reply_of
from .state import ANSWERS, NodePlace, State, Update

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class ContractError(DuologueError, TypeError):
    """A node violates the contract: which node, what was expected, what it is or returned."""


@runtime_checkable
class Node(Protocol):
    """An async callable that reads the state of a conversation and returns an update.

    The state is to be read only. Its scenario, messages and attempts are copies of one level; a change of anything
    deeper, or of a memory, is not guarded against.
    """

    def __call__(self, state: State, runtime: Runtime[Limits]) -> Awaitable[Update]: ...


OF_THE_CALL = (
    "raw", "cleaned", "usage", "finish_reason", "flaw", "retried", "shared", "model", "reasoning", "tool_calls", "parts",
    "kept", "steps",
)  # fmt: skip
"""Keys of a draft that describe its call. The attempt in the record has them under the same names."""
OF_THE_VERDICT = ("reason", "notes", "judging", "explanation", "measured")
"""Keys of a verdict that the attempt in the record has under the same names."""
_OF_A_MESSAGE = ("spans", "labels", "extra", "stored")
_AS_JSON = json.JSONEncoder(allow_nan=False).encode
_UPDATE = TypeAdapter(Update)


async def turn_recorder(state: State, runtime: Runtime[Limits]) -> Update:
    """The default node after a turn: adds nothing, as the graph counts it. Another may label the conversation so far."""
    return {}


async def closing(state: State, runtime: Runtime[Limits]) -> Update:
    """The default node at the end: adds nothing. Another may ask about the complete conversation, or score it."""
    return {}


def check_node(place: str, node: object) -> None:
    """Raises ContractError unless the object is a node as LangGraph takes it.

    That is a function of the state, async or not, which may want `config`, `runtime`, `writer` or `store` beside it, or
    a Runnable such as a compiled graph.
    """
    expected = f"{place}: expected a node, (state) or (state, runtime) -> Update"
    if isinstance(node, type):
        raise ContractError(f"{expected}; got the class {node.__name__}: give an instance of it")
    if isinstance(node, Runnable):
        return
    if not callable(node):
        raise ContractError(f"{expected}; got {shown(node)}")
    try:
        parameters = inspect.signature(node).parameters.values()
    except ValueError:  # a built-in function such as `max`
        raise ContractError(f"{expected}; got {shown(node)}, whose parameters cannot be told") from None
    names = [one.name for one in parameters if one.kind is not one.VAR_KEYWORD and one.default is one.empty]
    if not names or not set(names[1:]) <= {"config", "runtime", "writer", "store"}:
        raise ContractError(f"{expected}; got {shown(node)} with the parameters ({', '.join(names)})")


def check_function(
    what: str,
    function: object,
    signature: str,
    *,
    arguments: int = 2,
    named: Collection[str] = (),
    may_be_async: bool = False,
) -> None:
    """Raises ContractError unless the object can be called like a plain function of so many arguments, and named ones.

    `what` is its name and `signature` the expected signature in the error message.
    """
    expected = f"{what}: expected a plain function {signature}"
    if not callable(function) or isinstance(function, type):
        raise ContractError(f"{expected}; got {shown(function)}")
    if inspect.iscoroutinefunction(call_of(function)) and not may_be_async:
        raise ContractError(f"{expected}; got {shown(function)}, which is async: write def")
    try:
        inspect.signature(function).bind(*[{}] * arguments, **dict.fromkeys(named))
    except (TypeError, ValueError):  # ValueError: a built-in function such as `max`
        raise ContractError(f"{expected}; got {shown(function)}, which takes other arguments") from None


def call_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """What runs when the function or object is called."""
    return function if inspect.isroutine(function) else type(function).__call__


def required_parameters(function: object) -> list[inspect.Parameter] | None:
    """The parameters without a default, but not `*args` and `**kwargs`; None if they cannot be read."""
    try:
        parameters = inspect.signature(cast("Callable[..., Any]", function)).parameters.values()
    except (TypeError, ValueError):  # such as of some built-in functions
        return None
    various = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [one for one in parameters if one.default is one.empty and one.kind not in various]


def is_reply(function: object) -> bool:
    """Whether the object is a function of messages only, and not a node, whose first parameter is named `state`."""
    if not callable(function) or isinstance(function, (type, Runnable)):
        return False
    needed = [one for one in required_parameters(function) or () if one.kind is not one.KEYWORD_ONLY]
    return len(needed) == 1 and next(iter(inspect.signature(function).parameters)) != "state"


def check_update(place: NodePlace, update: object, state: State, own_reasons: Collection[str] = ()) -> Update:
    """The update of a node of the graph, if it is valid; else ContractError.

    `own_reasons`: stop reasons that the cast declares in addition to the core's.
    """
    if not isinstance(update, dict):
        raise ContractError(f"{place}: expected an update (a dict), got {shown(update)}")
    if unknown := sorted(update.keys() - ANSWERS[place]):
        raise ContractError(
            f"{place}: expected an update with {' or '.join(sorted(ANSWERS[place]))}, got the key {', '.join(map(repr, unknown))}"
        )
    if update.get("stop") is not None and not _is_reason(update["stop"], own_reasons):
        raise ContractError(f"{place}: expected a stop reason ({_reasons(own_reasons)}), got {update['stop']!r}")
    where: str = place
    try:
        _UPDATE.validate_python(update)
        if "usage" in update:
            Usage.model_validate(update["usage"])
        for where, item in [(f"{place}: {key}", one) for key in ("drafts", "verdicts") for one in update.get(key, ())]:
            _check_recordable(where, item)
    except ValidationError as error:
        first = first_invalid(error)
        how = ": return None to accept, a reason to reject" if isinstance(first.value, bool) else ""
        raise ContractError(f"{where}: {first.path}: {first.message}, got {shown(first.value)}{how}") from None
    if "verdicts" in ANSWERS[place]:
        judged, count = len(update.get("verdicts", ())), len(state.get("drafts") or ())
        if judged > count or (judged < count and update.get("stop") is None):
            raise ContractError(f"{place}: expected {count} verdicts, one for each draft, got {judged}")
    _check_json(place, [update.get("memory"), update.get("labels")])
    return cast(Update, update)


def _check_recordable(where: str, item: Mapping[str, Any]) -> None:
    attempt = {name: item[name] for name in (*OF_THE_CALL, *OF_THE_VERDICT) if item.get(name) is not None}
    message = {name: item[name] for name in _OF_A_MESSAGE if name in item}
    if attempt or "text" in item:
        Attempt.model_validate({"verdict": "unjudged", **attempt, "text": item.get("text", "")})
    if message:
        Message.model_validate({"role": "user", "text": "", **message})
    _check_json(where, {**attempt, **message})


def check_labels(place: str, update: Mapping[str, Any]) -> None:
    """Raises ContractError unless the labels of an update, if it has any, can be added to those of the conversation."""
    if "labels" in update and not isinstance(update["labels"], dict):
        raise ContractError(f"{place}: expected 'labels' to be a dict, got {shown(update['labels'])}")
    _check_json(place, update.get("labels"))


def _check_json(place: str, value: object) -> None:
    try:
        if value:
            _AS_JSON(value)
    except (TypeError, ValueError) as error:
        raise ContractError(f"{place}: expected plain JSON values; {error}") from None


def check_reason(stop: object, reason: object, own_reasons: Collection[str] = ()) -> str | None:
    """A stop criterion's answer: `None`, a core reason or one that the cast declares; else ContractError."""
    if reason is not None and not _is_reason(reason, own_reasons):
        own = next((f": return {name!r}" for name in own_reasons if name.partition(":")[2] == reason), "")
        raise ContractError(
            f"stop: expected one of {_reasons(own_reasons)} or None from {shown(stop)}, got {reason!r}{own}"
        )
    return cast("str | None", reason)


def _is_reason(reason: object, own_reasons: Collection[str]) -> bool:
    return isinstance(reason, str) and (reason in FAULTS or reason in own_reasons)


def _reasons(own_reasons: Collection[str]) -> str:
    return ", ".join([*sorted(FAULTS), *sorted(own_reasons)])


def describe(node: object) -> dict[str, Any]:
    """The description of a node, or of a part of one, for the record: its name and its settings.

    A method `provenance()` gives the settings: plain JSON, without secrets. Without it those of one of ours are the
    fields of its dataclass that are plain values, or nodes and functions; one of the user's has a digest of its source.
    """
    if not isinstance(node, type) and callable(settings := getattr(node, "provenance", None)):
        return {"name": type(node).__name__, **settings()}
    name = getattr(node, "__qualname__", None) or type(node).__qualname__
    described: dict[str, Any] = {"name": str(name).replace("<locals>.", "")}
    if str(getattr(node, "__module__", "")).startswith("duologue."):
        shown = [one.name for one in fields(node) if one.repr] if _is_data(node) else []
        told = {name: _told(getattr(node, name)) for name in shown}
        return described | {name: value for name, value in told.items() if value is not None}
    with suppress(OSError, TypeError):  # the digest distinguishes versions of a user's own function
        described["source"] = digest(inspect.getsource(node if inspect.isroutine(node) else type(node)))[:16]
    return described


def parts_of(node: object) -> Iterator[object]:
    """The node, or the validators or scorers that it is made of, which its class names in `made_of`."""
    if not isinstance(name := getattr(type(node), "made_of", None), str):
        yield node
        return
    inner = getattr(node, name)
    for part in inner.values() if isinstance(inner, Mapping) else inner if isinstance(inner, tuple) else (inner,):
        yield from parts_of(part)


def _is_data(value: object) -> TypeGuard["DataclassInstance"]:
    return is_dataclass(value) and not isinstance(value, type)


def _told(value: object) -> Any:
    """A setting for the record; None for what is no plain value, node or function."""
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, tuple):
        return [_told(one) for one in value]
    if isinstance(value, dict):
        return {name: _told(one) for name, one in value.items()}
    is_ours = _is_data(value) and type(value).__module__.startswith("duologue.nodes")
    return describe(value) if callable(value) or is_ours else None


# The forms that LangGraph takes of a node, as the async call `(state, runtime)` that the graph makes


@dataclass(frozen=True)
class AnyNode:
    """A function that is not async, one that takes other things than the runtime, or a Runnable."""

    node: Any

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Any:
        try:
            return await self._called(state, runtime)
        except ParentCommand as to_us:  # of a node in a compiled graph
            return to_us.args[0]

    async def _called(self, state: State, runtime: Runtime[Limits]) -> Any:
        config = ensure_config()
        if isinstance(self.node, Pregel):
            return await _written(self.node, state, config, runtime.context)
        if isinstance(self.node, Runnable):
            return await self.node.ainvoke(state, config)
        given = {"config": config, "runtime": runtime, "writer": runtime.stream_writer, "store": runtime.store}
        wanted = inspect.signature(self.node).parameters.keys() & given.keys()
        call = partial(self.node, state, **{name: given[name] for name in wanted})
        return await call() if inspect.iscoroutinefunction(call_of(self.node)) else await in_thread(call)

    def provenance(self) -> dict[str, Any]:
        return describe(self.node)


def node_of(node: Any) -> Node:
    """The node as the graph calls it; one of the usual form stays as it is."""
    is_async = not isinstance(node, Runnable) and inspect.iscoroutinefunction(call_of(node))
    first = [*inspect.signature(node).parameters.values()][:2] if is_async else []
    is_usual = [one.name for one in first if one.kind != one.KEYWORD_ONLY] == ["state", "runtime"]
    return node if is_usual else AnyNode(node)


async def _written(
    graph: Pregel[Any, Any, Any, Any], state: State, config: RunnableConfig, limits: Limits
) -> dict[str, Any]:
    """Of a compiled graph's last state what its nodes have written, as LangGraph takes it of a subgraph."""
    written, last = set[str](), dict[str, Any]()
    stream: AsyncIterator[Any] = graph.astream(state, config, context=limits, stream_mode=["updates", "values"])
    async for mode, part in stream:
        if mode == "values":
            last = part
            continue
        for node, update in part.items():
            if node != ASKED:
                written.update(*(update if isinstance(update, list) else [update or ()]))
    return {key: value for key, value in last.items() if key in written}


async def as_update(place: NodePlace, answer: Any) -> Any:
    """The update of a node's answer: a speaker may answer a text, a message, or `messages`, which become drafts."""
    if answer is None:
        return {}
    further = dict(answer) if isinstance(answer, dict) else {"messages": answer}
    if "drafts" not in ANSWERS[place] or "messages" not in further:
        return answer
    try:
        words = _as_assistant(further.pop("messages"))
        return {"drafts": [reply_of(await messages_answered(words, ()))], **further}
    except AnswerError as error:
        raise ContractError(f"{place}: {error}") from None


def _as_assistant(answer: Any) -> Any:
    """Messages of whichever side as a model's own, since a draft is what the speaker said itself."""
    if isinstance(answer, list):
        return [_as_assistant(one) for one in answer]
    if isinstance(answer, HumanMessage):
        return AIMessage(content=answer.content, id=answer.id)
    return answer
