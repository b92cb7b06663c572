"""Names that a shell completes: of casts, domains, labels, formats, rules and tables."""

import re
from collections.abc import Iterable
from pathlib import Path

_DOMAIN = re.compile(r"^(DOMAIN)\b.*=", re.MULTILINE)
_LOG_FORMAT = re.compile(r"^(\w+)\s*(?::[^=\n]*)?=\s*(?:\w+\.)*Format\(", re.MULTILINE)


def casts(incomplete: str) -> list[str]:
    """Registered casts."""
    from ...graphs import casts as registry

    return _matching(registry.registered(), incomplete)


def domains(incomplete: str) -> list[str]:
    """Import paths of domains in the working folder."""
    return _matching(_import_paths(_DOMAIN), incomplete)


def log_formats(incomplete: str) -> list[str]:
    """Import paths of log formats in the working folder."""
    return _matching(_import_paths(_LOG_FORMAT), incomplete)


def label_names(incomplete: str) -> list[str]:
    """Names of shipped labels, the last of a list with commas."""
    from ...prompts.label_pages import shipped_labels

    return _last_matching(shipped_labels(), incomplete)


def formats(incomplete: str) -> list[str]:
    """Formats that conversations can be written in."""
    from ...data import domains as registry

    return _matching(registry.targets(), incomplete)


def rules(incomplete: str) -> list[str]:
    """Rules of the linter, the last of a list with commas."""
    from ...data.checks import known_rules

    return _last_matching(known_rules(), incomplete)


def _import_paths(assigned: re.Pattern[str]) -> Iterable[str]:
    """`MODULE:NAME` for each name that a file of the working folder assigns; no file is run."""
    for file in sorted([*Path().glob("*.py"), *Path().glob("*/*.py")]):
        for name in assigned.findall(file.read_text(errors="ignore")):
            yield f"{'.'.join(file.with_suffix('').parts)}:{name}"


def _last_matching(names: Iterable[str], incomplete: str) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _matching(names, last)]


def _matching(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
