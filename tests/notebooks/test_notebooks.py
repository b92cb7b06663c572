"""The notebooks run from top to bottom without a network, and are kept without what a run leaves in them."""

import copy
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
CLEARED = ("OPENAI_", "LANGSMITH_", "LANGCHAIN_", "IPYTHON", "JUPYTER_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
OFFLINE = '''
"""Runs when the kernel starts: it reaches this machine and nothing else."""

import socket

_connect, _getaddrinfo = socket.socket.connect, socket.getaddrinfo
_HERE = ("127.0.0.1", "::1", "localhost")


def connect(self, address):
    if isinstance(address, tuple) and address[0] not in _HERE:
        raise OSError(f"offline: {address[0]} is another machine")
    return _connect(self, address)


def getaddrinfo(host, *args, **kwargs):
    if host not in (None, "", *_HERE):
        raise OSError(f"offline: {host} is another machine")
    return _getaddrinfo(host, *args, **kwargs)


socket.socket.connect, socket.getaddrinfo = connect, getaddrinfo
'''

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
first_notebook_and_heavy_others = pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.heavy] if number else [])
        for number, path in enumerate(NOTEBOOKS)
    ],
)
RAN: dict[Path, tuple[NotebookNode, list[Path]]] = {}
"""What notebooks gave and left in their folders, of those that ran in this process."""


@pytest.fixture(autouse=True)
def _a_kernel_of_its_own(monkeypatch, tmp_path):
    """No key, endpoint, tracing or proxy; folders of this test in place of the user's; no network."""
    for name in os.environ:
        if name.upper().startswith(CLEARED):
            monkeypatch.delenv(name)
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))
    startup = tmp_path / "ipythondir" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00-offline.py").write_text(OFFLINE)


async def executed(notebook, folder):
    """The notebook after a run in the folder, in a kernel of the interpreter that runs the tests."""
    ran = copy.deepcopy(notebook)
    interpreter = KernelSpecManager(kernel_dirs=[])
    with TemporaryDirectory() as pipes:  # a short path: the name of a Unix socket has at most 104 characters
        kernel = AsyncKernelManager(
            kernel_name="python3", kernel_spec_manager=interpreter, transport="ipc", ip=f"{pipes}/k"
        )
        client = NotebookClient(ran, km=kernel, timeout=900, resources={"metadata": {"path": str(folder)}})
        await client.async_execute(cleanup_kc=True)
    return ran


async def ran_once(path, tmp_path):
    """The notebook after a run without published data, and what it left where it ran: several tests look at it."""
    if path not in RAN:
        (work := tmp_path / "work").mkdir()
        ran = await executed(nbformat.read(path, as_version=4), work)
        RAN[path] = ran, list(work.iterdir())
    return RAN[path]


def outputs(notebook):
    return [(cell.id, output) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == [
        "01_simulate",
        "02_swap_a_node",
        "03_task_oriented_users",
        "04_human_or_simulated",
        "05_your_own_domain",
        "06_labels_and_trust",
        "09_users_from_people",
    ]


@first_notebook_and_heavy_others
async def test_a_notebook_runs_offline_without_an_error_or_a_warning(path, tmp_path):
    ran, left = await ran_once(path, tmp_path)
    wrong = [
        (cell, output)
        for cell, output in outputs(ran)
        if output.output_type == "error" or output.get("name") == "stderr"
    ]
    assert wrong == []
    assert all(cell.execution_count for cell in ran.cells if cell.cell_type == "code")
    assert left == [], "a notebook leaves nothing in the folder where it runs"


@every_notebook
def test_a_notebook_is_kept_without_outputs_and_with_stable_ids(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert outputs(notebook) == []
    assert [cell.id for cell in notebook.cells if cell.get("execution_count")] == []
    assert [cell.id for cell in notebook.cells] == [f"cell-{number:02}" for number in range(1, len(notebook.cells) + 1)]
    assert set(notebook.metadata) == {"kernelspec"}
    assert notebook.metadata.kernelspec.name == "python3"


@every_notebook
def test_a_notebook_first_says_its_version_and_that_the_model_is_no_language_model(path):
    first = next(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    assert "duologue.__version__" in first
    assert "a rule-based baseline, no language model" in first


async def test_a_graph_as_the_last_line_of_a_cell_draws_itself(tmp_path):
    ran, _ = await ran_once(NOTEBOOKS[0], tmp_path)
    [drawn] = next(cell.outputs for cell in ran.cells if cell.source.splitlines()[-1] == "graph")
    assert "<svg" in drawn.data["text/html"]  # also in what nbconvert makes of it, without a network
    mermaid = drawn.data["text/plain"]
    assert "graph TD;" in mermaid
    assert "answer_validator -. &nbsp;regenerate&nbsp; .-> assistant_prompt_selector;" in mermaid


SLOW = """
import asyncio, duologue
from duologue.graphs import simquac
from duologue.nodes import Limits, draft

async def slow(state, runtime):
    await asyncio.sleep(1.5)
    return {"drafts": [draft("Who lived there?")]}

cast = simquac.cast().replace(user_simulator=slow)
plan = simquac.scenarios(duologue.data.simquac.samples()[:3])
"""


async def test_a_cell_shows_how_far_its_run_is_and_a_short_run_if_it_is_asked(tmp_path):
    simulate = "duologue.{}(cast, plan, limits=Limits(max_turns=1){});"
    line = ", conduct=duologue.runs.Conduct(progress=True)"
    cells = [SLOW, simulate.format("simulate", ""), "await " + simulate.format("asimulate", "")]
    cells += ["cast = simquac.cast()", simulate.format("simulate", line)]
    ran = await executed(new_notebook(cells=list(map(new_code_cell, cells))), tmp_path)
    shown = [[output.data for output in cell.outputs if output.output_type == "display_data"] for cell in ran.cells]
    assert [len(displays) for displays in shown] == [0, 1, 1, 0, 1]
    for (display,) in filter(None, shown):
        assert display["text/plain"].startswith("3/3 conversations  3 turns")
        assert '<progress max="3" value="3"' in display["text/html"]


async def test_the_first_notebook_shows_how_far_its_run_was(tmp_path):
    ran, _ = await ran_once(NOTEBOOKS[0], tmp_path)
    (asks,) = [
        cell for cell in ran.cells if cell.cell_type == "code" and "progress=True" in cell.source
    ]  # others show theirs on a slow machine
    shown = [output.data for output in asks.outputs if "data" in output]
    (display,) = [data for data in shown if "<progress" in data.get("text/html", "")]
    assert re.match(r"(\d+)/\1 conversations ", display["text/plain"])


@pytest.mark.heavy
async def test_without_published_data_the_realism_notebook_shows_differences_with_their_intervals(tmp_path):
    pytest.importorskip("sklearn")
    path = next(path for path in NOTEBOOKS if path.stem == "04_human_or_simulated")
    ran = outputs((await ran_once(path, tmp_path))[0])
    text = "".join(output.get("text", "") for _, output in ran)
    assert "22 of 22 conversations of 22 users" in text
    assert "users written for this notebook (no people): 22 conversations" in text
    assert re.search(r"message length: 1\d\d against 27\.5 characters \(more; distance", text)
    figures = next(
        output.data["text/html"] for _, output in ran if "Figures of 15" in output.get("data", {}).get("text/plain", "")
    )
    assert figures.count('class="interval"') >= 15
    assert "message length" in figures


async def test_the_kernel_of_these_tests_reaches_no_other_machine(tmp_path):
    cell = new_code_cell("import urllib.request\nurllib.request.urlopen('http://192.0.2.1', timeout=5)")
    with pytest.raises(CellExecutionError, match=r"offline: 192\.0\.2\.1 is another machine"):
        await executed(new_notebook(cells=[cell]), tmp_path)


@pytest.mark.heavy
async def test_the_notebook_of_task_oriented_users_plays_people_of_the_open_data_again(
    open_data, monkeypatch, tmp_path
):
    monkeypatch.setenv("RECLLMSIM", str(open_data / "recllmsim"))
    path = next(path for path in NOTEBOOKS if path.stem == "03_task_oriented_users")
    text = "".join(output.get("text", "") for _, output in outputs(await executed(nbformat.read(path, 4), tmp_path)))
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip().startswith("recllmsim/")}
    assert rows == {  # the first 30 of each: conversations, messages of the user, five reasons and notes
        "recllmsim/LLM_agent_user": ["30", "140", "3", "1", "0", "0", "0", "True"],
        "recllmsim/real_human_user": ["30", "137", "0", "0", "0", "0", "0", "True"],
        "recllmsim/human_exp_V2": ["30", "136", "0", "0", "0", "3", "0", "True"],
    }


@pytest.mark.heavy
async def test_the_realism_notebook_reads_the_report_on_the_open_data_aloud(open_data, monkeypatch, tmp_path):
    monkeypatch.setenv("RECLLMSIM", str(open_data / "recllmsim"))
    path = next(path for path in NOTEBOOKS if path.stem == "04_human_or_simulated")
    text = "".join(output.get("text", "") for _, output in outputs(await executed(nbformat.read(path, 4), tmp_path)))
    assert "233 of 233 conversations of 82 users, 233 translated" in text
    for line in (
        "exclamation: 0.919 against 0.00698",
        "exclamation: +0.99, +1.00 at equal length",
        "people of the first study from people: 0.6",
    ):
        assert f"\n{line}" in text
    assert re.search(r"\nturns: -0\.\d+ over all tasks; .*skills learning planning -0\..*travel planning \+0\.", text)
