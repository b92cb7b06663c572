"""`duologue doctor`: what is installed, and where calls would go."""

import platform
import re
from importlib import metadata

from ..data.identity import VERSION
from ..data.tracing import host_of, requested
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

_OF_EXTRA = re.compile(r"""(?P<package>[\w.-]+).*;.*extra == ["'](?P<extra>[^"']+)""")


def doctor_command(as_json: options.Json = False) -> int:
    """Print versions, extras, hosts and the data sent to them.

    It prints whether an API key is set, but never the key.
    """
    from ..nodes.settings.environment import settings
    from ..nodes.settings.redaction import KEY

    problem, key_set, host = None, None, None
    try:
        key, address = settings()
        key_set, host = key is not None, host_of(address)
    except SettingError as error:
        problem = str(error)
    installed = {each.name.lower().replace("_", "-"): each.version for each in metadata.distributions()}
    versions = {name: installed.get(name) for name in CORE}
    extras = {name: {package: installed.get(package) for package in packages} for name, packages in _extras().items()}
    report = {
        "duologue": VERSION,
        "python": platform.python_version(),
        "packages": versions,
        "extras": extras,
        "key": {"variable": KEY, "set": key_set},
        "host": host,
        "problem": problem,
        "tracing": requested(),
        "integrations": {name: installed[name] for name in sorted(installed) if name.startswith("langchain")},
    }
    code = 0 if all(versions.values()) and problem is None else 1
    if as_json:
        print_json(report)
        return code
    put(f"duologue {VERSION}, Python {platform.python_version()}")
    put(*(f"  {name} {version or 'is missing: install duologue again'}" for name, version in versions.items()))
    for name, packages in extras.items():
        here = "installed" if all(packages.values()) else f"not installed (pip install 'duologue[{name}]')"
        put(f"  extra {name}: {here}")
    if problem is None:
        put(f"  {KEY}: {'set' if key_set else 'not set; the model offline needs none'}")
        put(f"  openai:NAME calls go to {host}")
    else:
        put(f"  openai:NAME cannot be called: {problem}")
    brought = ", ".join(f"{name} {version}" for name, version in report["integrations"].items())  # type: ignore[union-attr]
    put(f"  PROVIDER:NAME asks with LangChain's packages, each with its own key and host: {brought}")
    return code


def _extras() -> dict[str, list[str]]:
    """The packages of each extra, as the installed package declares them."""
    try:
        declared = metadata.requires("duologue") or []
    except metadata.PackageNotFoundError:
        declared = []
    extras: dict[str, list[str]] = {}
    for requirement in declared:
        if (needed := _OF_EXTRA.match(requirement)) is not None:
            extras.setdefault(needed["extra"], []).append(needed["package"].lower().replace("_", "-"))
    return extras
