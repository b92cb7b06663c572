"""The environment, read in one place: variables of the process, then a `.env` file, never written back."""

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from dotenv import dotenv_values, find_dotenv
from pydantic import SecretStr

KEY = "OPENAI_API_KEY"
BASE_URL = "OPENAI_BASE_URL"
OLD_BASE_URL = "OPENAI_API_BASE"
DEFAULT_BASE_URL = "https://api.openai.com/v1"

_BEARER = re.compile(r"(?i)\b(bearer\s+)[^\s\"',]+")
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|key)-[A-Za-z0-9_*.-]{6,}")
_USERINFO = re.compile(r"(?<=://)[^/\s@]+@")


@dataclass(frozen=True)
class Settings:
    """Where the endpoint is, and the key for it."""

    key: SecretStr | None
    base_url: str

    @property
    def host(self) -> str:
        """Host and port of the endpoint, without credentials."""
        return host_of(self.base_url)


def settings() -> Settings:
    """The settings as they are now; a `.env` is looked for from the working folder upward."""
    found = find_dotenv(usecwd=True)
    values = {**(dotenv_values(found) if found else {}), **os.environ}
    key = (values.get(KEY) or "").strip()
    base_url = (values.get(BASE_URL) or values.get(OLD_BASE_URL) or DEFAULT_BASE_URL).strip()
    return Settings(SecretStr(key) if key else None, base_url)


def host_of(url: str) -> str:
    """Host and port of a URL, without credentials."""
    parts = urlsplit(url if "://" in url else f"//{url}")
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.hostname or 'unknown host'}{port}"


def redacted(text: str) -> str:
    """The text without keys: the one that is set, whatever looks like one, and credentials in URLs."""
    key = settings().key
    if key is not None and len(key.get_secret_value()) >= 4:
        text = text.replace(key.get_secret_value(), "[key]")
    text = _BEARER.sub(r"\1[key]", text)
    return _USERINFO.sub("[key]@", _KEY_LIKE.sub("[key]", text))
