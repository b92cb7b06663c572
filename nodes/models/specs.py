"""Chat models by a short name: `openai:NAME`, `offline`, `PROVIDER:NAME`, or any LangChain chat model instance."""

import json
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qsl

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr, ValidationError

from ...errors import ModelError
from ..settings.environment import settings
from ..settings.import_path import is_import_path, lies_here
from ..settings.redaction import KEY, host_of, keep_secret, keep_url_secrets, redacted
from .offline.model import SIDES, OfflineChatModel
from .providers import FORMS, INTEGRATIONS, integrated, provider_of

OR_OFFLINE = "or use the model 'offline', which needs none"
"""Advice for a missing key, unless the offline model cannot replace the model."""

PROVIDERS = ("openai", "offline", "replay", "people", "agent")
"""Prefixes of specs, before the colon, that are never an import path."""

_NOT_IN_SPECS = ("api_key", "base_url", "api_base", "header", "query", "proxy", "client")
"""Words in the names of arguments that contain the endpoint's address or credentials."""
_OPEN = ("conversation_header",)
"""Names of arguments that contain such a word, and no credentials."""
_OF_A_USER = ("like", "rewrite")
"""Arguments of a spec that are not the model's: with people's turns it writes the user of a cast (`nodes.people`)."""
_ADDRESSES = ("url", "endpoint", "host")
"""Further words for addresses, in the arguments of other providers."""
_URLS = ("openai_api_base", "azure_endpoint", "anthropic_api_url", "base_url", "endpoint", "endpoint_url")
"""Fields in which chat models keep the address of their endpoint."""
_SECRET = ("key", "token", "secret", "password", "authorization", "header", "organization")


def chat_model(spec: str | BaseChatModel, *, side: str | None = None, **arguments: Any) -> BaseChatModel:
    """The chat model of a model identifier; an instance is returned unchanged.

    Args:
        spec: `openai:NAME[?temperature=0.5&...]` is langchain-openai with key and base URL from the environment or a
            `.env`. `offline[?paraphrase=0.2&...]` is the embedded rule-based baseline. `PROVIDER:NAME[?...]` is a
            provider of LangChain's `init_chat_model` whose package is installed, with the key from where that reads it
            (`providers`).
        side: The role of an offline model that has none yet; other models ignore it.
        arguments: Override those of the identifier.

    Returns:
        The chat model.

    Raises:
        ModelError: The identifier is wrong.
    """
    if isinstance(spec, BaseChatModel):
        if arguments:
            raise ModelError("arguments belong to a model identifier: give an instance that has them already")
        _keep_secrets_of(spec)
        return spec if side is None else _with_side(spec, side)
    if not isinstance(spec, str):
        raise ModelError(f"model {spec!r} is neither a model identifier nor a LangChain chat model: use {FORMS}")
    provider, name, spec_arguments = parse_spec(spec)
    if shown := [use for use in _OF_A_USER if use in spec_arguments]:
        raise ModelError(
            f"model {head_of(spec)!r}: {shown[0]} makes a user of it: give this identifier as the user of a cast"
        )
    all_arguments = spec_arguments | arguments
    if provider == "offline" and not name:
        model = _offline(all_arguments)
    elif provider == "openai":
        model = _openai(name, all_arguments)
    elif provider in ("replay", "people"):
        raise ModelError(f"model {head_of(spec)!r} replays stored messages and is not a chat model: give it to a cast")
    elif ":" in spec and ((known_provider := provider_of(spec)) or _langchain_knows(provider)):
        model = _integrated(known_provider or provider, name, all_arguments)
    else:
        raise ModelError(f"model {head_of(spec)!r} is unknown: use {FORMS}")
    model.metadata = {"spec": f"{provider}:{name}" if name else provider, "arguments": without_secrets(all_arguments)}
    return model if side is None else _with_side(model, side)


def parse_spec(spec: str) -> tuple[str, str, dict[str, Any]]:
    """Provider, name and arguments of a spec.

    >>> parse_spec("openai:gpt-4.1-mini?temperature=0.5")
    ('openai', 'gpt-4.1-mini', {'temperature': 0.5})
    """
    head, _, query = spec.strip().partition("?")
    provider, _, name = head.partition(":")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise ModelError(f"model {head_of(spec)!r}: its arguments are unclear: write ?name=value&name=value") from None
    return provider, name, {key: _value(value) for key, value in pairs}


def query_of(spec: str) -> dict[str, Any]:
    """The arguments of a spec; none where they are unclear."""
    try:
        return parse_spec(spec)[2]
    except ModelError:
        return {}


def head_of(spec: str) -> str:
    """A spec without its arguments, which may be credentials, for an error's line."""
    return redacted(spec.partition("?")[0])


def _value(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except ValueError:
        return text


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def _offline(arguments: dict[str, Any]) -> BaseChatModel:
    names = set(OfflineChatModel.model_fields) - set(BaseChatModel.model_fields) - {"side"}
    _refuse_unknown("offline", arguments, names)
    for name, value in arguments.items():
        whole = name == "seed"
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            raise ModelError(
                f"model 'offline': {name} must be a {'whole ' if whole else ''}number, not {redacted(repr(value))}"
            )
        if not whole and not 0 <= value <= 1:
            raise ModelError(f"model 'offline': {name} is a rate and must lie between 0 and 1, not {value}")
    return OfflineChatModel(**arguments)


def _with_side(model: BaseChatModel, side: str) -> BaseChatModel:
    """A copy with this side of an offline model that has none; any other model unchanged."""
    if side not in SIDES:
        raise ModelError(f"model 'offline' has no side {side!r}; there are {', '.join(SIDES)}")
    if isinstance(model, OfflineChatModel) and model.side is None:
        return model.model_copy(update={"side": side})
    return model


def _openai(name: str, arguments: dict[str, Any]) -> BaseChatModel:
    if not name:
        raise ModelError("model 'openai:' has no name: write openai:NAME, such as openai:gpt-4.1-mini")
    try:
        api_key, base_url = settings()
    except ValueError as error:
        raise ModelError(str(error)) from None
    if api_key is None:
        raise ModelError(f"{KEY} is not set: export it, write it to .env, {OR_OFFLINE}")
    from .endpoint import EndpointModel  # imported on use, because the import takes seconds

    for key in arguments:
        if key not in _OPEN and any(word in key.lower() for word in _NOT_IN_SPECS):
            raise ModelError(
                f"model 'openai:{name}': {key} is read from the environment, never from a model identifier"
            )
    aliases = {key: field.alias for key, field in EndpointModel.model_fields.items() if field.alias}
    _refuse_unknown(f"openai:{name}", arguments, set(EndpointModel.model_fields) | set(aliases.values()))
    arguments = {aliases.get(key, key): value for key, value in arguments.items()}
    timeout, retries = arguments.get("timeout", 120), arguments.pop("max_retries", 0)
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
        raise ModelError(
            f"model 'openai:{name}': timeout must be a number of seconds above 0, not {redacted(repr(timeout))}"
        )
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        raise ModelError(
            f"model 'openai:{name}': max_retries must be a whole number from 0, not {redacted(repr(retries))}"
        )
    # The run decides how often a call is retried: it reads `max_retries` in the model's metadata.
    with_defaults = {"timeout": timeout, "use_responses_api": False} | arguments
    try:
        # Passed explicitly, so that environment variables cannot redirect the calls.
        return EndpointModel.of(
            model=name,
            api_key=api_key,
            base_url=base_url,
            openai_proxy=None,
            **with_defaults,
        )
    except ValidationError as error:  # without the values, which may be anything
        wrong = [
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors(include_input=False)
        ]
        raise ModelError(f"model 'openai:{name}': {redacted('; '.join(wrong[:3]))}") from None
    except (TypeError, ValueError) as error:
        first = redacted(str(error)).strip().splitlines()
        raise ModelError(f"model 'openai:{name}': {'; '.join(line.strip() for line in first[:3])}") from None


def _integrated(provider: str, name: str, arguments: dict[str, Any]) -> BaseChatModel:
    for key in arguments:
        words = [word for word in (*_NOT_IN_SPECS, *_ADDRESSES, *_SECRET) if word in key.lower()]
        if words and not (words == ["token"] and "tokens" in key.lower()):
            raise ModelError(
                f"model '{provider}:{name}': {redacted(key)} is read from the environment by its package, never from a model identifier"
            )
    model = integrated(provider, name, arguments)
    names = {*type(model).model_fields, *(field.alias for field in type(model).model_fields.values() if field.alias)}
    if provider in INTEGRATIONS and INTEGRATIONS[provider].maker is None:
        _refuse_unknown(f"{provider}:{name}", arguments, names)
    _keep_secrets_of(model)
    return model


def _keep_secrets_of(model: BaseChatModel) -> None:
    for name in type(model).model_fields:
        value = getattr(model, name, None)
        if isinstance(value, SecretStr):
            keep_secret(value)
        elif name in _URLS and isinstance(value, str):
            keep_url_secrets(value)


def _langchain_knows(provider: str) -> bool:
    """Whether `init_chat_model` may have a provider that is not in our table: `langchain` may be newer."""
    return provider.isidentifier() and provider not in PROVIDERS and find_spec("langchain") is not None


def names_model(spec: str) -> bool:
    """Whether a text of the form `PREFIX:NAME` is a spec and not an import path.

    The prefix is ours or a provider's. A module of the working folder takes precedence over a provider of its name.
    """
    prefix = spec.partition(":")[0].partition("?")[0]
    if prefix in PROVIDERS:
        return True
    return provider_of(spec) is not None and not (is_import_path(spec) and lies_here(spec))


def _refuse_unknown(model: str, arguments: dict[str, Any], names: set[str]) -> None:
    unknown = sorted(set(arguments) - names)
    if unknown:
        known_names = (
            ", ".join(sorted(names))
            if len(names) < 30
            else "temperature, top_p, max_tokens, timeout, max_retries, seed, ..."
        )
        raise ModelError(f"model {model!r} has no argument {redacted(unknown[0])!r}; there are {known_names}")


def model_provenance(model: BaseChatModel) -> dict[str, Any]:
    """Spec and arguments of a model, or class and name of an instance, for the record, without secrets."""
    metadata = model.metadata or {}
    if "spec" in metadata:
        return {"spec": metadata["spec"], "arguments": metadata["arguments"]}
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    return {"class": type(model).__name__, "arguments": {"model": name} if isinstance(name, str) else {}}


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
    if "?" in text and (text.partition(":")[0].partition("?")[0] in PROVIDERS or provider_of(text)):
        query = "&".join(f"{name}={without_secrets(value, name)}" for name, value in query_of(text).items())
        text = f"{text.partition('?')[0]}?{query}"
    return redacted(text)


def without_secrets(value: Any, name: str = "") -> Any:
    """JSON values without those that are credentials by their name.

    `redacted` removes these from now on.
    """
    if isinstance(value, dict):
        return {key: without_secrets(inner, str(key)) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_secrets(inner, name) for inner in value]
    if value is None or isinstance(value, bool):
        return value
    if name not in _OPEN and any(word in name.lower() for word in _SECRET) and "tokens" not in name:
        keep_secret(SecretStr(str(value)))
        return "[secret]"
    return recordable(value) if isinstance(value, str) else value
