"""Credentials leave no text in any of the ways in which they are written."""

import base64
import html
import json
import re
from urllib.parse import quote, quote_plus

import pytest
from pydantic import SecretStr

from duologue.errors import DuologueError
from duologue.nodes import chat_model
from duologue.nodes.models import recordable
from duologue.nodes.settings.environment import without_calls
from duologue.nodes.settings.redaction import (
    _secrets,
    _url_secrets,
    error_line,
    host_of,
    keep_secret,
    keep_url_secrets,
    redacted,
    without_known_secrets,
)
from duologue.nodes.speakers.remote import remote_agent

USER, PASSWORD = "keeper-7", 'l/t+h "ö" & <9>'
URL = f"https://{quote(USER)}:{quote(PASSWORD, safe='')}@lighthouse.example:8443/v1?api_key=q-4711-lamp&api-version=2"
PAIR = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    """What is remembered here is not remembered in other tests."""
    monkeypatch.setattr("duologue.nodes.settings.redaction._secrets", set(_secrets))
    monkeypatch.setattr("duologue.nodes.settings.redaction._url_secrets", set(_url_secrets))
    monkeypatch.setattr("duologue.nodes.settings.redaction._looked_at", {})


FORMS = {
    "plain": PASSWORD,
    "percent": quote(PASSWORD, safe=""),
    "percent in lower case": re.sub("%..", lambda match: match.group().lower(), quote(PASSWORD, safe="")),
    "form": quote_plus(PASSWORD),
    "json": json.dumps(PASSWORD)[1:-1],
    "json with letters": json.dumps(PASSWORD, ensure_ascii=False)[1:-1],
    "repr": repr(PASSWORD)[1:-1],
    "html": html.escape(PASSWORD),
    "basic": PAIR,
    "base64": base64.b64encode(PASSWORD.encode()).decode(),
    "parameter": "q-4711-lamp",
    "the address": URL.replace("https://", ""),
    "the address, quoted": quote(URL, safe=""),
    "the address in json": json.dumps(URL).replace("/", "\\/"),
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
        (r"at http:\/\/me:word@host", r"at http:\/\/[key]@host"),
        ("url=http%3A%2F%2Fme%3Aword%40host", "url=http%3A%2F%2F[key]@host"),
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


def test_an_error_that_quotes_the_address_does_not_tell_it():
    keep_url_secrets(URL)
    line = error_line(ValueError(f"Invalid URL {URL!r}"))
    assert PASSWORD not in line
    assert quote(PASSWORD, safe="") not in line
    assert "lighthouse.example:8443" in line


def test_a_short_name_or_an_ordinary_password_stays_in_texts():
    keep_url_secrets("http://me:password@host/v1")
    assert without_known_secrets("me and the password") == "me and the password"
    keep_secret(SecretStr("not-needed"))
    assert without_known_secrets("not-needed") == "not-needed"


@pytest.mark.parametrize(
    "spec",
    [
        "openai:x?api_key=sk-secret4711&",
        "openai:x?=sk-secret4711",
        "openai:x?sk-secret4711",
        "openai:x?sk-secret4711=1",
        "openai:x?temperature=1&&api_key=sk-secret4711",
        "anthropic:x?sk-secret4711",
        "anthropic:x?sk-secret4711_key=1",
        "offline?sk-secret4711",
        "offline?paraphrase=sk-secret4711",
        "replay:file?sk-secret4711",
        "nobody:x?sk-secret4711",
    ],
)
def test_a_malformed_spec_never_echoes_its_arguments(spec, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "open.sesame.1")
    with pytest.raises(DuologueError) as error:
        chat_model(spec)
    assert "secret4711" not in str(error.value)
    assert "\n" not in str(error.value)
    assert "secret4711" not in recordable(spec)


@pytest.mark.parametrize(
    "address",
    ["http://me:word4711@host:1?graph=a", "http://me:word4711@[::1", "ftp://me:word4711@host", "word4711",
     "http://host?word4711", "http://host?word4711=1", "http://host?graph=a&send=word4711", "http://host:99999?word4711",
     "http://me:word4711@host:99999"],
)  # fmt: skip
def test_a_malformed_address_of_an_agent_never_echoes_it(address):
    with pytest.raises(DuologueError) as error:
        remote_agent(f"agent:{address}")
    if address != "word4711":  # a host's name
        assert "word4711" not in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("url", ["http://[::1/v1", "http://h:99999", "http://[", "//[x]:y"])
def test_the_host_of_what_is_no_address_is_unknown(url):
    assert host_of(url) in ("unknown host", "h")


def test_a_credential_that_is_set_or_changed_later_is_found(monkeypatch):
    assert without_known_secrets("lamp-oil-17 and wick-18-brass") == "lamp-oil-17 and wick-18-brass"
    monkeypatch.setenv("MINE_ACCESS_TOKEN", "lamp-oil-17")
    assert without_known_secrets("lamp-oil-17 and wick-18-brass") == "[key] and wick-18-brass"
    monkeypatch.setenv("MINE_ACCESS_TOKEN", "wick-18-brass")
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
