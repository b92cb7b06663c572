"""Chat models by a short name: `openai:NAME`, `offline`, `PROVIDER:NAME`, or any LangChain chat model instance."""

import json
import re
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any
from urllib.parse import parse_qsl

from langchain_core.language_models import BaseChatModel
from pydantic import Field, SecretStr, TypeAdapter, ValidationError

from ...errors import DuologueError, ModelError, SettingError
from ..settings.environment import environment_with_file, settings
from ..settings.import_path import is_import_path, lies_here
from ..settings.redaction import KEY, error_line, host_of, keep_secret, keep_url_secrets, redacted
from .offline.model import SIDES, OfflineChatModel

OR_OFFLINE = "or use the model 'offline', which needs none"
"""Advice for a missing key, unless the offline model cannot replace the model."""
PROVIDERS = ("openai", "langchain_openai", "offline", "replay", "people", "agent")
"""Prefixes of specs, before the colon, that are never an import path."""
_FORMS = (
    "'openai:NAME', 'offline', 'PROVIDER:NAME' as for LangChain's init_chat_model (anthropic, ollama, google_genai, ...), "
    "or 'replay:FILE' and 'people:FILE' for a user or an assistant; arguments as ?temperature=0.5&..."
)
_ELSEWHERE = r"(?i)api_?key|base_url|api_base|header|query|proxy|client"
"""Names of arguments that contain the endpoint's address or credentials; `_OF_OTHERS`: the same of other providers."""
_SECRET = r"(?i)key|token(?!s)|secret|password|authorization|header|organization"
_OF_OTHERS = rf"{_ELSEWHERE}|url|endpoint|host|{_SECRET[4:]}"
_NO_FIELDS = frozenset(
    "model model_name messages max_retries request_timeout use_responses_api streaming stream stream_usage model_kwargs "
    "extra_body output_version include_response_headers".split()
)
"""Arguments of `ChatOpenAI`, or of a call, that are no fields to add to a request."""
_URLS = ("openai_api_base", "azure_endpoint", "anthropic_api_url", "base_url", "endpoint", "endpoint_url")
"""Fields in which chat models keep the address of their endpoint."""
_WITH_QUERY = re.compile(r"[\w-]+:\S*\?\S*|offline\?\S*")
_PACE = TypeAdapter(dict[str, Annotated[float, Field(gt=0, strict=True)]])


def chat_model(spec: str | BaseChatModel, *, side: str | None = None, **arguments: Any) -> BaseChatModel:
    """The chat model of a model identifier; an instance is returned unchanged.

    Args:
        spec: `openai:NAME[?temperature=0.5&...]` is a model at the endpoint of the environment or a `.env`, whose
            arguments go into each request as they are, but for `timeout` (seconds) and the rates `rpm` and `tpm`
            (requests and tokens a minute). `langchain_openai:NAME` is `ChatOpenAI` at the same endpoint,
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
        _keep_secrets_of(spec)
        return spec if side is None else _with_side(spec, side)
    if not isinstance(spec, str):
        raise ModelError(f"model {spec!r} is neither a model identifier nor a LangChain chat model: use {_FORMS}")
    provider, name, given = parse_spec(spec)
    head = head_of(spec)
    if shown := [use for use in ("like", "rewrite") if use in given]:
        raise ModelError(f"model {head!r}: {shown[0]} makes a user of it: give this identifier as the user of a cast")
    if provider in ("replay", "people"):
        raise ModelError(f"model {head!r} replays stored messages and is not a chat model: give it to a cast")
    if not name and (provider != "offline" or ":" in spec):
        problem = f"has no name: write {provider}:NAME" if ":" in head else f"is unknown: use {_FORMS}"
        raise ModelError(f"model {head!r} {problem}")
    provider = provider.replace("-", "_")
    given |= arguments
    try:
        pace = _PACE.validate_python({unit: given.pop(unit) for unit in ("rpm", "tpm") if unit in given})
        model = _created(provider, name, given)
    except DuologueError as error:
        raise ModelError(f"model {head!r}: {error}" if isinstance(error, ModelError) else str(error)) from None
    except ValidationError as error:  # without the values, which may be anything
        wrong = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_input=False)]
        raise ModelError(f"model {head!r}: {redacted('; '.join(wrong[:3]))}") from None
    except Exception as error:  # whatever an integration raises at its creation, such as for a missing key
        line = error_line(error)
        if isinstance(error, ModuleNotFoundError) and (package := str(error.name).partition(".")[0]) in _PACKAGES:
            line = f"install {_PACKAGES[package]}"
        if is_import_path(head) and find_spec(provider) is None:
            line = f"No module named {provider!r}, and as a provider of models: {line}"
        raise ModelError(f"model {head!r}: {line}") from None
    _keep_secrets_of(model)
    model.metadata = {"spec": f"{provider}:{name}" if name else provider, "arguments": without_secrets(given)}
    model.metadata |= {"pace": pace} if pace else {}
    return model if side is None else _with_side(model, side)


_PACKAGES = {"langchain": "langchain and the provider's package", "langchain_openai": "langchain-openai"}


def _created(provider: str, name: str, arguments: dict[str, Any]) -> BaseChatModel:
    """The model of a provider; any error of its making."""
    if provider == "offline":
        return OfflineChatModel(**arguments)
    is_openai = provider in ("openai", "langchain_openai")
    if found := next((key for key in arguments if re.search(_ELSEWHERE if is_openai else _OF_OTHERS, key)), None):
        raise ModelError(f"{redacted(found)} is read from the environment, never from a model identifier")
    model: BaseChatModel
    if not is_openai:
        with environment_with_file(provider):
            init_chat_model: Any = import_module("langchain.chat_models").init_chat_model
            model = init_chat_model(name, model_provider=provider, **arguments)
        return model
    key, base_url = settings()
    if key is None:
        raise SettingError(f"{KEY} is not set: export it, write it to .env, {OR_OFFLINE}")
    about: Any = {"api_key": key, "base_url": base_url}  # so that no other variable redirects a call
    if provider == "langchain_openai":
        about |= {"timeout": 120, "max_retries": 0, "openai_proxy": None, **arguments}
        chat_openai: Any = import_module("langchain_openai").ChatOpenAI
        model = chat_openai(model=name, **about)
        return model
    if odd := sorted(_NO_FIELDS & set(arguments)):
        raise ModelError(f"{odd[0]} is no field of a request: langchain_openai:{name} may take it")
    from .openai import OpenAIModel  # on use, as its packages take long

    about |= {field: arguments[field] for field in ("timeout", "seed", "profile") if field in arguments}
    fields = {field: value for field, value in arguments.items() if field not in about}
    return OpenAIModel(model_name=name, arguments=fields, **about)


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


def query_of(spec: str) -> dict[str, Any]:
    """The arguments of a spec; none where they are unclear."""
    try:
        return parse_spec(spec)[2]
    except ModelError:
        return {}


def head_of(spec: str) -> str:
    """A spec without its arguments, which may be credentials, for an error's line."""
    return redacted(spec.strip().partition("?")[0])


def _with_side(model: BaseChatModel, side: str) -> BaseChatModel:
    """A copy with this side of an offline model that has none; any other model unchanged."""
    if side not in SIDES:
        raise ModelError(f"model 'offline' has no side {side!r}; there are {', '.join(SIDES)}")
    if isinstance(model, OfflineChatModel) and model.side is None:
        return model.model_copy(update={"side": side})
    return model


def _keep_secrets_of(model: BaseChatModel) -> None:
    for name in type(model).model_fields:
        value = getattr(model, name, None)
        if isinstance(value, SecretStr):
            keep_secret(value)
        elif name in _URLS and isinstance(value, str):
            keep_url_secrets(value)


def names_model(spec: str) -> bool:
    """Whether a text of the form `PREFIX:NAME` is a model's spec and not an import path.

    An object of a file in the working folder comes before a provider of its name, and a provider whose LangChain package
    is installed before another installed module, such as its client.
    """
    prefix = spec.partition(":")[0].partition("?")[0]
    if prefix in PROVIDERS or not is_import_path(spec):
        return True
    if "." in prefix or lies_here(spec):
        return False
    return find_spec(f"langchain_{prefix}") is not None or find_spec(prefix) is None


def takes_seed(model: BaseChatModel) -> bool:
    """Whether a call's seed can be passed to the model, by an unset field for a seed."""
    return _seed_field(model) is not None


def seeded(model: BaseChatModel, seed: int) -> tuple[BaseChatModel, dict[str, int]]:
    """The model to call with this seed, and the arguments of the call; both without it where impossible.

    OpenAI's models, and models of one's own, read the argument `seed` of the call. Other integrations read their own
    field, and some refuse an argument that they do not have. These are called as a copy with the field set.
    """
    field = _seed_field(model)
    if field is None:
        return model, {}
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    if "langchain_openai" not in packages and type(model).__module__.startswith("langchain_"):
        return model.model_copy(update={field: seed}), {}
    return model, {field: seed}


def _seed_field(model: BaseChatModel) -> str | None:
    names = (name for name in ("seed", "random_seed") if name in type(model).model_fields)
    return next((name for name in names if getattr(model, name, None) is None), None)


def model_provenance(model: BaseChatModel) -> dict[str, Any]:
    """What a model is, for the record, without secrets: spec and arguments, or of an instance its class and settings.

    Those of an instance are the name of its model and the temperature, as far as it has them, beside the endpoint's host.
    """
    metadata = model.metadata or {}
    if "spec" in metadata:
        return {"spec": metadata["spec"], "arguments": metadata["arguments"]}
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    own = {"model": name if isinstance(name, str) else None, "temperature": getattr(model, "temperature", None)}
    host = {"host": host} if (host := endpoint_host(model)) else {}
    return {"class": type(model).__name__, "arguments": {k: v for k, v in own.items() if v is not None}, **host}


def endpoint_host(model: BaseChatModel) -> str | None:
    """Host and port of the model's endpoint; None if they are unknown."""
    url = endpoint_url(model)
    return host_of(url) if url else None


def endpoint_url(model: BaseChatModel) -> str | None:
    """Address of the model's endpoint, which may contain credentials; None if it is unknown."""
    urls = (getattr(model, name, None) for name in _URLS if name in type(model).model_fields)
    return next((url for url in urls if isinstance(url, str) and url), None)


def recordable(text: str) -> str:
    """A spec, or any other text, without credentials, for records."""
    if _WITH_QUERY.fullmatch(text):
        query = "&".join(f"{name}={without_secrets(value, name)}" for name, value in query_of(text).items())
        text = f"{text.partition('?')[0]}?{query}"
    return redacted(text)


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
    return recordable(value) if isinstance(value, str) else value
