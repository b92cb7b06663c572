"""Counts of any conversations: messages of each role, how they ended, and lengths."""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, quantiles

from ..data import domains
from ..data.formats.dialogues import asides, further
from ..data.logs.logged_lines import usage_of
from ..data.records import Conversation, Message, Record, Role
from ..data.rules import is_repeat
from ..data.rules.chat import empty
from ..data.summaries.copies import CopyCount
from ..data.text.languages import HAN, written_language
from .attempts import sent_although_rejected
from .tables import Column, Table

_COUNTED = (
    "questions", "verbatim_repeats", "refusals", "empty", "tool_calls", "system_messages", "sent_although_rejected"
)  # fmt: skip
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class LogLengths(Record):
    """How something is spread; None where there is nothing."""

    measure: str
    median: float | None
    quarter: float | None
    """A quarter of the values are at most this."""
    three_quarters: float | None
    mean: float | None
    most: float | None


class LogStatistics(Record):
    """Any conversations in numbers. A word is a run of letters or digits, or one Chinese character."""

    source: str
    conversations: int
    turns: int
    """A new turn begins where the user speaks after the assistant has."""
    user_messages: int
    assistant_messages: int
    user_words: int
    assistant_words: int
    questions: int
    """Messages of the user with a question mark."""
    verbatim_repeats: int
    """Messages of the user that equal an earlier one, apart from white space, punctuation and case. The rule `repeated`
    of `check` leaves out short ones."""
    refusals: int
    """Replies that decline to help, or give no answer, by the rule of their domain."""
    empty: int
    """Messages without text, images and calls of tools."""
    tool_calls: int
    system_messages: int
    sent_although_rejected: int
    """Replies that were sent although the validator rejected them; the table has the row if there are any."""
    copies: int
    """Conversations with the same messages as an earlier one; the table has the row if there are any."""
    input_tokens: int | None
    """Of all calls that the log reports; None if it reports none."""
    output_tokens: int | None
    ended: dict[str, int]
    """Why conversations stopped where the record says it, else which side spoke last."""
    languages: dict[str, int]
    """Conversations by the language of the user's messages: `zh`, `en`, `other`, or `not told` without any letter."""
    lengths: tuple[LogLengths, ...]


def log_statistics(source: str, conversations: Iterable[Conversation]) -> LogStatistics:
    """Count the conversations of a source; `source` is its name.

    Only numbers are kept of each, so there may be any number of them.
    """
    counts: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    messages, turns = array("l"), array("l")
    words: dict[Role, array[int]] = {"user": array("l"), "assistant": array("l")}
    reported = False
    copies = CopyCount()
    for talk in copies.passing(conversations):
        stored = [message for message in talk.messages if message.stored]
        for message in stored:
            words[message.role].append(len(_WORD.findall(HAN.sub(" x ", message.text))))
        messages.append(len(talk.messages))
        turns.append(len(talk.exchanges))
        counts.update(_counts(talk, [message for message in stored if message.role == "user"]))
        ended[_end(talk)] += 1
        users = "\n".join(message.text for message in talk.messages if message.role == "user")
        languages[written_language(users) or "not told"] += 1
        if (tokens := _tokens(talk)) is not None:
            reported = True
            counts.update(input_tokens=tokens[0], output_tokens=tokens[1])
    return LogStatistics(
        source=source,
        conversations=len(messages),
        turns=sum(turns),
        user_messages=len(words["user"]),
        assistant_messages=len(words["assistant"]),
        user_words=sum(words["user"]),
        assistant_words=sum(words["assistant"]),
        **{name: counts[name] for name in _COUNTED},
        copies=copies.count,
        input_tokens=counts["input_tokens"] if reported else None,
        output_tokens=counts["output_tokens"] if reported else None,
        ended=_in_order(ended),
        languages=_in_order(languages),
        lengths=(
            _lengths("messages of a conversation", messages),
            _lengths("turns of a conversation", turns),
            _lengths("words of a user's message", words["user"]),
            _lengths("words of an assistant's message", words["assistant"]),
        ),
    )


def log_tables(statistics: Sequence[LogStatistics]) -> list[Table]:
    """A table of counts with a column for each source, then the ends, languages and lengths of each source."""
    lacking = any(log.input_tokens is None for log in statistics)
    notes: tuple[str, ...] = ("Tokens are missing where the log reports none.",) if lacking else ()
    rare = ("sent_although_rejected", "copies")
    without = ["ended", "languages", "lengths"]
    without += [name for name in rare if not any(getattr(log, name) for log in statistics)]
    if "copies" not in without:
        notes += ("Copies are conversations with the same messages as an earlier one.",)
    tables = [Table.across("Conversations", statistics, notes, without=without)]
    tables += [
        _counted(title, name, statistics) for title, name in (("How they ended", "ended"), ("Languages", "languages"))
    ]
    spread = [Column(name="measure"), *(Column(name=name, kind="number", places=1) for name in ("quarter", "median", "three quarters", "mean", "most"))]  # fmt: skip
    for log in statistics:
        title = "Lengths" if len(statistics) == 1 else f"Lengths: {log.source}"
        tables.append(Table.of(title, spread, log.lengths))
    return tables


def _counted(title: str, field: str, statistics: Sequence[LogStatistics]) -> Table:
    columns = [Column(name=field), *(Column(name=log.source, kind="count") for log in statistics)]
    counts: list[Mapping[str, int]] = [getattr(log, field) for log in statistics]
    names = dict.fromkeys(name for log_counts in counts for name in log_counts)
    return Table(
        title=title,
        columns=tuple(columns),
        rows=tuple((name, *(log_counts.get(name, 0) for log_counts in counts)) for name in names),
    )


def _in_order(counts: Counter[str]) -> dict[str, int]:
    """The commonest first; equal ones by name, not by the order of lines."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _counts(talk: Conversation, user_messages: Sequence[Message]) -> dict[str, int]:
    domain = domains.of(talk)
    return {
        "questions": sum("?" in message.text or "？" in message.text for message in user_messages),
        "verbatim_repeats": sum(
            is_repeat(message.text, (other.text for other in user_messages[:number]))
            for number, message in enumerate(user_messages)
        ),
        "refusals": sum(domain.refuses(message) for message in talk.messages if message.role == "assistant"),
        "empty": sum(1 for _ in empty(talk)),
        "tool_calls": _tool_calls(talk),
        "system_messages": sum("system" in aside for aside in asides(talk)),
        "sent_although_rejected": sent_although_rejected(talk),
    }


def _end(talk: Conversation) -> str:
    if talk.stop is not None:
        return talk.stop.replace("_", " ")
    return f"the {talk.messages[-1].role} spoke last" if talk.messages else "no message"


def _tool_calls(talk: Conversation) -> int:
    """Calls in the record; in a form that does not give them to messages, the turns that call."""
    recorded = sum(not call.waits for message in talk.messages for call in message.tool_calls)
    drafts = (draft for turn in talk.unsaid for draft in turn.attempts if draft.verdict != "rejected")
    recorded += sum(not call.waits for draft in drafts for call in draft.tool_calls)
    turns = (turn for aside in asides(talk) for turn in aside.values() if isinstance(turn, dict))
    return recorded or sum(turn.get("from") == "function_call" for turn in turns)


def _tokens(talk: Conversation) -> tuple[int, int] | None:
    """Input and output tokens of the record, else those that the source reports."""
    if talk.usage.calls and talk.usage.tokens:
        return talk.usage.input_tokens, talk.usage.output_tokens
    usage = usage_of(further(talk))
    return (usage.get("input_tokens", 0), usage.get("output_tokens", 0)) if usage else None


def _lengths(measure: str, values: Sequence[int]) -> LogLengths:
    if not values:
        return LogLengths(measure=measure, median=None, quarter=None, three_quarters=None, mean=None, most=None)
    quarter, median, three = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [float(values[0])] * 3
    return LogLengths(
        measure=measure, median=median, quarter=quarter, three_quarters=three, mean=mean(values), most=max(values)
    )
