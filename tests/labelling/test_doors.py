"""Who may talk to a server of ours: no other host name, no other page, nobody without the address."""

import asyncio

import pytest

from duologue.labelling.doors import Door
from duologue.views.doors import new_token, path_of, stay_on_this_machine

TOKEN = "a-token-of-the-test"
HOST = "127.0.0.1:8501"
COOKIE = f"duologue={TOKEN}"


async def page(scope, receive, send):
    """A page behind the door."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"the conversations"})


def asked(path="/", query="", kind="http", **headers):
    """The messages that a request is answered with."""
    sent = []

    async def send(message):
        sent.append(message)

    named = {"host": HOST, **headers}
    scope = {
        "type": kind,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
    }
    asyncio.run(Door(page, TOKEN)(scope, None, send))
    return sent


def status(*arguments, **more):
    return asked(*arguments, **more)[0].get("status")


def test_the_printed_address_gives_a_cookie_for_a_path_that_no_other_server_has():
    start, body = asked(query=f"token={TOKEN}")
    headers = dict(start["headers"])
    assert start["status"] == 200
    assert headers[b"set-cookie"].decode() == f"{COOKIE}; Path={path_of(TOKEN)}; HttpOnly; SameSite=Strict"
    assert headers[b"referrer-policy"] == b"no-referrer"
    assert f"url={path_of(TOKEN)}" in body["body"].decode()
    assert TOKEN not in body["body"].decode()
    assert status(path_of(TOKEN), cookie=COOKIE) == 200


def test_without_the_token_nothing_is_answered():
    for query in ("", "token=", "token=another", "token=é"):
        assert status(query=query) == 403
    for cookie in ("", "duologue=another", "other=1", "duologue", ";;=", f"duologue={TOKEN}x", '"'):
        assert status(path_of(TOKEN), cookie=cookie) == 403
        assert status("/_stcore/health", cookie=cookie) == 403
    for path in ("//", f"http://evil.example{path_of(TOKEN)}", path_of(TOKEN), "/_stcore/stream", "/../", "/%2e%2e/"):
        assert status(path, query=f"token={TOKEN}") == 403
        assert status(path, authorization=f"Bearer {TOKEN}") == 403
        assert asked(path, f"token={TOKEN}", "websocket", origin=f"http://{HOST}")[0]["type"] == "websocket.close"
    assert status(query=f"token=another&token={TOKEN}") == 403
    assert asked("/", f"token={TOKEN}", "websocket", origin=f"http://{HOST}")[0]["type"] == "websocket.close"
    (closed,) = asked(f"{path_of(TOKEN)}_stcore/stream", kind="websocket", origin=f"http://{HOST}")
    assert closed == {"type": "websocket.close", "code": 1008}


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8501",
        "evil.example",
        "127.0.0.1.evil.example:8501",
        "",
        "[::1]:8501",
        "0.0.0.0:8501",
        "[::1",
        "127.0.0.1",
        "127.0.0.1:8501@evil.example:80",
    ],
)
def test_another_host_name_is_refused_though_it_has_the_token(host):
    assert status(query=f"token={TOKEN}", host=host) == 421
    assert status(path_of(TOKEN), cookie=COOKIE, host=host) == 421
    assert (
        asked("/s", kind="websocket", cookie=COOKIE, host=host, origin=f"http://{host}")[0]["type"] == "websocket.close"
    )


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:9000", "https://127.0.0.1:8501", "null", ""]
)
def test_a_page_of_another_port_or_place_is_refused_though_it_has_the_token(origin):
    assert status(path_of(TOKEN), cookie=COOKIE, origin=origin) == 403
    assert status(query=f"token={TOKEN}", origin=origin) == 403
    assert asked("/s", kind="websocket", cookie=COOKIE, origin=origin)[0]["type"] == "websocket.close"


def test_a_web_socket_needs_the_page_of_this_server():
    assert asked("/s", kind="websocket", cookie=COOKIE)[0]["type"] == "websocket.close"
    assert asked("/s", kind="websocket", cookie=COOKIE, origin=f"http://{HOST}") == [{"type": "websocket.accept"}]


def test_a_port_that_is_forwarded_is_this_machine():
    assert status(path_of(TOKEN), cookie=COOKIE, host="localhost:7000", origin="http://localhost:7000") == 200


def test_a_page_is_shown_in_no_frame_and_loads_nothing_from_elsewhere():
    headers = dict(asked(path_of(TOKEN), cookie=COOKIE)[0]["headers"])
    assert b"frame-ancestors 'none'" in headers[b"content-security-policy"]
    assert headers[b"content-security-policy"].startswith(b"default-src 'self'")


def test_a_token_is_another_one_each_time():
    assert len({new_token() for _ in range(50)}) == 50
    assert path_of("a") != path_of("b")


def test_the_process_of_the_page_connects_to_nothing_and_asks_for_no_address():
    for address in (("93.184.215.14", 443), ("10.0.0.1", 80), ("evil.example", 80), ("::2", 80, 0, 0)):
        with pytest.raises(PermissionError, match="connects to nothing"):
            stay_on_this_machine("socket.connect", (None, address))
    with pytest.raises(PermissionError, match=r"looks up no address: checkip\.example"):
        stay_on_this_machine("socket.getaddrinfo", ("checkip.example", 80, 0, 0, 0))
    stay_on_this_machine("socket.connect", (None, ("127.0.0.1", 8501)))
    stay_on_this_machine("socket.connect", (None, "/run/a.socket"))
    stay_on_this_machine("socket.getaddrinfo", (None, 8501, 0, 0, 0))
    stay_on_this_machine("open", ("a file", "r", 0))
