"""What is measured of a conversation: the user's side in one language, with who it is and what it is about."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...data import domains
from ...data.formats.dialogues import further
from ...data.identity import digest
from ...data.recllmsim import common_task
from ...data.records import Conversation
from ...data.text.languages import Language
from ..annotations import annotations_of
from .words import content_of, words_of


@dataclass(frozen=True)
class Fact:
    """Something that the user knows of themselves: the words that tell it, and those that ask for it."""

    words: frozenset[str]
    asked: frozenset[str]


@dataclass(frozen=True)
class Speech:
    """The user's side of one conversation in one language."""

    conversation: Conversation
    cluster: str
    """The one who speaks: a person, or a profile. Conversations of one are not independent."""
    task: str
    language: Language
    """Of the texts; where the sources have none in common that of the conversation itself."""
    user: tuple[str, ...]
    """What the user said, a text for each message that is stored."""
    original: tuple[str, ...]
    """The same in the language in which it was said."""
    before: tuple[str, ...]
    """What the assistant said right before each of them; empty where nothing."""

    @property
    def translated(self) -> bool:
        """Whether any of the user's texts is a translation."""
        return self.user != self.original

    @cached_property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """The words of each message of the user."""
        return tuple(tuple(words_of(text, self.language)) for text in self.user)

    @cached_property
    def all_words(self) -> list[str]:
        """The words of the whole user's side."""
        return [word for words in self.words for word in words]

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """What there is to tell of the profile; none where the source tells no profile in the language."""
        return tuple(
            Fact(told, told | content_of(attribute, self.language))
            for attribute, value in profile_facts(self.conversation, self.language)
            if (told := content_of(value, self.language))
        )

    @cached_property
    def facts_told(self) -> dict[int, int]:
        """For each fact that is told, by its place, the message that tells it first.

        A message tells a fact that has at least half of its content words.
        """
        said = [set(words) for words in self.words]
        first: dict[int, int] = {}
        for place, fact in enumerate(self.facts):
            for number, words in enumerate(said):
                if 2 * len(fact.words & words) >= len(fact.words):
                    first[place] = number
                    break
        return first

    @cached_property
    def labels(self) -> dict[str, list[str]]:
        """Values of each annotation by its name."""
        return annotations_of(self.conversation)

    @cached_property
    def task_words(self) -> frozenset[str]:
        """What there is to tell of the task: the content words of its context in the language."""
        return content_of(task_context(self.conversation, self.language), self.language)


def profile_facts(conversation: Conversation, language: Language) -> list[tuple[str, str]]:
    """Attribute and value of the user's profile in the language; empty where there is none."""
    return domains.of(conversation).facts_in(conversation, language)


def task_context(conversation: Conversation, language: Language) -> str:
    """The task's context in the language; empty where there is none."""
    return domains.of(conversation).task_context(conversation, language)


def speeches(conversations: Iterable[Conversation], language: Language | None) -> list[Speech]:
    """The conversations in the language; those of which a user's message is not to be had in it are left out.

    Without a language each is in its own.
    """
    return [speech for conversation in conversations if (speech := _speech(conversation, language)) is not None]


def _speech(conversation: Conversation, wanted: Language | None) -> Speech | None:
    domain, spoken = domains.of(conversation), _spoken(conversation)
    language = wanted or spoken or "en"
    user, original, before = [], [], []
    last = ""
    for message in conversation.messages:
        if not message.stored:
            continue
        text = domain.text_in(message, language, spoken)
        if message.role == "assistant":
            last = text or ""
            continue
        if text is None:
            return None
        user.append(text)
        original.append(message.text)
        before.append(last)
        last = ""
    who, task = speaker(conversation), task_of(conversation)
    if not user:
        return None
    return Speech(conversation, who, task, language, tuple(user), tuple(original), tuple(before))


def _spoken(conversation: Conversation) -> Language | None:
    """The language of a conversation: one of its messages may be a foreign name or a number."""
    return domains.of(conversation).language(conversation)


def speaker(conversation: Conversation) -> str:
    """Who speaks as user: as the source tells, else all conversations about an equal scenario are one's."""
    return named(conversation) or digest(conversation.scenario)[:16]


def named(conversation: Conversation) -> str:
    """Who speaks as user, as the source tells; empty where it does not."""
    return domains.of(conversation).user(conversation)


def task_of(conversation: Conversation) -> str:
    """The task by its common name; empty where the source tells none."""
    name = domains.of(conversation).task(conversation.scenario) or further(conversation).get("task")
    return common_task(name) if isinstance(name, str) else ""


def languages_of(conversations: Sequence[Conversation]) -> list[Language]:
    """Languages in which at least half of the conversations can be read, that of most first."""
    both: list[Language] = ["zh", "en"]
    counts: dict[Language, int] = dict.fromkeys(both, 0)
    for conversation in conversations:
        domain, spoken = domains.of(conversation), _spoken(conversation)
        user = [message for message in conversation.messages if message.role == "user" and message.stored]
        for language in both:
            counts[language] += bool(user) and all(domain.text_in(one, language, spoken) is not None for one in user)
    enough: list[Language] = [
        language for language in both if counts[language] and counts[language] * 2 >= len(conversations)
    ]
    return sorted(enough, key=lambda language: -counts[language])
