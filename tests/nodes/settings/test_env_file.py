"""The `.env` of the working folder may be a stranger's: no address in it gets a key of the process."""

import os
from pathlib import Path

import pytest

from duologue.errors import SettingError
from duologue.nodes.settings import env_file
from duologue.nodes.settings.environment import connections, environment_with_file, settings, settings_notes, trust

ELSEWHERE = "https://collector.example/v1"


def write(*lines: str) -> None:
    Path(".env").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("more", [(), ("OPENAI_API_KEY=of.the.file.1",)])
def test_an_address_of_the_file_does_not_get_the_key_of_the_process(monkeypatch, more):
    monkeypatch.setenv("OPENAI_API_KEY", "of.the.process.1")
    write(f"OPENAI_BASE_URL={ELSEWHERE}", *more)
    with pytest.raises(SettingError) as error:
        settings()
    assert str(error.value).startswith(
        f"{Path.cwd() / '.env'}: its OPENAI_BASE_URL would get the OPENAI_API_KEY of the environment"
    )
    assert "--trust-env-file" in str(error.value)
    assert "\n" not in str(error.value)
    assert "of.the" not in str(error.value)
    with trust():
        assert settings().base_url == ELSEWHERE
    with trust(False), pytest.raises(SettingError):
        settings()


@pytest.mark.parametrize(
    ("address", "is_this_machine"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://127.8.9.10/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://localhost:11434/v1", True),
        ("http://LOCALHOST/v1", True),
        ("http://localhost@collector.example/v1", False),
        ("http://127.0.0.1.collector.example/v1", False),
        ("http://127.0.0.1\\@collector.example/v1", False),
        ("http://localhost.collector.example", False),
        ("http://10.0.0.1/v1", False),
        ("http://[::1", False),
        ("http://0.0.0.0/v1", False),
    ],
)
def test_an_address_on_this_machine_gets_any_key(monkeypatch, address, is_this_machine):
    assert env_file.is_loopback(address) == is_this_machine
    monkeypatch.setenv("OPENAI_API_KEY", "of.the.process.1")
    write(f"OPENAI_BASE_URL='{address}'")
    if is_this_machine:
        assert settings().base_url == address
    else:
        with pytest.raises(SettingError):
            settings()


def test_an_address_and_a_key_of_the_same_file_go_together(monkeypatch):
    write("OPENAI_API_KEY=of.the.file.1", f"OPENAI_BASE_URL={ELSEWHERE}")
    assert (settings().key.get_secret_value(), settings().base_url) == ("of.the.file.1", ELSEWHERE)
    monkeypatch.setenv("OPENAI_API_KEY", "of.the.file.1")
    assert settings().base_url == ELSEWHERE


def test_the_file_cannot_quote_the_processs_variables(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of.the.process.1")
    write("OPENAI_API_KEY=${AWS_SECRET_ACCESS_KEY}", f"OPENAI_BASE_URL={ELSEWHERE}")
    assert "of.the.process.1" not in env_file.read(os.environ).values.values()
    write("HERE=file", "OPENAI_API_KEY=a.${HERE}.1", f"OPENAI_BASE_URL={ELSEWHERE}/${{AWS_SECRET_ACCESS_KEY}}")
    with pytest.raises(SettingError, match="OPENAI_BASE_URL quotes a variable of the environment"):
        settings()
    with trust():
        assert settings().base_url == f"{ELSEWHERE}/of.the.process.1"
        assert settings().key.get_secret_value() == "a.file.1"


def test_the_file_cannot_trust_itself(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of.the.process.1")
    write(f"{env_file.TRUST}=1", f"OPENAI_BASE_URL={ELSEWHERE}")
    with pytest.raises(SettingError, match="--trust-env-file"):
        settings()


def link() -> None:
    Path("other.env").write_text("OPENAI_API_KEY=of.the.file.1\n")
    Path(".env").symlink_to("other.env")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (link, "is a link"),
        (lambda: Path(".env").symlink_to("nowhere"), "is a link"),
        (lambda: os.mkfifo(".env"), "not an ordinary file"),
        (lambda: Path(".env").write_bytes(b"A=1\n" * 20_000), "larger than 64 KiB"),
        (lambda: Path(".env").write_bytes(b"OPENAI_API_KEY=Schl\xfcssel\n"), "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line_and_no_waiting(make, problem):
    make()
    with pytest.raises(SettingError, match=problem) as error:
        settings()
    assert "\n" not in str(error.value)


def test_a_folder_of_this_name_is_no_file():
    Path(".env").mkdir()
    assert settings().key is None


def test_a_link_is_followed_if_it_is_trusted():
    link()
    with trust():
        assert settings().key.get_secret_value() == "of.the.file.1"


@pytest.mark.parametrize(
    "address",
    ["http://[::1/v1", "http://host:99999/v1", "http://host:port/v1", "http://", "http://a b/v1", "http://[zz]/v1",
     "ftp://host/v1", "http://me:pass.word.1@[::1/v1"],
)  # fmt: skip
def test_an_address_that_is_none_is_one_line_without_it(monkeypatch, address):
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(SettingError, match="OPENAI_BASE_URL") as error:
        settings()
    assert "\n" not in str(error.value)
    assert "pass.word" not in str(error.value)


def seen(provider: str, process: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    return env_file.read(process).for_provider(provider, process)


def test_another_providers_address_of_the_file_never_meets_a_key_of_the_process():
    write("ANTHROPIC_BASE_URL=https://collector.example", "OPENAI_API_BASE=https://collector.example")
    with pytest.raises(SettingError, match=r"ANTHROPIC_BASE_URL would get the ANTHROPIC_API_KEY of the environment"):
        seen("anthropic", {"ANTHROPIC_API_KEY": "of.the.process.1"})
    with pytest.raises(SettingError, match="--trust-env-file"):
        seen("anthropic", {})
    # An address that is none of the provider's is not even seen.
    assert seen("mistralai", {"MISTRAL_API_KEY": "of.the.process.1"}) == ({}, [])
    write("ANTHROPIC_BASE_URL=https://collector.example", "ANTHROPIC_API_KEY=of.the.file.1")
    added, hidden = seen("anthropic", {"OPENAI_API_KEY": "of.the.process.1", "HOME": "/home"})
    assert added == {"ANTHROPIC_BASE_URL": "https://collector.example", "ANTHROPIC_API_KEY": "of.the.file.1"}
    assert hidden == ["OPENAI_API_KEY"]
    everything = {"ANTHROPIC_API_KEY": "of.the.process.1", env_file.TRUST: "1"}
    assert seen("anthropic", everything) == ({"ANTHROPIC_BASE_URL": "https://collector.example"}, [])


def test_an_ollama_on_this_machine_or_without_a_key_is_reached():
    write("OLLAMA_HOST=127.0.0.1:11434")
    assert seen("ollama", {"OLLAMA_API_KEY": "of.the.process.1"}) == ({"OLLAMA_HOST": "127.0.0.1:11434"}, [])
    write("OLLAMA_HOST=10.0.0.7:11434")
    assert seen("ollama", {}) == ({"OLLAMA_HOST": "10.0.0.7:11434"}, [])
    with pytest.raises(SettingError, match="OLLAMA_API_KEY"):
        seen("ollama", {"OLLAMA_API_KEY": "of.the.process.1"})


NEVER = {
    "HTTP_PROXY": "http://collector.example:3128",
    "https_proxy": "http://collector.example:3128",
    "ALL_PROXY": "socks5://collector.example",
    "LANGSMITH_TRACING": "true",
    "LANGSMITH_ENDPOINT": "https://collector.example",
    "LANGCHAIN_TRACING_V2": "true",
    "LANGSMITH_GATEWAY": "https://collector.example",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example",
    "SSL_CERT_FILE": "evil.pem",
    "SSLKEYLOGFILE": "keys.log",
    "PATH": "/evil",
    "PYTHONPATH": "/evil",
    "AWS_CONFIG_FILE": "evil",
    "AWS_PROFILE": "other",
    "GOOGLE_APPLICATION_CREDENTIALS": "evil.json",
}


def test_what_redirects_names_files_or_traces_is_never_taken_from_the_file(monkeypatch):
    write(*(f"{name}={value}" for name, value in NEVER.items()), "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=AKIA1")
    for name in NEVER:
        monkeypatch.delenv(name, raising=False)
    before = dict(os.environ)
    with environment_with_file("bedrock"):
        assert set(os.environ) - set(before) == {"AWS_REGION", "AWS_ACCESS_KEY_ID"}
    assert dict(os.environ) == before
    (note,) = settings_notes()
    assert "HTTP_PROXY" in note
    assert "collector" not in note
    with trust(), environment_with_file("bedrock"):
        assert os.environ["HTTP_PROXY"] == NEVER["HTTP_PROXY"]


def test_the_processs_keys_are_set_aside_and_come_back(monkeypatch):
    monkeypatch.setenv("GROQ_API_KEY", "of.the.process.1")
    monkeypatch.delenv("XAI_API_KEY", raising=False)
    write("XAI_API_BASE=https://collector.example", "XAI_API_KEY=of.the.file.1")
    with environment_with_file("xai"):
        assert "GROQ_API_KEY" not in os.environ
        assert os.environ["XAI_API_KEY"] == "of.the.file.1"
    assert os.environ["GROQ_API_KEY"] == "of.the.process.1"
    assert not {"XAI_API_BASE", "XAI_API_KEY"} & set(os.environ)


def test_a_proxy_of_the_process_is_told_without_its_password(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://me:pass.word.1@proxy.example:3128")
    assert connections()["HTTPS_PROXY"] == "calls may go through proxy.example:3128"


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("http://127.0.0.1:1/v1?x=1", "has a query"),
        ("http://127.0.0.1:1/v1#x", "has a fragment"),
        ("127.0.0.1:1/v1", "must begin with http"),
    ],
)
def test_an_address_of_the_file_that_is_none_is_named_with_its_file(address, problem):
    write("OPENAI_API_KEY=of.the.file.1", f"OPENAI_BASE_URL='{address}'")
    with pytest.raises(SettingError, match=problem) as raised:
        settings()
    assert str(raised.value).startswith(f"OPENAI_BASE_URL of {Path.cwd() / '.env'} {problem}")
