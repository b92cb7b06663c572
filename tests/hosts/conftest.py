"""What a test of a harness starts from: no key of its services, and a list of the hosts that it would reach."""

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

SERVICES = ("ANTHROPIC_", "GOOGLE_", "HF_", "INSPECT_")
"""Beginnings of the environment variables with keys and addresses of services that Inspect knows."""
LOOPBACK = ("127.0.0.1", "::1", "localhost", None)


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
