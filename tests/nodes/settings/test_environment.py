"""The environment is read in one place: the process first, then a `.env`, which is never written back."""

import os

import pytest

import duologue
from duologue import graphs
from duologue.errors import SettingError
from duologue.nodes import Limits, ModelError, chat_model
from duologue.nodes.models.specs import endpoint_host
from duologue.nodes.settings.environment import DEFAULT_BASE_URL, settings
from duologue.nodes.settings.redaction import host_of, redacted


def test_without_a_key_there_is_none_and_the_base_url_is_openais():
    assert settings().key is None
    assert settings().base_url == DEFAULT_BASE_URL
    assert settings().host == "api.openai.com"


@pytest.mark.parametrize("value", ["", "  ", "\n"])
def test_a_blank_value_is_none_at_all(monkeypatch, value):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, value)
    assert settings().key is None
    assert settings().base_url == DEFAULT_BASE_URL


def test_a_key_goes_nowhere_if_its_address_is_set_and_blank(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "open.sesame")
    monkeypatch.setenv("OPENAI_BASE_URL", " ")
    with pytest.raises(SettingError, match="OPENAI_BASE_URL is set and empty: write the address, or unset it"):
        settings()


def test_a_key_loses_the_white_space_around_it_and_is_not_shown(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", " open.sesame\n")
    assert settings().key.get_secret_value() == "open.sesame"
    assert "sesame" not in repr(settings())


def test_an_env_file_is_read_in_the_working_folder_and_never_above(monkeypatch, tmp_path):
    (tmp_path / ".env").write_text(
        "# mine\nOPENAI_API_KEY='from.a.file'  # the key\nOPENAI_BASE_URL=http://127.0.0.1:3/v1\n"
    )
    assert settings().key.get_secret_value() == "from.a.file"
    assert settings().host == "127.0.0.1:3"
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    assert settings().key is None
    assert settings().base_url == DEFAULT_BASE_URL


def test_the_process_wins_over_the_env_file(monkeypatch, tmp_path):
    (tmp_path / ".env").write_text("OPENAI_API_KEY=from.a.file\nOPENAI_BASE_URL=http://127.0.0.1:3/v1\n")
    monkeypatch.setenv("OPENAI_API_KEY", "from.the.process")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:4/v1")
    assert settings().key.get_secret_value() == "from.the.process"
    assert settings().host == "127.0.0.1:4"


def test_an_env_file_is_read_and_never_written_into_the_environment(endpoint, monkeypatch, tmp_path, lighthouse):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name)
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY={endpoint.key}\nOPENAI_BASE_URL={endpoint.url}\nANOTHER=1\n")
    before = dict(os.environ)
    cast = graphs.simquac.cast("openai:m", "openai:m", limits=Limits(max_turns=1))
    conversation = duologue.simulate(cast, [graphs.simquac.scenario(lighthouse)])[0]
    assert conversation.stop == "max_turns"
    assert endpoint.headers[0]["authorization"] == f"Bearer {endpoint.key}"
    assert {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"} == {
        name: value for name, value in before.items() if name != "PYTEST_CURRENT_TEST"
    }


@pytest.mark.parametrize("line", ["", "OPENAI_API_KEY=\n"])
def test_a_missing_key_is_one_line_that_names_it_and_the_way_without(tmp_path, line):
    (tmp_path / ".env").write_text(line)
    with pytest.raises(ModelError) as error:
        graphs.simquac.cast("openai:gpt-4.1-mini")
    assert "OPENAI_API_KEY" in str(error.value)
    assert "offline" in str(error.value)
    assert "\n" not in str(error.value)


def test_an_env_file_that_is_no_text_is_one_line(tmp_path):
    (tmp_path / ".env").write_bytes(b"# Schl\xfcssel\nOPENAI_API_KEY=open.sesame\n")
    with pytest.raises(ModelError) as error:
        chat_model("openai:m")
    assert ".env" in str(error.value)
    assert "\n" not in str(error.value)


def test_the_offline_model_needs_no_key():
    assert chat_model("offline").metadata == {"spec": "offline", "arguments": {}}
    assert endpoint_host(chat_model("offline")) is None


def test_the_endpoints_host_is_told_without_credentials(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "open.sesame")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:secret@127.0.0.1:8000/v1")
    assert settings().host == endpoint_host(chat_model("openai:m")) == "127.0.0.1:8000"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.openai.com/v1", "api.openai.com"),
        ("http://127.0.0.1:11434/v1", "127.0.0.1:11434"),
        ("http://[::1]:8000/v1", "::1:8000"),
        ("https://me:secret@example.org:8443/v1?key=secret", "example.org:8443"),
        ("localhost:8000/v1", "localhost:8000"),
        ("http://example.org:port/v1", "example.org"),
        ("http://", "unknown host"),
        ("", "unknown host"),
    ],
)
def test_the_host_of_a_url(url, host):
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("wrong key open.sesame, twice open.sesame", "wrong key [key], twice [key]"),
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer [key]"),
        ("provided: sk-proj-abcd****wxyz.", "provided: [key]"),
        ("cannot reach https://me:word@example.org/v1", "cannot reach https://[key]@example.org/v1"),
        ("the bearer of this letter asks for a key", "the bearer [key] this letter asks for a key"),
        ("no risk-taking, no key-value pairs", "no risk-taking, no key-value pairs"),
    ],
)
def test_what_looks_like_a_key_is_taken_out(monkeypatch, text, shown):
    monkeypatch.setenv("OPENAI_API_KEY", "open.sesame")
    assert redacted(text) == shown
