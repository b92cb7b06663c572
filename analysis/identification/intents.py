"""What a user's message is for, told from its words or from the talk up to it: the intent of people's messages."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ...data.records import Conversation, Record
from ...data.text.languages import Language
from ...data.users import user_of
from ...errors import DataError, SettingError
from ..tables import Table
from ..trust import UNTOLD
from .classifiers import TREES
from .settings import SplitName, parts, shared_users
from .talks import Side, messages_in, side_of
from .texts import Text, text_of
from .values import Task, ValueRow, ValueRows, Watch, learner, measure_values, unwatched

Reads: TypeAlias = Literal["message", "history"]
READS: tuple[Reads, ...] = ("message", "history")


@dataclass(frozen=True)
class IntentTurn:
    """One message of a user with its intent."""

    user: str
    side: Side
    intent: str
    message: Text
    history: Text
    """All that was said up to the message, which is in it."""


class IntentReport(Record):
    """Intents from texts. See `measure_intents`."""

    split: str
    turns: int
    users: int
    intents: dict[str, int]
    """How often each is told."""
    scores: ValueRows

    def tables(self) -> list[Table]:
        """The one table."""
        return [self.scores.table()]

    def to_json(self) -> dict[str, Any]:
        """What is counted, the rows and the notes."""
        head = self.model_dump(mode="json", exclude={"scores"})
        return head | {"scores": self.scores.to_json(), "notes": list(self.scores.notes)}


def intent_turns(
    conversations: Iterable[Conversation], side: Side = "people", language: Language | None = "zh"
) -> tuple[tuple[IntentTurn, ...], int]:
    """The messages of one side's users that have one intent, and how many have several, which are left out."""
    found: list[IntentTurn] = []
    several = 0
    for conversation in conversations:
        read = messages_in(conversation, language) if side_of(conversation) == side else None
        if read is None:
            continue
        said = [text for _, text in read[1]]
        stored = [message for message in conversation.messages if message.stored]
        for place, message in enumerate(stored):
            told = message.labels.get("intent") if message.role == "user" else None
            intents = [told] if isinstance(told, str) else told if isinstance(told, list) else []
            several += len(intents) > 1
            if len(intents) == 1 and isinstance(intents[0], str) and intents[0].strip():
                found.append(
                    IntentTurn(
                        user=user_of(conversation),
                        side=side,
                        intent=intents[0].strip(),
                        message=text_of([said[place]], read[0]),
                        history=text_of(said[: place + 1], read[0]),
                    )
                )
    return tuple(found), several


def measure_intents(
    turns: Sequence[IntentTurn],
    models: Sequence[str] = ("forest", "logistic"),
    *,
    split: SplitName = "users",
    several: int = 0,
    trees: int = TREES,
    seeds: int = 1,
    seed: int = 0,
    trust: str = UNTOLD,
    watch: Watch = unwatched,
) -> IntentReport:
    """Accuracy and macro F1 of the prior and each model, on the message alone and on the talk up to it.

    `split`: whole users held out in five folds, or the published fifth of the messages at random. `several`: messages
    with several intents that were left out, for the note. `trust`: how far the intents can be trusted, as
    `analysis.trust.Trusts.note` tells. `watch`: is told what is under way. DataError without messages or with fewer than
    two users.
    """
    if seeds < 1:
        raise SettingError(f"seeds {seeds}: give 1 or more")
    if not turns:
        raise DataError(
            "no message of a user has one intent: give conversations such as people's first study of RecLLMSim"
        )
    users = [turn.user for turn in turns]
    values = [turn.intent for turn in turns]
    folds = parts(users, split)
    learners = {name: learner(name, trees) for name in dict.fromkeys(models)}
    rows: list[ValueRow] = []
    for reads in READS:
        texts = [turn.message if reads == "message" else turn.history for turn in turns]
        task = Task("intent", reads, texts, values, users, folds, split)
        rows += measure_values(task, learners, seeds=seeds, seed=seed, watch=watch)
    count, known = shared_users(users, folds)
    ordered = sorted(set(values), key=lambda name: (-values.count(name), name))
    notes = [f"{split}: {known / count:.1%} of the tested messages are of a user who is learnt from too."]
    if several:
        notes.append(f"{several} messages have several intents and are left out.")
    notes.append(trust)
    return IntentReport(
        split=split,
        turns=len(turns),
        users=len(set(users)),
        intents={name: values.count(name) for name in ordered},
        scores=ValueRows(rows=tuple(rows), notes=tuple(notes)),
    )
