"""Messages in the inputs and outputs of a traced step, as LangChain, OpenAI and Anthropic have them."""

from collections.abc import Mapping
from typing import Any

from ..formats.turns import spoken, turns_of
from ..records import as_object

_QUESTION_KEYS = ("question", "input", "query", "user_input", "prompt", "text")
_ANSWERED = ("answer", "output", "response", "result", "text", "completion")


def inputs_of(inputs: Any, outer: bool) -> list[dict[str, Any]]:
    """The turns of what a step was given.

    `outer`: whether a text under a key such as `question` is a user's, because no step is around it.
    """
    if isinstance(inputs, str):
        return [{"role": "user", "content": inputs}] if inputs and outer else []
    if not isinstance(inputs, Mapping):
        return turns_of(inputs)
    inputs = {**inputs, **as_object(inputs.get("kwargs"))}  # of a decorated function
    turns = (
        turns_of(inputs.get("messages"))
        or turns_of(inputs)
        or next((turns for key in ("input", "message", "chat_history") if (turns := turns_of(inputs.get(key)))), [])
    )
    if turns and isinstance(system := inputs.get("system"), str) and system:
        turns = [{"role": "system", "content": system}, *turns]
    text = next((inputs[key] for key in _QUESTION_KEYS if isinstance(inputs.get(key), str)), "")
    if text and outer and not any(words == ("user", " ".join(text.split())) for words in spoken(turns)):
        turns = [*turns, {"role": "user", "content": text}]
    return turns


def outputs_of(outputs: Any, outer: bool) -> list[dict[str, Any]]:
    """The turns of what a step gave back; `outer`: as for `inputs_of`."""
    if isinstance(outputs, str):
        return _answer(outputs)
    if not isinstance(outputs, Mapping):
        return turns_of(outputs)
    generations = outputs.get("generations")
    while isinstance(generations, list) and generations:
        generations = generations[0]
    choices = outputs.get("choices")
    first = (
        generations if isinstance(generations, Mapping) else choices[0] if isinstance(choices, list) and choices else {}
    )
    if isinstance(first, Mapping) and first:
        turns = turns_of(first.get("message")) or _answer(first.get("text"))
        reason = first.get("finish_reason") or as_object(first.get("generation_info")).get("finish_reason")
        return [*turns[:-1], turns[-1] | {"finish_reason": reason}] if turns and reason else turns
    for holder in (outputs.get("messages"), outputs.get("message"), outputs, outputs.get("output")):
        if turns := turns_of(holder):
            return turns
    return _answer(next((outputs[key] for key in _ANSWERED if isinstance(outputs.get(key), str)), "")) if outer else []


def _answer(text: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}] if isinstance(text, str) and text else []
