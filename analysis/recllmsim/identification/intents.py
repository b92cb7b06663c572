"""Prediction of the intent of a user's message from its words, or from the conversation up to it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ....data.people import user_of
from ....data.records import Conversation
from ....data.text.languages import Language
from ....errors import DataError, SettingError
from ...labels.reliability import UNTOLD
from ...over_users.folds import shared
from ...tables import Sections
from .settings import SplitName, parts
from .talks import IdentifiedSide, messages_in, side_of
from .text_models.classifiers import TREES
from .text_models.texts import UserText, text_of
from .values import ModelWatch, Task, ValueRow, ValueRows, learner, measure_values, unwatched

IntentReads: TypeAlias = Literal["message", "history"]
READS: tuple[IntentReads, ...] = ("message", "history")


@dataclass(frozen=True)
class IntentTurn:
    """One message of a user with its intent."""

    user: str
    side: IdentifiedSide
    intent: str
    message: UserText
    history: UserText
    """All that was said up to the message, which is in it."""


class IntentReport(Sections):
    """Intents predicted from texts; see `measure_intents`."""

    split: str
    turns: int
    users: int
    intents: dict[str, int]
    """The number of messages with each."""
    scores: ValueRows


def intent_turns(
    conversations: Iterable[Conversation], side: IdentifiedSide = "people", language: Language | None = "zh"
) -> tuple[tuple[IntentTurn, ...], int]:
    """The messages of one side's users that have one intent, and how many have several, which are left out."""
    turns: list[IntentTurn] = []
    several = 0
    for conversation in conversations:
        read = messages_in(conversation, language) if side_of(conversation) == side else None
        if read is None:
            continue
        texts = [text for _, text in read[1]]
        stored = [message for message in conversation.messages if message.stored]
        for place, message in enumerate(stored):
            label = message.labels.get("intent") if message.role == "user" else None
            intents = [label] if isinstance(label, str) else label if isinstance(label, list) else []
            several += len(intents) > 1
            if len(intents) == 1 and isinstance(intents[0], str) and intents[0].strip():
                turns.append(
                    IntentTurn(
                        user=user_of(conversation),
                        side=side,
                        intent=intents[0].strip(),
                        message=text_of([texts[place]], read[0]),
                        history=text_of(texts[: place + 1], read[0]),
                    )
                )
    return tuple(turns), several


def measure_intents(
    turns: Sequence[IntentTurn],
    models: Sequence[str] = ("forest", "logistic"),
    *,
    split: SplitName = "users",
    several: int = 0,
    trees: int = TREES,
    seeds: int = 1,
    trust: str = UNTOLD,
    watch: ModelWatch = unwatched,
) -> IntentReport:
    """Accuracy and macro F1 of the prior and each model.

    Each reads only the message, and the conversation up to it. `split`:
    whole users held out in five folds, or the published fifth of the messages at random. `several`: messages with
    several intents that were left out, for the note. `trust`: the reliability of the intents, as from
    `analysis.labels.reliability.Trusts.note`. `watch`: called with a line on progress. DataError without messages or
    with fewer than two users.
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
        rows += measure_values(task, learners, seeds=seeds, watch=watch)
    count, learnt_too = shared(users, folds)
    ordered = sorted(set(values), key=lambda name: (-values.count(name), name))
    notes = [f"{split}: {learnt_too / count:.1%} of the tested messages are of a user who is trained on too."]
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
