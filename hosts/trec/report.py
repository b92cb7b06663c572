"""What a run of the track has done: its counts, and its conversations."""

from pathlib import Path

from ...data.attempts import Attempt, as_object
from ...data.records import Conversation, Message, Record
from .journal import RunJournal, TrackStep
from .protocol import Platform


class TrackReport(Record):
    """What a run has done."""

    run_id: str
    task: str
    conversations: int
    """Conversations that were played, or, in task 1, scenarios and histories that were answered."""
    messages: int
    """Messages that were sent."""
    ended_by_user: int
    """Conversations that the user ended; the platform ended the others."""
    rejected: int
    """Drafts that the user's validator rejected."""
    problems: tuple[str, ...] = ()
    """What is wrong with the platform's copy of the run, a line each."""
    out: str | None = None


def records_of(journal: RunJournal) -> list[Conversation]:
    """The last record of each conversation."""
    records: dict[str, Conversation] = {}
    for sent, _ in journal.turns():
        if sent.record is not None and sent.request is not None:
            name = str(sent.request["user_utterance"]["conversation_id"]) or str(sent.number)
            text = str(sent.request["user_utterance"]["text"])
            own = sent.record
            if not own.messages or own.messages[-1].text != text:
                own = own.model_copy(update={"messages": (*own.messages, Message(role="user", text=text))})
            key = name if not _answers_anew(journal, sent) else f"{name}/{sent.number}"
            records[key] = own.model_copy(update={"id": key})
    return list(records.values())


def _answers_anew(journal: RunJournal, sent: TrackStep) -> bool:
    """Whether it is task 1, in which each message belongs to a history of its own."""
    first = journal.steps[0].request or {}
    return first.get("task_name") == "next_utterance_prediction" and bool(sent.number)


def report_of(platform: Platform, journal: RunJournal, problems: tuple[str, ...], folder: Path | None) -> TrackReport:
    """The counts of a run, by its journal."""
    turns = list(journal.turns())
    utterances = [as_object((sent.request or {}).get("user_utterance")) for sent, _ in turns]
    drafts: list[Attempt] = []
    for record, before in [(sent.record, len(sent.heard)) for sent, _ in turns if sent.record is not None]:
        drafts += (attempt for message in record.messages[before:] for attempt in message.attempts)
        drafts += (attempt for turn in record.unsaid if turn.after >= before for attempt in turn.attempts)
    return TrackReport(
        run_id=platform.run_id,
        task=platform.task,
        conversations=len(records_of(journal)),
        messages=len(turns),
        ended_by_user=sum(bool(one.get("is_final")) for one in utterances),
        rejected=sum(attempt.verdict == "rejected" for attempt in drafts),
        problems=problems,
        out=None if folder is None else str(folder),
    )
