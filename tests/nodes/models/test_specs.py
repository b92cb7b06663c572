"""Specs: a provider, a name and arguments in one string, and one line for each that cannot be made."""

from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from duologue import graphs
from duologue.errors import ModelError
from duologue.nodes import chat_model
from duologue.nodes.models.specs import endpoint_host, model_provenance, parse_spec, takes_seed

KEY = "open.sesame.4711"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    """A key, and an endpoint that nobody answers at."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("offline?paraphrase=0.2&seed=3", ("offline", "", {"paraphrase": 0.2, "seed": 3})),
        ("openai:m?reasoning_effort=low&logprobs=true", ("openai", "m", {"reasoning_effort": "low", "logprobs": True})),
    ],
)
def test_a_spec_has_a_provider_a_name_and_arguments(spec, parts):
    assert parse_spec(spec) == parts


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "is unknown"),
        ("gpt-4.1-mini", "'gpt-4.1-mini' is unknown"),
        ("openai:", "has no name: write openai:NAME"),
        ("groq:x", "langchain-groq"),
        ("nobody:model_1", "No module named 'nobody'"),
        ("ollama:m?base_url=http://other", "base_url is read from the environment"),
        ("bedrock:m?aws_session_token=abcdefgh", "aws_session_token is read from the environment"),
        ("openai:m?temperature", "arguments are unclear: write ?name=value&name=value"),
        ("openai:m?=x", "arguments are unclear"),
        ("langchain_openai:m?temperature=warm", "temperature: "),
        *((f"openai:m?seed={bad}", "seed: ") for bad in ("soon", "0.5", "true")),
        *((f"openai:m?timeout={bad}", "timeout: ") for bad in ("0", "-1", "soon", "true")),
        *((f"openai:m?rpm={bad}", "rpm: ") for bad in ("0", "x", "true")),
        *((f"offline?empty={bad}", "empty: ") for bad in ("1.5", "-0.1", "NaN", "Infinity", "much", "true")),
        ("offline?seed=0.5", "seed: "),
        ("offline?temperature=0.5", "temperature: "),
        ("replay:file.json", "is not a chat model"),
        ("openai:m?like=x", "is not a chat model"),
    ],
)
def test_a_spec_that_cannot_be_made_is_one_line(spec, words):
    with pytest.raises(ModelError) as error:
        chat_model(spec)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert KEY not in str(error.value)


@pytest.mark.parametrize("provider", ["openai", "langchain_openai"])
@pytest.mark.parametrize(
    "argument",
    ["api_key=another.word", "openai_api_base=http://another.word/v1", "openai_proxy=http://me:another.word@127.0.0.1:9",
     'default_headers={"Authorization":"Bearer another.word"}', 'default_query={"api-key":"another.word"}'],
)  # fmt: skip
def test_a_spec_cannot_say_where_and_as_whom_to_call(provider, argument):
    with pytest.raises(ModelError, match=argument.split("=")[0]) as error:
        chat_model(f"{provider}:m?{argument}")
    assert "another.word" not in str(error.value)


def test_arguments_rates_and_provenance_of_a_spec():
    model: Any = chat_model("openai:m?temperature=0.5&top_p=0.9&rpm=60&tpm=9e4&timeout=7", temperature=0.1)
    assert (model.arguments, model.timeout) == ({"temperature": 0.1, "top_p": 0.9}, 7)
    arguments = {"temperature": 0.1, "top_p": 0.9, "timeout": 7}
    assert model_provenance(model) == {"spec": "openai:m", "arguments": arguments}
    assert model.metadata["pace"] == {"rpm": 60, "tpm": 90_000}
    assert "pace" not in chat_model("openai:m").metadata
    secret = chat_model('openai:m?chat_template_kwargs={"api_key":"hidden-thing-1"}')
    assert "hidden-thing-1" not in str(model_provenance(secret)) + repr(secret)


def test_chat_openai_is_made_for_the_endpoint_of_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_BASE", "http://other/v1")
    model: Any = chat_model("langchain_openai:m?use_responses_api=true&temperature=0.5")
    assert (type(model).__name__, model.use_responses_api, model.temperature) == ("ChatOpenAI", True, 0.5)
    assert (model.openai_api_key.get_secret_value(), endpoint_host(model)) == (KEY, "127.0.0.1:9")
    assert (model.max_retries, model.request_timeout) == (0, 120)
    assert model_provenance(model)["spec"] == "langchain_openai:m"
    model.metadata = None
    of_instance = {"model": "m", "temperature": 0.5}
    assert model_provenance(model) == {"class": "ChatOpenAI", "arguments": of_instance, "host": "127.0.0.1:9"}


def test_an_instance_is_given_back_as_it_is():
    model = GenericFakeChatModel(messages=iter([AIMessage("Who?")]))
    assert chat_model(model) is model
    assert not takes_seed(model)
    assert model_provenance(model) == {"class": "GenericFakeChatModel", "arguments": {}}
    with pytest.raises(ModelError, match="arguments belong to a model identifier"):
        chat_model(model, temperature=0.5)
    with pytest.raises(ModelError, match="neither a model identifier nor a LangChain chat model"):
        chat_model(object())


@pytest.mark.parametrize("spec", ["offline", "openai:m", "langchain_openai:m"])
def test_a_model_takes_a_seed_unless_it_was_given_one(spec):
    assert takes_seed(chat_model(spec))
    assert not takes_seed(chat_model(f"{spec}?seed=3"))


def test_the_key_shows_in_no_form_of_a_model_nor_of_a_cast():
    model = chat_model("openai:m?temperature=0.5")
    cast = graphs.simquac.cast(model, "openai:m")
    assert KEY not in f"{model!r} {model.metadata} {cast!r} {cast.describe()}"
