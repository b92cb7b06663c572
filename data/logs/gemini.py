"""Requests and responses of Gemini's API: `contents` of `parts`, and `candidates`.

The shapes of "Generating content" (ai.google.dev/api/generate-content), in camel or snake case: `contents`,
`systemInstruction`, `candidates` with `finishReason`, `usageMetadata`. They stand by themselves, as `request` and
`response` of a batch, or as the chunks of a stream. Lines to tune a model (cloud.google.com/vertex-ai) have them too.
Also a prompt saved from AI Studio (`chunkedPrompt`).
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..attempts import as_list, as_object, is_object
from ..files.json_values import elements
from ..formats.detection import Contents, Format, Source
from ..formats.message_parts import turns_of_parts, with_ids
from ..formats.other_requests import OtherForms
from ..formats.turns import role_of
from .calls import LoggedCall
from .completions import of_calls
from .logged_lines import identifier, unread

_REQUESTS = ("request", "body", "input")
_RESPONSES = ("response", "output")
_TAKEN = ("contents", "candidates", "systemInstruction", "system_instruction", "chunkedPrompt", "usageMetadata")
_TOKENS = {
    "input_tokens": ("promptTokenCount", "prompt_token_count"),
    "output_tokens": ("candidatesTokenCount", "candidates_token_count"),
}


def read(path: str | Path) -> Contents:
    """A conversation for each request with its response; those that send a history again are joined."""
    others = OtherForms()
    calls = _calls(others.without(elements(path), _is_own))
    return of_calls(path, calls, "holds requests of Gemini without contents", others)


def _is_own(value: Any) -> bool:
    """Whether a value has anything of Gemini's API, be it without words."""
    line = as_object(value)
    holders = [line, *(as_object(line.get(key)) for key in (*_REQUESTS, *_RESPONSES))]
    return any(key in holder for holder in holders for key in (*_TAKEN, "promptFeedback", "modelVersion"))


def _calls(values: Iterable[tuple[str, Any]]) -> Iterator[LoggedCall]:
    """The calls of a file; the chunks of a stream, one response an element, are one call."""
    chunks: list[Mapping[str, Any]] = []
    for _, value in values:
        if "candidates" in value and not _contents(value):
            chunks.append(value)
        else:
            yield _call(value)
    if chunks:
        whole = [chunk for chunk in chunks if _finished(chunk)]
        for group in [[chunk] for chunk in chunks] if len(whole) == len(chunks) else [chunks]:
            yield LoggedCall(_replies(group), usage=_usage(group))


def _call(value: Mapping[str, Any]) -> LoggedCall:
    request = next((inner for key in _REQUESTS if is_object(inner := value.get(key)) and _contents(inner)), value)
    answered = next((value[key] for key in _RESPONSES if value.get(key)), value if "candidates" in value else {})
    responses = [one for one in (answered if isinstance(answered, list) else [answered]) if is_object(one)]
    turns = [*_system(request), *(turn for content in _contents(request) for turn in _turns(content))]
    model = next((one[key] for one in responses for key in ("modelVersion", "model_version") if one.get(key)), None)
    taken = {*_TAKEN, *_REQUESTS, *_RESPONSES, "id"}
    more = {key: inner for key, inner in value.items() if key not in taken} | ({"model": model} if model else {})
    name = identifier(value) or (str(value["id"]) if value.get("id") and not responses else "")
    others = ("candidates after the first",) * any(len(as_list(one.get("candidates"))) > 1 for one in responses)
    unread_keys = {
        "request": unread(value, [request], _TAKEN),
        "response": (*unread(value, responses, (*_TAKEN, "modelVersion", "model_version")), *others),
    }
    turns += _replies(responses)
    return LoggedCall(with_ids(turns), conversation=name, usage=_usage(responses), more=more, unread=unread_keys)


def _contents(holder: Mapping[str, Any]) -> list[Any]:
    """The messages of a request; a text alone is a user's."""
    if isinstance(chunks := as_object(holder.get("chunkedPrompt")).get("chunks"), list):
        return [_chunk(chunk) for chunk in chunks if is_object(chunk)]
    contents = holder.get("contents")
    return contents if isinstance(contents, list) else [contents] if contents else []


def _chunk(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """A message of AI Studio as a content."""
    text = {"text": chunk.get("text", "")} | ({"thought": True} if chunk.get("isThought") is True else {})
    return {"role": chunk.get("role"), "parts": chunk.get("parts") or [text]}


def _system(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    system = request.get("systemInstruction", request.get("system_instruction"))
    parts = system.get("parts") if is_object(system) else [system] if isinstance(system, str) and system else []
    return turns_of_parts("system", parts if isinstance(parts, list) else [parts]) if parts else []


def _turns(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"role": "user", "content": content}]
    name = as_object(content).get("role") or "user"
    role = role_of(name) or str(name)
    parts = as_object(content).get("parts")
    return turns_of_parts(role, parts if isinstance(parts, list) else [parts] if parts else [])


def _replies(responses: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The turns of the first candidate, whose parts a stream brings in pieces."""
    candidates = [as_object(next(iter(one.get("candidates") or []), None)) for one in responses]
    parts = [part for one in candidates for part in as_object(one.get("content")).get("parts") or []]
    turns = turns_of_parts("assistant", parts) if parts else []
    reasons = [one[key] for one in candidates for key in ("finishReason", "finish_reason") if one.get(key)]
    if turns and reasons and turns[-1]["role"] == "assistant":
        turns[-1]["finish_reason"] = {"MAX_TOKENS": "length", "STOP": "stop"}.get(str(reasons[-1]), reasons[-1])
    return turns


def _finished(response: Mapping[str, Any]) -> bool:
    candidate = as_object(next(iter(response.get("candidates") or []), None))
    return bool(candidate.get("finishReason", candidate.get("finish_reason")))


def _usage(responses: list[Mapping[str, Any]]) -> dict[str, int]:
    """The tokens of a call; a stream counts them up."""
    holders = [as_object(one.get("usageMetadata", one.get("usage_metadata"))) for one in responses]
    counts = {
        name: [one[key] for one in holders for key in keys if isinstance(one.get(key), int)]
        for name, keys in _TOKENS.items()
    }
    return {name: numbers[-1] for name, numbers in counts.items() if numbers}


def _recognised(source: Source) -> bool:
    first = as_object(source.first)
    holders = [first, *(as_object(first.get(key)) for key in (*_REQUESTS, *_RESPONSES))]
    return any(map(_is_gemini, holders))


def _is_gemini(holder: Mapping[str, Any]) -> bool:
    contents = holder.get("contents")
    messages = contents if isinstance(contents, list) else [contents]
    candidates = holder.get("candidates")
    return (
        "parts" in as_object(messages[0] if messages else None)
        or "chunks" in as_object(holder.get("chunkedPrompt"))
        or (isinstance(candidates, list) and bool(candidates) and "content" in as_object(candidates[0]))
    )


FORMAT = Format(
    "gemini",
    "requests and responses of Gemini",
    _recognised,
    read,
    sign="`contents` of `parts`, or `candidates` with a `content`",
)
