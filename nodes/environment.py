"""Settings from environment variables and a `.env` file, which is never written.

Variables of the process come before those of the file, also if their names differ."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from dotenv import dotenv_values, find_dotenv
from pydantic import SecretStr

from ..errors import SettingError

KEY = "OPENAI_API_KEY"
BASE_URL = "OPENAI_BASE_URL"
OLD_BASE_URL = "OPENAI_API_BASE"
DEFAULT_BASE_URL = "https://api.openai.com/v1"

_BEARER = re.compile(r"(?i)\b(bearer\s+)[^\s\"',]+")
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|key)-[A-Za-z0-9_*.-]{6,}")
_USERINFO = re.compile(r"(?<=://)[^/\s@]+@")
_SECRET_NAME = re.compile(r"(?i)(?:API|ACCESS|AUTH|SESSION|BEARER|HUB)_?(?:KEY|TOKEN)(?!_ID)")
"""Names of variables that hold credentials: `ANTHROPIC_API_KEY`, `AWS_SECRET_ACCESS_KEY`, `HF_HUB_TOKEN`, ..."""


@dataclass(frozen=True)
class Settings:
    """The endpoint's URL and key."""

    key: SecretStr | None
    base_url: str

    @property
    def host(self) -> str:
        """Host and port of the endpoint, without credentials."""
        return host_of(self.base_url)


def settings() -> Settings:
    """The current settings. A `.env` file is searched for from the working folder upwards."""
    sources: tuple[Mapping[str, str | None], ...] = (os.environ, _env_file())

    def first(*names: str) -> str:
        return next((text for source in sources for name in names if (text := (source.get(name) or "").strip())), "")

    key = first(KEY)
    if key:
        keep_secret(SecretStr(key))
    return Settings(SecretStr(key) if key else None, first(BASE_URL, OLD_BASE_URL) or DEFAULT_BASE_URL)


def _env_file() -> Mapping[str, str | None]:
    path = find_dotenv(usecwd=True)
    try:
        return dotenv_values(path) if path else {}
    except UnicodeDecodeError:
        raise SettingError(f"{path}: is not UTF-8: save it as UTF-8") from None


@contextmanager
def environment_with_file() -> Iterator[None]:
    """Inside, the process has the variables of the `.env` file that it does not have itself.

    For packages that read their key from the environment when a model is made. Other variables of the file, such as
    those that turn on tracing, must not stay.
    """
    try:
        added = {name: value for name, value in _env_file().items() if value and name not in os.environ}
    except ValueError as error:
        raise SettingError(str(error)) from None
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def keep_environment_secrets() -> None:
    """Remember every credential in the environment by its variable's name, so that `redacted` removes it from texts."""
    for name, value in os.environ.items():
        if _SECRET_NAME.search(name) and len(value.strip()) >= 8:
            keep_secret(SecretStr(value.strip()))


_DIGIT = re.compile(r"\d")
_kept: set[str] = set()


def keep_secret(secret: SecretStr) -> None:
    """Remember the key of a model instance, so that `redacted` removes it from texts."""
    if len(secret.get_secret_value()) >= 4:
        _kept.add(secret.get_secret_value())


def known_secrets() -> list[str]:
    """The credentials of this process that can be told from ordinary words, the longest first.

    A placeholder such as `EMPTY` or `not-needed`, as local endpoints are given, is none: it would stand in texts.
    """
    keep_environment_secrets()
    if key := os.environ.get(KEY, "").strip():
        keep_secret(SecretStr(key))
    return sorted((text for text in _kept if len(text) >= 8 and _DIGIT.search(text)), key=len, reverse=True)


def without_known_secrets(value: Any) -> Any:
    """A JSON value in which each credential of this process is replaced by `[key]`, in keys too.

    The value itself if there is none in it. What only looks like a key stays: it is somebody's text.
    """
    secrets = known_secrets()
    return _without(value, secrets) if secrets else value


def _without(value: Any, secrets: list[str]) -> Any:
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


def host_of(url: str) -> str:
    """Host and port of a URL, without credentials."""
    parts = urlsplit(url if "://" in url else f"//{url}")
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.hostname or 'unknown host'}{port}"


def redacted(text: str) -> str:
    """The text without secrets: known keys, anything that looks like a key, and credentials in URLs.

    It reads no file, because a LangGraph server allows none where nodes run: a key of a `.env` is known once `settings`
    has read it, and was not used before.
    """
    if key := os.environ.get(KEY, "").strip():
        keep_secret(SecretStr(key))
    for secret in sorted(_kept, key=len, reverse=True):
        text = text.replace(secret, "[key]")
    text = text.encode("utf-8", "replace").decode("utf-8")  # logs cannot hold half a surrogate pair
    text = _BEARER.sub(r"\1[key]", text)
    return _USERINFO.sub("[key]@", _KEY_LIKE.sub("[key]", text))


def error_line(error: BaseException) -> str:
    """Class, message and cause of an error on one line of at most 500 characters, without secrets."""
    line = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if error.__cause__ is not None and str(error.__cause__):
        line += f" ({type(error.__cause__).__name__}: {error.__cause__})"
    return redacted(" ".join(line.split()))[:500]
