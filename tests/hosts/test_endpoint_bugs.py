"""A bug behind the endpoint is an error in OpenAI's form too, which tells its kind and not its text."""

import asyncio

import pytest

pytest.importorskip("starlette")
import httpx

from duologue.hosts.endpoint import ServedUsers, application


def test_a_bug_is_a_servers_error_without_its_text(monkeypatch):
    async def broken(request, session):
        raise KeyError("sk-4711")

    served = ServedUsers({})
    monkeypatch.setattr(served, "answer", broken)
    transport = httpx.ASGITransport(application(served), raise_app_exceptions=False)

    async def asked():
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8801") as client:
            return await client.post("/v1/chat/completions", json={"model": "a", "messages": []})

    response = asyncio.run(asked())
    error = response.json()["error"]
    assert (response.status_code, error["type"]) == (500, "server_error")
    assert error["message"] == "a bug of Duologue's: KeyError"
