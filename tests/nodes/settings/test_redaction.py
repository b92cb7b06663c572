"""Credentials leave no text in any of the ways in which they are written."""

import base64
import json
from urllib.parse import quote

import pytest
from pydantic import SecretStr

from duologue.data.settings.tracing import host_of
from duologue.nodes import chat_model
from duologue.nodes.settings.environment import without_calls
from duologue.nodes.settings.redaction import (
    _look_through,
    _secrets,
    keep_secret,
    keep_url_secrets,
    redacted,
    without_known_secrets,
)

USER, PASSWORD = "keeper-7", 'l/t+h "ö" & <9>'
URL = f"https://{quote(USER)}:{quote(PASSWORD, safe='')}@lighthouse.example:8443/v1?api_key=q-4711-lamp&api-version=2"
PAIR = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    """What is remembered here is not remembered in other tests."""
    monkeypatch.setattr("duologue.nodes.settings.redaction._secrets", set(_secrets))
    _look_through.cache_clear()


FORMS = {
    "plain": PASSWORD,
    "percent": quote(PASSWORD, safe=""),
    "json": json.dumps(PASSWORD)[1:-1],
    "json with letters": json.dumps(PASSWORD, ensure_ascii=False)[1:-1],
    "basic": PAIR,
    "base64": base64.b64encode(PASSWORD.encode()).decode(),
    "parameter": "q-4711-lamp",
    "the address": URL.replace("https://", ""),
    "the address, quoted": quote(URL, safe=""),
}


@pytest.mark.parametrize("form", FORMS)
def test_credentials_of_an_address_are_taken_out_in_every_form(form):
    keep_url_secrets(URL)
    for text in (redacted(f"cannot reach {FORMS[form]} today"), without_known_secrets([FORMS[form]])[0]):
        assert not [name for name, other in FORMS.items() if other in text], text
        assert "[key]" in text
    assert "api-version=2" not in redacted(FORMS[form]) or "lighthouse.example" in redacted(FORMS[form])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at http://me:p@ss@host/v1", "at http://[key]@host/v1"),
        ("provided: sk-proj-abcd****wxyz.", "provided: [key]"),
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer [key]"),
        ("no risk-taking, no key-value pairs", "no risk-taking, no key-value pairs"),
        ("authorization failed", "authorization failed"),
        ("GET /v1?api_key=abc&seed=1", "GET /v1?api_key=[key]&seed=1"),
        ("GET /v1?a=1&access_token=abc", "GET /v1?a=1&access_token=[key]"),
        ("{'Authorization': 'Basic bWU6d29yZA=='}", "{'Authorization': 'Basic [key]'}"),
        ("openai:m?max_tokens=99", "openai:m?max_tokens=99"),
        ("a basic question", "a basic question"),
        ("write to me@example.org, key points", "write to me@example.org, key points"),
    ],
)
def test_what_looks_like_credentials_is_taken_out(text, shown):
    assert redacted(text) == shown


def test_a_short_name_or_an_ordinary_password_stays_in_texts():
    keep_url_secrets("http://me:password@host/v1")
    assert without_known_secrets("me and the password") == "me and the password"
    keep_secret(SecretStr("not-needed"))
    assert without_known_secrets("not-needed") == "not-needed"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.openai.com/v1", "api.openai.com"),
        ("http://[::1]:8000/v1", "::1:8000"),
        ("https://me:secret@example.org:8443/v1?key=secret", "example.org:8443"),
        ("localhost:8000/v1", "localhost:8000"),
        ("http://example.org:port/v1", "unknown host"),
        ("http://[::1/v1", "unknown host"),
        ("", "unknown host"),
    ],
)
def test_the_host_of_a_url(url, host):
    assert host_of(url) == host


def test_a_credential_that_is_set_or_changed_later_is_found(monkeypatch):
    assert without_known_secrets("lamp-oil-17 and wick-18-brass") == "lamp-oil-17 and wick-18-brass"
    monkeypatch.setenv("MINE_ACCESS_TOKEN", "lamp-oil-17")
    assert without_known_secrets("lamp-oil-17 and wick-18-brass") == "[key] and wick-18-brass"
    monkeypatch.setenv("OPENAI_API_KEY", "wick-18-brass")
    assert without_known_secrets(["lamp-oil-17 and wick-18-brass"]) == ["[key] and [key]"]


def test_an_environment_that_has_not_changed_is_not_read_again(monkeypatch, steps):
    without_known_secrets("")
    few = steps(without_known_secrets, "")
    for number in range(100):
        monkeypatch.setenv(f"LAMP_{number}", "lit")
    assert steps(without_known_secrets, "") > 100
    assert steps(without_known_secrets, "") == few


def test_what_stands_for_a_key_where_no_call_is_made_is_no_secret():
    with without_calls():
        chat_model(chat_model("openai:m"))  # an instance, whose key is remembered
    assert redacted("none of these") == "none of these"
