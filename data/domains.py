"""The registry of domains, and of formats of no domain: shipped, from installed packages, registered in a notebook.

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

from collections.abc import Iterable, Mapping
from functools import lru_cache, reduce
from operator import or_
from threading import RLock
from typing import Any

from ..errors import SettingError
from . import test_cases
from .domain import Domain, LabelNotes
from .formats import messages, parquet, record_lines, sharegpt
from .formats.detection import FOLDER, Format, Writer
from .logs.forms import FORMS
from .packages import register_declared
from .recllmsim.domain import DOMAIN as RECLLMSIM
from .records import Conversation, Message
from .rules.outcomes import refused
from .simquac.domain import DOMAIN as SIMQUAC

GROUP = "duologue.domains"
"""Entry points of installed packages."""

FORMATS = "duologue.formats"
"""Entry points of installed packages whose objects are formats of no domain."""

SHIPPED: tuple[Domain, ...] = (SIMQUAC, RECLLMSIM)

_lock = RLock()
_domains: dict[str, Domain] = {domain.kind: domain for domain in SHIPPED}
_packages_loaded = False
"""Whether the domains of installed packages were registered."""
_registered_kinds: set[str] = set()
"""Kinds whose domain was registered in this process."""
_registered_formats: set[str] = set()
"""Names of the formats that were registered in this process."""


def register(domain: Domain, *, replace: bool = False) -> Domain:
    """Register a domain under its kind and return it; `replace` allows it to replace a registered one.

    SettingError if the object is not a domain, or if its kind or the name of one of its formats is taken.
    """
    _ask_packages()
    _register(domain, replace)
    _registered_kinds.add(domain.kind)
    return domain


def of(source: Conversation | Mapping[str, Any]) -> Domain:
    """The domain of a conversation or a scenario; `PLAIN` for an unregistered kind."""
    scenario = source.scenario if isinstance(source, Conversation) else source
    kind = scenario.get("kind")
    if not isinstance(kind, str):
        return PLAIN
    if kind not in _domains:
        _ask_packages()
    return _domains.get(kind, PLAIN)


def registered() -> tuple[Domain, ...]:
    """Every domain, in the order in which they were registered."""
    _ask_packages()
    return tuple(_domains.values())


def registered_here() -> tuple[Domain, ...]:
    """The domains that were registered only in this process, so that another process lacks them."""
    return tuple(domain for kind, domain in _domains.items() if kind in _registered_kinds and domain not in SHIPPED)


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


class PlainDomain(Domain):
    """Conversations without a domain, with the general formats."""

    formats: tuple[Format, ...] = (
        RUN,
        RECORDS,
        parquet.form(validate),
        *test_cases.FORMS,
        *FORMS,
        messages.FORMAT,
        sharegpt.FORMAT,
        test_cases.LINES,
    )

    def refuses(self, message: Message) -> bool:
        """Whether the assistant declines to help."""
        return message.role == "assistant" and refused(message.text) is not None


PLAIN = PlainDomain()
"""The domain of every kind that is not registered."""


def register_format(form: Format, *, replace: bool = False) -> Format:
    """Register a format of no domain, such as that of your logs, and return it; `replace` replaces one of yours.

    Formats of your own are asked after the others (`formats.detection.detected`). SettingError if the object is not a
    format, or if its name is taken.

    Example::

        >>> import duologue
        >>> form = duologue.data.Format("till", "logs of a till", lambda source: source.text.startswith("#till"), list)
        >>> duologue.data.register_format(form, replace=True).name
        'till'
    """
    _ask_packages()
    _register_format(form, replace)
    _registered_formats.add(form.name)
    return form


def own_formats() -> tuple[Format, ...]:
    """The formats of no domain that are not shipped, in the order in which they were registered."""
    _ask_packages()
    return PLAIN.formats[len(PlainDomain.formats) :]


def formats_registered_here() -> tuple[Format, ...]:
    """The formats that were registered only in this process, so that another process lacks them."""
    return tuple(form for form in own_formats() if form.name in _registered_formats)


def label_notes() -> LabelNotes:
    """The notes among labels of every domain together."""
    return _label_notes(registered())


@lru_cache(maxsize=4)
def _label_notes(domains: tuple[Domain, ...]) -> LabelNotes:
    return reduce(or_, (domain.label_notes for domain in domains))


def known_formats() -> tuple[Format, ...]:
    """Every format that can be read, in the order in which they are tried."""
    of_domains = (form for domain in registered() for form in domain.formats)
    return (RUN, RECORDS, *of_domains, *(form for form in PLAIN.formats if form not in (RUN, RECORDS)))


def targets() -> dict[str, Writer]:
    """The writers of the formats that conversations can be converted into, by name."""
    of_domains = {domain.kind: domain.dataset.write for domain in registered() if domain.dataset is not PLAIN.dataset}
    formats = (form for domain in (*registered(), PLAIN) for form in domain.formats)
    return of_domains | {form.name: form.write for form in formats if form.write is not None}


def _register(domain: object, replace: bool) -> None:
    if not isinstance(domain, Domain):
        an_instance = f": register an instance, {domain.__name__}()" if isinstance(domain, type) else ""
        raise SettingError(f"{domain!r} is not a domain{an_instance}")
    if not isinstance(domain.kind, str) or not domain.kind.strip():
        raise SettingError(f"{domain!r} has no kind: name the kind of its own scenarios")
    if not replace and _domains.get(domain.kind, domain) is not domain:
        raise SettingError(f"the kind {domain.kind!r} has a domain already: give replace=True, or another kind")
    others = [PLAIN, *(other for kind, other in _domains.items() if kind != domain.kind)]
    taken = {form.name for other in others for form in other.formats}
    if same := taken & {form.name for form in domain.formats}:
        raise SettingError(f"the domain {domain.kind!r}: there is a format {min(same)!r} already: rename its own")
    _domains[domain.kind] = domain


def _register_format(form: object, replace: bool) -> None:
    if not isinstance(form, Format):
        raise SettingError(f"{form!r} is not a format: give data.Format(name, description, recognises, read)")
    shipped = (*PlainDomain.formats, *(other for domain in _domains.values() for other in domain.formats))
    if form.name in {FOLDER, *_domains, *(other.name for other in shipped)}:
        raise SettingError(f"the format {form.name!r} is Duologue's or a domain's: give yours another name")
    own = {other.name: other for other in PLAIN.formats[len(PlainDomain.formats) :]}
    if not replace and own.get(form.name, form) is not form:
        raise SettingError(f"there is a format {form.name!r} already: give replace=True, or another name")
    PLAIN.formats = (*PlainDomain.formats, *(own | {form.name: form}).values())


def _ask_packages() -> None:
    """Register the domains and formats of installed packages, once.

    One that fails is logged and skipped.
    """
    global _packages_loaded
    with _lock:
        if _packages_loaded:
            return
        _packages_loaded = True  # set first: a package may call register while it is imported
        register_declared(GROUP, "domain", lambda domain: _register(domain, replace=False))
        register_declared(FORMATS, "format", lambda form: _register_format(form, replace=False))
