"""Settings of the environment and of the `.env` in the working folder, which may be a stranger's.

The process wins: what it has is used, whatever the file says. An address of the file is used only for `openai:NAME`, with
a key of the same file, or on this machine with none: no key of the process is ever sent there. Of what else the file has,
only keys are taken: nothing that could lead calls astray (addresses, proxies, certificates, switches of tracing)."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import SecretStr

from ...data.tracing import variables
from ...errors import SettingError
from .redaction import CREDENTIAL, KEY, NO_KEY, keep_environment_secrets, keep_secret, keep_url_secrets

BASE_URL = "OPENAI_BASE_URL"
DEFAULT_BASE_URL = "https://api.openai.com/v1"
FILE = Path(".env")

_NEVER = re.compile(r"(?i)(?:LANGSMITH|LANGCHAIN|LANGGRAPH|LANGFUSE|OTEL|DUOLOGUE)_")


def settings() -> tuple[SecretStr | None, str]:
    """Key and address for `openai:NAME`; SettingError if they may not be used together, or nothing can be called."""
    process = {name: text for name in (KEY, BASE_URL) if (text := os.environ.get(name, "").strip())}
    file = variables_of_file() if len(process) < 2 else {}
    key, address, place = process.get(KEY) or file.get(KEY), process.get(BASE_URL, ""), BASE_URL
    if not address and (address := file.get(BASE_URL, "")):
        needs_key = not is_loopback(address) and process.get(KEY) != NO_KEY
        if needs_key and process.get(KEY) not in (None, file.get(KEY)):
            advice = f"write {KEY} beside it and unset that of the environment, or export {BASE_URL}"
            raise SettingError(f"{FILE.absolute()}: its {BASE_URL} would get a key that does not stand there: {advice}")
        key, place = file.get(KEY) or (None if needs_key else NO_KEY), f"{BASE_URL} of {FILE.absolute()}"
    if not address and key and BASE_URL in os.environ:  # a script found no address: the key must not go elsewhere
        raise SettingError(f"{BASE_URL} is set and empty: write the address, or unset it to call {DEFAULT_BASE_URL}")
    keep_url_secrets(address)
    keep_secret(SecretStr(key or ""))
    if address and not _host(address, ("http", "https")):
        raise SettingError(f"{place} is not an address: write http://HOST:PORT/v1 or https://HOST/v1, without ? and #")
    return SecretStr(key) if key else None, address or DEFAULT_BASE_URL


def variables_of_file() -> dict[str, str]:
    """The variables of the `.env` as they are written, none put into another; SettingError if it cannot be read."""
    try:
        values = dotenv_values(FILE, interpolate=False, encoding="utf-8-sig") if FILE.is_file() else {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"{FILE.absolute()}: cannot be read ({type(error).__name__}): save it as UTF-8") from None
    return {name: text for name, value in values.items() if (text := (value or "").strip())}


@contextmanager
def environment_with_file(provider: str) -> Iterator[None]:
    """Inside, the process has the keys of the `.env` that it lacks, for a provider's package that makes a model."""
    taken = {
        name: text
        for name, text in variables_of_file().items()
        if CREDENTIAL.search(name) and not _NEVER.match(name) and not os.environ.get(name)
    }
    if os.environ.get(KEY) == NO_KEY:  # nothing is called
        word = {"mistralai": "mistral"}.get(provider, provider).upper()
        taken |= dict.fromkeys((f"{word}_API_KEY", f"{word.partition('_')[0]}_API_KEY"), NO_KEY)
    for text in taken.values():
        keep_secret(SecretStr(text))
    with variables(dict(taken)):
        keep_environment_secrets()
        yield


@contextmanager
def without_calls() -> Iterator[None]:
    """Inside, no model is called, as all replies are kept: placeholders stand in the place of keys, also of others'."""
    keep_environment_secrets()
    with variables({KEY: NO_KEY}):
        yield


def is_loopback(address: str) -> bool:
    """Whether an address leads to this machine: 127.0.0.0/8, ::1 or localhost."""
    return bool(re.fullmatch(r"localhost|127(?:\.\d{1,3}){3}|::1", _host(address) or _host(f"//{address}")))


def _host(address: str, schemes: tuple[str, ...] = ("http", "https", "")) -> str:
    try:
        parts = urlsplit(address)
        is_whole = parts.scheme in schemes and parts.port != 0 and not re.search(r"[\s\\?#]", address)
        return (parts.hostname or "") if is_whole else ""
    except ValueError:
        return ""
