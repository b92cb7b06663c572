"""`duologue doctor`: what is installed, and where calls would go."""

import platform
from importlib import metadata
from typing import Annotated

import typer

from ..data.identity import VERSION
from ..errors import SettingError
from .output import print_json, put
from .tracing import Trace, TrustEnvFile, destinations, told

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


def doctor(
    trace: Trace = False,
    trust_env_file: TrustEnvFile = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON on stdout.")] = False,
) -> int:
    """Show versions, extras, whether an API key is set, the host that calls go to, and what else would leave this
    machine. Never the key itself."""
    from ..nodes.environment import KEY, connections, settings, settings_notes, trust
    from ..nodes.models.providers import INTEGRATIONS

    problem, key_set, host, notes = None, None, None, list[str]()
    with trust(trust_env_file):
        try:
            environment = settings()
            key_set, host, notes = environment.key is not None, environment.host, settings_notes()
        except SettingError as error:
            problem = str(error)
    versions = {name: _version(name) for name in CORE}
    report = {
        "duologue": VERSION,
        "python": platform.python_version(),
        "packages": versions,
        "extras": {name: {package: _version(package) for package in packages} for name, packages in _extras().items()},
        "key": {"variable": KEY, "set": key_set},
        "host": host,
        "problem": problem,
        "notes": notes,
        "connections": connections(),
        "tracing": {"on": trace, "hosts": {each.variable: each.host for each in destinations()}},
        "providers": {
            name: {"package": integration.package, "version": integration.version}
            for name, integration in INTEGRATIONS.items()
        },
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
    if problem is None:
        put(f"  {KEY}: {'set' if key_set else 'not set; the model offline needs none'}")
        put(f"  openai:NAME calls go to {host}")
    else:
        put(f"  openai:NAME cannot be called: {problem}")
    for line in (*notes, *(f"{name}: {what}" for name, what in connections().items())):
        put(f"  {line}")
    for line in told(trace) or ["nothing is traced"]:
        put(f"  {line}")
    for name, integration in INTEGRATIONS.items():
        if integration.version:
            put(f"  {name}:NAME asks {integration.package} {integration.version}, which has its own key and host")
    missing = [f"{name} ({each.package})" for name, each in INTEGRATIONS.items() if each.version is None]
    if missing:
        put(f"  PROVIDER:NAME of these needs its package installed: {', '.join(missing)}")
    return code


def _extras() -> dict[str, list[str]]:
    """The packages of each extra, as the installed package declares them."""
    try:
        declared = metadata.requires("duologue") or []
    except metadata.PackageNotFoundError:
        declared = []
    extras: dict[str, list[str]] = {}
    for requirement in declared:
        needed, _, marker = requirement.partition(";")
        if "extra ==" in marker:
            name = marker.split("extra ==")[1].strip(" \"')")
            package = needed
            for sign in "[<>=!~ (":
                package = package.split(sign)[0]
            extras.setdefault(name, []).append(package)
    return extras


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
