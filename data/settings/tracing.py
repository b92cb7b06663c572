"""Which environment variables have runs traced, and where to."""

import json
import re
import sys
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from urllib.parse import urlsplit

LANGSMITH = "api.smith.langchain.com"
"""Where LangSmith's own traces go without another address."""

_SWITCH = re.compile(r"(?:LANGSMITH|LANGCHAIN)_(?:\w+_)?TRACING(?:_V2)?|LANGCHAIN_HANDLER")
"""Also those of other tracers for LangChain, such as `LANGCHAIN_WANDB_TRACING`."""
_OFF = ("", "0", "false", "no", "off", "none")
_FORCED_OFF = {"OTEL_SDK_DISABLED": "true", "LANGFUSE_TRACING_ENABLED": "false"}
"""Variables that switch other tracers off, with the value that does."""
_LANGSMITHS = ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING")


@dataclass(frozen=True)
class Tracing:
    """One way in which runs are traced."""

    variable: str
    """The environment variable that asks for it."""
    host: str
    """Host and port that the traces go to."""


def requested(variables: Mapping[str, str]) -> tuple[Tracing, ...]:
    """Every tracing that these variables ask for, each host once."""
    tracings: dict[str, Tracing] = {}
    switches = [name for name in sorted(variables) if _SWITCH.fullmatch(name) and _is_on(variables[name])]
    for switch in switches:
        for host in _langsmith_hosts(variables) if switch in _LANGSMITHS else [f"the host of {switch}"]:
            tracings.setdefault(host, Tracing(switch, host))
    if _is_on(variables.get("OTEL_SDK_DISABLED", "")):
        return tuple(tracings.values())
    for name in ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"):
        if address := variables.get(name, "").strip():
            tracings.setdefault(_host(address), Tracing(name, _host(address)))
            break
    if variables.get("LANGFUSE_SECRET_KEY", "").strip() and _is_on(variables.get("LANGFUSE_TRACING_ENABLED", "true")):
        address = variables.get("LANGFUSE_BASE_URL") or variables.get("LANGFUSE_HOST") or "https://cloud.langfuse.com"
        tracings.setdefault(_host(address), Tracing("LANGFUSE_SECRET_KEY", _host(address)))
    return tuple(tracings.values())


def switched_off(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables to set so that nothing is traced.

    They are set, not removed: an agent that loads a `.env` of its own does not replace what is set.
    """
    names = {*_LANGSMITHS, *(name for name in variables if _SWITCH.fullmatch(name))}
    return dict.fromkeys(sorted(names), "false") | _FORCED_OFF


def change(environment: MutableMapping[str, str], variables: Mapping[str, str | None]) -> None:
    """Set these variables in the environment, and remove those with the value `None`."""
    for name, value in variables.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    if langsmith_utils := sys.modules.get("langsmith.utils"):  # it remembers what it has read
        langsmith_utils.get_env_var.cache_clear()


def _is_on(value: str) -> bool:
    return value.strip().lower() not in _OFF


def _langsmith_hosts(variables: Mapping[str, str]) -> list[str]:
    """The hosts of LangSmith's tracing: replicas, or the endpoint, or an exporter of OpenTelemetry besides."""
    hosts = _replicas(variables.get("LANGSMITH_RUNS_ENDPOINTS", ""))
    address = variables.get("LANGSMITH_ENDPOINT", "").strip() or variables.get("LANGCHAIN_ENDPOINT", "").strip()
    return hosts or [_host(address.strip("\"'")) if address else LANGSMITH]


def _replicas(text: str) -> list[str]:
    try:
        value = json.loads(text) if text.strip() else []
    except (ValueError, RecursionError):
        return ["the addresses in LANGSMITH_RUNS_ENDPOINTS"]
    if isinstance(value, dict):
        return [_host(address) for address in value]
    addresses = (
        [replica.get("api_url") for replica in value if isinstance(replica, dict)] if isinstance(value, list) else []
    )
    return [_host(address) for address in addresses if isinstance(address, str)]


def _host(address: str) -> str:
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an unknown host"
    return f"{parts.hostname or 'an unknown host'}{port}"
