"""`duologue doctor`: what is installed, and where calls would go."""

import os
import platform
import re
from importlib import metadata

from ..data.identity import VERSION
from ..data.tracing import host_of
from ..errors import SettingError
from . import options
from .printing import print_json, put

CORE = (
    "langgraph",
    "langchain-core",
    "langchain-openai",
    "openai",
    "pydantic",
    "python-dotenv",
    "typer",
    "jinja2",
    "pysbd",
)

OWN_PARTS = ("casts", "domains", "formats")
"""What installed packages declare, by the last word of the group of entry points: `duologue.casts`."""

_OF_EXTRA = re.compile(r"""(?P<package>[\w.-]+).*;.*extra == ["'](?P<extra>[^"']+)""")


def doctor_command(as_json: options.Json = False) -> int:
    """Print versions, extras, hosts and the data sent to them.

    It prints whether an API key is set, but never the key. What tracing the environment asks for stands before.
    """
    from ..nodes.settings.environment import settings
    from ..nodes.settings.redaction import KEY

    problem, key_set, host = None, None, None
    try:
        key, address = settings()
        key_set, host = key is not None, host_of(address)
    except SettingError as error:
        problem = str(error)
    versions, integrations = {name: _version(name) for name in CORE}, _integrations()
    report = {
        "duologue": VERSION,
        "python": platform.python_version(),
        "packages": versions,
        "extras": {name: {package: _version(package) for package in packages} for name, packages in _extras().items()},
        "key": {"variable": KEY, "set": key_set},
        "host": host,
        "declared": {part: _declared(part) for part in OWN_PARTS},
        "problem": problem,
        "connections": connections(),
        "integrations": integrations,
    }
    code = 0 if all(versions.values()) and problem is None else 1
    if as_json:
        print_json(report)
        return code
    put(f"duologue {VERSION}, Python {platform.python_version()}")
    for name, version in versions.items():
        put(f"  {name} {version or 'is missing: install duologue again'}")
    for name, packages in _extras().items():
        missing = [package for package in packages if _version(package) is None]
        state = f"not installed (pip install 'duologue[{name}]')" if missing else "installed"
        put(f"  extra {name}: {state}")
    for part in OWN_PARTS:
        put(f"  {part} of installed packages: {', '.join(_declared(part)) or 'none'}")
    if problem is None:
        put(f"  {KEY}: {'set' if key_set else 'not set; the model offline needs none'}")
        put(f"  openai:NAME calls go to {host}")
    else:
        put(f"  openai:NAME cannot be called: {problem}")
    for name, what in connections().items():
        put(f"  {name}: {what}")
    installed = ", ".join(f"{name} {version}" for name, version in integrations.items())
    put(f"  PROVIDER:NAME asks with LangChain's packages, each with its own key and host: {installed}")
    return code


def connections() -> dict[str, str]:
    """Variables of the process that lead connections elsewhere or change whom they trust, without credentials."""
    notes = {}
    for name, value in sorted(os.environ.items()):
        if value.strip() and name.upper() in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            notes[name] = f"calls may go through {host_of(value)}"
        elif value.strip() and name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"):
            notes[name] = "certificates of your own are trusted"
    return notes


def _extras() -> dict[str, list[str]]:
    """The packages of each extra, as the installed package declares them."""
    try:
        declared = metadata.requires("duologue") or []
    except metadata.PackageNotFoundError:
        declared = []
    extras: dict[str, list[str]] = {}
    for requirement in declared:
        if (needed := _OF_EXTRA.match(requirement)) is not None:
            extras.setdefault(needed["extra"], []).append(needed["package"])
    return extras


def _integrations() -> dict[str, str]:
    """The installed packages of LangChain, which bring the models of providers, with their versions."""
    versions = {each.name.lower().replace("_", "-"): each.version for each in metadata.distributions()}
    return {name: versions[name] for name in sorted(versions) if name.startswith("langchain")}


def _declared(part: str) -> list[str]:
    """The entry points of installed packages for casts and the like, which are not imported."""
    return [
        f"{point.name} = {point.value} ({point.dist.name if point.dist is not None else 'no package'})"
        for point in metadata.entry_points(group=f"duologue.{part}")
    ]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
