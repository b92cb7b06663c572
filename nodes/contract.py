"""What a node is, and what is checked when somebody puts another one in its place."""

import inspect
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, Self, TypeAlias, cast, runtime_checkable

from langchain_core.language_models import BaseChatModel
from langgraph.runtime import Runtime
from pydantic import ValidationError

from ..data.attempts import is_object
from ..data.identity import digest
from ..data.records import FAULTS, Message, Role
from ..errors import DuologueError
from .limits import Limits
from .state import ANSWERS, Draft, Place, State, Update, Verdict


class ContractError(DuologueError, TypeError):
    """A node that does not keep the contract: which node, what was expected, what came."""


@runtime_checkable
class Node(Protocol):
    """Anything that reads the conversation and answers with an update."""

    def __call__(self, state: State, runtime: Runtime[Limits]) -> Awaitable[Update]: ...


@runtime_checkable
class Described(Protocol):
    """A node, or a part of one, that tells its settings for the record: plain JSON, without secrets."""

    def provenance(self) -> dict[str, Any]: ...


@runtime_checkable
class AsksModel(Protocol):
    """A node that asks a chat model."""

    @property
    def model(self) -> BaseChatModel: ...


@runtime_checkable
class Prompted(Protocol):
    """A speaker that says whether it is sent the selector's prompt; others are."""

    @property
    def prompted(self) -> bool: ...


@runtime_checkable
class AsksSides(Protocol):
    """A closing node that puts questions to those who took part: it is given what each side keeps for itself."""

    def asking(self, speakers: Mapping[Role, Node]) -> Self:
        """The same node, that asks these speakers in place of its own."""
        ...


Stop: TypeAlias = Callable[[State, Limits], str | None]
"""A stop criterion: why the conversation ends now, or None. A plain function, swapped like a node."""


def check_node(place: str, node: object) -> None:
    """ContractError unless the object can be called as a node: `async def (state, runtime)`."""
    expected = f"{place}: expected a node, async def (state, runtime) -> Update"
    if isinstance(node, type):
        raise ContractError(f"{expected}; got the class {node.__name__}: give an instance of it")
    if not callable(node):
        raise ContractError(f"{expected}; got {_shown(node)}")
    call = node if inspect.isroutine(node) else type(node).__call__
    if not inspect.iscoroutinefunction(inspect.unwrap(call)):
        raise ContractError(f"{expected}; got {_shown(node)}, which is not async: write async def")
    names = [p.name for p in inspect.signature(node).parameters.values() if p.kind is not p.VAR_KEYWORD]
    if names != ["state", "runtime"]:
        raise ContractError(f"{expected}; got {_shown(node)} with the parameters ({', '.join(names)})")


def check_stop(stop: object, what: str = "stop") -> None:
    """ContractError unless the object can be asked as a stop criterion: `(state, limits)`; `what` it is called."""
    check_function(what, stop, "(state, limits) -> StopReason | None")


def check_function(what: str, given: object, takes: str, *, arguments: int = 2) -> None:
    """ContractError unless the object is a plain function of so many arguments, or can be called as one."""
    expected = f"{what}: expected a plain function {takes}"
    if not callable(given) or isinstance(given, type):
        raise ContractError(f"{expected}; got {_shown(given)}")
    call = given if inspect.isroutine(given) else type(given).__call__
    if inspect.iscoroutinefunction(call):
        raise ContractError(f"{expected}; got {_shown(given)}, which is async: write def")
    try:
        inspect.signature(given).bind(*[{}] * arguments)
    except TypeError:
        number = {1: "one argument", 2: "two arguments"}[arguments]
        raise ContractError(f"{expected}; got {_shown(given)}, which does not take {number}") from None


def check_update(place: Place, update: object, state: State, own_reasons: Collection[str] = ()) -> Update:
    """The update of a place's node, if it is one; ContractError says what was expected and what came.

    `own_reasons`: stop reasons that the cast declares beside the core's.
    """
    if not isinstance(update, dict):
        raise ContractError(f"{place}: expected an update (a dict), got {_shown(update)}")
    update = cast("dict[str, Any]", update)
    unknown = sorted(set(update) - ANSWERS[place])
    if unknown:
        raise ContractError(
            f"{place}: expected an update with {' or '.join(sorted(ANSWERS[place]))}, got the key {', '.join(map(repr, unknown))}"
        )
    if update.get("stop") is not None and not _is_reason(update["stop"], own_reasons):
        raise ContractError(f"{place}: expected a stop reason ({_reasons(own_reasons)}), got {update['stop']!r}")
    memory: object = update.get("memory", {})
    if not isinstance(memory, dict):
        raise ContractError(f"{place}: expected 'memory' to be a dict, got {_shown(memory)}")
    _check_json(place, update.get("memory", {}))
    if "prompt" in ANSWERS[place]:
        prompt: object = update.get("prompt")
        if prompt is not None and not (
            is_object(prompt) and all(isinstance(prompt.get(k), str) for k in ("name", "digest", "text"))
        ):
            raise ContractError(
                f"{place}: expected a prompt with the texts name, digest and text, got {_shown(prompt)}"
            )
    if "drafts" in ANSWERS[place]:
        _check_list(place, "drafts", update.get("drafts", []), Draft, "text", str)
    if "verdicts" in ANSWERS[place]:
        verdicts = update.get("verdicts", [])
        _check_list(place, "verdicts", verdicts, Verdict, "accepted", bool)
        count = len(state.get("drafts", []))
        if len(verdicts) != count and update.get("stop") is None:
            raise ContractError(f"{place}: expected {count} verdicts, one for each draft, got {len(verdicts)}")
    _check_json(place, update.get("labels", {}))
    return cast(Update, update)


def check_reason(stop: object, reason: object, own_reasons: Collection[str] = ()) -> str | None:
    """A stop criterion's answer, if it is a reason of the core or one that the cast declares."""
    if reason is not None and not _is_reason(reason, own_reasons):
        raise ContractError(
            f"stop: expected one of {_reasons(own_reasons)} or None from {_shown(stop)}, got {reason!r}"
        )
    return cast("str | None", reason)


def _is_reason(reason: object, own_reasons: Collection[str]) -> bool:
    return isinstance(reason, str) and (reason in FAULTS or reason in own_reasons)


def _reasons(own_reasons: Collection[str]) -> str:
    """Every reason that may be answered."""
    return ", ".join([*sorted(FAULTS), *sorted(own_reasons)])


OF_THE_CALL = ("raw", "cleaned", "usage", "finish_reason", "model", "reasoning", "tool_calls", "kept")
"""What a draft tells of the call that it comes from: the attempt in the record has it under the same names."""


def _check_list(place: str, key: str, value: object, shape: Any, required: str, kind: type) -> None:
    if not isinstance(value, list):
        raise ContractError(f"{place}: expected {key!r} to be a list, got {_shown(value)}")
    for item in cast("Sequence[Any]", value):
        if not is_object(item) or not isinstance(item.get(required), kind):
            raise ContractError(
                f"{place}: expected each of {key!r} to have {required!r} ({kind.__name__}), got {_shown(item)}"
            )
        unknown = sorted(set(item) - set(shape.__annotations__))
        if unknown:
            raise ContractError(f"{place}: expected {key!r} without the key {', '.join(map(repr, unknown))}")
        _check_fits(place, key, item)


def _check_fits(place: str, key: str, item: Mapping[str, Any]) -> None:
    """ContractError if the record could not hold a draft or verdict: it must become one, and then JSON."""
    attempt = {name: item[name] for name in (*OF_THE_CALL, "reason", "notes") if item.get(name) is not None}
    message = {name: item[name] for name in ("spans", "labels", "extra", "stored") if name in item}
    text = item.get("text", "")
    try:
        Message.model_validate(
            {"role": "user", "text": text, "attempts": [{"text": "", "verdict": "unjudged", **attempt}], **message}
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part not in ("attempts", 0))
        raise ContractError(f"{place}: expected {key!r} that a record can hold; {where}: {first['msg']}") from None
    _check_json(place, {**attempt, **message})


def _check_json(place: str, value: object) -> None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ContractError(f"{place}: expected plain JSON values; {error}") from None


def describe(node: object) -> dict[str, Any]:
    """A node, or a part of one, for the record: its name, and its settings where it tells them."""
    if isinstance(node, Described) and not isinstance(node, type):
        return {"name": type(node).__name__, **node.provenance()}
    name = getattr(node, "__qualname__", None) or type(node).__qualname__
    described: dict[str, Any] = {"name": str(name).replace("<locals>.", "")}
    if not str(getattr(node, "__module__", "")).startswith("duologue."):
        try:  # a function of one's own is told apart from what it was before it was changed
            source = inspect.getsource(node if inspect.isroutine(node) else type(node))
            described["source"] = digest(source)[:16]
        except (OSError, TypeError):
            pass
    return described


def _shown(value: object) -> str:
    name = getattr(value, "__qualname__", None)
    text = f"{type(value).__name__} {name}" if name else f"{type(value).__name__} {value!r}"
    return text if len(text) <= 80 else text[:77] + "..."
