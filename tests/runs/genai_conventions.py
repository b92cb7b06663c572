"""The attributes of OpenTelemetry's conventions for generative AI that spans may have, as a JSON schema in our own words.

Names and levels of requirement are those of `model/gen-ai` in open-telemetry/semantic-conventions-genai. Attributes of
our own begin with `duologue.`; no other is allowed.
"""

from typing import Any

TEXT, NUMBER, TOKENS = {"type": "string", "minLength": 1}, {"type": "number"}, {"type": "integer", "minimum": 0}
PARTS = {
    "type": "array",
    "items": {"type": "object", "required": ["type"], "properties": {"type": TEXT, "content": {"type": "string"}}},
}
MESSAGES = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["role", "parts"],
        "properties": {"role": {"enum": ["system", "user", "assistant", "tool"]}, "parts": PARTS},
    },
}
EVERY = {
    "gen_ai.operation.name": {"enum": ["invoke_workflow", "invoke_agent", "chat", "execute_tool"]},
    "gen_ai.conversation.id": TEXT,
    "session.id": TEXT,
    "error.type": {"type": "string", "pattern": r"^[\w.:]{1,100}$"},
}
USAGE = {
    "gen_ai.usage.input_tokens": TOKENS,
    "gen_ai.usage.output_tokens": TOKENS,
    "gen_ai.usage.cache_read.input_tokens": TOKENS,
    "gen_ai.usage.reasoning.output_tokens": TOKENS,
}
MODEL = {"gen_ai.provider.name": TEXT, "gen_ai.request.model": TEXT}
CONTENTS = {"gen_ai.input.messages": MESSAGES, "gen_ai.output.messages": MESSAGES, "gen_ai.system_instructions": PARTS}
"""Attributes with texts, which are opted into; they are JSON in a text."""
OF_TOOLS = {"gen_ai.tool.call.arguments": {"type": "object"}, "gen_ai.tool.call.result": {}}
TEXTS = {*CONTENTS, *OF_TOOLS}

ALLOWED: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "invoke_workflow": (
        (),
        {
            "gen_ai.workflow.name": TEXT,
            "gen_ai.input.messages": MESSAGES,
            "gen_ai.output.messages": MESSAGES,
        },
    ),
    "invoke_agent": (("gen_ai.provider.name",), {**MODEL, **USAGE, **CONTENTS, "gen_ai.agent.name": TEXT}),
    "chat": (
        ("gen_ai.provider.name",),
        {
            **MODEL,
            **USAGE,
            **CONTENTS,
            "gen_ai.response.model": TEXT,
            "gen_ai.response.finish_reasons": {"type": "array", "items": TEXT},
        },
    ),
    "execute_tool": (
        ("gen_ai.tool.name",),
        {
            "gen_ai.tool.name": TEXT,
            "gen_ai.tool.type": {"enum": ["function", "extension", "datastore"]},
            "gen_ai.tool.call.id": TEXT,
            **OF_TOOLS,
        },
    ),
}
"""Required and allowed attributes by operation."""


def schema_of(operation: str) -> dict[str, Any]:
    """The schema of the attributes of a span."""
    required, allowed = ALLOWED[operation]
    return {
        "type": "object",
        "required": ["gen_ai.operation.name", "gen_ai.conversation.id", "session.id", *required],
        "properties": {**EVERY, **allowed},
        "patternProperties": {r"^duologue\.": {}},
        "additionalProperties": False,
    }


EVALUATION = {
    "type": "object",
    "required": ["gen_ai.evaluation.name"],
    "properties": {
        "gen_ai.evaluation.name": TEXT,
        "gen_ai.evaluation.score.value": NUMBER,
        "gen_ai.evaluation.score.label": TEXT,
        "gen_ai.evaluation.explanation": TEXT,
        "error.type": EVERY["error.type"],
    },
    "additionalProperties": False,
}
"""The schema of the attributes of an event `gen_ai.evaluation.result`."""
NAMES = {"invoke_workflow": "gen_ai.workflow.name", "invoke_agent": "gen_ai.agent.name", "chat": "gen_ai.request.model", "execute_tool": "gen_ai.tool.name"}  # fmt: skip
"""The attribute that follows the operation in a span's name."""
