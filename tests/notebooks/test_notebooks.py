"""The notebooks run from top to bottom without a network, and their stored outputs are those of a run."""

import getpass
import re

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

from tests.notebooks import stored_outputs
from tests.notebooks.execution import NOTEBOOKS, alone, executed, outputs

SIZE = 3_000_000
"""Bytes of all notebooks: they are in every clone."""

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
first_notebook_and_heavy_others = pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.heavy] if number else [])
        for number, path in enumerate(NOTEBOOKS)
    ],
)


@pytest.fixture(autouse=True)
def _a_kernel_of_its_own(tmp_path):
    """No key, endpoint, tracing or proxy; folders of this test in place of the user's; no network."""
    with alone(tmp_path):
        yield


def stored(name):
    """A notebook as it is kept."""
    return nbformat.read(next(path for path in NOTEBOOKS if path.stem == name), as_version=4)


def shown_text(notebook):
    """All that its cells printed, and what they show as text."""
    shown = [output.get("text", "") + output.get("data", {}).get("text/plain", "") for _, output in outputs(notebook)]
    return "\n".join(shown)


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == [
        "01_the_graph",
        "02_test_your_agent",
        "03_two_versions",
        "04_your_data",
        "05_simulated_and_people",
        "06_labels",
    ]


@every_notebook
def test_a_notebook_has_less_than_sixty_lines_of_code_and_no_cell_that_ends_with_a_bare_graph(path):
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert sum(bool(line.strip()) for source in cells for line in source.splitlines()) < 60
    assert not [source for source in cells if re.fullmatch(r"\w*graph|moderated", source.splitlines()[-1])]


@first_notebook_and_heavy_others
async def test_a_notebook_runs_offline_without_an_error_and_gives_its_stored_outputs(path, tmp_path):
    (work := tmp_path / "work").mkdir()
    ran = await executed(nbformat.read(path, as_version=4), work)
    left = list(work.iterdir())
    wrong = [
        (cell, output)
        for cell, output in outputs(ran)
        if output.output_type == "error" or output.get("name") == "stderr"
    ]
    assert wrong == []
    assert all(cell.execution_count for cell in ran.cells if cell.cell_type == "code")
    assert left == [], "a notebook leaves nothing in the folder where it runs"
    kept = stored_outputs.comparable(nbformat.read(path, as_version=4))
    assert kept == stored_outputs.comparable(stored_outputs.to_store(ran)), "store them: python -m tests.notebooks"


@every_notebook
def test_a_notebook_is_kept_with_outputs_and_stable_ids(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert outputs(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert [cell.id for cell in notebook.cells] == [f"cell-{number:02}" for number in range(1, len(notebook.cells) + 1)]
    assert {name for cell in notebook.cells for name in cell.metadata} == set()
    assert set(notebook.metadata) == {"kernelspec"}
    assert notebook.metadata.kernelspec.name == "python3"


@every_notebook
def test_stored_outputs_have_no_path_of_a_machine_no_element_of_svg_in_html_and_no_script(path):
    for cell, output in outputs(nbformat.read(path, as_version=4)):
        texts = {"text/plain": output.get("text", ""), **output.get("data", {})}
        assert "<svg" not in texts.get("text/html", ""), cell
        assert "<script" not in "".join(texts.values()), cell
        places = re.findall(r"/(?:tmp|home|root|Users|var|work)/\S*|0x[0-9a-f]{6,}", "".join(texts.values()))
        assert places == [], cell
        if (user := getpass.getuser()) != "root":  # which is a word, too
            assert not re.search(rf"\b{re.escape(user)}\b", "".join(texts.values())), cell


def test_the_notebooks_are_small():
    assert sum(path.stat().st_size for path in NOTEBOOKS) < SIZE


@every_notebook
def test_a_notebook_first_says_its_version_and_that_no_language_model_speaks(path):
    first = next(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    assert "duologue.__version__" in first
    assert "a rule-based baseline, not a language model" in first


SLOW = """
import asyncio, duologue
from duologue.graphs import simquac
from duologue.nodes import Limits
from duologue.nodes.replies import draft

async def slow(state, runtime):
    await asyncio.sleep(1.5)
    return {"drafts": [draft("Who lived there?")]}

cast = simquac.cast().replace(user_simulator=slow)
plan = simquac.scenarios(duologue.data.simquac.samples()[:3])
"""


@pytest.mark.heavy
async def test_a_cell_shows_how_far_its_run_is_and_a_short_run_if_it_is_asked(tmp_path):
    simulate = "duologue.{}(cast, plan, limits=Limits(max_turns=1){});"
    line = ", progress=True"
    cells = [SLOW, simulate.format("simulate", ""), "await " + simulate.format("asimulate", "")]
    cells += ["cast = simquac.cast()", simulate.format("simulate", line)]
    ran = await executed(new_notebook(cells=list(map(new_code_cell, cells))), tmp_path)
    shown = [[output.data for output in cell.outputs if output.output_type == "display_data"] for cell in ran.cells]
    assert [len(displays) for displays in shown] == [0, 1, 1, 0, 1]
    for (display,) in filter(None, shown):
        assert display["text/plain"].startswith("3 of 3 conversations")


def test_the_notebook_of_the_graph_shows_how_far_its_run_was():
    (asks,) = [
        cell for cell in stored("01_the_graph").cells if cell.cell_type == "code" and "progress=True" in cell.source
    ]  # others show theirs on a slow machine
    shown = [output.data["text/plain"] for output in asks.outputs if output.output_type == "display_data"]
    assert re.match(r"(\d+) of \1 conversations ", shown[0])


def test_the_realism_notebook_shows_differences_with_their_intervals():
    text = shown_text(stored("05_simulated_and_people"))
    assert re.search(r"message length.*150\.\d+.*27\.52", text, re.DOTALL)
    figures = next(
        output.data["image/svg+xml"]
        for _, output in outputs(stored("05_simulated_and_people"))
        if "message length" in output.get("data", {}).get("text/plain", "") and "image/svg+xml" in output.data
    )
    assert figures.count('class="interval"') >= 15


@pytest.mark.heavy
async def test_the_kernel_of_these_tests_reaches_no_other_machine(tmp_path):
    cell = new_code_cell("import urllib.request\nurllib.request.urlopen('http://192.0.2.1', timeout=5)")
    with pytest.raises(CellExecutionError, match=r"offline: 192\.0\.2\.1 is another machine"):
        await executed(new_notebook(cells=[cell]), tmp_path)
