"""Models of other providers, `anthropic:NAME`, through their integration packages, here packages of the test's own."""

import importlib
import json
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from duologue import data, graphs
from duologue.errors import ModelError
from duologue.nodes import chat_model
from duologue.nodes.models import endpoint_host, model_provenance
from duologue.nodes.models.specs import seeded
from duologue.nodes.settings.redaction import redacted

KEY = "open.sesame.anthropic.4711"

ANTHROPIC = """
import os
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils import secret_from_env
from pydantic import ConfigDict, Field, SecretStr


class ChatAnthropic(BaseChatModel):
    model_config = ConfigDict(populate_by_name=True)
    model: str = Field(alias="model_name")
    temperature: float | None = None
    max_tokens: int = 1024
    anthropic_api_url: str = "https://api.anthropic.test"
    anthropic_api_key: SecretStr = Field(alias="api_key", default_factory=secret_from_env("ANTHROPIC_API_KEY"))

    @property
    def _llm_type(self) -> str:
        return "own"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs: Any):
        assert not kwargs, kwargs  # this integration knows no seed
        if self.model == "broken":
            raise RuntimeError(f"401 for {self.anthropic_api_key.get_secret_value()}")
        usage = {"input_tokens": 11, "output_tokens": 4, "total_tokens": 15}
        about = {"stop_reason": "end_turn", "model_name": self.model}
        said = AIMessage(f"Who lived there {len(messages)} years ago?", usage_metadata=usage, response_metadata=about)
        return ChatResult(generations=[ChatGeneration(message=said)])
"""

OLLAMA = """
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

seeds = []


class ChatOllama(BaseChatModel):
    model: str
    seed: int | None = None
    base_url: str | None = None

    @property
    def _llm_type(self) -> str:
        return "own"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        if kwargs:
            raise TypeError(f"chat() got an unexpected keyword argument {next(iter(kwargs))!r}")
        seeds.append(self.seed)
        return ChatResult(generations=[ChatGeneration(message=AIMessage("Three keepers"))])
"""

LANGCHAIN = """
from importlib import import_module

CLASSES = {"anthropic": "ChatAnthropic", "ollama": "ChatOllama"}


def init_chat_model(model, *, model_provider=None, **arguments):
    if model_provider not in (*CLASSES, "groq", "mistralai"):
        raise ValueError(f"Unsupported provider {model_provider!r}\\n\\nSupported providers: {', '.join(CLASSES)}")
    try:
        module = import_module(f"langchain_{model_provider}")
    except ImportError as error:
        raise ImportError(f"requires langchain-{model_provider}") from error
    return getattr(module, CLASSES[model_provider])(model=model, **arguments)
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A function that puts packages on the path; langchain is there, and they are all forgotten afterwards."""
    names: set[str] = set()
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def install(**packages: str) -> None:
        for name, source in packages.items():
            file = site / Path(*name.split("__")).with_suffix(".py")
            file.parent.mkdir(exist_ok=True)
            if file.parent != site:
                (file.parent / "__init__.py").touch()
            file.write_text(source)
            new = {name.partition("__")[0]} - names
            for real in [real for real in sys.modules if real.partition(".")[0] in new]:
                monkeypatch.delitem(sys.modules, real)
            names.update(new)
        importlib.invalidate_caches()

    install(langchain__chat_models=LANGCHAIN)
    yield install
    for name in [name for name in sys.modules if name.partition(".")[0] in names]:
        del sys.modules[name]


@pytest.fixture
def anthropic(installed, monkeypatch):
    installed(langchain_anthropic=ANTHROPIC)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def simulate(duologue, *more):
    return duologue("simulate", "simquac", "--limit", "1", "--max-turns", "2", "--out", "run", "--json", *more)


@pytest.mark.usefixtures("anthropic")
def test_a_model_of_another_provider_speaks_with_its_usage_in_the_record_and_its_key_nowhere(duologue, tmp_path):
    spec = "anthropic:claude-x-1?temperature=0.5&max_tokens=99"
    code, out, err = simulate(duologue, "--user", spec)
    assert code == 0, err
    (conversation,) = data.load("run")
    (attempt,) = conversation.messages[0].attempts
    assert (attempt.usage.input_tokens, attempt.usage.output_tokens, attempt.usage.calls) == (11, 4, 1)
    assert (attempt.finish_reason, attempt.model) == ("end_turn", "claude-x-1")
    assert json.loads(out)["tokens"] == conversation.usage.tokens >= 30
    manifest = json.loads(Path("run/manifest.json").read_text())
    assert manifest["cast"]["settings"]["user"] == spec
    model = conversation.provenance.nodes["user_simulator"].settings["model"]
    assert model == {"spec": "anthropic:claude-x-1", "arguments": {"temperature": 0.5, "max_tokens": 99}}
    assert "calls go to api.anthropic.test" in err
    written = b"".join(file.read_bytes() for file in Path("run").rglob("*") if file.is_file())
    assert KEY.encode() not in written
    assert KEY not in out + err


@pytest.mark.usefixtures("anthropic")
def test_the_key_is_taken_out_of_an_error_that_quotes_it(duologue):
    code, out, err = simulate(duologue, "--user", "anthropic:broken")
    assert code == 1
    assert "401 for [key]" in json.loads(out)["failed"].popitem()[1]
    assert KEY not in out + err + Path("run/conversations.jsonl").read_text()


def test_a_key_in_the_folders_env_file_is_found_and_does_not_stay(installed, monkeypatch):
    import os

    installed(langchain_anthropic=ANTHROPIC)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ModelError, match="ANTHROPIC_API_KEY") as error:
        chat_model("anthropic:claude-x")
    assert "\n" not in str(error.value)
    Path(".env").write_text(f"ANTHROPIC_API_KEY={KEY}\nLANGSMITH_TRACING=true\n")
    model: Any = chat_model("anthropic:claude-x")
    assert model.anthropic_api_key.get_secret_value() == KEY
    assert not {"ANTHROPIC_API_KEY", "LANGSMITH_TRACING"} & set(os.environ)
    assert redacted(f"said {KEY}") == "said [key]"


def test_a_package_that_is_missing_or_broken_is_one_line(duologue, installed, monkeypatch):
    code, _, err = simulate(duologue, "--user", "groq:x")
    assert (code, err.count("\n")) == (2, 1)
    assert "requires langchain-groq" in err
    installed(langchain_mistralai="import something_that_is_not_there\n")
    code, _, err = simulate(duologue, "--assistant", "mistralai:m-1")
    assert (code, err.count("\n")) == (2, 1)
    assert "No module named 'something_that_is_not_there'" in err
    code, _, err = simulate(duologue, "--user", "nobody:model-1")
    assert (code, err.count("\n")) == (2, 1)
    assert "Unsupported provider 'nobody'" in err
    with monkeypatch.context() as absent:
        absent.setitem(sys.modules, "langchain", None)
        absent.delitem(sys.modules, "langchain.chat_models")
        code, _, err = simulate(duologue, "--user", "anthropic:claude-x")
    assert (code, err.count("\n")) == (2, 1)
    assert "install langchain" in err
    assert not Path("run").exists()


@pytest.mark.usefixtures("anthropic")
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("anthropic:claude-x?anthropic_api_key=abcdefgh1", "anthropic_api_key is read from the environment"),
        ("anthropic:claude-x?anthropic_api_url=http://other", "anthropic_api_url is read from the environment"),
        ("anthropic:claude-x?temperature=warm", "temperature"),
    ],
)
def test_an_argument_that_cannot_be_is_one_line(spec, message):
    with pytest.raises(ModelError) as error:
        chat_model(spec)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert "abcdefgh1" not in str(error.value)


def test_each_call_has_its_seed_in_the_models_own_field(duologue, installed):
    installed(langchain_ollama=OLLAMA)
    code, _, err = simulate(duologue, "--assistant", "ollama:llama3:8b")
    assert code == 0, err
    seeds = sys.modules["langchain_ollama"].seeds
    assert len(set(seeds)) == len(seeds) >= 2
    assert None not in seeds
    set_before = chat_model("ollama:llama3?seed=7")
    assert seeded(set_before, 3) == (set_before, {})


@pytest.mark.usefixtures("anthropic")
def test_the_spec_travels_to_another_process_and_replaces_a_speaker():
    cast = graphs.simquac.cast(user="anthropic:claude-x?temperature=0.5").replace(assistant="anthropic:claude-y")
    again: Any = pickle.loads(pickle.dumps(cast))
    assert model_provenance(again.nodes["user_simulator"].model) == {
        "spec": "anthropic:claude-x", "arguments": {"temperature": 0.5}
    }  # fmt: skip
    assert again.spec.replace == {"assistant": "anthropic:claude-y"}
    assert endpoint_host(again.nodes["assistant"].model) == "api.anthropic.test"


def test_a_providers_name_is_an_import_path_only_for_an_object_of_the_working_folder(duologue, monkeypatch, installed):
    installed(langchain_ollama=OLLAMA)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("ollama.py").write_text("def booking(messages):\n    return 'Three keepers'\n")
    code, _, err = simulate(duologue, "--assistant", "ollama:booking")
    assert code == 0, err
    (conversation,) = data.load("run")
    assert conversation.provenance.nodes["assistant"].settings["object"] == "ollama:booking"
    other: Any = graphs.simquac.cast(assistant="ollama:m")  # no such object there: a model's name
    assert model_provenance(other.nodes["assistant"].model)["spec"] == "ollama:m"
    Path("ollama.py").unlink()
    sys.modules.pop("ollama")
    importlib.invalidate_caches()
    other = graphs.simquac.cast(assistant="ollama:booking")
    assert model_provenance(other.nodes["assistant"].model)["spec"] == "ollama:booking"


def test_an_installed_module_is_no_object_of_the_working_folder(installed):
    installed(ollama="def chat(messages): ...", langchain_ollama=OLLAMA)
    Path("ollama.py").write_text("def chat(messages): ...\n")
    cast: Any = graphs.simquac.cast(user="ollama:chat")
    assert model_provenance(cast.nodes["user_simulator"].model)["spec"] == "ollama:chat"


def test_the_doctor_tells_which_packages_of_langchain_are_installed(duologue):
    versions = json.loads(duologue("doctor", "--json")[1])["integrations"]
    assert versions["langchain-openai"]
    assert f"langchain-openai {versions['langchain-openai']}" in duologue("doctor")[1]
