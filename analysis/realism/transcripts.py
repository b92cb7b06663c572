"""The measured part of a conversation: the user's messages in one language, with user, task and assistant."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from ...data import domains
from ...data.formats.messages import further
from ...data.labels.reading import annotations_of
from ...data.people import user_of, whose
from ...data.recllmsim import common_task, facts_of
from ...data.records import Conversation, as_object
from ...data.text.languages import ENGLISH, Language, language_of
from ...data.text.words import words_of
from ..attempts import assistant_of

ORIGIN = "people"
"""Key of a message's `extra` under which a retrieval-based user records the source of its words."""
MOST = 50_000
"""Characters of a message, from its beginning, that are measured: a person writes no longer one by hand."""

_ZH_STOP = frozenset(
    """的 了 和 是 在 我 你 您 他 她 它 们 我们 你们 他们 这 那 这个 那个 一个 一些 一 有 也 都 就 还 而 及 与 或 等 为
    为了 以 以及 对 从 到 向 把 被 让 使 要 会 能 可以 应 应该 应当 将 但 因为 所以 如果 其 其中 并 并且 中 上 下 内
    个 种 些 自己 自身 希望 想 想要 需要 进行 完成 使用 通过 根据 情况 什么 怎么 如何 哪些 请 喜欢 现在 最近 你的
    最终 尽量 做到 一场 打算 计划 方式 对话 语言 模型 大语言 LLM""".split()
)


@dataclass(frozen=True)
class Fact:
    """A fact of the user's profile."""

    words: frozenset[str]
    """Content words of the value: a message with half of them tells the fact."""
    asking_words: frozenset[str]
    """Content words of attribute and value: a question with one of them asks for the fact."""


@dataclass(eq=False)
class UserTranscript:
    """The user's messages of one conversation, in one language."""

    conversation: Conversation
    user: str
    """Who speaks: a person, or a profile. Conversations of the same user are not independent."""
    task: str
    language: Language
    """Language of the texts: the common one of both sides, else the conversation's own."""
    texts: tuple[str, ...]
    """The user's stored messages."""
    originals: tuple[str, ...]
    """The same messages in the language in which they were written."""
    replies_before: tuple[str, ...]
    """For each message the assistant's text right before it; empty without one."""
    assistant: str = ""
    """Who answered; empty if the data does not tell."""
    others: tuple["UserTranscript", ...] = ()
    """Some conversations of other users of the same side about the same task."""

    @property
    def dialogue(self) -> tuple[tuple[str, str], ...]:
        """Roles and texts of all messages: what makes two conversations the same."""
        return tuple((message.role, message.text) for message in self.conversation.messages)

    @property
    def translated(self) -> bool:
        """Whether any of the texts is a translation."""
        return self.texts != self.originals

    @property
    def owner(self) -> str:
        """Whose scenario it is."""
        return whose(self.conversation)

    @property
    def sources(self) -> frozenset[str]:
        """Ids of the conversations from which a retrieval-based user has its words."""
        origins = (as_object(message.extra.get(ORIGIN)) for message in self.conversation.messages)
        return frozenset(source for origin in origins if isinstance(source := origin.get("conversation"), str))

    @cached_property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """The words of each message of the user."""
        return tuple(tuple(words_of(text, self.language)) for text in self.texts)

    @cached_property
    def all_words(self) -> list[str]:
        """The words of all messages of the user."""
        return [word for words in self.words for word in words]

    @cached_property
    def content(self) -> tuple[frozenset[str], ...]:
        """The different content words of each message of the user, without numbers."""
        return tuple(
            frozenset(word for word in content_words(words, self.language) if not word.isdigit())
            for words in self.words
        )

    @cached_property
    def searched_messages(self) -> tuple[str, ...]:
        """Each message of the user as `share_in` searches it."""
        return tuple(searched(text, self.language) for text in self.texts)

    @cached_property
    def searched_replies(self) -> tuple[str, ...]:
        """Each of `replies_before` as `share_in` searches it."""
        return tuple(searched(text, self.language) for text in self.replies_before)

    @cached_property
    def searched_context(self) -> str:
        """The task's context as `share_in` searches it."""
        return searched(task_context(self.conversation, self.language), self.language)

    @cached_property
    def content_beyond_task(self) -> tuple[list[str], ...]:
        """Of each message of the user the content words that the task's context does not have, in order."""
        words = tuple(frozenset().union(*self.content))
        as_found = zip(words, as_searched(words, self.language), strict=True)
        absent = {word for word, looked_for in as_found if looked_for not in self.searched_context}
        return tuple(sorted(words & absent) for words in self.content)

    @cached_property
    def first_said(self) -> dict[str, int]:
        """For each word of the user the number of its first message."""
        first: dict[str, int] = {}
        for number, words in enumerate(self.words):
            for word in words:
                first.setdefault(word, number)
        return first

    @cached_property
    def trigrams(self) -> frozenset[int]:
        """The different word trigrams of the user's messages, none across two messages, as numbers that compare fast."""
        grams = (zip(words, words[1:], words[2:], strict=False) for words in self.words)
        return frozenset(map(hash, chain.from_iterable(grams)))

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """The facts of the profile; none where the source has no profile in the language."""
        profile = profile_facts(self.conversation, self.language)
        facts = (_fact(attribute, value, self.language) for attribute, value in profile)
        return tuple(fact for fact in facts if fact.words)

    @cached_property
    def facts_told(self) -> dict[int, int]:
        """Index of each fact that the user mentions, with the number of the first message that has it.

        A message tells a fact if it has at least half of the fact's content words.
        """
        words_by_message = [set(words) for words in self.words]
        first_message: dict[int, int] = {}
        for index, fact in enumerate(self.facts):
            if 2 * sum(word in self.first_said for word in fact.words) < len(fact.words):
                continue  # all messages together do not say it
            for number, words in enumerate(words_by_message):
                if 2 * len(fact.words & words) >= len(fact.words):
                    first_message[index] = number
                    break
        return first_message

    @cached_property
    def labels(self) -> dict[str, list[str]]:
        """Values of each annotation by its name."""
        return annotations_of(self.conversation)

    @cached_property
    def task_words(self) -> frozenset[str]:
        """The content words of the task's context."""
        return content_of(task_context(self.conversation, self.language), self.language)


# Words that carry content


def content_words(words: Sequence[str], language: Language) -> set[str]:
    """The words without function words, and in Chinese without single characters."""
    if language == "en":
        return {word for word in words if word not in ENGLISH}
    return {word for word in words if word not in _ZH_STOP and (len(word) > 1 or word.isdigit())}


@lru_cache(maxsize=20_000)
def content_of(text: str, language: Language) -> frozenset[str]:
    """The content words of a text; kept, as many conversations have one profile or task, and many turns one message."""
    return frozenset(content_words(words_of(text, language), language))


def searched(text: str, language: Language) -> str:
    """The text as `share_in` searches it: in English its words with a blank around each, in Chinese the text itself.

    Cutting long replies into Chinese words would take most of the time of a comparison. A word that is cut in another
    way in the reply would be missed.
    """
    return f" {' '.join(words_of(text, 'en'))} " if language == "en" else text.lower()


def share_in(words: Collection[str], text: str, language: Language) -> float:
    """Share of the words that a text has, 0 to 1; the text as `searched` gives it."""
    return sum(map(text.__contains__, as_searched(words, language))) / len(words)


def as_searched(words: Collection[str], language: Language) -> Collection[str]:
    """The words as a text has them that `searched` gives."""
    return [f" {word} " for word in words] if language == "en" else words


# What the scenario tells


@lru_cache(maxsize=20_000)
def _fact(attribute: str, value: str, language: Language) -> Fact:
    """A fact of a profile; kept, as a user's conversations have the same ones."""
    words = content_of(value, language)
    return Fact(words, words | content_of(attribute, language))


def profile_facts(conversation: Conversation, language: Language) -> list[tuple[str, str]]:
    """Attribute and value of the user's profile in the language; empty without one."""
    scenario, translated = conversation.scenario, conversation.extra.get(f"preference_{language}")
    if isinstance(translated, str):
        return facts_of(scenario | {"preference": translated})
    facts = facts_of(scenario)
    spoken = scenario.get("language") or language_of("\n".join(value for _, value in facts))
    return facts if spoken in (language, None) else []


def task_context(conversation: Conversation, language: Language) -> str:
    """The task's context in the language; empty without one."""
    text = conversation.extra.get(f"task_context_{language}")
    if isinstance(text, str):
        return text
    text = conversation.scenario.get("task_context")
    return text if isinstance(text, str) and language_of(text) == language else ""


def task_of(conversation: Conversation) -> str:
    """The task by its common name; empty where the source has none."""
    name = domains.of(conversation).task(conversation.scenario) or further(conversation).get("task")
    return common_task(name) if isinstance(name, str) else ""


# Reading


def transcripts_of(conversations: Iterable[Conversation], language: Language | None) -> list[UserTranscript]:
    """The conversations in the language, or for `None` each in its own.

    Left out are those without a message of the user, and those with one that the data has not in the language.
    """
    read = (_transcript(conversation, language) for conversation in conversations)
    return [transcript for transcript in read if transcript is not None]


def _transcript(conversation: Conversation, chosen_language: Language | None) -> UserTranscript | None:
    spoken = domains.of(conversation).language(conversation)
    language = chosen_language or spoken or "en"
    texts, originals, replies_before = [], [], []
    last_reply = ""
    for message in conversation.messages:
        if not message.stored:
            continue
        text = domains.in_language(message, language, spoken)
        if message.role == "assistant":
            last_reply = (text or "")[:MOST]
            continue
        if text is None:
            return None
        texts.append(text[:MOST])
        originals.append(message.text[:MOST])
        replies_before.append(last_reply)
        last_reply = ""
    if not texts:
        return None
    return UserTranscript(
        conversation,
        user_of(conversation),
        task_of(conversation),
        language,
        tuple(texts),
        tuple(originals),
        tuple(replies_before),
        assistant_of(conversation),
    )


def languages_of(conversations: Sequence[Conversation]) -> list[Language]:
    """Languages in which at least half of the conversations can be read, the most frequent first."""
    languages: list[Language] = ["zh", "en"]
    readable: dict[Language, int] = dict.fromkeys(languages, 0)
    for conversation in conversations:
        spoken = domains.of(conversation).language(conversation)
        messages = [message for message in conversation.messages if message.role == "user" and message.stored]
        for language in languages:
            readable[language] += bool(messages) and all(
                domains.in_language(message, language, spoken) is not None for message in messages
            )
    enough: list[Language] = [
        language for language in languages if readable[language] and readable[language] * 2 >= len(conversations)
    ]
    return sorted(enough, key=lambda language: -readable[language])
