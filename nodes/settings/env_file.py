"""The `.env` of the working folder: read safely, and what of it may be used.

A checkout of another person's code may bring a `.env` along. So an address in it never gets a key of the process.
Settings that redirect connections, name files or switch on tracing are not used at all, unless the file is trusted.
"""

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from dotenv import dotenv_values
from dotenv.variables import Variable, parse_variables

from ...errors import SettingError

TRUST = "DUOLOGUE_TRUST_ENV_FILE"
"""Variable of the process, never of the file, with which the file is trusted; processes that are started inherit it."""
OPTION = "--trust-env-file"
FILE = Path(".env")
LARGEST = 64 * 1024
"""Most bytes of the file."""

CREDENTIAL = re.compile(r"(?i)(?:API|ACCESS|AUTH|SESSION|BEARER|HUB|SECRET|HF)_?(?:KEY|TOKEN)(?!_ID)|PASSWORD|SECRET$")
"""Names of variables that hold credentials: `ANTHROPIC_API_KEY`, `AWS_SECRET_ACCESS_KEY`, `HF_HUB_TOKEN`, ..."""
_ADDRESS = re.compile(r"URL|URI|ENDPOINT|HOST|BASE|SERVER|GATEWAY|DOMAIN")
_NEVER = re.compile(r"(?i)\w*PROXY\w*|(?:LANGSMITH|LANGCHAIN|LANGGRAPH|LANGFUSE|OTEL|DUOLOGUE)_\w*")
_FILE_NAME = re.compile(r"(?i)FILE|PATH|DIR|BUNDLE|CREDENTIALS|CERT|CONFIG|EXECUTABLES?|PROFILE")
_HARMLESS = re.compile(r"[\w.@ -]{1,200}")
"""Values that are a name, a number or a version, and so neither address nor path."""
_NAMESPACES: Mapping[str, tuple[str, ...]] = {
    "anthropic_bedrock": ("AWS", "BEDROCK"),
    "azure_ai": ("AZURE",),
    "azure_openai": ("AZURE", "OPENAI"),
    "bedrock": ("AWS", "BEDROCK"),
    "bedrock_converse": ("AWS", "BEDROCK"),
    "cohere": ("COHERE", "CO"),
    "google_anthropic_vertex": ("GOOGLE", "ANTHROPIC"),
    "google_genai": ("GOOGLE", "GEMINI"),
    "google_vertexai": ("GOOGLE", "VERTEX"),
    "huggingface": ("HUGGINGFACE", "HUGGINGFACEHUB", "HF"),
    "ibm": ("IBM", "WATSONX", "WATSON"),
    "mistralai": ("MISTRAL",),
    "perplexity": ("PERPLEXITY", "PPLX"),
}
"""First words of a provider's variables, where they are not the first word of its name."""


def keys_of(provider: str) -> list[str]:
    """Names of the variables from which a provider's package may read its key.

    >>> keys_of("mistralai"), keys_of("openai")
    (['MISTRALAI_API_KEY', 'MISTRAL_API_KEY'], ['OPENAI_API_KEY'])
    """
    words = (provider.upper(), *_NAMESPACES.get(provider, ()))
    return list(dict.fromkeys(f"{word}_API_KEY" for word in words))


@dataclass(frozen=True)
class EnvFile:
    """The variables of the file."""

    values: Mapping[str, str] = field(default_factory=dict)
    foreign: frozenset[str] = frozenset()
    """Those that quote a variable of the process, as in `${HOME}`; they are used only if the file is trusted."""
    trusted: bool = False

    def for_provider(self, provider: str, process: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
        """The variables that a provider's package may see, and those to hide from it.

        The first are additions of the file to the process, the second are variables of the process. No key of the
        process is ever seen together with an address of the file.

        SettingError if an address of the file would get a key of the process.
        """
        additions = {name: value for name, value in self.values.items() if name not in process}
        if self.trusted:
            return additions, []
        names = _NAMESPACES.get(provider, (provider.partition("_")[0].upper(),))
        own = {name: value for name, value in additions.items() if name.partition("_")[0].upper() in names}
        addresses = {name: value for name, value in own.items() if _is_address(name, value)}
        abroad = {name: value for name, value in addresses.items() if not is_loopback(value)}
        used = {
            name: value for name, value in additions.items() if CREDENTIAL.search(name) or _is_harmless(name, value)
        }
        used = {name: value for name, value in used.items() if name in own or CREDENTIAL.search(name)}
        used |= {name: value for name, value in addresses.items() if name not in abroad}
        used = {name: value for name, value in used.items() if name not in self.foreign and not _NEVER.fullmatch(name)}
        if not abroad:
            return used, []
        address = next(iter(abroad))
        of_process = [name for name in process if CREDENTIAL.search(name) and process[name].strip()]
        hidden = [name for name in of_process if self.values.get(name) != process[name].strip()]
        if keys := [name for name in hidden if name.partition("_")[0].upper() in names]:
            raise SettingError(refusal(address, f"the {keys[0]} of the environment"))
        in_file = [name for name in self.values if CREDENTIAL.search(name) and name.partition("_")[0].upper() in names]
        if not in_file and provider != "ollama":  # whose server wants no key
            raise SettingError(refusal(address, "a key that is not of the same file"))
        return used | {name: value for name, value in abroad.items() if name not in self.foreign}, hidden

    def unused(self) -> list[str]:
        """Names of variables that are never used unless the file is trusted."""
        return [] if self.trusted else [name for name in self.values if _NEVER.fullmatch(name) or name in self.foreign]


def refusal(address: str, key: str) -> str:
    """The line that refuses an address of the file."""
    return (
        f"{FILE.absolute()}: its {address} would get {key}: put the key into the same file, unset one of the two, or give "
        f"{OPTION} if the file is yours"
    )


def read(process: Mapping[str, str]) -> EnvFile:
    """The `.env` of the working folder; empty if it is missing or a folder.

    SettingError if it cannot be used.
    """
    trusted = process.get(TRUST, "").strip().lower() in ("1", "true", "yes")
    text = _text(trusted)
    if text is None:
        return EnvFile(trusted=trusted)
    values: dict[str, str] = {}
    foreign: set[str] = set()
    for name, value in dotenv_values(stream=StringIO(text), interpolate=False).items():
        parts = list(parse_variables(value or ""))
        if any(isinstance(part, Variable) and part.name not in values for part in parts):
            foreign.add(name)
        variables = dict(process) | values if trusted else values
        values[name] = "".join(part.resolve(variables) for part in parts).strip()
    return EnvFile({name: value for name, value in values.items() if value}, frozenset(foreign) & set(values), trusted)


def _text(trusted: bool) -> str | None:
    try:
        kind = FILE.lstat().st_mode
        if stat.S_ISDIR(kind):
            return None  # a virtual environment may have this name
        if stat.S_ISLNK(kind) and not trusted:
            raise SettingError(
                f"{FILE.absolute()}: is a link, and only a file of the working folder itself is read: copy it here, or give {OPTION}"
            )
        # A named pipe would wait for a writer; a link may take the file's place in between.
        flags = getattr(os, "O_NONBLOCK", 0) | (0 if trusted else getattr(os, "O_NOFOLLOW", 0))
        with open(os.open(FILE, os.O_RDONLY | flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SettingError(
                    f"{FILE.absolute()}: is not an ordinary file: remove it, or write the variables into a file"
                )
            content = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingError(f"{FILE.absolute()}: cannot be read ({error.strerror}): mend or remove it") from None
    if len(content) > LARGEST:
        raise SettingError(f"{FILE.absolute()}: is larger than {LARGEST // 1024} KiB: keep only variables in it")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SettingError(f"{FILE.absolute()}: is not UTF-8: save it as UTF-8") from None


def is_loopback(address: str) -> bool:
    """Whether an address leads to this machine: 127.0.0.0/8, ::1 or localhost."""
    if re.search(r"[\\\s\x00-\x1f]", address):
        return False
    try:
        host = urlsplit(address if "://" in address else f"//{address}").hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(name: str, value: str) -> bool:
    return "://" in value or (not CREDENTIAL.search(name) and bool(_ADDRESS.search(name.upper())))


def _is_harmless(name: str, value: str) -> bool:
    return not _is_address(name, value) and bool(_HARMLESS.fullmatch(value)) and not _FILE_NAME.search(name)
