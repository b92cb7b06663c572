"""Chat models by a short name: `openai:NAME`, `offline`, `PROVIDER:NAME`, or any LangChain chat model instance."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, TypeGuard, cast
from urllib.parse import parse_qsl

from langchain_core.language_models import BaseChatModel
from pydantic import Field, SecretStr, TypeAdapter, ValidationError

from ...data.tracing import host_of
from ...errors import MissingExtraError, ModelError, SettingError, first_invalid
from ..settings.environment import environment_with_file, settings
from ..settings.redaction import KEY, error_line, keep_secret, keep_url_secrets, redacted
from .offline.model import SIDES, OfflineChatModel

OR_OFFLINE = "or use the model 'offline', which needs none"
"""Advice for a missing key, unless the offline model cannot replace the model."""
PROVIDERS = ("openai", "langchain_openai", "local", "offline", "replay", "people", "agent")
"""Prefixes of specs, before the colon, that are never an import path."""
REPLAY = "replay:"
_FORMS = (
    "'openai:NAME', 'local:PATH.gguf', 'offline', 'PROVIDER:NAME' as for LangChain's init_chat_model (anthropic, ollama, google_genai, ...), "
    "an agent of yours as MODULE:NAME, 'agent:URL', 'replay:FILE' or 'people:FILE'; arguments as ?temperature=0.5&..."
)
_ELSEWHERE = r"(?i)api_?key|base_url|api_base|header|query|proxy|client"
"""Names of arguments that contain the endpoint's address or credentials; `_OF_OTHERS`: the same of other providers."""
_SECRET = r"(?i)key|token(?!s)|secret|password|authorization|header|organization"
_OF_OTHERS = rf"{_ELSEWHERE}|url|endpoint|host|{_SECRET[4:]}"
_URLS = ("openai_api_base", "azure_endpoint", "anthropic_api_url", "base_url", "endpoint", "endpoint_url")
"""Fields in which chat models keep the address of their endpoint."""
_PACE = TypeAdapter(dict[str, Annotated[float, Field(gt=0, strict=True)]])


def chat_model(spec: str | BaseChatModel, *, side: str | None = None, **arguments: Any) -> BaseChatModel:
    """The chat model of a model identifier; an instance is returned unchanged.

    Args:
        spec: `openai:NAME[?temperature=0.5&...]` is a model at the endpoint of the environment or a `.env`, whose
            arguments go into each request as they are, but for `timeout` (seconds) and the rates `rpm` and `tpm`
            (requests and tokens a minute). `langchain_openai:NAME` is `ChatOpenAI` at the same endpoint,
            `local:PATH.gguf[?threads=1&context=4096&slots=2]` is a file that llama.cpp serves in this process,
            `PROVIDER:NAME` LangChain's `init_chat_model`, and `offline[?paraphrase=0.2&...]` the rule-based baseline.
        side: The role of an offline model that has none yet; other models ignore it.
        arguments: Override those of the identifier.

    Returns:
        The chat model, with `metadata` {"spec", "arguments", "pace"?} without secrets.

    Raises:
        ModelError: The identifier is wrong, the key or a package is missing.
    """
    if isinstance(spec, BaseChatModel):
        if arguments:
            raise ModelError("arguments belong to a model identifier: give an instance that has them already")
        return _prepared(spec, side)
    if not isinstance(spec, str):
        raise ModelError(f"model {spec!r} is neither a model identifier nor a LangChain chat model: use {_FORMS}")
    provider, name, given = parse_spec(spec)
    head, provider = head_of(spec), provider.replace("-", "_")
    if provider in ("replay", "people") or "like" in given:
        raise ModelError(f"model {head!r} is not a chat model but a speaker of people's messages: give it to a cast")
    if not name and (provider != "offline" or ":" in spec):
        problem = f"has no name: write {provider}:NAME" if ":" in head else f"is unknown: use {_FORMS}"
        raise ModelError(f"model {head!r} {problem}")
    given |= arguments
    try:
        pace = _PACE.validate_python({unit: given.pop(unit) for unit in ("rpm", "tpm") if unit in given})
        model = _created(provider, name, dict(given))
    except Exception as error:  # whatever an integration raises at its creation, such as for a missing key
        raise ModelError(_why_not(head, provider, error)) from None
    model.metadata = {"spec": f"{provider}:{name}" if name else provider, "arguments": without_secrets(given)}
    model.metadata |= {"pace": pace} if pace else {}
    return _prepared(model, side)


def _created(provider: str, name: str, arguments: dict[str, Any]) -> BaseChatModel:
    if provider == "offline":
        return OfflineChatModel(**arguments)
    if provider == "local":
        from .openai import local_model  # on use, as of `openai:`

        return local_model(name, arguments)
    is_openai = provider in ("openai", "langchain_openai")
    if found := next((key for key in arguments if re.search(_ELSEWHERE if is_openai else _OF_OTHERS, key)), None):
        raise ModelError(f"{redacted(found)} is read from the environment, never from a model identifier")
    if is_openai:
        key, base_url = settings()
        if key is None:
            raise SettingError(f"{KEY} is not set: export it, write it to .env, {OR_OFFLINE}")
        about: dict[str, Any] = {"api_key": key, "base_url": base_url}  # so that no other variable redirects a call
    if provider == "openai":
        from .openai import OpenAIModel  # on use, as its packages take long

        about |= {field: arguments.pop(field) for field in ("timeout", "seed") if field in arguments}
        return OpenAIModel(model_name=name, arguments=arguments, **about)
    if provider == "langchain_openai":
        about |= {"timeout": 120, "max_retries": 0, "openai_proxy": None} | arguments
        return cast(BaseChatModel, import_module("langchain_openai").ChatOpenAI(model=name, **about))
    with environment_with_file(provider):
        make = import_module("langchain.chat_models").init_chat_model
        return cast(BaseChatModel, make(name, model_provider=provider, **arguments))


def _why_not(head: str, provider: str, error: Exception) -> str:
    """The line for an error of a model's making, without the values of its arguments, which may be anything."""
    if isinstance(error, SettingError | MissingExtraError):  # of the environment, whichever model it is
        return str(error)
    why = str(error) if isinstance(error, ModelError) else error_line(error)
    if isinstance(error, ValidationError):
        first = first_invalid(error)
        why = redacted(f"{first.path}: {first.message}")
    elif isinstance(error, ModuleNotFoundError) and (missing := error.name or "").startswith("langchain"):
        why = f"install {missing.partition('.')[0].replace('_', '-')}"
    if is_import_path(head) and find_spec(provider.partition(".")[0]) is None:
        missing = f"No module named {provider!r} in {Path.cwd()}"
        why = missing if "Unsupported provider" in why else f"{missing}, and as a provider of models: {why}"
    return f"model {head!r}: {why}"


def parse_spec(spec: str) -> tuple[str, str, dict[str, Any]]:
    """Provider, name and arguments of a spec.

    >>> parse_spec("openai:gpt-4.1-mini?temperature=0.5")
    ('openai', 'gpt-4.1-mini', {'temperature': 0.5})
    """
    head, _, query = spec.strip().partition("?")
    provider, _, name = head.partition(":")
    try:
        arguments = {key: _value(value) for key, value in parse_qsl(query, True, strict_parsing=bool(query))}
    except ValueError:
        arguments = {"": None}
    if "" in arguments:
        raise ModelError(f"model {head_of(spec)!r}: its arguments are unclear: write ?name=value&name=value")
    return provider, name, arguments


def _value(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=str)  # NaN is no number of JSON
    except ValueError:
        return text


def use_of(spec: object) -> Literal["people", "like"] | None:
    """What a model identifier does with people's turns: they are sent as they are, or shown to a model as examples."""
    if not isinstance(spec, str):
        return None
    provider = spec.strip().partition(":")[0]
    if provider == "people":
        return "people"
    with suppress(ModelError):  # of unclear arguments, which are named where the model is made
        if "?" in spec and provider not in ("replay", "agent") and "like" in parse_spec(spec)[2]:
            return "like"
    return None


def replayed_path(spec: object) -> Path | None:
    """The path of a spec `replay:PATH`; None for any other spec."""
    return Path(spec.removeprefix(REPLAY)) if isinstance(spec, str) and spec.startswith(REPLAY) else None


def head_of(spec: str) -> str:
    """A spec without its arguments, which may be credentials, for an error's line."""
    return redacted(spec.strip().partition("?")[0])


def _prepared(model: BaseChatModel, side: str | None) -> BaseChatModel:
    if side not in (None, *SIDES):
        raise ModelError(f"model 'offline' has no side {side!r}; there are {', '.join(SIDES)}")
    for name in type(model).model_fields:
        value = getattr(model, name, None)
        if isinstance(value, SecretStr):
            keep_secret(value)
        elif name in _URLS and isinstance(value, str):
            keep_url_secrets(value)
    if isinstance(model, OfflineChatModel) and model.side is None and side is not None:
        return model.model_copy(update={"side": side})
    return model


def is_import_path(text: object) -> TypeGuard[str]:
    """Whether the text has the form `module:name`; both parts may be dotted names."""
    parts = text.split(":") if isinstance(text, str) else []
    return len(parts) == 2 and all(name.isidentifier() for part in parts for name in part.split("."))


def names_model(spec: str) -> bool:
    """Whether a text of the form `PREFIX:NAME` is a model's spec and not an import path.

    An object of a file in the working folder comes before a provider of its name, and a provider whose LangChain package
    is installed before another installed module, such as its client.
    """
    prefix = spec.partition(":")[0].partition("?")[0]
    if prefix in PROVIDERS or not is_import_path(spec):
        return True
    if "." in prefix or Path(f"{prefix}.py").is_file() or Path(prefix, "__init__.py").is_file():
        return False
    return find_spec(f"langchain_{prefix}") is not None or find_spec(prefix) is None


def takes_seed(model: BaseChatModel) -> str | None:
    """The unset field of the model by which a call's seed can be passed; None without one."""
    names = (name for name in ("seed", "random_seed") if name in type(model).model_fields)
    return next((name for name in names if getattr(model, name, None) is None), None)


def seeded(model: BaseChatModel, seed: int) -> tuple[BaseChatModel, dict[str, int]]:
    """The model to call with this seed, and the arguments of the call; both without it where impossible.

    OpenAI's models, and models of one's own, read the argument `seed` of the call. Other integrations read their own
    field, and some refuse an argument that they do not have. These are called as a copy with the field set.
    """
    field = takes_seed(model)
    if field is None:
        return model, {}
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    if "langchain_openai" not in packages and type(model).__module__.startswith("langchain_"):
        return model.model_copy(update={field: seed}), {}
    return model, {field: seed}


def model_provenance(model: BaseChatModel) -> dict[str, Any]:
    """What a model is, for the record, without secrets: spec and arguments, or of an instance its class and settings.

    Those of an instance are the name of its model and the temperature, as far as it has them, beside the endpoint's host.
    """
    metadata = model.metadata or {}
    if "spec" in metadata:
        told = {"spec": metadata["spec"], "arguments": metadata["arguments"]}
        bound = getattr(model, "max_tokens", None) if hasattr(model, "in_cast") else None  # set by its cast
        return told if bound is None else {**told, "max_tokens": bound}
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    own = {"model": name if isinstance(name, str) else None, "temperature": getattr(model, "temperature", None)}
    host = {"host": host} if (host := endpoint_host(model)) else {}
    return {"class": type(model).__name__, "arguments": {k: v for k, v in own.items() if v is not None}, **host}


def endpoint_host(model: BaseChatModel) -> str | None:
    """Host and port of the model's endpoint; None if they are unknown."""
    return host_of(url) if (url := endpoint_url(model)) else None


def endpoint_url(model: BaseChatModel) -> str | None:
    """Address of the model's endpoint, which may contain credentials; None if it is unknown."""
    urls = (getattr(model, name, None) for name in _URLS if name in type(model).model_fields)
    return next((url for url in urls if isinstance(url, str) and url), None)


def without_secrets(value: Any, name: str = "") -> Any:
    """JSON values without those that are credentials by their name, which `redacted` removes from now on."""
    if isinstance(value, Mapping):
        return {key: without_secrets(inner, str(key)) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_secrets(inner, name) for inner in value]
    if value is None or isinstance(value, bool):
        return value
    if re.search(_SECRET, name):
        keep_secret(SecretStr(str(value)))
        return "[secret]"
    return redacted(value) if isinstance(value, str) else value
