"""The registry of domains: shipped, from installed packages, and registered in a notebook.

A package declares a domain as an entry point of the group `duologue.domains`, whose object is a `Domain`:

    [project.entry-points."duologue.domains"]
    hotel = "hotel.duologue:DOMAIN"

Example::

    >>> import duologue
    >>> class Hotel(duologue.data.Domain):
    ...     kind = "hotel"
    >>> duologue.domains.register(Hotel(), replace=True).kind
    'hotel'
"""

# What is registered may be anything, whatever its type says.
# pyright: reportUnnecessaryIsInstance=false

import logging
import re
from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from typing import Any

from ..errors import SettingError
from .domain import Dataset, Domain
from .formats import chatgpt, completions, langsmith, messages, opentelemetry, record_lines, sharegpt
from .formats.detection import Format, Writer
from .recllmsim.domain import DOMAIN as RECLLMSIM
from .records import Conversation, Message
from .rules.findings import Rule
from .rules.refusals import refused
from .simquac.domain import DOMAIN as SIMQUAC

GROUP = "duologue.domains"
"""Entry points of installed packages."""

SHIPPED: tuple[Domain, ...] = (SIMQUAC, RECLLMSIM)

log = logging.getLogger(__name__)
_lock = RLock()
_domains: dict[str, Domain] = {domain.kind: domain for domain in SHIPPED}
_asked = False
"""Whether the domains of installed packages were registered."""
_given: set[str] = set()
"""Kinds whose domain somebody registered in this process."""


def register(domain: Domain, *, replace: bool = False) -> Domain:
    """Register a domain under its kind and return it; `replace` allows it to replace a registered one.

    SettingError if the object is no domain, or if another domain has its kind, a format's name or a rule's id.
    """
    with _lock:
        _ask_packages()
        made = _register(domain, replace)
        _given.add(made.kind)
        return made


def of(source: Conversation | Mapping[str, Any]) -> Domain:
    """The domain of a conversation or a scenario; `PLAIN` for a kind that nobody has registered."""
    scenario = source.scenario if isinstance(source, Conversation) else source
    kind = scenario.get("kind")
    if not isinstance(kind, str):
        return PLAIN
    if kind not in _domains:
        with _lock:
            _ask_packages()
    return _domains.get(kind, PLAIN)


def registered() -> tuple[Domain, ...]:
    """Every domain, in the order in which they were registered."""
    with _lock:
        _ask_packages()
        return tuple(_domains.values())


def registered_here() -> tuple[Domain, ...]:
    """The domains that somebody registered in this process: another one does not know them by itself."""
    return tuple(domain for kind, domain in _domains.items() if kind in _given and domain not in SHIPPED)


def kinds() -> tuple[str, ...]:
    """The kinds of scenarios that have a domain."""
    return tuple(domain.kind for domain in registered())


def present(sources: Iterable[Conversation | Mapping[str, Any]]) -> tuple[Domain, ...]:
    """The domains of conversations or scenarios, each once; `PLAIN` for all without a registered kind."""
    return tuple(dict.fromkeys(map(of, sources)))


def validate(conversation: Conversation) -> None:
    """Raises ValueError if the scenario does not have what its kind requires."""
    of(conversation).validate(conversation)


RUN, RECORDS = record_lines.formats(validate)
"""This project's own formats."""


class Plain(Domain):
    """Conversations without a domain, with the general formats."""

    formats = (
        RUN,
        RECORDS,
        langsmith.FORMAT,
        opentelemetry.FORMAT,
        chatgpt.FORMAT,
        completions.FORMAT,
        messages.FORMAT,
        sharegpt.FORMAT,
    )

    def refuses(self, message: Message) -> bool:
        """Whether the assistant declines to help."""
        return message.role == "assistant" and refused(message.text) is not None


PLAIN = Plain()
"""The domain of every kind that nobody has registered."""


def known_formats() -> tuple[Format, ...]:
    """Every format that can be read, in the order in which they are tried."""
    of_domains = (form for domain in registered() for form in domain.formats)
    return (RUN, RECORDS, *of_domains, *(form for form in PLAIN.formats if form not in (RUN, RECORDS)))


def targets() -> dict[str, Writer]:
    """The writers of the formats that conversations can be converted into, by name."""
    of_domains = {domain.kind: domain.dataset.write for domain in registered() if domain.dataset is not PLAIN.dataset}
    formats = (form for domain in (*registered(), PLAIN) for form in domain.formats)
    return of_domains | {form.name: form.write for form in formats if form.write is not None}


def _register(domain: Domain, replace: bool) -> Domain:
    others = {kind: other for kind, other in _domains.items() if kind != getattr(domain, "kind", None)}
    problem = _problem(domain, others)
    if problem:
        raise SettingError(problem)
    if not replace and _domains.get(domain.kind, domain) is not domain:
        raise SettingError(f"the kind {domain.kind!r} has a domain already: give replace=True, or another kind")
    _domains[domain.kind] = domain
    return domain


def _problem(domain: object, others: Mapping[str, Domain]) -> str:
    """Why the object cannot be registered together with the others, in a line; empty if it can."""
    if not isinstance(domain, Domain):
        an_instance = f": register an instance, {domain.__name__}()" if isinstance(domain, type) else ""
        return f"{domain!r} is no domain{an_instance}"
    name = f"the domain {domain.kind!r}"
    if not isinstance(domain.kind, str) or not domain.kind.strip():
        return f"{domain!r} has no kind: say which scenarios are its own"
    if not isinstance(domain.dataset, Dataset) or not all(isinstance(form, Format) for form in domain.formats):
        return f"{name}: its data set must be a Dataset, and its formats Formats (data.domain, data.formats.detection)"
    if wrong := [rule for rule, value in domain.rules.items() if not isinstance(value, Rule)]:
        return f"{name}: {wrong[0]!r} in its rules is no Rule (data.checks)"
    if odd := [mark for mark in domain.marks if not re.fullmatch(r"\w[\w-]*", mark)]:
        return f"{name}: the mark {odd[0]!r} is no name: write section for <section>"
    for other in (PLAIN, *others.values()):
        if same := {form.name for form in domain.formats} & {form.name for form in other.formats}:
            return f"{name}: its format {min(same)!r} is one of {other.kind or 'plain conversations'} too: rename it"
        rules = domain.rules.keys() & other.rules.keys()
        if same := {rule for rule in rules if domain.rules[rule] is not other.rules[rule]}:
            return f"{name}: its rule {min(same)!r} is one of {other.kind} too: rename it"
    return ""


def _ask_packages() -> None:
    """Register the domains of installed packages, once. A domain that fails is logged and skipped."""
    global _asked
    if _asked:
        return
    _asked = True  # set first: a package may call register while it is imported
    for point in entry_points(group=GROUP):
        try:
            _register(point.load(), replace=False)
        except SettingError as error:  # our own words about its domain
            log.warning("%s: its domain is left out: %s", _origin(point), " ".join(str(error).split()))
        except (Exception, SystemExit) as error:  # a failing package must not stop work that does not need it
            # Only the kind of the error: what a package says may hold a key, and `data` cannot remove it.
            problem = f"{type(error).__name__} when it is imported: import {point.module} to see why"
            log.warning("%s: its domain is left out: %s", _origin(point), problem)


def _origin(point: EntryPoint) -> str:
    package = f"the package {point.dist.name}" if point.dist is not None else "an installed package"
    return f"{package}, entry point {point.name} = {point.value}"
