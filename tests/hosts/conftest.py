"""What a test of a harness starts from: no key of its services, and a list of the hosts that it would reach."""

import gc
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

SERVICES = ("ANTHROPIC_", "GOOGLE_", "HF_", "INSPECT_")
"""Beginnings of the environment variables with keys and addresses of services that Inspect knows."""
OF_INSPECT = ("default", r"error:::duologue\.", "ignore:unclosed", "ignore::pytest.PytestUnraisableExceptionWarning")
LOOPBACK = ("127.0.0.1", "::1", "localhost", None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What Inspect warns of is its own: only our own warnings are errors there."""
    for item in items:
        if _is_of_inspect(item):
            item.add_marker(pytest.mark.filterwarnings(*OF_INSPECT))


def _is_of_inspect(item: pytest.Item) -> bool:
    return "tests/hosts/" in item.nodeid and "inspect" in item.nodeid


@pytest.fixture(autouse=True)
def collected(request: pytest.FixtureRequest) -> Iterator[None]:
    """Streams that Inspect leaves open are collected here, where their warnings are none of ours."""
    yield
    if _is_of_inspect(request.node):
        gc.collect()


@pytest.fixture(autouse=True)
def no_service(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No key of a service. A look-up of a host fails the test, also where the harness passes over the error."""
    for name in list(os.environ):
        if name.upper().startswith(SERVICES):
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
