"""Conversations put together from logged calls of a model, each of which was sent the history again."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.json import Broken, elements
from ..formats.messages import calls_in, numbered
from ..formats.source import ConversationStream
from ..formats.turns import SYSTEM, Turn, spoken, turns_of
from ..records import as_list, as_object

Words = list[tuple[str, str]]
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
    name: str = ""
    """The id of the response."""
    after: str = ""
    """The id of the response that it goes on from; empty if its turns are the whole history."""


def of_calls(path: str | Path, calls: Iterable[LoggedCall | None], nothing: str) -> ConversationStream:
    """The conversations of traced calls; DataError with the line `nothing` if none of them holds messages.

    A note counts the calls of which no conversation has the messages, such as those of a helper agent.
    """
    with_turns = [call for call in calls if call is not None and call.turns]
    if not with_turns:
        raise DataError(f"{at(path)}: {nothing}")
    values = list(together(with_turns))
    yield from numbered(path, values)
    said = {words for value in values for words in spoken(value["messages"])}
    left = sum(not said.issuperset(spoken(call.turns)) for call in with_turns)
    return (f"{left} call{'s' * (left > 1)} of a trace with messages of their own left out",) if left else ()


def read_traces(
    path: str | Path,
    broken: Broken,
    is_own: Callable[[Any], bool],
    calls_in: Callable[[Any], Iterable[LoggedCall | None]],
    nothing: str,
) -> ConversationStream:
    """The conversations of a file of traces; a note counts the values that are not of the form."""
    others: list[str] = []

    def calls() -> Iterator[LoggedCall | None]:
        for place, value in elements(path, broken):
            if is_own(value):
                yield from calls_in(value)
            else:
                others.append(place)

    notes = yield from of_calls(path, calls(), nothing)
    count = len(others)
    first = f"the first is {others[0]}" if count > 1 else f"it is {others[0]}" if count else ""
    return (*((f"{count} value{'s' * (count > 1)} of another form left out ({first})",) if count else ()), *notes)


# --- Joining


def together(calls: Sequence[LoggedCall]) -> Iterator[dict[str, Any]]:
    """An object with `id`, `messages`, `usage` and further keys for each conversation, in order of appearance.

    Of the calls of one trace the longest history counts. The histories of a conversation's traces are joined where they
    overlap, so that no message occurs twice. Calls without a conversation and a trace are joined if one goes on from
    the response of another, or begins with all messages of another, its answer included. Two that go on from the same
    call are two conversations.
    """
    named = {call.trace: call.conversation for call in calls if call.conversation and call.trace}
    groups: dict[str, list[LoggedCall]] = {}
    responses: dict[str, tuple[str, int]] = {}
    ends: dict[bytes, list[str]] = {}
    """The groups whose last call ends so, by a digest of all that was said."""
    for call in calls:
        name = call.conversation or named.get(call.trace, "") or call.trace
        histories = [] if name else _histories(call.turns)
        if name and not call.after:
            groups.setdefault(name, []).append(call)
        elif call.after in responses:
            name, number = responses[call.after]
            if number < len(groups[name]) - 1:
                groups[new := f"\0{len(groups)}"] = [replace(one, usage={}) for one in groups[name][: number + 1]]
                name = new
            groups[name].append(call)
        else:
            name = name or _continued(histories, ends) or f"\0{len(groups)}"
            groups.setdefault(name, []).append(call)
        if call.name:
            responses[call.name] = (name, len(groups[name]) - 1)
        if histories:
            ends.setdefault(histories[-1][1], []).append(name)
    for name, group in groups.items():
        yield _conversation(group, "" if name.startswith("\0") else name)


def _continued(histories: Sequence[tuple[int, bytes]], ends: dict[bytes, list[str]]) -> str:
    """The latest group whose end these histories go on from, which then ends elsewhere; empty without one."""
    before = [listed for length, history in histories[:-1] if length > 1 and (listed := ends.get(history))]
    return max(before, key=lambda listed: int(listed[-1][1:])).pop() if before else ""


def _histories(turns: Sequence[Turn]) -> list[tuple[int, bytes]]:
    """The number of messages up to each reply of an assistant, and up to the end, with a digest of them all."""
    words: Words = []
    for turn in turns:
        here = spoken([turn])
        if isinstance(turn, Mapping) and not "".join(text for _, text in here) and (calls := calls_in(turn)):
            here = [("assistant", f"\0{[(name, call.name) for name, call in calls]}")]
        words += here
    histories = []
    so_far = sha256()
    for length, (role, text) in enumerate(words, start=1):
        so_far.update(f"{role}\0{len(text)}\0{text}".encode("utf-8", "surrogatepass"))
        if role == "assistant" or length == len(words):
            histories.append((length, so_far.digest()))
    return histories


def _conversation(calls: Sequence[LoggedCall], name: str) -> dict[str, Any]:
    calls = sorted(calls, key=lambda call: call.begun)
    traces: dict[str, list[LoggedCall]] = {}
    for number, call in enumerate(calls):
        traces.setdefault(call.trace or f"\0{number}", []).append(call)
    turns: list[Turn] = []
    histories: dict[tuple[str, str], list[Words]] = {}  # by their first message
    for of_trace in traces.values():
        history = _longest(of_trace)
        if of_trace[0].after:
            turns = [*turns, *_without_system(history, turns)]
            continue
        words = spoken(history)
        earlier = histories.setdefault(words[0], []) if words else []
        turns = _joined(turns, history) or [*turns, *_without_system(_unshared(history, words, earlier), turns)]
        earlier.append(words)
    name = name or next((call.conversation for call in calls if call.conversation), "")
    name = name or calls[0].trace or calls[-1 if calls[-1].after else 0].own
    value: dict[str, Any] = {**({"id": name} if name else {}), "messages": turns}
    if usage := [call.usage for call in calls if call.usage]:
        keys = dict.fromkeys(key for counts in usage for key in counts)
        value["usage"] = {key: sum(counts.get(key, 0) for counts in usage) for key in keys}
    for call in calls:
        value |= {key: more for key, more in call.more.items() if key not in ("id", "messages", "usage")}
    return value


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


def _holds(all_said: Words, part: Words) -> bool:
    """Whether the conversation contains all of a part in a row."""
    return any(all_said[at : at + len(part)] == part for at in range(len(all_said) - len(part) + 1))


def _joined(first: list[Turn], second: list[Turn]) -> list[Turn]:
    """Both as one history, where the second goes on from or repeats the first; empty if they do not overlap."""
    a, b = spoken(first), spoken(second)
    if not b:
        return [*first, *_without_system([turn for turn in second if turn not in first], first)]
    if not a:
        return [*(turn for turn in first if turn not in second and turn.get("role") not in SYSTEM), *second]
    if b[: len(a)] == a and len(second) >= len(first):
        return _with_reasons(first, second)
    if a[: len(b)] == b or (len(b) > 1 and a[-len(b) :] == b):
        return _with_reasons(second, first)
    shared = next((count for count in range(min(len(a), len(b)), 0, -1) if a[-count:] == b[:count]), 0)
    return [*first, *_without_system(_after(second, shared), first)] if shared else []


def _after(history: list[Turn], words: int) -> list[Turn]:
    """The turns after the first so many with words."""
    places = [at for at, turn in enumerate(history) if spoken([turn])]
    return history[places[words - 1] + 1 :]


def _unshared(history: list[Turn], words: Words, earlier: Iterable[Words]) -> list[Turn]:
    """The turns after those that an earlier history has too, because a message was edited.

    All of them, where no reply is among those that both have.
    """
    shared = max((_alike(one, words) for one in earlier), default=0)
    return history if all(role == "user" for role, _ in words[:shared]) else _after(history, shared)


def _alike(first: Words, second: Words) -> int:
    """How many messages two histories have in common at their beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(first), len(second)))


def _without_system(turns: list[Turn], before: list[Turn]) -> list[Turn]:
    """The turns without instructions, which were given before."""
    instructed = any(turn.get("role") in SYSTEM for turn in before)
    return [turn for turn in turns if not (instructed and turn.get("role") in SYSTEM)]


def _with_reasons(older: list[Turn], newer: list[Turn]) -> list[Turn]:
    """The newer turns with the finish reasons of the older ones, because a sent history has none."""
    reasons = {words: turn["finish_reason"] for turn in older if "finish_reason" in turn for words in spoken([turn])}
    return [
        turn | {"finish_reason": reasons[words[0]]}
        if (words := spoken([turn])) and words[0] in reasons and "finish_reason" not in turn
        else turn
        for turn in newer
    ]


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
        return [{"role": "user", "content": inputs}] if inputs and outer else []
    if not isinstance(inputs, Mapping):
        return turns_of(inputs)
    inputs = {**inputs, **as_object(inputs.get("kwargs"))}  # of a decorated function
    holders = (inputs.get("messages"), inputs, *(inputs.get(key) for key in ("input", "message", "chat_history")))
    turns = next((turns for holder in holders if (turns := turns_of(holder))), [])
    if turns and isinstance(system := inputs.get("system"), str) and system:
        turns = [{"role": "system", "content": system}, *turns]
    text = next((inputs[key] for key in _QUESTION_KEYS if isinstance(inputs.get(key), str)), "")
    if text and outer and not any(words == ("user", " ".join(text.split())) for words in spoken(turns)):
        turns = [*turns, {"role": "user", "content": text}]
    return turns


def outputs_of(outputs: Any, outer: bool) -> list[Turn]:
    """The turns of what a step gave back; `outer`: as for `inputs_of`."""
    if isinstance(outputs, str):
        return answer(outputs)
    if not isinstance(outputs, Mapping):
        return turns_of(outputs)
    generations = outputs.get("generations")
    while isinstance(generations, list) and generations:
        generations = generations[0]
    first = as_object(generations) or as_object(next(iter(as_list(outputs.get("choices"))), None))
    if first:
        turns = turns_of(first.get("message")) or answer(first.get("text"))
        reason = first.get("finish_reason") or as_object(first.get("generation_info")).get("finish_reason")
        return [*turns[:-1], turns[-1] | {"finish_reason": reason}] if turns and reason else turns
    for holder in (outputs.get("messages"), outputs.get("message"), outputs, outputs.get("output")):
        if turns := turns_of(holder):
            return turns
    return answer(next((outputs[key] for key in _ANSWERED if isinstance(outputs.get(key), str)), "")) if outer else []


def answer(text: Any) -> list[Turn]:
    """A text as the assistant's turn; nothing for other values."""
    return [{"role": "assistant", "content": text}] if isinstance(text, str) and text else []


def usage_of(holder: Mapping[str, Any]) -> dict[str, int]:
    """The tokens that a response reports, in the names of Chat Completions, Responses, LangChain or Bedrock."""
    usage = next((inner for key in ("usage", "usage_metadata") if isinstance(inner := holder.get(key), Mapping)), {})
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
