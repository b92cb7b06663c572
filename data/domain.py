"""What a conversation is about: all that depends on the `kind` of its scenario, in one object.

`Domain` itself is the domain of what has none: a plain conversation, of which nothing is known but what every
conversation has. A domain of one's own is a subclass that says more, and an instance of it that is registered
(`domains.register`, or an entry point of the group `duologue.domains`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast, final

from .attempts import is_object
from .formats import messages
from .formats.detection import Format, Writer
from .formats.dialogues import further
from .identity import digest
from .records import Conversation, Message
from .rules.findings import Rule
from .text.languages import Language, language_of

TITLE = 80
"""Most characters of a title that is made of a longer text."""

USER_KEYS = ("user", "user_id")
"""Keys of a line or of a scenario that say who the user is, in data of any origin."""

_NAMELESS = ("kind", "digest")
"""Keys of every scenario, which say nothing of what it is about."""


@dataclass(frozen=True)
class Dataset:
    """A data set that a run of conversations is written as."""

    name: str
    """Name of its file; empty where it is a folder of files."""
    about: str
    """What it is, in a line of the card."""
    write: Writer
    files: str = ""
    """How the card names the files of a folder, such as `TASK/FILE.json`."""


MESSAGES = Dataset("messages.jsonl", "the conversations as JSON lines of messages", messages.write)
"""The data set of conversations that have no format of their own."""


@dataclass(frozen=True)
class Material:
    """A piece of what a conversation is about, as a page shows it: a text, or rows of a name and a text."""

    label: str
    text: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    source: bool = False
    """Whether the spans of messages are slices of the text, and marked in it."""
    folded: bool = False
    """Whether it is shown when somebody asks for it."""


class Domain:
    """A plain conversation, and what a domain of one's own can say of its conversations instead.

    A scenario without a domain may say what it is about in keys that mean the same everywhere: `title`, `task`,
    `task_context` (what the user is to reach), `profile`, `user`. Nothing here fails on a scenario that lacks what
    its kind should have: `validate` alone does.
    """

    kind: str = ""
    """`kind` of the scenarios that are its own."""
    formats: tuple[Format, ...] = ()
    """How its conversations come on disk besides the formats of no domain."""
    dataset: Dataset = MESSAGES
    """The data set that a run is written as; one of its own is a target of `convert` with the kind as its name."""
    rules: Mapping[str, Rule] = MappingProxyType({})
    """What `check` looks for, by ids that no other domain has, unless for the same rule."""
    marks: tuple[str, ...] = ()
    """Names of the marks that its prompt pages put around material, as in `<section>`: no text of others holds them."""
    attribution: str = ""
    """A line of the card about the licence of source texts."""

    def title(self, scenario: Mapping[str, Any]) -> str:
        """What it is about, in a few words on one line; empty where nothing is told."""
        text = scenario.get("title") or scenario.get("task_context") or scenario.get("task")
        line = " ".join(text.split()) if isinstance(text, str) else ""
        return line if scenario.get("title") or len(line) <= TITLE else line[: TITLE - 1].rsplit(" ", 1)[0] + "…"

    def subtitle(self, scenario: Mapping[str, Any]) -> str:
        """The part of a document, or the task; empty where there is none."""
        return self.task(scenario)

    def details(self, scenario: Mapping[str, Any]) -> tuple[str, ...]:
        """What stands small behind the subtitle in a list, such as `context 3`."""
        return ()

    def task(self, scenario: Mapping[str, Any]) -> str:
        """The task's name; conversations about one task are compared with each other."""
        name = scenario.get("task")
        return name if isinstance(name, str) else ""

    def topic_key(self, scenario: Mapping[str, Any]) -> str | None:
        """What scenarios about the same topic share: the task's words, else all of it; None if it tells nothing."""
        if key := worded("task_context", scenario):
            return key
        return digest("scenario", scenario) if set(scenario) - {*_NAMELESS} else None

    def person(self, scenario: Mapping[str, Any]) -> object:
        """Who asks, to pair conversations of the same person first; None where that is not told."""
        return scenario.get("profile")

    def material(self, scenario: Mapping[str, Any]) -> tuple[Material, ...]:
        """What it is about, as a page shows it beside the dialogue."""
        return labelled(scenario, [key for key in scenario if key not in (*_NAMELESS, "title")])

    @final
    def source_text(self, scenario: Mapping[str, Any]) -> str | None:
        """The text that spans are slices of; None where there is none."""
        return next((piece.text for piece in self.material(scenario) if piece.source), None)

    def facts(self, scenario: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Attribute and value of each thing that the user knows and can tell: pages mark it in messages."""
        return ()

    def refuses(self, message: Message) -> bool:
        """Whether an assistant's message gives no answer. Only a domain that says when has refusals."""
        return False

    @final
    @property
    def has_refusals(self) -> bool:
        """Whether the domain says when a message gives no answer."""
        return type(self).refuses is not Domain.refuses

    def validate(self, conversation: Conversation) -> None:
        """Raises ValueError if the scenario is not what its kind says."""

    def notes(self, conversations: Sequence[Conversation]) -> list[str]:
        """What is to be said of conversations that were loaded, in one line each."""
        return []

    def language(self, conversation: Conversation) -> Language | None:
        """The language of the conversation: one of its messages alone may be a foreign name or a number."""
        return language_of("\n".join(message.text for message in conversation.messages if message.role == "user"))

    def text_in(self, message: Message, language: Language, spoken: Language | None = None) -> str | None:
        """The message in a language, perhaps in a translation that lies beside it; None if it is not to be had.

        `spoken` is the language of the conversation; without it the text's letters tell.
        """
        return message.text if (spoken or language_of(message.text) or language) == language else None

    def facts_in(self, conversation: Conversation, language: Language) -> list[tuple[str, str]]:
        """The facts in a language; empty where they are not to be had in it."""
        facts = list(self.facts(conversation.scenario))
        return facts if language_of("\n".join(value for _, value in facts)) in (language, None) else []

    def task_context(self, conversation: Conversation, language: Language) -> str:
        """What the user is to reach, in a language; empty where it is not to be had in it."""
        text = conversation.scenario.get("task_context")
        return text if isinstance(text, str) and language_of(text) == language else ""

    def user(self, conversation: Conversation) -> str:
        """Who speaks as user, as the source tells; empty where it does not."""
        for key in USER_KEYS:
            for holder in (further(conversation), conversation.scenario):
                name = holder.get(key)
                if isinstance(name, float) and name.is_integer():  # as pandas writes whole numbers beside missing ones
                    name = int(name)
                if isinstance(name, str | int):
                    return str(name)
        return ""

    def simulated(self, conversation: Conversation) -> bool | None:
        """Whether the data says that the user is simulated (True) or a person (False); None where it does not say."""
        return None

    @final
    def is_about(self, conversation: Conversation) -> bool:
        """Whether the conversation is of this domain."""
        return conversation.scenario.get("kind") == self.kind


def worded(key: str, scenario: Mapping[str, Any]) -> str | None:
    """A topic key of the text at a key of the scenario, white space aside; None where there is no text."""
    text = scenario.get(key)
    return digest(key, " ".join(text.split())) if isinstance(text, str) and text.strip() else None


def labelled(scenario: Mapping[str, Any], keys: Sequence[str]) -> tuple[Material, ...]:
    """The values of these keys that hold a text, each with its key as label: a row for each key of an object."""
    pieces: list[Material] = []
    for key in keys:
        value, label = scenario.get(key), key.replace("_", " ")
        if is_object(value):
            pairs = ((str(name).replace("_", " "), ", ".join(leaves(inner))) for name, inner in value.items())
            if rows := tuple(pair for pair in pairs if pair[1]):
                pieces.append(Material(label, rows=rows))
        elif text := value if isinstance(value, str) else ", ".join(leaves(value)):
            pieces.append(Material(label, text))
    return tuple(pieces)


def leaves(value: Any) -> Iterator[str]:
    """Every text and number inside a JSON value, in its order."""
    if is_object(value):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, (list, tuple)):
        for inner in cast("Sequence[Any]", value):
            yield from leaves(inner)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield str(value)
