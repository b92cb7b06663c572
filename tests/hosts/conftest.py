"""What a test of a harness starts from: no key of its services, and a list of the hosts that it would reach."""

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

SERVICES = (
    "ANTHROPIC_",
    "CONFIDENT_",
    "DEEPEVAL_",
    "GOOGLE_",
    "HF_",
    "INSPECT_",
    "LANGWATCH_",
    "MLFLOW_",
    "PRIME_",
    "SCENARIO_",
)
"""Beginnings of the environment variables with keys and addresses of the harnesses' services."""
SILENT = ("DEEPEVAL_TELEMETRY_OPT_OUT", "MLFLOW_DISABLE_TELEMETRY")
LOOPBACK = ("127.0.0.1", "::1", "localhost", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="count a skipped test as a failed run: `make hosts`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What other packages warn of is theirs: in their environments only our own warnings are errors."""
    if config.getoption("--no-skips", False):
        for item in items:
            item.add_marker(pytest.mark.filterwarnings("default", r"error:::duologue\.", "ignore:unclosed"))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("--no-skips", False) and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(autouse=True)
def no_service(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No key of a service. A look-up of a host fails the test, also where the harness passes over the error."""
    for name in list(os.environ):
        if name.upper().startswith(SERVICES) and name not in SILENT:
            monkeypatch.delenv(name)
    sought: list[Any] = []

    def look_up(host: Any, *arguments: Any, **options: Any) -> Any:
        if host not in LOOPBACK:
            sought.append(host)
            raise socket.gaierror(f"a test looks up {host!r}")
        return found(host, *arguments, **options)

    found = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    yield
    assert sought == []
