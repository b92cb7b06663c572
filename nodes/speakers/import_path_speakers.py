"""Objects of the user's own, by import path, as speakers: agents, chat models, functions, nodes, and their factories."""

import inspect
import re
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from langchain_core.runnables import Runnable
from langgraph.graph.state import StateGraph

from ...errors import DuologueError, ModelError, SettingError, kind
from ..contract import required_parameters
from ..models.specs import PROVIDERS, chat_model
from ..settings.import_path import imported
from ..settings.redaction import error_line
from .speaker import is_reply

ACCEPTED_FORMS = (
    "a LangGraph agent, a chat model, a function of messages, a node, or a function without arguments that makes one"
)


FORMS = "openai:NAME, PROVIDER:NAME, offline, replay:PATH, people:PATH or agent:URL"
_FILE = re.compile(r"(?:\./)?([\w./-]+)\.py(?::(\w+))?")


def check_form(text: str, what: str) -> None:
    """Raise SettingError for the name of a file or a bare word where an import path was meant."""
    if file := _FILE.fullmatch(text):
        path = f"{file[1].replace('/', '.')}:{file[2] or 'NAME'}"
        raise SettingError(f"{what}: {text!r} names a file: write {path}, its module and a name in it (MODULE:NAME)")
    if text.isidentifier() and text not in PROVIDERS:
        raise ModelError(
            f"{what}: model {text!r} is unknown: use {FORMS}, or an agent of yours as MODULE:NAME, such as {text}:graph"
        )


def speaking(path: str, what: str) -> Any:
    """The object of an import path, ready to take part.

    A graph is compiled, and a function without arguments is called.

    SettingError begins with `what` and gives the reason in one line. Examples are a class, a value of another kind, a
    function that fails, and a graph that cannot be compiled.
    """
    value = _imported(path, what)
    if makes := _makes(value):
        try:
            value = value()
        except DuologueError:
            raise
        except (Exception, SystemExit) as error:
            raise SettingError(f"{path}: failed: {error_line(error, placed=True)}") from error
        if inspect.iscoroutine(value):
            value.close()
            raise SettingError(f"{path}: is an async function without arguments: write def, or a function of messages")
    if isinstance(value, StateGraph):
        try:
            value = value.compile()
        except (Exception, SystemExit) as error:
            raise SettingError(
                f"{path}: is a graph that cannot be compiled: {' '.join(error_line(error).split())}"
            ) from error
    if isinstance(value, str):
        try:
            return chat_model(value)
        except ModelError as error:
            how = "has no parameter, so it was called to make an agent, and gave" if makes else "is"
            raise SettingError(
                f"{path}: {how} a text, which must be a model identifier: {error}; an agent takes the messages"
            ) from None
    if isinstance(value, type):
        raise SettingError(f"{path}: is the class {value.__name__}: give an instance of it, or {ACCEPTED_FORMS}")
    if not isinstance(value, Runnable) and not callable(value):
        raise SettingError(f"{path}: is {_shown(value)}: give {ACCEPTED_FORMS}")
    if not isinstance(value, Runnable) and not is_reply(value) and not _is_node(value):
        raise SettingError(
            f"{path}: is {_shown(value)} with the parameters {_parameters(value)}: give {ACCEPTED_FORMS}"
        )
    return value


def channels_named(query: str, choice: str) -> dict[str, Any]:
    """Which channels of a graph without `messages` are read and answer, of `in=NAME&out=NAME` after an import path."""
    named = dict(parse_qsl(query))
    if set(named) != {"in", "out"}:
        raise SettingError(f"{choice}: after the import path of a graph only ?in=NAME&out=NAME may stand")
    return {"reads": named["in"], "answers": named["out"]}


def _imported(path: str, what: str) -> Any:
    try:
        return imported(path, what)
    except SettingError as error:
        if not isinstance(error.__cause__, ModuleNotFoundError):
            raise
        raise SettingError(f"{error}, or give {FORMS}") from None


def _makes(value: object) -> bool:
    """Whether it is a function, not a class, that can be called without arguments."""
    if not inspect.isroutine(value) and not isinstance(value, partial):
        return False
    return required_parameters(value) == []


def _is_node(value: object) -> bool:
    return [parameter.name for parameter in required_parameters(value) or ()] == ["state", "runtime"]


def _parameters(value: Any) -> str:
    try:
        return str(inspect.signature(value)).partition(" -> ")[0]
    except (TypeError, ValueError):
        return "(unknown)"


def _shown(value: object) -> str:
    shown = kind(value)
    return f"{'the' if ' ' in shown else 'an' if shown[0] in 'aeioAEIO' else 'a'} {shown}"
