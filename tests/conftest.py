"""What every test starts from: no key, no proxy, no `.env`, a folder of its own, the same examples each time."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "duologue",
    derandomize=True,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("duologue")

FOREIGN = ("LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_", "OPENAI_", "DUOLOGUE_")
"""Beginnings of the environment variables that would change what is tested."""


@pytest.fixture(autouse=True)
def own_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody's key, endpoint or proxy, and an empty folder to run in, so that no `.env` is found."""
    for name in list(os.environ):
        if name.upper().startswith(FOREIGN) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def open_data() -> Path:
    """The open part of the published data, which lies beside the repository."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "seed-data"
    if not folder.is_dir():
        pytest.skip(f"the open data is not at {folder}")
    return folder
