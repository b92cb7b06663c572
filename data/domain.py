"""What a conversation is about: everything that depends on the `kind` of its scenario, in one object.

`Domain` itself describes a plain conversation, about which only the common facts are known. To add a domain, write
a subclass that defines more and register an instance of it (`domains.register`, or an entry point of the group
`duologue.domains`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple, cast, final

from ..errors import SettingError
from .formats import messages
from .formats.detection import Format, Writer
from .formats.dialogues import further
from .identity import digest
from .records import Conversation, Message, Role, as_object, is_object
from .rules.linter import CHAT_RULES, Rule
from .text.languages import Language, language_of

TITLE = 80
"""Longest title, in characters, that is cut from a longer text."""

USER_KEYS = ("user", "user_id", "userId", "safety_identifier")
"""Keys that name the user, in a line of a data file, its `metadata` or a scenario."""

TOPIC_KEYS = ("topic", "topic_id")
"""Keys that name the topic, in a line of a data file: conversations with the same name are about the same thing."""

_NAMELESS = ("kind", "digest")
"""Keys that every scenario has and that do not describe its topic."""


@dataclass(frozen=True)
class Material:
    """A piece of background beside a conversation on a page: a text, or rows of name and text."""

    label: str
    text: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    source: bool = False
    """Whether the messages' spans are slices of this text; they are then marked in it."""
    folded: bool = False
    """Whether the page shows it only on request."""


@dataclass(frozen=True)
class LabelNotes:
    """Keys among the labels that do not judge behaviour or quality."""

    facts: frozenset[str] = frozenset()
    """Facts of the source, such as the assistant's name, which have no reliability."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """Remarks on another label, such as its reason: the key of that label, whose reliability they share."""
    others: frozenset[str] = frozenset()
    """Further notes, such as a profile or a questionnaire."""
    same: Mapping[str, str] = field(default_factory=dict)
    """Labels of models, or parts of them, with the name of the same label from people, such as
    `{"satisfaction.detail": "rating.Detail Level"}`."""

    def __or__(self, other: "LabelNotes") -> "LabelNotes":
        """Those of two domains together."""
        return LabelNotes(
            self.facts | other.facts,
            {**self.beside, **other.beside},
            self.others | other.others,
            {**self.same, **other.same},
        )

    def __contains__(self, key: object) -> bool:
        return key in self.facts or key in self.beside or key in self.others


class TypicalConversation(NamedTuple):
    """How conversations about such scenarios go, by which a run's tokens are estimated before any call."""

    exchanges: int | None
    """Turns after which one usually ends; None: it continues to the limit."""
    lengths: Mapping[Role, tuple[int, int, int]]
    """Tokens of a message of each side: of a short one (95 of 100 are longer), the mean, a long one (5 are longer)."""
    known_by: str
    """Where these figures are from, in words."""


TYPICAL = TypicalConversation(
    5, {"user": (10, 60, 275), "assistant": (20, 250, 707)}, "a guess, as nothing is known of such scenarios"
)
"""The assumption without a measurement."""


@dataclass(frozen=True)
class Dataset:
    """The data set that a run's conversations are written to."""

    name: str
    """Name of its file; empty if it is a folder of files."""
    description: str
    """A description for the data set card, one line."""
    write: Writer
    files: str = ""
    """Pattern of the files of a folder for the card, such as `TASK/FILE.json`."""


MESSAGES = Dataset("messages.jsonl", "the conversations as JSON lines of messages", messages.write)
"""The data set of conversations that have no format of their own."""


def shortened(line: str) -> str:
    """The line; if it is too long for a title, its first words and an ellipsis."""
    return line if len(line) <= TITLE else line[: TITLE - 1].rsplit(" ", 1)[0] + "…"


class Domain:
    """A plain conversation; subclasses override what is different in their domain.

    A scenario without a domain may use keys that have the same meaning everywhere: `title`, `task`, `task_context`
    (the user's goal), `profile`, `user`. No method fails if a scenario lacks a key, except `validate`.
    """

    kind: str = ""
    """`kind` of the scenarios of this domain."""
    formats: tuple[Format, ...] = ()
    """File formats of this domain, in addition to the general formats."""
    dataset: Dataset = MESSAGES
    """The data set of a run. A domain's own data set is also a target of `convert`, named after the kind."""
    rules: Mapping[str, Rule] = CHAT_RULES
    """Rules of `check` by id: by default those of conversations without a domain; `{**CHAT_RULES, **mine}` adds to them.
    Two domains may share an id only if they share the rule."""
    marks: tuple[str, ...] = ()
    """Tags that its prompt pages put around material, such as `section` for `<section>`. Texts of speakers and sources
    are sent without them."""
    attribution: str = ""
    """A line for the data set card about the licence of the source texts."""
    label_notes: LabelNotes = LabelNotes()
    """Keys among the labels that do not judge behaviour or quality, in conversations of every kind: their names mean the
    same everywhere."""
    typical: TypicalConversation = TYPICAL
    """How its conversations go: the tokens that `--plan` foresees before any of a run is finished."""

    def __init__(self, **what: Any) -> None:
        """`Domain(kind="hotel", marks=("goal",))` is for a domain that needs no method of its own.

        SettingError for a name that no domain has, or one that is a method.
        """
        for name, value in what.items():
            if callable(getattr(Domain, name, len)):
                raise SettingError(
                    f"a Domain has no setting {name!r}: its answers about a scenario or a conversation (title, "
                    "material, facts, ...) are methods of a subclass: class Hotel(Domain)"
                )
            setattr(self, name, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.kind or 'any kind'}: {len(self.formats)} formats, {len(self.rules)} rules)"

    def title(self, scenario: Mapping[str, Any]) -> str:
        """The topic in a few words on one line; empty if the scenario has none."""
        keys = ("title", "goal", "task_context", "task", "first_message")
        text = next((text for key in keys if isinstance(text := scenario.get(key), str) and text.strip()), "")
        line = " ".join(text.split())
        return line if scenario.get("title") else shortened(line)

    def subtitle(self, scenario: Mapping[str, Any]) -> str:
        """The part of a document, or the task; empty without one."""
        return self.task(scenario)

    def task(self, scenario: Mapping[str, Any]) -> str:
        """The task's name; comparisons group conversations by it."""
        name = scenario.get("task")
        return name if isinstance(name, str) else ""

    def topic_key(self, scenario: Mapping[str, Any]) -> str | None:
        """A key that is equal for scenarios about the same topic; None if the scenario names no topic.

        It is made from `task_context` if there is one, else from the whole scenario.
        """
        if key := worded("task_context", scenario):
            return key
        return digest("scenario", scenario) if set(scenario) - {*_NAMELESS} else None

    def person(self, scenario: Mapping[str, Any]) -> object:
        """The person who asks, whose conversations pairing joins first; None if unknown."""
        return scenario.get("profile")

    def material(self, scenario: Mapping[str, Any]) -> tuple[Material, ...]:
        """The background that a page shows beside the dialogue."""
        return labelled(scenario, [key for key in scenario if key not in (*_NAMELESS, "title")])

    @final
    def source_text(self, scenario: Mapping[str, Any]) -> str | None:
        """The text that spans are slices of; None without one."""
        return next((piece.text for piece in self.material(scenario) if piece.source), None)

    def profile_text(self, scenario: Mapping[str, Any]) -> str:
        """The user's profile as a text, which labels of profiles are about; empty without one."""
        return str(scenario.get("profile") or scenario.get("preference") or "")

    def label_text(self, scenario: Mapping[str, Any], unit: str) -> str:
        """The text of the scenario that labels of a unit are about; empty without one.

        `unit`: as in a label definition: `context`, `preference` or `profile`.
        """
        if unit == "profile":
            return self.profile_text(scenario) if scenario.get("preference") or scenario.get("profile") else ""
        if unit == "preference":
            text = scenario.get("preference")
            return text if isinstance(text, str) else ""
        return str(scenario.get("task_context") or "") if unit == "context" else ""

    def facts(self, scenario: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Attribute and value of each fact that the user has; HTML pages mark the values in messages."""
        return ()

    def refuses(self, message: Message) -> bool:
        """Whether an assistant's message gives no answer.

        A domain without refusals does not override this.
        """
        return False

    @final
    @property
    def has_refusals(self) -> bool:
        """Whether the domain has refusals, that is, overrides `refuses`."""
        return type(self).refuses is not Domain.refuses

    def validate(self, conversation: Conversation) -> None:
        """Raises ValueError if the scenario does not have what its kind requires."""

    def notes(self, conversations: Sequence[Conversation]) -> list[str]:
        """Remarks about loaded conversations, one line each."""
        return []

    def language(self, conversation: Conversation) -> Language | None:
        """The language of all user messages together: a single message may be only a foreign name or a number."""
        return language_of(
            "\n".join(message.text for message in conversation.messages if message.role == "user" and not message.name)
        )

    @final
    def text_in(self, message: Message, language: Language, spoken: Language | None = None) -> str | None:
        """`in_language`."""
        return in_language(message, language, spoken)

    def facts_in(self, conversation: Conversation, language: Language) -> list[tuple[str, str]]:
        """The facts in a language; empty if the source does not have them in it."""
        facts = list(self.facts(conversation.scenario))
        return facts if language_of("\n".join(value for _, value in facts)) in (language, None) else []

    @final
    def task_context(self, conversation: Conversation, language: Language) -> str:
        """The user's goal in a language; empty if the source does not have it in that language."""
        if isinstance(translated := conversation.extra.get(f"task_context_{language}"), str):
            return translated
        text = conversation.scenario.get("task_context")
        return text if isinstance(text, str) and language_of(text) == language else ""

    def user(self, conversation: Conversation) -> str:
        """The user's name or id in the source; empty if the source has none."""
        line = further(conversation)
        own = named(USER_KEYS, line, conversation.scenario)
        return own or named(USER_KEYS, *(as_object(line.get(key)) for key in ("metadata", "requestMetadata")))

    def labelled_by_people(self, conversation: Conversation, *, of_messages: bool) -> frozenset[str]:
        """Keys of labels from people, in the conversation or in its messages.

        A model's label, or a label of unknown origin, is not among them. A key with `_human` in it is people's
        everywhere and need not be named.
        """
        return frozenset()

    def simulated(self, conversation: Conversation) -> bool | None:
        """Whether the user is simulated (True) or a person (False); None if the data does not state it."""
        return None

    @final
    def is_about(self, conversation: Conversation) -> bool:
        """Whether the conversation belongs to this domain."""
        return conversation.scenario.get("kind") == self.kind


def named(keys: Sequence[str], *holders: Mapping[str, Any]) -> str:
    """The first text or number of a holder at one of the keys; empty without one.

    True and false do not count as numbers.
    """
    for key in keys:
        for holder in holders:
            name = holder.get(key)
            if isinstance(name, float) and name.is_integer():  # as pandas writes whole numbers beside missing ones
                name = int(name)
            if isinstance(name, str | int) and not isinstance(name, bool):
                return str(name)
            if isinstance(name, float) and isfinite(name):
                return str(name)
    return ""


def in_language(message: Message, language: Language, spoken: Language | None = None) -> str | None:
    """The message in a language: its own text or the source's translation; None if there is neither.

    `spoken` is the language of the conversation; without it the language is detected from the text.
    """
    translated = message.extra.get(f"content_{language}")
    if isinstance(translated, str):
        return translated
    return message.text if (spoken or language_of(message.text) or language) == language else None


def declared_topic(conversation: Conversation) -> str | None:
    """A topic key made from the topic that the conversation's line names, white space normalised; None without one."""
    name = " ".join(named(TOPIC_KEYS, further(conversation)).split())
    return digest("topic", name) if name else None


def worded(key: str, scenario: Mapping[str, Any]) -> str | None:
    """A topic key made from the scenario's text at `key`, white space normalised; None if there is no text."""
    text = scenario.get(key)
    return digest(key, " ".join(text.split())) if isinstance(text, str) and text.strip() else None


def labelled(scenario: Mapping[str, Any], keys: Sequence[str]) -> tuple[Material, ...]:
    """The scenario's values at these keys as material, labelled with the key.

    An object gives a row for each key.
    """
    pieces: list[Material] = []
    for key in keys:
        value, label = scenario.get(key), key.replace("_", " ")
        if is_object(value):
            pairs = ((str(name).replace("_", " "), _in_words(inner)) for name, inner in value.items())
            if rows := tuple(pair for pair in pairs if pair[1]):
                pieces.append(Material(label, rows=rows))
        elif text := _in_words(value):
            pieces.append(Material(label, text))
    return tuple(pieces)


def _in_words(value: Any) -> str:
    """A JSON value in words, its keys too; empty if it holds nothing.

    >>> _in_words({"name": "book", "arguments": {"room": 12}, "paid": False, "why": None})
    'name: book, arguments: (room: 12), paid: no'
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_object(value):
        inner = ((str(name).replace("_", " "), _in_words(one), is_object(one)) for name, one in value.items())
        return ", ".join(f"{name}: ({text})" if nested else f"{name}: {text}" for name, text, nested in inner if text)
    if isinstance(value, (list, tuple)):
        texts = [(_in_words(one), is_object(one)) for one in cast("Sequence[Any]", value)]
        return ", ".join(f"({text})" if nested else text for text, nested in texts if text)
    return "" if value is None else str(value)
