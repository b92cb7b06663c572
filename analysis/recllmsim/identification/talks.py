"""The unit: a conversation with the profile of its user."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ....data import domains
from ....data.people import whose
from ....data.recllmsim.tasks import TaskName, task_name
from ....data.records import Conversation, Role
from ....data.text.languages import Language
from ....errors import DataError
from ...attempts import assistant_of
from ..judges.turns import path_of
from ..profiles import own_profile
from .text_models.texts import UserText, text_of
from .vocabulary import aspect_named, options_in, profile_of

IdentifiedSide: TypeAlias = Literal["simulated", "people"]


@dataclass(frozen=True)
class ProfileTalk:
    """One conversation with the options of its user's profile."""

    id: str
    path: str
    """In its data set, else its id."""
    side: IdentifiedSide
    user: str
    """Of a simulated user the person on whose scenario it was made, else what stands for it: its profile."""
    assistant: str
    """Empty where no source names it."""
    language: Language
    messages: tuple[tuple[Role, str], ...]
    labels: Mapping[str, tuple[str, ...]]
    """The options of each aspect, in English; an aspect without an option in the profile is missing."""
    task: TaskName = "other"

    @property
    def text(self) -> UserText:
        """All messages, of both sides, as words."""
        return text_of((text for _, text in self.messages), self.language)

    @property
    def users_text(self) -> UserText:
        """The user's messages, as words."""
        return text_of((text for role, text in self.messages if role == "user"), self.language)

    @property
    def of_user(self) -> str:
        """The user's messages as one text."""
        return "\n".join(text for role, text in self.messages if role == "user")


def profile_talks(conversations: Iterable[Conversation], language: Language | None = "zh") -> tuple[ProfileTalk, ...]:
    """The conversations with a profile of the vocabulary, in the order of the source.

    `language`: in which the messages are read, by the source's own translations; those that are not there in it are
    left out. None: each as it was held.
    """
    talks = []
    for conversation in conversations:
        labels = profile_of(conversation)
        read = messages_in(conversation, language) if labels else None
        if read is None:
            continue
        talks.append(
            ProfileTalk(
                id=conversation.id,
                path=path_of(conversation),
                side=side_of(conversation),
                user=whose(conversation),
                assistant=assistant_of(conversation),
                language=read[0],
                messages=read[1],
                labels=labels,
                task=task_name(domains.of(conversation).task(conversation.scenario)),
            )
        )
    return tuple(talks)


def left_out(conversations: Sequence[Conversation], language: Language | None = "zh") -> list[str]:
    """Lines with the number of conversations that `profile_talks` leaves out, and why; none if it takes all."""
    why: Counter[str] = Counter()
    for conversation in conversations:
        if (own := own_profile(conversation)) is None:
            why["have no structured profile (`profile` of the scenario, or the label `profile_mapped`)"] += 1
        elif not options_in(own):
            words = [f"{name} {value!r}" for name, value in own.items() if aspect_named(str(name))]
            example = f", such as {words[0][:80]}" if words else ""
            why[f"have no option of the vocabulary in their profile{example}"] += 1
        elif messages_in(conversation, language) is None:
            spoken = domains.of(conversation).language(conversation) or "en"
            why[f"are in {spoken}, and not there in {language}: --language {spoken}"] += 1
    lines: dict[str, int] = {}
    for reason, count in why.items():  # one line for all that have other words, with the first of them
        start = reason.partition(", such as")[0]
        key = next((line for line in lines if line.partition(", such as")[0] == start), reason)
        lines[key] = lines.get(key, 0) + count
    return [
        f"{count} of {len(conversations)} conversations are left out: they {reason}" for reason, count in lines.items()
    ]


NO_NAME = "none"
"""The name of an assistant that no source names."""


def with_assistants(talks: Sequence[ProfileTalk], names: Sequence[str]) -> tuple[tuple[ProfileTalk, ...], str]:
    """People's conversations with these assistants, and all simulated ones; and a line with the number left out.

    `none`: an assistant that the source does not name. DataError, with the names there are, if no conversation has one
    of these. The published scripts keep conversations without a name for any assistant.
    """
    people = Counter(talk.assistant or NO_NAME for talk in talks if talk.side == "people")
    chosen = tuple(talk for talk in talks if talk.side != "people" or (talk.assistant or NO_NAME) in names)
    there = ", ".join(f"{name} ({count})" for name, count in sorted(people.items()))
    for name in names:
        if name not in people:
            raise DataError(f"--with-assistant {name}: no conversation of people is with it: give {there or 'people'}")
    left, unnamed = len(talks) - len(chosen), 0 if NO_NAME in names else people[NO_NAME]
    return chosen, f"{left} conversations of people are with other assistants and left out ({unnamed} name none)"


def side_of(conversation: Conversation) -> IdentifiedSide:
    """Whether the user is simulated; where no source states it, they are a person."""
    return "simulated" if domains.of(conversation).simulated(conversation) else "people"


def messages_in(
    conversation: Conversation, language: Language | None
) -> tuple[Language, tuple[tuple[Role, str], ...]] | None:
    """The messages in a language and that language; None if they are not there in it."""
    spoken = domains.of(conversation).language(conversation) or "en"
    target = language or spoken
    read: list[tuple[Role, str]] = []
    for message in conversation.messages:
        if not message.stored:
            continue
        text = message.text if target == spoken else domains.in_language(message, target, spoken)
        if text is None:
            return None
        read.append((message.role, text))
    return (target, tuple(read)) if read else None
