"""Removes secrets from texts: the credentials of this process in any encoding, and what looks like one."""

import base64
import html
import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from pydantic import SecretStr

from ...data.packages import frames_of, place_of
from .env_file import CREDENTIAL

KEY = "OPENAI_API_KEY"
NO_KEY = "none"
"""What stands in the place of a key where no call is made: a word, and no secret."""

_AUTHORIZATION = re.compile(
    r"(?i)(authorization\\?[\"']?\s*[:=]\s*\\?[\"']?(?:(?:bearer|basic|token)\s+)?)[^\s\"',\\]+"
)
_BEARER = re.compile(r"(?i)\b(bearer\s+)[^\s\"',]+")
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|key)-[A-Za-z0-9_*.-]{6,}")
_USERINFO = re.compile(
    r"(?<=://)[^/?#\s]+@|(?<=:\\/\\/)[^/?#\s\\]+@|(?<=%3A%2F%2F)[\w%.~+!$&'()*,;=-]+?%40", re.IGNORECASE
)
_SECRET_PARAMETER = (
    r"[\w-]*(?:api[_-]?key|token(?!s)|secret|password|passwd|signature|credential)[\w-]*|key|sig|auth|pwd"
)
_PARAMETER = re.compile(rf"(?i)(?<=[?&;])((?:{_SECRET_PARAMETER})=)[^&\s\"'<>\\]+")
_SECRET_PARAMETER_NAME = re.compile(rf"(?i){_SECRET_PARAMETER}")
_DIGIT = re.compile(r"\d")
_ORDINARY = re.compile(r"[A-Za-z]?[a-z]*(?:[-_ ][a-z]+)*|[A-Z]+")

_secrets: set[str] = set()
_url_secrets: set[str] = set()
"""Those that were the credentials in an address: they count also without a digit."""
_looked_at: dict[Any, Any] = {}
"""The environment as it was when its credentials were looked for last."""


def keep_secret(secret: SecretStr) -> None:
    """Remember the key of a model instance, so that `redacted` removes it from texts."""
    value = secret.get_secret_value()
    if len(value) >= 4 and value != NO_KEY:
        _secrets.add(value)


def keep_url_secrets(url: str) -> None:
    """Remember the credentials in an address: its user and password, their form in a header, and its parameters."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
    except ValueError:
        return
    userinfo, at, _ = parts.netloc.rpartition("@")
    secrets: list[str] = []
    if at:
        name, colon, password = userinfo.partition(":")
        pair = f"{unquote(name)}:{unquote(password)}"
        secrets += [userinfo, pair, base64.b64encode(pair.encode("utf-8", "replace")).decode()]
        secrets += [password, unquote(password)] if password else [name, unquote(name)]
        if colon and len(name) >= 12 and _DIGIT.search(name):
            secrets += [name, unquote(name)]
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if _SECRET_PARAMETER_NAME.fullmatch(name) or (len(value) >= 20 and _DIGIT.search(value)):
            secrets.append(value)
    for text in secrets:
        if len(text) >= 4:
            _secrets.add(text)
            _url_secrets.add(text)


def keep_environment_secrets() -> None:
    """Remember every credential in the environment by its variable's name, so that `redacted` removes it from texts."""
    # Every call of a model asks for this. To compare what `os.environ` holds takes a hundredth of decoding it.
    variables = getattr(os.environ, "_data", os.environ)
    if variables == _looked_at:
        return
    _looked_at.clear()
    _looked_at.update(variables)
    for name, value in os.environ.items():
        if CREDENTIAL.search(name) and len(value.strip()) >= 8:
            keep_secret(SecretStr(value.strip()))
        elif "://" in value and ("@" in value or "?" in value):
            keep_url_secrets(value.strip())


@lru_cache(maxsize=4096)
def _forms(secret: str) -> tuple[str, ...]:
    """A secret as it is and as texts encode it: percent, JSON, repr, HTML, base64; the longest first."""
    lower = re.sub(r"%[0-9A-F]{2}", lambda match: match.group().lower(), quote(secret, safe="", errors="replace"))
    forms = {
        secret,
        quote(secret, errors="replace"),
        quote(secret, safe="", errors="replace"),
        quote_plus(secret, errors="replace"),
        lower,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        json.dumps(secret)[1:-1].replace("/", "\\/"),
        repr(secret)[1:-1],
        html.escape(secret),
        html.escape(secret, quote=False),
    }
    if len(secret) >= 8:
        encoded = base64.b64encode(secret.encode("utf-8", "replace")).decode()
        forms |= {encoded, encoded.rstrip("="), encoded.replace("+", "-").replace("/", "_").rstrip("=")}
        forms.add(quote(encoded, safe=""))
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def known_secrets() -> tuple[str, ...]:
    """The credentials of this process that differ from ordinary words, in every form, the longest first.

    A placeholder such as `EMPTY` or `not-needed`, as local endpoints get, is left out: it may occur in texts.
    """
    keep_environment_secrets()
    return _distinct_forms(frozenset(_secrets), frozenset(_url_secrets))


@lru_cache(maxsize=8)
def _distinct_forms(secrets: frozenset[str], of_urls: frozenset[str]) -> tuple[str, ...]:
    distinct = [
        text
        for text in secrets
        if len(text) >= 8 and (_DIGIT.search(text) or (text in of_urls and not _ORDINARY.fullmatch(text)))
    ]
    return tuple(sorted({form for text in distinct for form in _forms(text)}, key=lambda form: (-len(form), form)))


def without_known_secrets(value: Any) -> Any:
    """A JSON value in which each credential of this process is replaced by `[key]`, in keys too.

    The value itself if it contains no key. Text that only looks like a key stays: it belongs to the conversation.
    """
    return without(value, known_secrets())


def without(value: Any, secrets: Sequence[str]) -> Any:
    """A JSON value in which each of the secrets is replaced by `[key]`, in keys too.

    The value itself if there are no secrets.
    """
    return _without(value, secrets) if secrets else value


def _without(value: Any, secrets: Sequence[str]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            if secret in value:
                value = value.replace(secret, "[key]")
        return value
    if isinstance(value, Mapping):
        return {_without(key, secrets): _without(inner, secrets) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without(inner, secrets) for inner in value]
    return value


def without_credentials(text: str) -> str:
    """The text without known credentials and those in addresses and headers; words that look like keys stay."""
    keep_secret(SecretStr(os.environ.get(KEY, "").strip()))
    for secret in sorted(_secrets, key=len, reverse=True):
        for form in _forms(secret):
            text = text.replace(form, "[key]")
    text = text.encode("utf-8", "replace").decode("utf-8")  # logs cannot hold half a surrogate pair
    text = _USERINFO.sub("[key]@", _AUTHORIZATION.sub(r"\1[key]", text))
    return _PARAMETER.sub(r"\1[key]", text)


def redacted(text: str) -> str:
    """The text without secrets: known keys, anything that looks like a key, and credentials in URLs.

    It reads no file, because a LangGraph server allows none where nodes run. A key of a `.env` is redacted once
    `settings` has read it, and was not used before.
    """
    return _KEY_LIKE.sub("[key]", _BEARER.sub(r"\1[key]", without_credentials(text)))


@lru_cache(maxsize=64)
def host_of(url: str) -> str:
    """Host and port of a URL, without credentials."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
    except ValueError:
        return "unknown host"
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.hostname or 'unknown host'}{port}"


def placed_line(error: BaseException) -> str:
    """As `error_line`, with the file and the line of one's own code that it passed last."""
    return f"{error_line(error)}{place_of(error, installed=False)}"


def error_frames(error: BaseException) -> list[str]:
    """The last places in one's own code that an error passed, without secrets."""
    return [redacted(frame) for frame in frames_of(error)]


def error_line(error: BaseException) -> str:
    """Class, message and cause of an error on one line of at most 500 characters, without secrets."""
    record_line = getattr(error, "record_line", None)  # of an error that says all in a line of its own
    if isinstance(record_line, str):
        return redacted(" ".join(record_line.split()))[:500]
    line = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if error.__cause__ is not None and str(error.__cause__):
        cause = f"{type(error.__cause__).__name__}: {error.__cause__}"
        line += f" ({cause})" * (cause not in line)  # which an error may state itself
    return redacted(" ".join(line.split()))[:500]
