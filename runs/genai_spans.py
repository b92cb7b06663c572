"""Spans of a record under OpenTelemetry's conventions for generative AI: a trace for each conversation.

A conversation is `invoke_workflow`, each turn of a side `invoke_agent`, each draft `chat`, each call of a tool
`execute_tool`. Verdicts and scores are events `gen_ai.evaluation.result`. Attributes: model/gen-ai in
https://github.com/open-telemetry/semantic-conventions-genai. A record has one begin and one duration for all of a
conversation, so the spans inside divide it evenly.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from ..data.attempts import Attempt, ToolCall, Usage, as_object
from ..data.files.json_files import dumps
from ..data.identity import VERSION, digest
from ..data.labels.reading import SCORES
from ..data.records import Conversation, Message, Role
from .genai_messages import calls_of, message_in_parts, result_of, turns_of

AttributeValue: TypeAlias = str | bool | int | float | list[str]
PROVIDERS = {
    "azure_openai": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "bedrock_converse": "aws.bedrock",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "mistralai": "mistral_ai",
    "xai": "x_ai",
}
"""The conventions' names of providers, where they differ from those of model identifiers."""
_SECOND = 1_000_000_000
_NODES: Mapping[Role, tuple[str, str]] = {
    "user": ("user_simulator", "question_validator"),
    "assistant": ("assistant", "answer_validator"),
}
_CLASS = re.compile(r"[\w.]{1,100}")


@dataclass
class GenAISpan:
    """A span, with times in nanoseconds since 1970."""

    name: str
    kind: Literal["internal", "client"]
    attributes: dict[str, AttributeValue]
    id: str
    """Sixteen hexadecimal digits, the same whenever the record is exported again."""
    parent: str = ""
    begin: int = 0
    end: int = 0
    events: list[dict[str, AttributeValue]] = field(default_factory=list[dict[str, AttributeValue]])
    """Attributes of each event `gen_ai.evaluation.result`."""

    @property
    def failed(self) -> bool:
        """Whether the operation ended in an error."""
        return "error.type" in self.attributes


EVENT = "gen_ai.evaluation.result"


def trace_id(conversation: Conversation) -> str:
    """Thirty-two hexadecimal digits for the trace of a conversation."""
    return digest({"id": conversation.id, "started": conversation.timing.started})[:32]


def spans(conversation: Conversation, *, contents: bool = False) -> list[GenAISpan]:
    """The spans of a conversation, the outermost first.

    `contents`: whether they hold texts: messages, prompts, arguments and results of tools, explanations of judges.
    Without them they hold ids, names, numbers, and reasons from closed sets.
    """
    return _Spans(conversation, contents).whole()


class _Spans:
    """Builds the spans of one conversation."""

    def __init__(self, conversation: Conversation, contents: bool) -> None:
        self.talk, self.contents = conversation, contents
        self.trace = trace_id(conversation)
        self.all: list[GenAISpan] = []
        self.leaves: list[GenAISpan] = []

    def whole(self) -> list[GenAISpan]:
        provenance = self.talk.provenance
        cast = {} if provenance is None else {"gen_ai.workflow.name": provenance.cast}
        root = self.add("invoke_workflow", next(iter(cast.values()), ""), "", cast)
        if self.talk.stop is not None:
            root.attributes["duologue.stop"] = self.talk.stop
        if self.talk.failure is not None:
            root.attributes["error.type"] = _error_class(self.talk.failure.error)
        root.events += self.scores()
        for number, message in enumerate(self.talk.messages):
            self.turn(root, message.role, message.attempts, number, message)
        for turn in self.talk.unsaid:
            self.turn(root, turn.role, turn.attempts, turn.after)
        if self.contents and self.talk.messages:  # viewers show a trace by what its outermost span has
            turns = self.between(0, len(self.talk.messages))
            root.attributes |= _inputs(turns[:-1]) | {"gen_ai.output.messages": dumps(turns[-1:])}
        self.set_times(root)
        return self.all

    def between(self, begin: int, end: int) -> list[dict[str, Any]]:
        """The messages from one number to before another, with the calls of tools."""
        messages = list(enumerate(self.talk.messages))[begin:end]
        return [turn for place, message in messages for turn in turns_of(str(place), message)]

    def last_own(self, role: Role, number: int) -> int:
        """The number of messages up to the side's last one before that number."""
        return max((place for place in range(1, number + 1) if self.talk.messages[place - 1].role == role), default=0)

    def add(self, operation: str, of: str, parent: str, more: Mapping[str, AttributeValue]) -> GenAISpan:
        # Another run of the scenario has the same id, and viewers would show both as one session.
        named = {"gen_ai.conversation.id": self.talk.id, "session.id": self.trace}
        attributes = {"gen_ai.operation.name": operation, **named, **more}
        own = digest([self.trace, len(self.all)])[:16]
        kind: Literal["internal", "client"] = "client" if operation == "chat" else "internal"
        self.all.append(GenAISpan(f"{operation} {of}".strip(), kind, attributes, own, parent))
        return self.all[-1]

    def turn(
        self, root: GenAISpan, role: Role, drafts: Sequence[Attempt], number: int, message: Message | None = None
    ) -> None:
        """The span of a side's turn, with those of its drafts and of their tools."""
        if not drafts:
            return
        model = self.model(role)
        agent = self.add("invoke_agent", role, root.id, {"gen_ai.agent.name": role, **model})
        agent.attributes |= _usage(sum((draft.spent for draft in drafts), Usage.none()))
        if message is None:
            agent.attributes["error.type"] = self.talk.stop or "no_message"
        inputs = _inputs(self.between(0, number)) if self.contents else {}
        if self.contents:  # an agent knows what was said before; a call of a model gets all of it again
            agent.attributes |= _inputs(self.between(self.last_own(role, number), number))
        place = str(number) if message is not None else f"{number}-unsaid"
        if self.contents and message is not None:
            agent.attributes["gen_ai.output.messages"] = dumps(list(turns_of(place, message)))
        for draft in drafts:
            self.draft(agent, role, draft, model | inputs, place)

    def draft(
        self, agent: GenAISpan, role: Role, draft: Attempt, more: Mapping[str, AttributeValue], place: str
    ) -> None:
        chat = self.add("chat", str(more.get("gen_ai.request.model", "")), agent.id, more)
        self.leaves.append(chat)
        chat.attributes |= _usage(draft.usage)
        chat.attributes |= {"duologue.attempt": draft.number, "duologue.verdict": draft.verdict}
        if draft.model:
            chat.attributes["gen_ai.response.model"] = draft.model
        if draft.finish_reason:
            chat.attributes["gen_ai.response.finish_reasons"] = [draft.finish_reason]
        if draft.verdict != "unjudged":
            why = "; ".join(filter(None, [draft.reason, draft.explanation if self.contents else None]))
            event: dict[str, AttributeValue] = {
                "gen_ai.evaluation.name": _NODES[role][1],
                "gen_ai.evaluation.score.label": draft.verdict,
            }
            chat.events.append(event | ({"gen_ai.evaluation.explanation": why} if why else {}))
        if self.contents:
            reply = message_in_parts(role, draft.text, draft.parts) | {"finish_reason": draft.finish_reason or "stop"}
            chat.attributes["gen_ai.output.messages"] = dumps([reply])
            if draft.prompt is not None and draft.prompt.text:
                parts = [{"type": "text", "content": draft.prompt.text}]
                chat.attributes["gen_ai.system_instructions"] = dumps(parts)
        for own, call in calls_of(place, draft):
            self.tool(agent, call, own)

    def tool(self, agent: GenAISpan, call: ToolCall, own: str) -> None:
        about: dict[str, AttributeValue] = {"gen_ai.tool.name": call.name, "gen_ai.tool.type": "function"}
        span = self.add("execute_tool", call.name, agent.id, about | {"gen_ai.tool.call.id": own})
        self.leaves.append(span)
        if call.error is not None:
            span.attributes["error.type"] = _error_class(call.error, "tool_error")
        if self.contents:
            span.attributes["gen_ai.tool.call.arguments"] = dumps(call.arguments)
            span.attributes["gen_ai.tool.call.result"] = dumps(result_of(call))

    def model(self, role: Role) -> dict[str, AttributeValue]:
        """Provider and name of a side's model, by its identifier."""
        nodes = {} if self.talk.provenance is None else self.talk.provenance.nodes
        node = nodes.get(_NODES[role][0])
        spec = as_object(node.settings.get("model")).get("spec") if node is not None else None
        provider, colon, name = str(spec or "").partition("?")[0].partition(":")
        if not colon:
            return {"gen_ai.provider.name": "duologue" if provider == "offline" else "_OTHER"}
        return {"gen_ai.provider.name": PROVIDERS.get(provider, provider), "gen_ai.request.model": name}

    def scores(self) -> Iterator[dict[str, AttributeValue]]:
        for name, score in as_object(self.talk.labels.get(SCORES)).items():
            fields = as_object(score)
            value = fields.get("value", None if fields else score)
            event: dict[str, AttributeValue] = {"gen_ai.evaluation.name": name}
            if isinstance(value, bool):
                event["gen_ai.evaluation.score.label"] = "pass" if value else "fail"
            elif isinstance(value, str):
                event["gen_ai.evaluation.score.label"] = value[:100]
            if isinstance(value, bool | int | float):
                event["gen_ai.evaluation.score.value"] = float(value)
            if fields.get("error"):
                event["error.type"] = _error_class(str(fields["error"]), "scorer_failed")
            if self.contents and fields.get("reason"):
                event["gen_ai.evaluation.explanation"] = str(fields["reason"])
            yield event

    def set_times(self, root: GenAISpan) -> None:
        """Divide the conversation's time among drafts and tools; a span around them has the time of all."""
        started, seconds = self.talk.timing.started, self.talk.timing.seconds or 0.0
        root.begin = int(datetime.fromisoformat(started).timestamp()) * _SECOND if started else 0
        root.end = root.begin + int(seconds * _SECOND)
        share = (root.end - root.begin) // max(len(self.leaves), 1)
        for number, leaf in enumerate(self.leaves):
            leaf.begin = root.begin + number * share
            leaf.end = leaf.begin + share
        for span in self.all[1:]:
            inner = [leaf for leaf in self.leaves if leaf.parent == span.id]
            if inner:
                span.begin, span.end = inner[0].begin, inner[-1].end


def _usage(usage: Usage | None) -> dict[str, AttributeValue]:
    if usage is None:
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        **({"gen_ai.usage.cache_read.input_tokens": usage.cached_tokens} if usage.cached_tokens else {}),
        **({"gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens} if usage.reasoning_tokens else {}),
    }


def _error_class(error: str, otherwise: str = "error") -> str:
    """The class that an error names before its message, which may hold anything."""
    name, colon, _ = error.partition(":")
    return name if colon and _CLASS.fullmatch(name) else otherwise


def _inputs(messages: Sequence[Mapping[str, Any]]) -> dict[str, AttributeValue]:
    return {"gen_ai.input.messages": dumps(messages)} if messages else {}


def otlp(conversation: Conversation, *, contents: bool = False) -> dict[str, Any]:
    """The spans of a conversation as a line of OTLP's JSON file, which collectors read."""
    trace = trace_id(conversation)
    listed = [_as_otlp(trace, span) for span in spans(conversation, contents=contents)]
    resource = {"attributes": _keyed({"service.name": "duologue", "service.version": VERSION})}
    scope = {"name": "duologue", "version": VERSION}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": listed}]}]}


def _as_otlp(trace: str, span: GenAISpan) -> dict[str, Any]:
    return {
        "traceId": trace,
        "spanId": span.id,
        **({"parentSpanId": span.parent} if span.parent else {}),
        "name": span.name,
        "kind": 3 if span.kind == "client" else 1,
        "startTimeUnixNano": str(span.begin),
        "endTimeUnixNano": str(span.end),
        "attributes": _keyed(span.attributes),
        "events": [
            {"name": EVENT, "timeUnixNano": str(span.end), "attributes": _keyed(event)} for event in span.events
        ],
        "status": {"code": 2} if span.failed else {},
    }


def _keyed(attributes: Mapping[str, AttributeValue]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _any_value(value)} for key, value in attributes.items()]


def _any_value(value: AttributeValue | Iterable[str]) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
    return {"arrayValue": {"values": [_any_value(item) for item in value]}}
