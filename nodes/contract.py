"""The contract of nodes and stop criteria, and the checks of replacements and their updates."""

import inspect
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from langgraph.runtime import Runtime
from pydantic import ValidationError

from ..data.attempts import is_object
from ..data.identity import digest
from ..data.records import FAULTS, Attempt, Message, Usage
from ..errors import DuologueError, first_invalid, shown
from .limits import Limits
from .state import ANSWERS, Draft, NodePlace, State, Update, Verdict


class ContractError(DuologueError, TypeError):
    """A node violates the contract: which node, what was expected, what it is or returned."""


@runtime_checkable
class Node(Protocol):
    """An async callable that reads the state of a conversation and returns an update.

    The state is to be read only. Its scenario, messages and attempts are copies of one level; a change of anything
    deeper, or of a memory, is not guarded against.
    """

    def __call__(self, state: State, runtime: Runtime[Limits]) -> Awaitable[Update]: ...


@runtime_checkable
class Described(Protocol):
    """A node, or a part of one, that gives its settings for the record: plain JSON, without secrets."""

    def provenance(self) -> dict[str, Any]: ...


@runtime_checkable
class AsksModel(Protocol):
    """A node that asks a chat model."""

    @property
    def model(self) -> BaseChatModel: ...


@runtime_checkable
class PromptedSpeaker(Protocol):
    """A speaker that decides whether the selector's prompt is sent to it, always or in this state.

    Other speakers always get it.
    """

    @property
    def prompted(self) -> bool | Callable[[State], bool]: ...


Stop: TypeAlias = Callable[[State, Limits], str | None]
"""A stop criterion: a plain function that returns why the conversation ends now, or None."""


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
    parameters = list(inspect.signature(node).parameters.values())
    names = [one.name for one in parameters if one.kind is not one.VAR_KEYWORD and one.default is one.empty]
    if not names or not set(names[1:]) <= {"config", "runtime", "writer", "store"}:
        raise ContractError(f"{expected}; got {shown(node)} with the parameters ({', '.join(names)})")


def check_stop(stop: object, what: str = "stop") -> None:
    """Raises ContractError unless the object can be called as a stop criterion `(state, limits)`.

    `what` is the criterion's name in the error message.
    """
    check_function(what, stop, "(state, limits) -> StopReason | None")


def check_function(
    what: str, function: object, signature: str, *, arguments: int = 2, may_be_async: bool = False
) -> None:
    """Raises ContractError unless the object can be called like a plain function of this number of arguments.

    `what` is its name and `signature` the expected signature in the error message.
    """
    expected = f"{what}: expected a plain function {signature}"
    if not callable(function) or isinstance(function, type):
        raise ContractError(f"{expected}; got {shown(function)}")
    if inspect.iscoroutinefunction(call_of(function)) and not may_be_async:
        raise ContractError(f"{expected}; got {shown(function)}, which is async: write def")
    try:
        inspect.signature(function).bind(*[{}] * arguments)
    except TypeError:
        number = {1: "one argument", 2: "two arguments"}[arguments]
        raise ContractError(f"{expected}; got {shown(function)}, which does not take {number}") from None


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


def required_arguments(function: object) -> int:
    """How many arguments without a name a call needs at least; 0 if that cannot be read."""
    return sum(parameter.kind is not parameter.KEYWORD_ONLY for parameter in required_parameters(function) or ())


def check_update(place: NodePlace, update: object, state: State, own_reasons: Collection[str] = ()) -> Update:
    """The update of a node of the graph, if it is valid; else ContractError.

    `own_reasons`: stop reasons that the cast declares in addition to the core's.
    """
    if not isinstance(update, dict):
        raise ContractError(f"{place}: expected an update (a dict), got {shown(update)}")
    update = cast("dict[str, Any]", update)
    if unknown := sorted(update.keys() - ANSWERS[place]):
        raise ContractError(
            f"{place}: expected an update with {' or '.join(sorted(ANSWERS[place]))}, got the key {', '.join(map(repr, unknown))}"
        )
    if update.get("stop") is not None and not _is_reason(update["stop"], own_reasons):
        raise ContractError(f"{place}: expected a stop reason ({_reasons(own_reasons)}), got {update['stop']!r}")
    _check_kinds(place, update)
    _check_json(place, update.get("memory"))
    if "prompt" in ANSWERS[place]:
        prompt: object = update.get("prompt")
        if prompt is not None and not (
            is_object(prompt) and all(isinstance(prompt.get(key), str) for key in ("name", "digest", "text"))
        ):
            raise ContractError(f"{place}: expected a prompt with the texts name, digest and text, got {shown(prompt)}")
    if "drafts" in ANSWERS[place]:
        _check_list(place, "drafts", update.get("drafts", []), Draft, "text", str)
    if "verdicts" in ANSWERS[place]:
        verdicts = update.get("verdicts", [])
        _check_list(place, "verdicts", verdicts, Verdict, "accepted", bool)
        count = len(state.get("drafts") or [])
        if len(verdicts) > count or (len(verdicts) < count and update.get("stop") is None):
            raise ContractError(f"{place}: expected {count} verdicts, one for each draft, got {len(verdicts)}")
    check_labels(place, update)
    if "usage" in update:
        try:
            Usage.model_validate(update["usage"])
        except ValidationError as error:
            raise ContractError(f"{place}: expected 'usage' as of data.Usage; {first_invalid(error).message}") from None
    return cast(Update, update)


def check_labels(place: str, update: Mapping[str, Any]) -> None:
    """Raises ContractError unless the labels of an update, if it has any, can be added to those of the conversation."""
    if "labels" in update and not isinstance(update["labels"], dict):
        raise ContractError(f"{place}: expected 'labels' to be a dict, got {shown(update['labels'])}")
    _check_json(place, update.get("labels"))


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
    """Every allowed reason, for error messages."""
    return ", ".join([*sorted(FAULTS), *sorted(own_reasons)])


OF_THE_CALL = (
    "raw",
    "cleaned",
    "usage",
    "finish_reason",
    "flaw",
    "retried",
    "shared",
    "model",
    "reasoning",
    "tool_calls",
    "parts",
    "kept",
)
"""Keys of a draft that describe its call. The attempt in the record has them under the same names."""


OF_THE_VERDICT = ("reason", "notes", "judging", "explanation", "measured")
"""Keys of a verdict that the attempt in the record has under the same names."""


def _check_kinds(place: str, update: Mapping[str, Any]) -> None:
    kinds = (
        ("memory", dict, "a dict"), ("failed", str, "a text"), ("crashed", bool, "true or false"), ("frames", list, "a list")
    )  # fmt: skip
    for key, type_, name in kinds:
        if key in update and not isinstance(update[key], type_):
            raise ContractError(f"{place}: expected {key!r} to be {name}, got {shown(update[key])}")


def _check_list(place: str, key: str, value: object, shape: Any, required: str, kind: type) -> None:
    if not isinstance(value, list):
        raise ContractError(f"{place}: expected {key!r} to be a list, got {shown(value)}")
    for item in cast("Sequence[Any]", value):
        if not is_object(item) or not isinstance(item.get(required), kind):
            how = ": return None to accept, a reason to reject" if isinstance(item, bool) else ""
            raise ContractError(
                f"{place}: expected each of {key!r} to have {required!r} ({kind.__name__}), got {shown(item)}{how}"
            )
        if unknown := sorted(item.keys() - shape.__annotations__.keys()):
            raise ContractError(f"{place}: expected {key!r} without the key {', '.join(map(repr, unknown))}")
        _check_fits(place, key, item)


def _check_fits(place: str, key: str, item: Mapping[str, Any]) -> None:
    """Raises ContractError if a draft or verdict cannot be stored in a record as JSON."""
    attempt = {name: item[name] for name in _OF_AN_ATTEMPT if item.get(name) is not None}
    message = {name: item[name] for name in _OF_A_MESSAGE if name in item}
    if not attempt and not message and "text" not in item:
        return  # a bare acceptance
    try:
        Attempt.model_validate({"verdict": "unjudged", **attempt, "text": item.get("text", "")})
        if message:
            Message.model_validate({"role": "user", "text": "", **message})
    except ValidationError as error:
        first = first_invalid(error)
        where = ".".join(str(part) for part in first.where if part != 0)
        raise ContractError(f"{place}: expected {key!r} that a record can hold; {where}: {first.message}") from None
    _check_json(place, {**attempt, **message})


_OF_AN_ATTEMPT = (*OF_THE_CALL, *OF_THE_VERDICT)
_OF_A_MESSAGE = ("spans", "labels", "extra", "stored")
_as_json = json.JSONEncoder(allow_nan=False).encode


def _check_json(place: str, value: object) -> None:
    if value is None or value == {}:
        return
    try:
        _as_json(value)
    except (TypeError, ValueError) as error:
        raise ContractError(f"{place}: expected plain JSON values; {error}") from None


def describe(node: object) -> dict[str, Any]:
    """The description of a node, or of a part of one, for the record: its name and its settings."""
    if isinstance(node, Described) and not isinstance(node, type):
        return {"name": type(node).__name__, **node.provenance()}
    name = getattr(node, "__qualname__", None) or type(node).__qualname__
    described: dict[str, Any] = {"name": str(name).replace("<locals>.", "")}
    if not str(getattr(node, "__module__", "")).startswith("duologue."):
        try:  # the digest of its source distinguishes versions of a user's own function
            source = inspect.getsource(node if inspect.isroutine(node) else type(node))
            described["source"] = digest(source)[:16]
        except (OSError, TypeError):
            pass
    return described
