"""`duologue doctor`: what is installed, and where calls would go."""

import platform
from importlib import metadata
from typing import Annotated

import typer

from ..data.identity import VERSION
from .output import print_json, stdout

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
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON on stdout.")] = False,
) -> int:
    """Show versions, extras, whether an API key is set, and the host that calls go to. Never the key itself."""
    from ..nodes.environment import KEY, settings
    from ..nodes.models.providers import INTEGRATIONS

    environment = settings()
    versions = {name: _version(name) for name in CORE}
    report = {
        "duologue": VERSION,
        "python": platform.python_version(),
        "packages": versions,
        "extras": {name: {package: _version(package) for package in packages} for name, packages in _extras().items()},
        "key": {"variable": KEY, "set": environment.key is not None},
        "host": environment.host,
        "providers": {
            name: {"package": integration.package, "version": integration.version}
            for name, integration in INTEGRATIONS.items()
        },
    }
    if as_json:
        print_json(report)
        return 0 if all(versions.values()) else 1
    stdout.print(f"duologue {VERSION}, Python {platform.python_version()}")
    for name, version in versions.items():
        stdout.print(f"  {name} {version or 'is missing: install duologue again'}")
    for name, packages in _extras().items():
        missing = [package for package in packages if _version(package) is None]
        state = f"not installed (pip install 'duologue\\[{name}]')" if missing else "installed"
        stdout.print(f"  extra {name}: {state}")
    stdout.print(f"  {KEY}: {'set' if environment.key else 'not set; the model offline needs none'}")
    stdout.print(f"  openai:NAME calls go to {environment.host}")
    for name, integration in INTEGRATIONS.items():
        if integration.version:
            stdout.print(
                f"  {name}:NAME asks {integration.package} {integration.version}, which has its own key and host"
            )
    missing = [f"{name} ({each.package})" for name, each in INTEGRATIONS.items() if each.version is None]
    if missing:
        stdout.print(f"  PROVIDER:NAME of these needs its package installed: {', '.join(missing)}")
    return 0 if all(versions.values()) else 1


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
