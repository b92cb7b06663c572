"""What a conversation is about: everything that depends on the `kind` of its scenario is one `Domain`.

The domains are the shipped ones, and those that were registered here.

Example::

    >>> import duologue
    >>> class Hotel(duologue.data.Domain):
    ...     kind = "hotel"
    >>> duologue.domains.register(Hotel(), replace=True).kind
    'hotel'
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Any, cast, final, get_args

from ..errors import SettingError
from . import test_cases
from .formats import messages, parquet, record_lines
from .formats.messages import further
from .formats.source import FOLDER, Format, Writer
from .identity import digest
from .logs import FORMS
from .records import Conversation, Message, as_object, is_object
from .rules.linter import CHAT_RULES, Rule
from .rules.outcomes import refused
from .text.languages import Language, language_of
from .text.values import in_words

TITLE = 80
"""Longest title, in characters, that is cut from a longer text."""
USER_KEYS = ("user", "user_id", "userId", "safety_identifier")
"""Keys that name the user, in a line of a data file, its `metadata` or a scenario."""
TOPIC_KEYS = ("topic", "topic_id")
NO_LABELS = frozenset({*USER_KEYS, *TOPIC_KEYS, "assistant", "model", "title", "name", "language", "date", "time", "timestamp",
                       "created_at", "path", "file", "source", "split", "id"})  # fmt: skip
"""Keys of a source that say who, when and where, and label nothing."""
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
class Dataset:
    """The data set that a run's conversations are written to."""

    name: str
    """Name of its file; empty if it is a folder of files."""
    description: str
    """A description for the data set card, one line."""
    write: Writer
    files: str = ""
    """Pattern of the files of a folder for the card, such as `TASK/FILE.json`."""
    attribution: str = ""
    """A line for the card about the licence of the source texts."""


MESSAGES = Dataset("messages.jsonl", "the conversations as JSON lines of messages", messages.write)
"""The data set of conversations that have no format of their own."""


class Domain:
    """A plain conversation; a subclass defines what is different in its domain.

    A scenario of any kind may use keys that have the same meaning everywhere: `title`, `header`, `task`,
    `task_context` (the user's goal), `profile`, `user`, `language`. No method fails if a scenario lacks a key.
    """

    kind: str = ""
    """`kind` of the scenarios of this domain."""
    formats: tuple[Format, ...] = ()
    """File formats of this domain, in addition to the general formats."""
    dataset: Dataset = MESSAGES
    """The data set of a run. A domain's own data set is also a target of `convert`, named after the kind."""
    rules: Mapping[str, Rule] = CHAT_RULES
    """Rules of `check` by id: by default those of conversations without a domain; `{**CHAT_RULES, **mine}` adds to them."""

    def title(self, scenario: Mapping[str, Any]) -> str:
        """The topic in a few words on one line; empty if the scenario has none."""
        keys = ("title", "goal", "task_context", "task", "first_message")
        text = next((text for key in keys if isinstance(text := scenario.get(key), str) and text.strip()), "")
        line = " ".join(text.split())
        return line if scenario.get("title") else shortened(line)

    def material(self, scenario: Mapping[str, Any]) -> tuple[Material, ...]:
        """The background that a page shows beside the dialogue."""
        return labelled(scenario, [key for key in scenario if key not in (*_NAMELESS, "title")])

    def refuses(self, message: Message) -> bool:
        """Whether an assistant's message gives no answer; a domain without refusals does not override this."""
        return False

    def user(self, conversation: Conversation) -> str:
        """The user's name or id in the source; empty if the source has none."""
        line = further(conversation)
        own = named(USER_KEYS, line, conversation.scenario)
        return own or named(USER_KEYS, *(as_object(line.get(key)) for key in ("metadata", "requestMetadata")))

    def simulated(self, conversation: Conversation) -> bool | None:
        """Whether the user is simulated (True) or a person (False); None if the data does not state it."""
        return None

    @final
    def is_about(self, conversation: Conversation) -> bool:
        """Whether the conversation belongs to this domain."""
        return conversation.scenario.get("kind") == self.kind

    @final
    @property
    def has_refusals(self) -> bool:
        """Whether the domain has refusals, that is, overrides `refuses`."""
        return type(self).refuses is not Domain.refuses

    @final
    def task(self, scenario: Mapping[str, Any]) -> str:
        """The task's name; comparisons group conversations by it."""
        name = scenario.get("task")
        return name if isinstance(name, str) else ""

    @final
    def subtitle(self, scenario: Mapping[str, Any]) -> str:
        """The part of a document, or the task; empty without one."""
        header = scenario.get("header")
        return header if isinstance(header, str) else self.task(scenario)

    @final
    def source_text(self, scenario: Mapping[str, Any]) -> str | None:
        """The text that spans are slices of; None without one."""
        return next((piece.text for piece in self.material(scenario) if piece.source), None)

    @final
    def language(self, conversation: Conversation) -> Language | None:
        """The language that the scenario names, else that of all user messages together.

        A single message may be only a foreign name or a number.
        """
        if (named_language := conversation.scenario.get("language")) in get_args(Language):
            return cast(Language, named_language)
        return language_of(
            "\n".join(message.text for message in conversation.messages if message.role == "user" and not message.name)
        )


class _Plain(Domain):
    """Conversations of a kind without a domain."""

    def refuses(self, message: Message) -> bool:
        return message.role == "assistant" and refused(message.text) is not None


PLAIN = _Plain()
"""The domain of every kind that is not registered."""

_own: dict[str, Domain] = {}
"""Domains of one's own, by kind."""
_own_formats: dict[str, Format] = {}


@cache
def shipped() -> tuple[Domain, ...]:
    """The domains of the two published data sets."""
    from . import recllmsim, simquac  # which need this module

    return simquac.DOMAIN, recllmsim.DOMAIN


def of(source: Conversation | Mapping[str, Any]) -> Domain:
    """The domain of a conversation or a scenario; `PLAIN` for a kind that has none."""
    kind = (source.scenario if isinstance(source, Conversation) else source).get("kind")
    return _by_kind().get(kind, PLAIN) if isinstance(kind, str) else PLAIN


def registered() -> tuple[Domain, ...]:
    """Every domain: the shipped ones, then in the order in which they were registered."""
    return tuple(_by_kind().values())


def present(sources: Iterable[Conversation | Mapping[str, Any]]) -> tuple[Domain, ...]:
    """The domains of conversations or scenarios, each once; `PLAIN` for all without a registered kind."""
    return tuple(dict.fromkeys(map(of, sources)))


RUN, RECORDS = record_lines.RUN, record_lines.RECORDS
"""This project's own formats."""
_GENERAL = (parquet.FORMAT, *test_cases.FORMS, *FORMS, messages.FORMAT, messages.SHAREGPT, test_cases.LINES)
"""The shipped formats of no domain."""


def known_formats() -> tuple[Format, ...]:
    """Every format that can be read, in the order in which they are tried.

    Somebody's own go before the shipped ones. Lines of messages, which are met most, are told before the rest is asked.
    """
    own = (form for domain in registered() if domain not in shipped() for form in domain.formats)
    others = (form for domain in shipped() for form in domain.formats)
    return tuple(dict.fromkeys((RUN, RECORDS, *own_formats(), *own, messages.FORMAT, *others, *_GENERAL)))


def own_formats() -> tuple[Format, ...]:
    """The formats of no domain that are not shipped, in the order in which they were registered."""
    return tuple(_own_formats.values())


def targets() -> dict[str, Writer]:
    """The writers of the formats that conversations can be converted into, by name."""
    of_domains = {domain.kind: domain.dataset.write for domain in registered() if domain.dataset is not MESSAGES}
    return of_domains | {form.name: form.write for form in known_formats() if form.write is not None}


def register(domain: Domain, *, replace: bool = False) -> Domain:
    """Register a domain under its kind and return it; `replace` allows it to replace a registered one.

    SettingError if the object is not a domain, or if its kind or the name of one of its formats is taken.
    """
    if not isinstance(domain, Domain) or not domain.kind.strip():
        raise SettingError(
            f"{domain!r} is not a domain: register an instance of data.Domain or a subclass, with a kind"
        )
    known = _by_kind()
    if not replace and known.get(domain.kind, domain) is not domain:
        raise SettingError(f"the kind {domain.kind!r} has a domain already: give replace=True, or another kind")
    replaced = known[domain.kind].formats if domain.kind in known else ()
    taken = {form.name for form in known_formats() if form not in replaced}
    if same := taken & {form.name for form in domain.formats}:
        raise SettingError(f"the domain {domain.kind!r}: there is a format {min(same)!r} already: rename its own")
    _own[domain.kind] = domain
    return domain


def register_format(form: Format, *, replace: bool = False) -> Format:
    """Register a format of no domain, such as that of your logs, and return it; `replace` replaces one of yours.

    It is asked before the shipped ones. SettingError if the object is not a format, or if its name is taken.

    Example::

        >>> import duologue
        >>> form = duologue.data.Format("till", "logs of a till", lambda source: source.text.startswith("#till"), list)
        >>> duologue.data.register_format(form, replace=True).name
        'till'
    """
    if not isinstance(form, Format):
        raise SettingError(f"{form!r} is not a format: give data.Format(name, description, recognises, read)")
    others = [other for other in known_formats() if not replace or other is not _own_formats.get(form.name)]
    if form not in others and form.name in {FOLDER, *_by_kind(), *(other.name for other in others)}:
        raise SettingError(f"there is a format or a domain {form.name!r} already: give yours another name")
    _own_formats[form.name] = form
    return form


def _by_kind() -> dict[str, Domain]:
    return {domain.kind: domain for domain in shipped()} | _own


def profile_of(scenario: Mapping[str, Any]) -> str:
    """The profile of the person who asks, as a text: a line for each fact where it is structured; empty without one."""
    from .recllmsim import facts_of  # which needs this module

    text = scenario.get("profile") or scenario.get("preference") or ""
    return text if isinstance(text, str) else "\n".join(f"{name}: {value}" for name, value in facts_of(scenario))


def topic_of(scenario: Mapping[str, Any]) -> str | None:
    """A key that is equal for scenarios about the same topic; None if the scenario names no topic.

    It is made from the section or `task_context` if there is one, else from the whole scenario.
    """
    for key in ("section", "task_context"):
        if isinstance(text := scenario.get(key), str) and text.strip():
            return digest(key, " ".join(text.split()))
    return digest("scenario", scenario) if set(scenario) - {*_NAMELESS} else None


def shortened(line: str) -> str:
    """The line; if it is too long for a title, its first words and an ellipsis."""
    return line if len(line) <= TITLE else line[: TITLE - 1].rsplit(" ", 1)[0] + "…"


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


def labelled(scenario: Mapping[str, Any], keys: Sequence[str]) -> tuple[Material, ...]:
    """The scenario's values at these keys as material, labelled with the key; an object gives a row for each key."""
    pieces: list[Material] = []
    for key in keys:
        value, label = scenario.get(key), key.replace("_", " ")
        if is_object(value):
            pairs = ((str(name).replace("_", " "), in_words(inner)) for name, inner in value.items())
            if rows := tuple(pair for pair in pairs if pair[1]):
                pieces.append(Material(label, rows=rows))
        elif text := in_words(value):
            pieces.append(Material(label, text))
    return tuple(pieces)
