"""Chat models of other providers: `anthropic:NAME`, `ollama:NAME`, ... as LangChain's `init_chat_model` names them.

Each provider has an integration package, which is installed separately and imported when a model is made.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

from langchain_core.language_models import BaseChatModel

from ...errors import ModelError
from ..settings.environment import environment_with_file
from ..settings.redaction import error_line, keep_environment_secrets, redacted


@dataclass(frozen=True)
class Integration:
    """The place of a provider's chat model, and its parameter for the model's name."""

    module: str
    name: str
    """Name of the class in the module."""
    parameter: str = "model"
    """Its parameter for the model's name."""
    maker: str | None = None
    """The method of the class that creates an instance; None: the class itself."""

    @property
    def package(self) -> str:
        """The package to install, such as `langchain-anthropic`."""
        return self.module.partition(".")[0].replace("_", "-")

    @property
    def version(self) -> str | None:
        """The installed version; None if the package is not installed."""
        try:
            return metadata.version(self.package)
        except metadata.PackageNotFoundError:
            return None


INTEGRATIONS: Mapping[str, Integration] = MappingProxyType(
    {
        "anthropic": Integration("langchain_anthropic", "ChatAnthropic"),
        "anthropic_bedrock": Integration("langchain_aws", "ChatAnthropicBedrock"),
        "azure_ai": Integration("langchain_azure_ai.chat_models", "AzureAIChatCompletionsModel"),
        "azure_openai": Integration("langchain_openai", "AzureChatOpenAI"),
        "bedrock": Integration("langchain_aws", "ChatBedrock"),
        "bedrock_converse": Integration("langchain_aws", "ChatBedrockConverse"),
        "cohere": Integration("langchain_cohere", "ChatCohere"),
        "deepseek": Integration("langchain_deepseek", "ChatDeepSeek"),
        "fireworks": Integration("langchain_fireworks", "ChatFireworks"),
        "google_anthropic_vertex": Integration("langchain_google_vertexai.model_garden", "ChatAnthropicVertex"),
        "google_genai": Integration("langchain_google_genai", "ChatGoogleGenerativeAI"),
        "google_vertexai": Integration("langchain_google_vertexai", "ChatVertexAI"),
        "groq": Integration("langchain_groq", "ChatGroq"),
        "huggingface": Integration("langchain_huggingface", "ChatHuggingFace", "model_id", "from_model_id"),
        "ibm": Integration("langchain_ibm", "ChatWatsonx", "model_id"),
        "mistralai": Integration("langchain_mistralai", "ChatMistralAI"),
        "nvidia": Integration("langchain_nvidia_ai_endpoints", "ChatNVIDIA"),
        "ollama": Integration("langchain_ollama", "ChatOllama"),
        "openrouter": Integration("langchain_openrouter", "ChatOpenRouter"),
        "perplexity": Integration("langchain_perplexity", "ChatPerplexity"),
        "together": Integration("langchain_together", "ChatTogether"),
        "upstage": Integration("langchain_upstage", "ChatUpstage"),
        "xai": Integration("langchain_xai", "ChatXAI"),
    }
)
"""The providers that LangChain documents for `init_chat_model`, without `openai`, which has settings of its own."""


FORMS = (
    "'openai:NAME', 'offline', 'PROVIDER:NAME' (anthropic, ollama, google_genai, mistralai, ...: `duologue doctor` "
    "lists them), or 'replay:FILE' and 'people:FILE' for a user or an assistant; arguments as ?temperature=0.5&..."
)
"""The forms of a spec, for error messages."""


def provider_of(spec: str) -> str | None:
    """The provider of a spec, by its name in the table; None if the table has no such provider.

    As for `init_chat_model`, `google-genai` and `google_genai` are the same.
    """
    name = spec.strip().partition("?")[0].partition(":")[0].replace("-", "_").lower()
    return name if name in INTEGRATIONS else None


def integrated(provider: str, name: str, arguments: Mapping[str, Any]) -> BaseChatModel:
    """The chat model of a provider, by `init_chat_model` if `langchain` is installed, else by its integration package.

    Its key and address are those that the integration reads from the environment, or a `.env`. ModelError, in one line,
    if its package is missing or the integration refuses the arguments.
    """
    spec = redacted(f"{provider}:{name}")
    if not name:
        raise ModelError(f"model {spec!r} has no name: write {provider}:NAME")
    integration = INTEGRATIONS.get(provider)
    with environment_with_file(provider):
        keep_environment_secrets()
        try:
            model = _create(provider, name, integration, arguments)
        except Exception as error:  # whatever an integration raises at its creation, such as for a missing key
            line = " ".join(error_line(error).split())
            if integration is None:
                line = f"is not a provider of the table, and langchain reports {line}: use {FORMS}"
            elif find_spec(integration.module.partition(".")[0]) is None:
                line = f"install {integration.package}"
            raise ModelError(f"model {spec!r}: {line}") from None
    if not isinstance(model, BaseChatModel):
        raise ModelError(f"model {spec!r}: its integration gave {type(model).__name__}, no LangChain chat model")
    return model


def _create(provider: str, name: str, integration: Integration | None, arguments: Mapping[str, Any]) -> Any:
    if integration is None or find_spec("langchain") is not None:
        init_chat_model: Any = import_module("langchain.chat_models").init_chat_model
        return init_chat_model(name, model_provider=provider, **arguments)
    model_class = getattr(import_module(integration.module), integration.name)
    make = model_class if integration.maker is None else getattr(model_class, integration.maker)
    return make(**{integration.parameter: name}, **arguments)


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
    if _reads_its_field(model):
        return model.model_copy(update={field: seed}), {}
    return model, {field: seed}


def _seed_field(model: BaseChatModel) -> str | None:
    names = (name for name in ("seed", "random_seed") if name in type(model).model_fields)
    return next((name for name in names if getattr(model, name, None) is None), None)


def _reads_its_field(model: BaseChatModel) -> bool:
    """Whether the class is of an integration package and is not based on OpenAI's."""
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    return "langchain_openai" not in packages and type(model).__module__.startswith("langchain_")
