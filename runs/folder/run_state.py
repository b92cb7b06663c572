"""The state of the run in a folder: conversations that are finished, failed or missing, and what to do."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from pydantic import ValidationError

from ...data.files.journals import Codec, JournalReader, writers
from ...data.files.json import parsed
from ...data.formats.source import CONVERSATIONS, FAILURES, MANIFEST
from ...data.records import FAULTS, Conversation, Record, as_object, ended_by_itself
from ...errors import DataError
from ..journals.calls import CALLS
from ..journals.journal import RunError, is_being_written
from . import manifests
from .dataset import is_unanswered, lacks_score
from .failure_reasons import grouped
from .leftovers import CARD, DATASET, partials

_CARD_COUNT = re.compile(r"^\| conversations \| (\d+) of ", re.MULTILINE)
"""The line of a data set's card with the number of its conversations."""


class RunInfo(Record):
    """A run in a list."""

    path: str
    cast: str
    planned: int
    finished: int
    """Conversations that came to an end of their own."""
    cut_by_run: int
    """Conversations that a bound of the run cut short: a resumed run with a wider bound goes on with them."""
    unanswered: int
    """Finished conversations of which a model failed to answer what is asked after the end."""
    missing: int
    """Planned conversations that are neither finished nor cut short."""
    failed: int
    """Those of them that failed."""
    cancelled: int
    """Those of them that Ctrl-C, a signal or a bound cancelled under way."""
    reasons: dict[str, int]
    """Why conversations failed, the most frequent reason first; reasons that say the same are one."""
    kept_replies: int
    """Replies in the call journal for conversations that are missing: a resumed run uses them."""
    stops: dict[str, int]
    """Why the conversations ended that are finished or cut short."""
    being_written: bool
    """Whether a run is writing the folder just now."""
    bytes: int
    """Size of the folder."""
    version: str
    """The version of the package that made it."""
    date: str | None
    """When the run was first begun, in UTC."""
    complete: bool
    """Whether every planned conversation ended by itself, and was answered all that is asked after it."""
    data_set: str = ""
    """What its data set lacks, as far as that is seen without reading it; empty if nothing."""
    paid_replies: int = 0
    """Those of `kept_replies` that an endpoint gave, or that report tokens; the others are of rules and functions."""
    problem: str = ""
    """Why the state of the run is unknown; empty if it is known."""
    taken_up: str = ""
    """The stored conversations that it takes up, in words; empty if it takes up none."""


def finished_in_words(finished: int, planned: int, cut: int, what: str = "") -> str:
    """How many conversations are finished, and how many a bound of the run cut short.

    >>> finished_in_words(8, 42, 34, "conversations")
    "8 of 42 conversations finished, 34 were cut short by the run's bound"
    """
    short = f", {cut} {'was' if cut == 1 else 'were'} cut short by the run's bound" if cut else ""
    return f"{finished} of {planned} {what}{' ' if what else ''}finished{short}"


def status_lines(run: RunInfo) -> list[str]:
    """The open points of a run, what to do and the reasons, a line each; none if complete."""
    if run.being_written:
        return [f"being written now, {run.finished} of {run.planned} conversations finished so far"]
    lines = []
    again = f"its command with --out {quote(str(run.path))} --resume"
    if run.missing:
        parts = [f"{run.failed} failed"] * bool(run.failed) + [f"{run.cancelled} cancelled"] * bool(run.cancelled)
        which = f" ({', '.join(parts)})" if parts else ""
        was = "was stopped, " if run.missing > run.failed else ""
        lines.append(f"{was}{_count(run.missing)} missing{which}: {again} asks for {_them(run.missing)}")
    if run.kept_replies:
        lines.append(_kept_line(run.kept_replies, run.paid_replies))
    if run.cut_by_run:
        lines.append(f"{_count(run.cut_by_run)} cut short by the run's bound; continue: {again} and a wider bound")
    if run.unanswered:
        lines.append(f"{_count(run.unanswered)} without answers or scores after the end: {again} asks again")
    if run.data_set:
        lines.append(f"{run.data_set}: --resume writes the data set again")
    return lines + [f"failed, {_count(count)}: {reason}" for reason, count in run.reasons.items()]


def _kept_line(count: int, paid: int) -> str:
    """How many replies a resumed run need not ask for, and whether they were paid."""
    one = count == 1
    replies, are = ("1 reply", "is") if one else (f"{count} replies", "are")
    if paid == count:
        replies += " that was paid" if one else " that were paid"
    elif paid:
        replies += f", {paid} of them paid,"
    again = f"{'pay' if paid else 'ask for'} {_them(count)}"
    return f"{replies} {are} kept in {CALLS} for unfinished conversations: --resume does not {again} again"


def _count(number: int) -> str:
    return f"{number} conversation{'' if number == 1 else 's'}"


def _them(number: int) -> str:
    return "it" if number == 1 else "them"


def standing(folder: Path) -> RunInfo:
    """The state of the run in a folder.

    Lines that cannot be read do not count, and records are not checked.
    """
    try:
        manifest, problem = manifests.read(folder), ""
    except RunError as error:
        manifest, problem = None, str(error)
    if manifest is None:
        problem = problem or f"{folder / MANIFEST}: is missing"
    run_manifest = manifest or {"planned": [], "settings": {}}
    planned = set(run_manifest["planned"])
    heads = {head.id: head for head in _heads(folder / CONVERSATIONS) if head.id in planned or manifest is None}
    finished = list(heads.values())
    broken = [head for head in _heads(folder / FAILURES) if head.id not in heads]
    failed = {head.id: head.error or "no reason is recorded" for head in broken if head.stop != "cancelled"}
    cut = {head.id for head in finished if head.cut}
    unanswered = sum(head.unanswered for head in finished)
    whole = planned == heads.keys() and bool(planned) and all(head.ended for head in finished) and not unanswered
    replies = _usable_replies(folder / CALLS, heads.keys() - cut)
    data_set = _lacking(folder, len(heads)) if heads and not problem else ""
    complete = whole and not data_set
    begun = run_manifest.get(manifests.BEGUN)
    return RunInfo(
        path=str(folder),
        cast=str(run_manifest["settings"].get("cast", "")),
        planned=len(planned),
        finished=len(heads) - len(cut),
        cut_by_run=len(cut),
        unanswered=unanswered,
        missing=len(planned - heads.keys()),
        failed=len(failed),
        cancelled=len(broken) - len(failed),
        reasons={reason.text: len(reason.ids) for reason in grouped(failed)},
        kept_replies=0 if complete else replies.total(),
        paid_replies=0 if complete else sum(count for (_, paid), count in replies.items() if paid),
        stops=dict(Counter(head.stop or "not told" for head in finished).most_common()),
        being_written=is_being_written(folder / CONVERSATIONS),
        bytes=sum(_sizes(folder)),
        version=str(run_manifest.get("version", "")),
        date=begun if isinstance(begun, str) else _written(folder / MANIFEST),
        complete=complete,
        data_set=data_set,
        problem=problem,
        taken_up=_taken_up(run_manifest),
    )


def _taken_up(manifest: dict[str, Any]) -> str:
    """What a run forks or replays, by the sources of its manifest."""
    for source in map(as_object, manifest.get("data", ())):
        if forks := as_object(source.get("forks")):
            edited = ", which was edited" if forks.get("edited") else ""
            return f"a fork of {forks.get('id')} in {source.get('source')} at #{forks.get('at')}{edited}"
        if source.get("replays"):
            return f"a replay of {source['replays']}"
    return ""


class _Head(NamedTuple):
    """The part of a record that the state of a run needs."""

    id: str
    stop: str | None
    ended: bool
    error: str | None
    cut: bool = False
    unanswered: bool = False


def _heads(path: Path) -> Iterator[_Head]:
    """The head of each conversation of a file; the records are not checked, so it is quick."""
    codec = Codec(key=lambda head: head.id, to_plain=tuple, from_plain=_head)
    reader = JournalReader(path, codec, salvage=True)
    return reader.iterate() if reader.files() else iter(())


def _head(value: Any) -> _Head:
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        raise DataError("is not a record")
    stop = value["stop"] if isinstance(value.get("stop"), str) else None
    reasons = as_object(as_object(value.get("provenance")).get("stop_reasons"))
    fault = FAULTS.get(stop or "") or reasons.get(stop or "")
    error = as_object(value.get("failure")).get("error")
    head = _Head(
        value["id"],
        stop,
        ended_by_itself(stop, fault),
        error if isinstance(error, str) else None,
    )
    unscored = lacks_score(as_object(value.get("labels")))
    if (stop == "budget" or ended_by_itself(stop, fault)) and (stop == "budget" or error is not None or unscored):
        try:  # few conversations: these are read whole
            conversation = Conversation.from_plain(value)
        except (DataError, ValidationError):
            return head
        return head._replace(cut=conversation.cut_by_run, unanswered=is_unanswered(conversation))
    return head


def _lacking(folder: Path, finished: int) -> str:
    """What the data set lacks by its card, which is written last."""
    there = folder / DATASET
    if any(path.parent != folder for path in partials(folder)):
        return f"{DATASET}: is half-written, by a process that was killed"
    if not (there / CARD).is_file():
        return f"{DATASET}: is missing" if not there.is_dir() else f"{DATASET}: has no {CARD}, which is written last"
    match = _CARD_COUNT.search((there / CARD).read_text(encoding="utf-8", errors="replace"))
    if match is not None and int(match[1]) < finished:
        return f"{DATASET}: has {match[1]} of {finished} finished conversations"
    return ""


def _usable_replies(main: Path, done: Collection[str]) -> Counter[tuple[str, bool]]:
    """Replies in a call journal that a resumed run may use, counted by conversation and whether they were paid.

    It is the largest number in the file of any writer, which begins with the content of the main file.
    """
    reply_counts: Counter[tuple[str, bool]] = Counter()
    for path in (main, *writers(main)):
        reply_counts |= _kept_in(path, done) if path.is_file() else Counter()
    return reply_counts


def _kept_in(path: Path, done: Collection[str]) -> Counter[tuple[str, bool]]:
    reply_counts: Counter[tuple[str, bool]] = Counter()
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if b'"reply"' not in line and b'"anew"' not in line:
                continue
            try:
                value = parsed(line.decode("utf-8"), path, number)
                conversation = value["conversation"]
                if value.get("anew"):
                    for paid in (True, False):
                        reply_counts.pop((conversation, paid), None)
                elif "reply" in value and conversation not in done:
                    reply_counts[conversation, _is_paid(value)] += 1
            except (UnicodeDecodeError, DataError, KeyError, TypeError, AttributeError):
                continue  # half a line, or no call: a resumed run asks it again
    return reply_counts


def _is_paid(call: dict[str, Any]) -> bool:
    """Whether a kept reply reports tokens, of a model or of an agent's own models."""
    reply = call["reply"]
    return bool(reply.get("usage_metadata") or any(draft.get("usage") for draft in reply.get("drafts") or ()))


def _sizes(folder: Path) -> Iterator[int]:
    for file in folder.rglob("*"):
        with suppress(OSError):  # a run that is writing here has renamed or removed it
            if file.is_file():
                yield file.stat().st_size


def _written(file: Path) -> str | None:
    """When a file was written, in UTC; None if it is not there."""
    if not file.is_file():
        return None
    return datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat(timespec="seconds")
