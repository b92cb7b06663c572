"""What of a run is stored in a notebook, and what of it may differ in the next run."""

import base64

from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.notebooks.stored_outputs import comparable, merged, to_store

SVG = '<svg viewBox="0 0 9 9" role="img" aria-label="A graph"><g class="node"><text>{}</text></g></svg>'
KERNEL = {"name": "python3", "display_name": "Python 3"}
PROGRESS = {"text/plain": "3 of 3 conversations | 9 calls/s"}


def run(*data, source="x"):
    """A notebook of one cell after a run that displayed these."""
    cell = new_code_cell(source, outputs=[new_output("display_data", each) for each in data], id="cell-01")
    cell.metadata = {"execution": {"iopub.execute_input": "2026-01-01"}}
    return new_notebook(cells=[cell], metadata={"kernelspec": KERNEL, "language_info": {"name": "python"}})


def same(before, after, mime="text/html"):
    return comparable(to_store(run({mime: before}))) == comparable(to_store(run({mime: after})))


def test_a_drawing_in_html_is_an_image_with_its_name_and_the_style_is_there_once():
    html = "<style>b{}</style>" + SVG.format("assistant")
    first, second = to_store(run({"text/html": html}, {"text/html": html})).cells[0].outputs
    before, _, picture = first.data["text/html"].partition(";base64,")
    assert before == '<style>b{}</style><img alt="A graph" src="data:image/svg+xml'
    assert b"assistant</text>" in base64.b64decode(picture.split('"')[0])
    assert second.data["text/html"].startswith("<img")


def test_metadata_of_a_run_is_not_stored_and_cells_are_counted():
    stored = to_store(run({"text/plain": "1"}))
    assert (dict(stored.metadata), dict(stored.cells[0].metadata), stored.cells[0].execution_count) == (
        {"kernelspec": KERNEL}, {}, 1,
    )  # fmt: skip


def test_progress_is_stored_where_a_cell_asks_for_it_and_never_compared():
    assert to_store(run(PROGRESS)).cells[0].outputs == []
    asked = to_store(run(PROGRESS, source="simulate(progress=True)"))
    assert len(asked.cells[0].outputs) == 1
    assert comparable(asked) == [("cell-01", [])]


def test_times_and_the_width_of_boxes_may_differ_and_nothing_else():
    assert same("took 0.31 s", "took 1,204.5 ms")
    assert same(SVG.format("ran 2× · 1.2 ms"), SVG.replace("9 9", "70 9").format("ran 2× · 12 ms"))
    assert not same(SVG.format("ran 2×"), SVG.format("ran 3×"))
    assert same(SVG.format("9 ms"), SVG.format("10 ms"), "image/svg+xml")
    assert not same(SVG.format("user"), SVG.format("assistant"), "image/svg+xml")
    assert same("a   -0.000", "a    0.000", "text/plain")
    assert not same("a  -0.001", "a   0.001", "text/plain")
    assert not same("12 messages", "13 messages")
    assert not same("2 spans", "3 spans")
    row = '<table><thead><tr><th>node</th></tr></thead><tr><td class="n">{}</td></tr></table>'
    assert same(row.format("0.123"), row.format("4.500"))
    assert not same(row.format("12"), row.format("13"))
    assert not same(row.replace("node", "measure").format("0.123"), row.replace("node", "measure").format("4.500"))


def test_outputs_that_differ_only_in_times_stay_as_they_are_stored():
    before, after = to_store(run({"text/plain": "3 ms"})), to_store(run({"text/plain": "4 ms"}))
    assert merged(before, after).cells[0].outputs[0].data["text/plain"] == "3 ms"
    other = to_store(run({"text/plain": "4 words"}))
    assert merged(before, other).cells[0].outputs[0].data["text/plain"] == "4 words"
