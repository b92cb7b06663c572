"""Credentials leave no text in any of the ways in which they are written."""

import base64
import json
from urllib.parse import quote

import pytest
from pydantic import SecretStr

from duologue.data.tracing import host_of
from duologue.nodes import chat_model
from duologue.nodes.settings.environment import without_calls
from duologue.nodes.settings.redaction import keep_secret, keep_url_secrets, redacted, without_known_secrets

USER, PASSWORD = "keeper-7", 'l/t+h "ö" & <9>'
URL = f"https://{quote(USER)}:{quote(PASSWORD, safe='')}@lamp.example:8443/v1?api_key=q-4711-lamp&api-version=2"
FORMS = [
    PASSWORD,
    quote(PASSWORD, safe=""),
    json.dumps(PASSWORD)[1:-1],
    json.dumps(PASSWORD, ensure_ascii=False)[1:-1],
    base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode(),
    base64.b64encode(PASSWORD.encode()).decode(),
    "q-4711-lamp",
    URL.replace("https://", ""),
    quote(URL, safe=""),
]


@pytest.mark.parametrize("form", FORMS)
def test_credentials_of_an_address_are_taken_out_in_every_form(form):
    keep_url_secrets(URL)
    for text in (redacted(f"cannot reach {form} today"), without_known_secrets([form])[0]):
        assert not [other for other in FORMS if other in text], text
        assert "[key]" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at http://me:p@ss@host/v1", "at http://[key]@host/v1"),
        ("provided: sk-proj-abcd****wxyz.", "provided: [key]"),
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer [key]"),
        ("{'Authorization': 'Basic bWU6d29yZA=='}", "{'Authorization': 'Basic [key]'}"),
        ("GET /v1?a=1&access_token=abc&seed=1", "GET /v1?a=1&access_token=[key]&seed=1"),
        *((plain, plain) for plain in (
            "no risk-taking, no key-value pairs", "authorization failed", "openai:m?max_tokens=99", "a basic question",
            "write to me@example.org, key points",
        )),
    ],
)  # fmt: skip
def test_what_looks_like_credentials_is_taken_out(text, shown):
    assert redacted(text) == shown


def test_a_short_name_an_ordinary_password_and_what_stands_for_a_key_stay_in_texts():
    keep_url_secrets("http://me:password@host/v1")
    keep_secret(SecretStr("not-needed"))
    with without_calls():
        chat_model(chat_model("openai:m"))  # an instance, whose key is remembered
    for text in ("me and the password", "not-needed", "none of these"):
        assert without_known_secrets(text) == text


@pytest.mark.parametrize(
    ("url", "host"),
    [("https://me:secret@example.org:8443/v1?key=secret", "example.org:8443"), ("http://[::1]:8000/v1", "::1:8000"),
     ("localhost:8000/v1", "localhost:8000"), ("http://example.org:port/v1", "unknown host"), ("", "unknown host")],
)  # fmt: skip
def test_the_host_of_a_url_is_all_that_is_said_of_it(url, host):
    assert host_of(url) == host


def test_a_credential_that_is_set_or_changed_later_is_found(monkeypatch):
    assert without_known_secrets("lamp-oil-17 and wick-18-brass") == "lamp-oil-17 and wick-18-brass"
    monkeypatch.setenv("MINE_ACCESS_TOKEN", "lamp-oil-17")
    assert without_known_secrets("lamp-oil-17 and wick-18-brass") == "[key] and wick-18-brass"
    monkeypatch.setenv("OPENAI_API_KEY", "wick-18-brass")
    assert without_known_secrets(["lamp-oil-17 and wick-18-brass"]) == ["[key] and [key]"]
