"""Takes secrets out of texts: the credentials of this process plain, quoted or in base64, and what looks like one."""

import base64
import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

from pydantic import SecretStr

from ...data.packages import place_of

KEY = "OPENAI_API_KEY"
NO_KEY = "none"
"""What stands in the place of a key where none is sent: a word, and no secret."""
CREDENTIAL = re.compile(r"(?i)(?:KEY|TOKEN|SECRET|PASSWORD)(?:_(?!ID$|FILE$|PATH$|UR[IL]$|ENDPOINT$)[A-Z0-9]+)?$")
"""Names of variables that hold credentials: `ANTHROPIC_API_KEY`, `AWS_BEARER_TOKEN_BEDROCK`, `OPENAI_API_KEY_2`, ..."""

_HEADER = re.compile(r"(?i)(\bbearer\s+|authorization\W*[:=]\W*(?:(?:bearer|basic|token)\s+)?)[^\s\"',\\]+")
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|key)-[A-Za-z0-9_*.-]{6,}")
_USERINFO = re.compile(r"(?<=://)[^/?#\s]+@")
_PARAMETER = re.compile(r"(?i)([?&;][\w-]*(?:key|token|secret|password|credential|signature|sig|auth)=)([^&\s\"'<>]+)")
_ORDINARY = re.compile(r"[A-Za-z]?[a-z]*(?:[-_ ][a-z]+)*|[A-Z]+")
_secrets: set[str] = set()


def keep_secret(secret: SecretStr) -> None:
    """Remember a credential, which is taken out of texts from now on; with fewer than 8 characters it may be a word."""
    if len(text := secret.get_secret_value().strip()) >= 8:
        _secrets.add(text)


def keep_url_secrets(url: str) -> None:
    """Remember the credentials in an address: its user and password, alone and as a pair, and its secret parameters."""
    pair = re.split(r"[/?#]", url.partition("://")[2] or url)[0].rpartition("@")[0]
    for text in (pair, *pair.split(":", 1), *(value for _, value in _PARAMETER.findall(url))):
        keep_secret(SecretStr(text))
        keep_secret(SecretStr(unquote(text)))


def keep_environment_secrets() -> None:
    """Remember the credentials in the environment, looked through when the number of variables or the key changes."""
    _look_through(len(os.environ), os.environ.get(KEY))


@lru_cache(maxsize=1)
def _look_through(count: int, key: str | None) -> None:
    for name, value in os.environ.items():
        if CREDENTIAL.search(name):
            keep_secret(SecretStr(value))
        elif "://" in value:
            keep_url_secrets(value)


@lru_cache(maxsize=8)
def _forms(secrets: frozenset[str], words: bool) -> tuple[str, ...]:
    """Secrets as they are, percent-encoded, in JSON and in base64, the longest first; `words`: ordinary ones too."""
    forms: set[str] = set()
    for text in secrets if words else [text for text in secrets if not _ORDINARY.fullmatch(text)]:
        encoded = base64.b64encode(text.encode("utf-8", "replace")).decode().rstrip("=")
        forms |= {text, quote(text, errors="replace"), quote(text, "", errors="replace")}
        forms |= {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
        forms |= {encoded, encoded.replace("+", "-").replace("/", "_"), quote(encoded, "")}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def known_secrets() -> tuple[str, ...]:
    """The credentials of this process in every form, the longest first; ordinary words, such as `EMPTY`, are none."""
    keep_environment_secrets()
    return _forms(frozenset(_secrets), words=False)


def without_known_secrets(value: Any) -> Any:
    """A JSON value in which `[key]` stands for each of the `known_secrets`; what only looks like a key stays."""
    return without(value, known_secrets())


def without(value: Any, secrets: Sequence[str]) -> Any:
    """A JSON value in which `[key]` stands for each of the secrets, in keys too; itself if there are none."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, "[key]")
    elif secrets and isinstance(value, Mapping):
        return {without(key, secrets): without(inner, secrets) for key, inner in value.items()}
    elif secrets and isinstance(value, (list, tuple)):
        return [without(inner, secrets) for inner in value]
    return value


def without_credentials(text: str) -> str:
    """The text without known credentials and those in addresses and headers; words that look like keys stay."""
    keep_environment_secrets()
    text = without(text, _forms(frozenset(_secrets), words=True))
    text = _PARAMETER.sub(r"\1[key]", _USERINFO.sub("[key]@", _HEADER.sub(r"\1[key]", text)))
    return text.encode("utf-8", "replace").decode("utf-8")  # logs cannot hold half a surrogate pair


def redacted(text: str) -> str:
    """The text without known credentials, those in addresses and headers, and words that look like keys."""
    return _KEY_LIKE.sub("[key]", without_credentials(text))


def error_line(error: BaseException, *, placed: bool = False) -> str:
    """Class, message and cause of an error on a line, without secrets; `placed`: with the last place in one's own code."""
    line = getattr(error, "record_line", None)  # of an error that says all in a line of its own
    if not isinstance(line, str):
        line = f"{type(error).__name__}: {error}".removesuffix(": ")
        if (cause := error.__cause__) is not None and str(cause) and str(cause) not in line:
            line += f" ({type(cause).__name__}: {cause})"
    return redacted(" ".join(line.split()))[:500] + (place_of(error) if placed else "")
