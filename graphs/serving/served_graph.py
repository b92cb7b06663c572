"""Graphs for a LangGraph server and for Studio: a form as input, limits and the cast's settings as context."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import fields
from threading import Lock
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs

from ...data import domains
from ...data.input_forms import Form
from ...nodes.contract import ContractError
from ...nodes.limits import Limits
from ..casts.cast import Cast
from ..casts.registry import CastFactory, factory_of
from ..conversations.compiled import ConversationGraph, conversation
from .contexts import ServedSettings, chosen, context_of, limits_of

CACHE_SIZE = 16
"""Most casts of other settings that a served graph keeps."""

AFRESH: Mapping[str, Any] = {
    "id": "",
    "provenance": None,
    "came_from": None,
    "taken": {},
    "timing": {},
    "labels": {},
    "closing_usage": None,
    "extra": {},
    "failure": None,
    "speaking": None,
    "prompt": None,
}
"""What a form that is sent to a thread with an earlier conversation replaces, besides what the opening sets."""


class ServedChoices:
    """The conversations of a factory's casts by their settings, each made once."""

    def __init__(self, factory: CastFactory, form: type[Form] | None = None) -> None:
        self.factory = factory
        self.own_form = form
        self.default = conversation(factory())
        self.context = context_of(self.default.cast_name, factory.settings)
        self._graphs: dict[str, ConversationGraph] = {}
        self._lock = Lock()

    def form(self) -> type[Form]:
        """The form of the scenario: given, or that of the domain with the name of the cast."""
        return self.own_form or domains.of({"kind": self.default.cast_name}).form

    def begun(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The initial state of a form's values, and the settings that follow from them; DataError names a wrong one."""
        form = self.form().filled(values)
        state = {**AFRESH, "scenario": form.scenario(), "messages": form.plain_messages(), "ordinal": 0, "repeat": 0}
        return state, {
            name: value for name, value in form.settings().items() if name in self.factory.settings.model_fields
        }

    def graph(self, settings: Mapping[str, Any]) -> ConversationGraph:
        """The conversation of the cast with these settings."""
        if not settings:
            return self.default
        key = json.dumps(settings, sort_keys=True, default=str)
        with self._lock:
            graph = self._graphs.pop(key, None) or conversation(self.factory(**settings))
            self._graphs[key] = graph  # the newest is the last
            if len(self._graphs) > CACHE_SIZE:
                del self._graphs[next(iter(self._graphs))]
        return graph


class ServedGraph(ConversationGraph):
    """A conversation whose input may be its domain's form, and whose context may choose the cast's settings.

    An input with a `scenario` is a state, as for any conversation. A form begins a new conversation, also in a thread
    that holds one. A setting that the context leaves at its default, such as the language, follows from the form.
    """

    def __init__(self, *, choices: ServedChoices, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.choices = choices

    def get_input_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """The JSON schema of the form; the messages are its last field."""
        schema = self.choices.form().model_json_schema()
        schema["properties"]["messages"] = schema["properties"].pop("messages")
        return schema

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, *, context: Any = None, **options: Any
    ) -> AsyncIterator[Any]:
        """Run the cast that the context chooses; everything else is as for any graph."""
        suggested: dict[str, Any] = {}
        if isinstance(input, Mapping) and "scenario" not in input:
            # Another thread: a form may read shipped files, and a cast its prompt pages.
            input, suggested = await asyncio.to_thread(self.choices.begun, input)
        if isinstance(context, Mapping):
            context = self._context(context)
        settings = suggested
        if isinstance(context, ServedSettings):
            settings = suggested | await asyncio.to_thread(chosen, context)
            context = limits_of(context)
        graph = await asyncio.to_thread(self.choices.graph, settings)
        run: Any = graph.copy({key: getattr(self, key) for key in ("checkpointer", "store", "cache", "name")})
        async for part in run.astream(input, merge_configs(self.config, config), context=context, **options):
            yield part

    def _context(self, values: Mapping[str, Any]) -> Limits:
        names = [setting.name for setting in fields(self.choices.context)]
        if unknown := [str(name) for name in values if name not in names]:
            raise ContractError(f"the context has no {unknown[0]!r}, only {', '.join(names)}")
        try:
            return self.choices.context(**values)
        except TypeError as error:
            raise ContractError(f"the context: {error}") from None


def served(cast: CastFactory | Cast | Callable[..., Cast], *, form: type[Form] | None = None) -> ServedGraph:
    """The conversation of a cast for a LangGraph server: name it in `langgraph.json`, and Studio shows it as a form.

    `cast`: a cast, a function that returns one, or a factory (`graphs.simquac.FACTORY`). Each run can choose a
    function's parameters, or the factory's settings, in its context, beside the limits. `form`: what the input asks
    for; by default the form of the domain with the cast's name.
    """
    name = cast.name if isinstance(cast, (Cast, CastFactory)) else getattr(cast, "__name__", "cast")
    choices = ServedChoices(cast if isinstance(cast, CastFactory) else factory_of(name, cast, name), form)
    attributes = {**vars(choices.default), "context_schema": choices.context}
    return ServedGraph(choices=choices, **attributes)
