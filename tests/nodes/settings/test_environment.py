"""The process wins, and the `.env` may be a stranger's: no address in it gets a key of the process."""

import os
from pathlib import Path

import pytest

import duologue
from duologue import graphs
from duologue.errors import SettingError
from duologue.nodes import Limits
from duologue.nodes.settings.environment import (
    DEFAULT_BASE_URL,
    environment_with_file,
    settings,
    variables_of_file,
    without_calls,
)

ELSEWHERE = "https://collector.example/v1"


def write(*lines: str) -> None:
    Path(".env").write_text("\n".join(lines) + "\n")


def used() -> tuple[str | None, str]:
    key, address = settings()
    return None if key is None else key.get_secret_value(), address


def refused() -> str:
    with pytest.raises(SettingError) as error:
        settings()
    assert "\n" not in str(error.value)
    assert "of.the" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("process", "file", "expected"),
    [
        ((None, None), (None, None), (None, DEFAULT_BASE_URL)),
        ((" of.the.process\n", None), (None, None), ("of.the.process", DEFAULT_BASE_URL)),
        ((None, None), ("of.the.file", None), ("of.the.file", DEFAULT_BASE_URL)),
        (("of.the.process", None), ("of.the.file", None), ("of.the.process", DEFAULT_BASE_URL)),
        (("of.the.process", "http://h:4/v1"), ("of.the.file", ELSEWHERE), ("of.the.process", "http://h:4/v1")),
        ((None, "http://h:4/v1"), ("of.the.file", ELSEWHERE), ("of.the.file", "http://h:4/v1")),
        ((None, None), ("of.the.file", ELSEWHERE), ("of.the.file", ELSEWHERE)),
        ((None, None), (None, ELSEWHERE), (None, ELSEWHERE)),
        ((None, None), (None, "http://127.0.0.1:8/v1"), ("none", "http://127.0.0.1:8/v1")),
        (("of.the.process", None), (None, "http://localhost:8/v1"), ("none", "http://localhost:8/v1")),
        (("of.the.process", None), ("of.the.file", "http://[::1]:8/v1"), ("of.the.file", "http://[::1]:8/v1")),
    ],
)
def test_the_key_and_the_address_that_are_used(monkeypatch, process, file, expected):
    for name, of_process in zip(("OPENAI_API_KEY", "OPENAI_BASE_URL"), process, strict=True):
        if of_process is not None:
            monkeypatch.setenv(name, of_process)
    write(
        *(f"{name}={value}" for name, value in zip(("OPENAI_API_KEY", "OPENAI_BASE_URL"), file, strict=True) if value)
    )
    assert used() == expected


@pytest.mark.parametrize("more", [(), ("OPENAI_API_KEY=of.the.file.1",)])
def test_an_address_of_the_file_does_not_get_the_key_of_the_process(monkeypatch, more):
    monkeypatch.setenv("OPENAI_API_KEY", "of.the.process.1")
    write(f"OPENAI_BASE_URL={ELSEWHERE}", *more)
    assert refused().startswith(f"{Path.cwd() / '.env'}: its OPENAI_BASE_URL would get")
    with without_calls():
        assert used()[1] == ELSEWHERE


@pytest.mark.parametrize(
    ("address", "here"),
    [(one, True) for one in ("http://127.8.9.10/v1", "http://[::1]:8000/v1", "http://LOCALHOST/v1")]
    + [(one, False) for one in (
        "http://localhost@collector.example/v1", "http://127.0.0.1.collector.example/v1", "http://10.0.0.1/v1",
        "http://127.0.0.1\\@collector.example/v1", "http://127.0.0.1#@collector.example/v1", "http://0.0.0.0/v1",
        "http://collector.example/?http://localhost", "ftp://localhost", "http://[::1",
    )],
)  # fmt: skip
def test_an_address_of_this_machine_gets_no_key_and_what_only_looks_like_one_is_refused(monkeypatch, address, here):
    monkeypatch.setenv("OPENAI_API_KEY", "of.the.process.1")
    write(f"OPENAI_BASE_URL='{address}'")
    if here:
        assert used() == ("none", address)
    else:
        assert "would get" in refused()


def test_a_key_goes_nowhere_if_its_address_is_set_and_blank(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of.the.process.1")
    monkeypatch.setenv("OPENAI_BASE_URL", " ")
    assert "OPENAI_BASE_URL" in refused()


def test_the_file_is_read_in_the_working_folder_never_above_and_nothing_is_put_into_it(monkeypatch, tmp_path):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of.the.process.1")
    write("# mine", "A='from.a.file'  # the key", "B=${AWS_SECRET_ACCESS_KEY}", "C=${A}", "D=")
    assert variables_of_file() == {"A": "from.a.file", "B": "${AWS_SECRET_ACCESS_KEY}", "C": "${A}"}
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    assert variables_of_file() == {}


def test_a_run_reads_the_file_and_writes_nothing_of_it_into_the_environment(endpoint, monkeypatch, lighthouse):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name)
    write(f"OPENAI_API_KEY={endpoint.key}", f"OPENAI_BASE_URL={endpoint.url}", "ANOTHER=1")
    before = dict(os.environ)
    cast = graphs.simquac.cast("openai:m", "openai:m", limits=Limits(max_turns=1))
    conversation = duologue.simulate(cast, [graphs.simquac.scenario(lighthouse)])[0]
    assert conversation.stop == "max_turns"
    assert endpoint.headers[0]["authorization"] == f"Bearer {endpoint.key}"
    assert dict(os.environ) == before


def seen(provider: str) -> dict[str, str]:
    """What a provider's package sees of the file."""
    before = dict(os.environ)
    with environment_with_file(provider):
        inside = dict(os.environ)
    assert dict(os.environ) == before
    return {name: value for name, value in inside.items() if before.get(name) != value}


NEVER = ("HTTP_PROXY", "ALL_PROXY", "LANGSMITH_TRACING", "LANGSMITH_API_KEY", "OTEL_EXPORTER_OTLP_ENDPOINT",
         "DUOLOGUE_TOKEN", "SSL_CERT_FILE", "PATH", "LD_PRELOAD", "AWS_CONFIG_FILE", "AWS_ENDPOINT_URL",
         "AWS_WEB_IDENTITY_TOKEN_FILE", "GOOGLE_APPLICATION_CREDENTIALS", "ANTHROPIC_BASE_URL")  # fmt: skip


def test_another_provider_s_package_sees_keys_of_the_file_and_nothing_that_leads_astray(monkeypatch):
    write(*(f"{name}=collector.example" for name in NEVER), "XAI_API_KEY=f", "GROQ_API_KEY=f")
    for name in (*NEVER, "XAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GROQ_API_KEY", "of.the.process.1")
    assert seen("xai") == {"XAI_API_KEY": "f"}


def test_models_are_made_without_a_key_where_none_is_called(monkeypatch):
    monkeypatch.setenv("XAI_API_KEY", "of.the.process.1")
    with without_calls():
        assert used()[0] == "none"
        assert seen("anthropic") == {"ANTHROPIC_API_KEY": "none"}
        assert seen("xai") == {"XAI_API_KEY": "none"}
    assert used()[0] is None
