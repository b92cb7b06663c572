"""Settings from environment variables and the `.env` of the working folder, which is never written.

Variables of the process come before those of the file, also if their names differ."""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from ...data.settings.tracing import change, requested, switched_off
from ...errors import SettingError
from ..context_values import during
from . import env_file
from .redaction import KEY, NO_KEY, host_of, keep_environment_secrets, keep_secret, keep_url_secrets

BASE_URL = "OPENAI_BASE_URL"
DEFAULT_BASE_URL = "https://api.openai.com/v1"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EnvironmentSettings:
    """The endpoint's URL and key."""

    key: SecretStr | None
    base_url: str

    def __repr__(self) -> str:
        return f"EnvironmentSettings(key={self.key!r}, host={self.host!r})"

    @property
    def host(self) -> str:
        """Host and port of the endpoint, without credentials."""
        return host_of(self.base_url)


_without_calls: ContextVar[bool] = ContextVar("duologue_without_calls", default=False)


def without_calls() -> AbstractContextManager[bool]:
    """Inside, no model is called, as all replies are kept ones: models are made without a key."""
    return during(_without_calls, True)


@contextmanager
def _variables(changed: Mapping[str, str | None]) -> Iterator[None]:
    """Inside, the process has these variables, and none of those whose value is None."""
    before = {name: os.environ.get(name) for name in changed}
    change(os.environ, changed)
    try:
        yield
    finally:
        change(os.environ, before)


def with_placeholders(provider: str) -> AbstractContextManager[None]:
    """Inside, the process has a placeholder for each missing key of the provider.

    For packages that refuse to make a model without a key, although it is not called.
    """
    return _variables({name: NO_KEY for name in env_file.keys_of(provider) if not os.environ.get(name)})


def settings() -> EnvironmentSettings:
    """The current settings, of the process and the `.env` of the working folder.

    SettingError if the address is invalid, or is the file's and would get the key of the process (`trust`).
    """
    if _without_calls.get():
        return EnvironmentSettings(SecretStr(NO_KEY), DEFAULT_BASE_URL)
    file = env_file.read(os.environ)
    process = {name: text for name in (KEY, BASE_URL) if (text := os.environ.get(name, "").strip())}
    key = process.get(KEY) or file.values.get(KEY, "")
    if key:
        keep_secret(SecretStr(key))
    address = process.get(BASE_URL, "")
    if not address:
        if key and BASE_URL in os.environ:  # as a script leaves it that found no address: the key must not go elsewhere
            raise SettingError(
                f"{BASE_URL} is set and empty: write the address, or unset it to call {DEFAULT_BASE_URL}"
            )
        address = file.values.get(BASE_URL, "")
        of_file = key == file.values.get(KEY) or not key
        if address and not file.trusted and not of_file and not env_file.is_loopback(address):
            raise SettingError(env_file.refusal(BASE_URL, f"the {KEY} of the environment"))
    for used in (BASE_URL, KEY) if address else (KEY,):
        if used in file.foreign and used not in process and not file.trusted:
            raise SettingError(
                f"{env_file.FILE.absolute()}: its {used} quotes a variable of the environment: write the value itself, or give "
                f"{env_file.OPTION} if the file is yours"
            )
    keep_url_secrets(address)
    if address:
        _check_address(address, BASE_URL if BASE_URL in process else f"{BASE_URL} of {env_file.FILE.absolute()}")
    return EnvironmentSettings(SecretStr(key) if key else None, address or DEFAULT_BASE_URL)


def _check_address(address: str, name: str) -> None:
    """SettingError if nothing can be called at an address; it is not quoted, since it may contain credentials."""
    no_address = f"{name} is not an address: write http://HOST:PORT/v1 or https://HOST/v1"
    if not address.lower().startswith(("http://", "https://")):
        raise SettingError(f"{name} must begin with http:// or https://, and now points to {host_of(address)}: mend it")
    if "\\" in address or not address.isprintable() or " " in address:
        raise SettingError(no_address)
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
        if ":" in host:
            ip_address(host)
        elif not host or not host.encode("idna"):
            raise SettingError(no_address)
    except ValueError:
        raise SettingError(no_address) from None
    for mark, part in (("?", "a query"), ("#", "a fragment")):
        if mark in address:
            raise SettingError(
                f"{name} has {part}, which begins with {mark!r}: leave it out, as calls add a path at the end"
            )


def settings_notes() -> list[str]:
    """What of the `.env` is not used, and why: lines for people."""
    try:
        unused = env_file.read(os.environ).unused()
    except SettingError as error:
        return [str(error)]
    if not unused:
        return []
    return [
        f"{env_file.FILE.absolute()}: {', '.join(unused)} not used: export what you need, or give {env_file.OPTION}"
    ]


def connections() -> dict[str, str]:
    """Variables of the process that lead connections elsewhere or change whom they trust, without credentials."""
    notes = {}
    for name in sorted(os.environ):
        value = os.environ[name].strip()
        if value and name.upper() in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            notes[name] = f"calls may go through {host_of(value)}"
        elif value and name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"):
            notes[name] = "certificates of your own are trusted"
        elif value and name == "LANGSMITH_GATEWAY" and value.lower() not in ("0", "false", "no", "off"):
            notes[name] = "models of some providers, but not openai:NAME, are called through LangSmith's gateway"
    return notes


def trust(enabled: bool = True) -> AbstractContextManager[None]:
    """Inside, the `.env` of the working folder is trusted as the process, if `enabled`; for `--trust-env-file`."""
    return _variables({env_file.TRUST: "1"} if enabled else {})


@contextmanager
def environment_with_file(provider: str) -> Iterator[None]:
    """Inside, the process has the variables of the `.env` file that it does not have itself and `provider` may see.

    For packages that read their key from the environment when a model is made. SettingError if an address of the file
    would get a key of the process.
    """
    added, hidden = env_file.read(os.environ).for_provider(provider, os.environ)
    keep_environment_secrets()
    with ExitStack() as inside:
        inside.enter_context(_variables(dict.fromkeys(hidden) | added))
        if _without_calls.get():
            inside.enter_context(with_placeholders(provider))
        yield


def job_summary() -> Path | None:
    """The file to which the steps of a job on GitHub append their summaries; None elsewhere."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    return Path(file) if file else None


def is_traced() -> bool:
    """Whether the environment of this process has runs traced."""
    return bool(requested(os.environ))


def traced() -> list[str]:
    """Where the environment of this process has runs traced to, a line each; also logged as a warning."""
    lines = [
        f"{tracing.variable} is set: traces of this run go to {tracing.host}, prompts, sections and replies whole"
        for tracing in requested(os.environ)
    ]
    for line in lines:
        log.warning(line)
    return lines


@contextmanager
def untraced(enabled: bool = True) -> Iterator[None]:
    """Inside, nothing in this process is traced, if `enabled`, also against its variables.

    Otherwise all traces have been sent at the end.
    """
    if not enabled:
        try:
            yield
        finally:
            if is_traced():
                from langchain_core.tracers.langchain import wait_for_all_tracers

                wait_for_all_tracers()  # the last traces are sent by a thread
        return
    from langsmith import tracing_context

    with _variables(switched_off(os.environ)), tracing_context(enabled=False, parent=False):
        yield
