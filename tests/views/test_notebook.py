"""What shows itself in notebooks, and a conversation that grows while it goes on."""

from importlib.util import find_spec
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import pytest
from IPython.core.interactiveshell import InteractiveShell
from langgraph.checkpoint.memory import InMemorySaver

import duologue
from duologue import data, graphs, runs, views
from duologue.graphs import simquac
from duologue.nodes import Limits


@pytest.fixture
def shown():
    """The HTML of an object in a notebook, or what it shows of another type; None if it shows none."""
    shell = InteractiveShell()
    views.load_ipython_extension(shell)
    return lambda value, mime="text/html": shell.display_formatter.format(value)[0].get(mime)


@pytest.fixture(scope="module")
def conversations():
    return duologue.simulate(simquac.cast(), simquac.scenarios(data.simquac.samples()[:2]), limits=Limits(max_turns=1))


def test_a_list_of_conversations_shows_figures_graph_and_each_of_them(shown, conversations, tags):
    text = " ".join("".join(tags(shown(conversations)).text).split())
    assert "2 conversations" in text
    assert "answer validator" in text
    for conversation in conversations:
        assert conversation.scenario["title"] in text
        assert conversation.messages[0].text in text


async def test_what_was_loaded_shows_itself(shown, tmp_path):
    limits = Limits(max_turns=1, seed=3)
    scenarios = simquac.scenarios(data.simquac.samples()[:1])
    await runs.asimulate(simquac.cast(), scenarios, limits=limits, out=tmp_path / "r")
    html = shown(data.load(tmp_path / "r"))
    assert '<dt>seed</dt><dd dir="auto">3</dd>' in html
    assert "<svg" in html


def test_a_cast_shows_its_places_with_nodes_models_and_settings(shown, tags):
    text = " ".join("".join(tags(shown(simquac.cast(user="offline?misbehave=0.5"))).text).split())
    for words in (
        "QuestionValidator",
        "offline?misbehave=0.5",
        "max turns 12",
        "interesting once yes",
        "max_turns",
    ):
        assert words in text, words


@pytest.mark.heavy
def test_showing_a_conversation_brings_no_graph_along(tmp_path):
    import subprocess
    import sys

    code = "import sys, duologue.views; print([m for m in ('langgraph', 'langchain_core') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout.strip() == "[]", done.stderr


async def test_a_watched_conversation_is_the_one_that_the_graph_gives_and_is_printed_as_it_goes(capsys):
    graph = graphs.conversation(simquac.cast(assistant="offline?paraphrase=1"))
    scenario, limits = simquac.scenario(data.simquac.samples()[0]), Limits(max_turns=2, answer_attempts=2)
    conversation = await duologue.watch(graph, scenario, limits)
    state = await graph.ainvoke(scenario, context=limits)
    assert conversation.without_timing() == graphs.record(state).without_timing()
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("  (")[0] for line in lines[:-1]] == str(conversation).splitlines()
    assert "(rejected before: not_in_section" in lines[1]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_in_a_notebook_the_colours_are_the_notebooks_own_and_not_the_systems(shown, conversations, theme):
    html = shown(conversations[0])
    system, own = html.index("@media (prefers-color-scheme:dark)"), html.index(":is([data-jp-theme-light]")
    assert system < own  # and more specific: an attribute and a class, against a class
    for name in ("--jp-content-font-color1", "--jp-layout-color0", "--jp-border-color2"):
        assert f"var({name}," in html
    block = html[html.index(f"[data-jp-theme-light={str(theme == 'light').lower()}]") :].split("}")[0]
    for colour in ("user", "assistant", "mark", "next", "again", "stop"):
        assert f"--{colour}:#" in block


def test_a_compiled_graph_is_drawn_as_svg_with_its_routers_answers_and_without_counts(shown, tags):
    for graph in (simquac.graph, graphs.conversation(simquac.cast(), checkpointer=InMemorySaver())):
        assert shown(graph) is None, "a site that drops SVG from HTML would show the words of the graph in one line"
        svg = shown(graph, "image/svg+xml")
        text = " ".join("".join(ElementTree.fromstring(svg).itertext()).split())
        assert svg.count('class="node') == 11
        for words in ("question validator", "regenerate", "accepted", "continue", "stop"):
            assert words in text, words
        assert "×" not in text
        assert "never taken" not in text
        assert "http" not in svg.replace("http://www.w3.org", "")


def test_a_conversation_tells_who_took_part_as_a_table_and_not_as_json(shown, conversations, tags):
    text = " ".join("".join(tags(shown(conversations[0])).text).split())
    assert "Who took part" in text
    assert "view StudentMessages" in text
    assert "{" not in text[text.index("Who took part") :]


@pytest.mark.heavy
@pytest.mark.xdist_group("browser")
def test_every_import_of_the_package_lets_its_objects_show_themselves_and_an_extension_does_it_later(tmp_path):
    import subprocess
    import sys

    code = """
from IPython.core.interactiveshell import InteractiveShell
early = {early}
shell = InteractiveShell.instance()
{later}
from duologue.graphs import simquac
formatted = shell.display_formatter.format
print("StudentPrompts" in formatted(simquac.cast())[0]["text/html"], "image/svg+xml" in formatted(simquac.graph)[0])
"""
    for early, later in (
        ("None", "import duologue.data"),
        ("__import__('duologue')", "shell.run_line_magic('load_ext', 'duologue')"),
    ):
        script = code.format(early=early, later=later)
        environment = {"IPYTHONDIR": str(tmp_path), "HOME": str(tmp_path), "PATH": ""}
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
        )
        assert done.stdout.split() == ["True", "True"], done.stderr


CELL = """
import duologue
from duologue import data
from duologue.graphs import simquac
from duologue.nodes import Limits

conversation = await duologue.watch(simquac.graph, simquac.scenario(data.simquac.samples()[0]), Limits(max_turns=2))
"""


@pytest.mark.heavy
@pytest.mark.skipif(find_spec("ipykernel") is None, reason="needs a notebook's kernel")
async def test_in_a_notebook_one_output_grows_and_what_is_made_shows_itself(tmp_path, monkeypatch):
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell, new_notebook

    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    notebook = new_notebook(cells=list(map(new_code_cell, (CELL, "conversation", "simquac.cast()"))))
    with TemporaryDirectory() as pipes:
        kernel = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            transport="ipc",
            ip=f"{pipes}/k",
        )
        await NotebookClient(notebook, km=kernel, timeout=900).async_execute(cleanup_kc=True)
    grown, shown, cast = (cell.outputs for cell in notebook.cells)
    (output,) = grown  # one output, replaced with each message
    assert output.data["text/html"].count('<li class="') >= 4
    assert "the maximum number of turns was reached" in output.data["text/html"]
    assert "the maximum number of turns was reached" in shown[0].data["text/html"]
    assert "QuestionValidator" in cast[0].data["text/html"]
