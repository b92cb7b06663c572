"""Conversations put together from logged calls of a model, each of which was sent the history again."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.json import STRICT, Broken, elements
from ..formats.messages import Line, Turn, conversations, instruction_of, spoken, turns_of
from ..formats.source import ConversationStream
from ..records import as_list, as_object, is_object

_QUESTION_KEYS = ("question", "input", "query", "user_input", "prompt", "text")
_ANSWERED = ("answer", "output", "response", "result", "text", "completion")


@dataclass(frozen=True)
class LoggedCall:
    """A call, or a traced step that holds messages."""

    turns: list[Turn]
    """What was sent and what came back, in order."""
    conversation: str = ""
    """Id of the conversation, thread or session; empty if the log names none."""
    trace: str = ""
    """Id of the trace; empty without one."""
    begun: str = ""
    """Sorts the calls in time; equal ones keep their order."""
    outer: bool = False
    """Whether it is the step around all others of its trace."""
    usage: Mapping[str, int] = field(default_factory=dict[str, int])
    """`input_tokens` and `output_tokens`, if the log has them."""
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further keys for the conversation."""
    own: str = ""
    """The id of the line itself; empty if it has none."""
    response: str = ""
    """The id of the response."""
    after: str = ""
    """The id of the response that it goes on from; empty if its turns are the whole history."""


def traces_reader(
    steps_in: Callable[[Any], Iterable[Any] | None],
    calls_of: Callable[[Iterable[Any]], Iterable[LoggedCall | None]],
    nothing: str,
) -> Callable[..., ConversationStream]:
    """The reader of a file of traces: a conversation for each session or thread, or for each trace without one.

    `steps_in`: the steps of a value; None for a value of another form. Notes count those, and the calls of which no
    conversation has the messages, such as those of a helper agent. DataError with the line `nothing` if no step holds
    messages.
    """

    def read(path: str | Path, broken: Broken = STRICT) -> ConversationStream:
        steps: list[Any] = []
        others: list[str] = []
        for place, value in elements(path, broken):
            if (found := steps_in(value)) is None:
                others.append(place)
            else:
                steps += found
        calls = [call for call in calls_of(steps) if call is not None and call.turns]
        if not calls:
            raise DataError(f"{at(path)}: {nothing}")
        lines = list(together(calls))
        yield from conversations(path, lines)
        said = {words for line in lines for words in spoken(line.turns)}
        left = sum(not said.issuperset(spoken(call.turns)) for call in calls)
        notes: list[str] = []
        if others:
            notes.append(f"{len(others)} value{'s' * (len(others) > 1)} of another form left out ({others[0]})")
        if left:
            notes.append(f"{left} call{'s' * (left > 1)} of a trace with messages of their own left out")
        return tuple(notes)

    return read


# --- Joining


def together(calls: Sequence[LoggedCall]) -> Iterator[Line]:
    """The conversations of calls, in order of appearance.

    Calls of one conversation have its id, or the id of its trace; or go on from the response of another one of it; or
    begin with all messages of another one, its answer included. Of one trace the longest history counts; those of several
    traces are joined where they overlap, so that no message occurs twice.
    """
    named = {call.trace: call.conversation for call in calls if call.conversation and call.trace}
    groups: dict[str, list[LoggedCall]] = {}
    responses: dict[str, tuple[str, int]] = {}
    """The group of each response, and its place there."""
    ends: dict[bytes, list[str]] = {}
    """The groups whose last call ends so, by a digest of all that was said; the latest one last."""
    for call in calls:
        before, number = responses.get(call.after, ("", 0))
        if before and number < len(groups[before]) - 1:  # two go on from it: they are two conversations
            groups[other := f"\0{len(groups)}"] = [replace(one, usage={}) for one in groups[before][: number + 1]]
            before = other
        name = before or call.conversation or named.get(call.trace, "") or call.trace
        if not name:
            *befores, end = _histories(call.turns) or [b""]
            continued = next((ends[history].pop() for history in reversed(befores) if ends.get(history)), "")
            name = continued or f"\0{len(groups)}"
            ends.setdefault(end, []).append(name)
        groups.setdefault(name, []).append(call)
        if call.response:
            responses[call.response] = name, len(groups[name]) - 1
    for number, (name, group) in enumerate(groups.items(), 1):
        yield _conversation(f"conversation {number}", group, "" if name.startswith("\0") else name)


def _histories(turns: Sequence[Turn]) -> list[bytes]:
    """A digest of all that was said up to each reply of an assistant after a message, and up to the end."""
    so_far, histories, length = sha256(), list[bytes](), 0
    for number, turn in enumerate(turns, 1):
        words = "".join(text for _, text in spoken([turn])) or "".join(f"\0{call.name}{call.id}" for call in turn.calls)
        if words and turn.role != "system":
            length += 1
            so_far.update(f"{turn.role}\0{len(words)}\0{words}".encode("utf-8", "surrogatepass"))
        if (words and turn.role == "assistant" and length > 1) or number == len(turns):
            histories.append(so_far.digest())
    return histories


def _conversation(place: str, calls: Sequence[LoggedCall], name: str) -> Line:
    calls = sorted(calls, key=lambda call: call.begun)
    traces: dict[str, list[LoggedCall]] = {}
    for number, call in enumerate(calls):
        traces.setdefault(call.trace or f"\0{number}", []).append(call)
    turns: list[Turn] = []
    earlier: list[list[Turn]] = []
    for of_trace in traces.values():
        history = _longest(of_trace)
        joined = [] if of_trace[0].after else _joined(turns, history)
        shared = max((_shared(one, history) for one in earlier), default=0)
        turns = joined or [*turns, *_without_system(_after(history, shared), turns)]
        earlier.append(history)
    name = (
        name or next((call.conversation for call in calls if call.conversation), "") or calls[0].trace or calls[0].own
    )
    further: dict[str, Any] = {"id": name} if name else {}
    if usage := [call.usage for call in calls if call.usage]:
        keys = dict.fromkeys(key for counts in usage for key in counts)
        further["usage"] = {key: sum(counts.get(key, 0) for counts in usage) for key in keys}
    for call in calls:
        further |= {key: more for key, more in call.more.items() if key not in ("id", "usage", "error")}
    for of_trace in traces.values():  # it failed if its outer step did, or its last call: others were tried again
        last = max(reversed(of_trace), key=lambda call: call.outer * (1 if call.more.get("error") else -1))
        further |= {"error": last.more["error"]} if last.more.get("error") else {}
    return Line(place, turns, further)


def _longest(calls: Sequence[LoggedCall]) -> list[Turn]:
    """The history of a trace: of its outer step or of a call that continues it, else the longest."""
    chains: list[list[Turn]] = []
    for call in sorted(calls, key=lambda call: not call.outer):
        for number, chain in enumerate(chains):
            if joined := _joined(chain, call.turns):
                chains[number] = joined
                break
        else:
            chains.append(call.turns)
    outer = next((spoken(call.turns) for call in calls if call.outer), [])
    if {role for role, _ in outer} == {"user", "assistant"}:
        chains = [chain for chain in chains if _holds(spoken(chain), outer)] or chains
    return max(chains, key=lambda chain: (len(spoken(chain)), len(chain)), default=[])


def _holds(all_said: Sequence[tuple[str, str]], part: Sequence[tuple[str, str]]) -> bool:
    return any(all_said[at : at + len(part)] == part for at in range(len(all_said) - len(part) + 1))


def _joined(first: list[Turn], second: list[Turn]) -> list[Turn]:
    """Both as one history, where the second goes on from or repeats the first; empty if they do not overlap."""
    a, b = spoken(first), spoken(second)
    if not b:
        return [*first, *(turn for turn in _without_system(second, first) if turn not in first)]
    if not a:
        return [*(turn for turn in first if turn not in second and turn.role != "system"), *second]
    if b[: len(a)] == a and len(second) >= len(first):
        return _with_reasons(first, second)
    if a[: len(b)] == b or (len(b) > 1 and a[-len(b) :] == b):
        return _with_reasons(second, first)
    shared = next((count for count in range(min(len(a), len(b)), 0, -1) if a[-count:] == b[:count]), 0)
    return [*first, *_without_system(_after(second, shared), first)] if shared else []


def _with_reasons(older: list[Turn], newer: list[Turn]) -> list[Turn]:
    """The newer turns; a reply as it came has its reasoning and why it ended, in a history that was sent it has not."""
    replies = {words: turn for turn in older for words in spoken([turn]) if turn.role == "assistant"}
    for turn in newer:
        for words in spoken([turn]):
            if (reply := replies.get(words)) is not None:
                turn.reasoning = turn.reasoning or reply.reasoning
                turn.further = reply.further | turn.further
    return newer


def _shared(first: list[Turn], second: list[Turn]) -> int:
    """How many messages two histories begin with alike, where a message was edited; none without a reply among them."""
    pairs = list(zip(spoken(first), spoken(second), strict=False))
    shared = next((number for number, (one, other) in enumerate(pairs) if one != other), len(pairs))
    return shared if any(role == "assistant" for (role, _), _ in pairs[:shared]) else 0


def _after(history: list[Turn], words: int) -> list[Turn]:
    places = [at for at, turn in enumerate(history) if spoken([turn])]
    return history[places[words - 1] + 1 :] if words else history


def _without_system(turns: list[Turn], before: list[Turn]) -> list[Turn]:
    instructed = any(turn.role == "system" for turn in before)
    return [turn for turn in turns if not (instructed and turn.role == "system")]


# --- Inputs and outputs of traced steps


def turns_of_step(inputs: Any, outputs: Any, *, outer: bool) -> list[Turn]:
    """The turns of what a step was given and gave back: of a graph, the outputs hold its whole state."""
    sent, received = inputs_of(inputs, outer), outputs_of(outputs, outer)
    begins = spoken(sent)
    return received if begins and _holds(spoken(received), begins) else sent + received


def inputs_of(inputs: Any, outer: bool) -> list[Turn]:
    """The turns of what a step was given, as LangChain, OpenAI and Anthropic have them.

    `outer`: whether a text under a key such as `question` is a user's, because no step is around it.
    """
    if isinstance(inputs, str):
        return [Turn("user", inputs)] if inputs and outer else []
    if not is_object(inputs):
        return turns_of(inputs)
    inputs = {**inputs, **as_object(inputs.get("kwargs"))}  # of a decorated function
    holders = (inputs.get("messages"), inputs, *(inputs.get(key) for key in ("input", "message", "chat_history")))
    turns = next((turns for holder in holders if (turns := turns_of(holder))), [])
    if turns and (system := instruction_of(inputs.get("system"))):
        turns = [Turn("system", system), *turns]
    text = next((inputs[key] for key in _QUESTION_KEYS if isinstance(inputs.get(key), str)), "")
    if text and outer and not any(words == ("user", " ".join(text.split())) for words in spoken(turns)):
        turns = [*turns, Turn("user", text)]
    return turns


def outputs_of(outputs: Any, outer: bool) -> list[Turn]:
    """The turns of what a step gave back; `outer`: as for `inputs_of`."""
    text = next((outputs[key] for key in _ANSWERED if isinstance(as_object(outputs).get(key), str)), "")
    return turns_of_response(outputs) or (answer(text) if outer else [])


def turns_of_response(response: Any) -> list[Turn]:
    """The turns of a model's response, of whichever API or of LangChain; of several choices the first."""
    if isinstance(response, str):
        return answer(response)
    if isinstance(response, list):
        return turns_of(response) or [turn for inner in map(as_object, response) for turn in turns_of_response(inner)]
    if not is_object(response):
        return []
    generations = response.get("generations")
    while isinstance(generations, list) and generations:
        generations = generations[0]
    if choice := as_object(generations) or as_object(next(iter(as_list(response.get("choices"))), None)):
        reason = choice.get("finish_reason") or as_object(choice.get("generation_info")).get("finish_reason")
        return ended(turns_of(choice.get("message")) or answer(choice.get("text")), reason)
    output = response.get("output")
    holders = (response.get("messages"), response.get("message"), response, output, as_object(output).get("message"))
    turns = next((found for holder in holders if (found := turns_of(holder))), [])
    reason = as_object(response.get("incomplete_details")).get("reason") or response.get("stopReason")
    return ended(turns, {"max_output_tokens": "length"}.get(str(reason), reason))


def answer(text: Any) -> list[Turn]:
    """A text as the assistant's turn; nothing for other values."""
    return [Turn("assistant", text)] if isinstance(text, str) and text else []


def ended(turns: list[Turn], reason: Any) -> list[Turn]:
    """The turns, of which the last has the reason why the model stopped, if there is one."""
    if turns and reason:
        turns[-1].further = {"finish_reason": reason} | turns[-1].further
    return turns


def usage_of(holder: Mapping[str, Any]) -> dict[str, int]:
    """The tokens that a response reports, in the names of Chat Completions, Responses, LangChain or Bedrock."""
    usage = next((inner for key in ("usage", "usage_metadata") if is_object(inner := holder.get(key))), {})
    return counts(
        usage, ("prompt_tokens", "input_tokens", "inputTokens"), ("completion_tokens", "output_tokens", "outputTokens")
    )


def counts(usage: Mapping[str, Any], sent: Sequence[str], received: Sequence[str]) -> dict[str, int]:
    """`input_tokens` and `output_tokens` by the first key that holds a number."""
    found = {
        name: next((int(usage[key]) for key in keys if isinstance(usage.get(key), int | float)), None)
        for name, keys in (("input_tokens", sent), ("output_tokens", received))
    }
    return {name: count for name, count in found.items() if count is not None}
