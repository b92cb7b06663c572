"""The examples of harnesses and protocols of others: each runs where its package is installed, and prints what it shows."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SILENT = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}
"""What these packages would send home or fetch is off."""
ENDS = {
    "hosts/deepeval.py": ("deepeval", "assistant: Done: it is moved.\n['user_ended']\n"),
    "hosts/mlflow.py": ("mlflow", "user: Thank you, goodbye.\nuser_ended {'is_moved/mean': "),
    "hosts/scenario.py": ("scenario", "True user_ended: Thank you, goodbye.\n"),
    "hosts/verifiers.py": ("verifiers", "assistant: Done: it is moved.\n{'success': Reward(score=1.0, weight=1.0)}\n"),
    "a2a_agent.py": ("a2a", "2 of 2 scored conversations succeeded: 1.00"),
}
"""The package of each example, and a part of what it prints."""


@pytest.mark.heavy
@pytest.mark.parametrize("name", ENDS)
def test_an_example_of_a_host_runs_offline_and_its_user_ends(name: str, tmp_path: Path) -> None:
    package, printed = ENDS[name]
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    command = [sys.executable, "-P", str(EXAMPLES / name)]
    environment = {**os.environ, **SILENT}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout, done.stdout


@pytest.mark.parametrize("name", ENDS)
def test_an_example_of_a_host_is_short(name: str) -> None:
    assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) <= 60
