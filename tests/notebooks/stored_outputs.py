"""The outputs that notebooks are kept with: what varies between runs, and what sites that show notebooks drop."""

import base64
import copy
import re
from html import unescape

from nbformat import NotebookNode

import duologue

STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
DRAWING = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
PICTURE = re.compile(r'<img alt="([^"]*)" src="data:image/svg\+xml;base64,([^"]*)">')
NODES = re.compile(r"<table><thead><tr><th>node</th>.*?</table>", re.DOTALL)
SECONDS = re.compile(r'<td class="n">[\d,]+\.\d{3}</td>')
TIME = re.compile(r"\b[\d,]+(?:\.\d+)?(?:e[+-]?\d+)? ?(?:ms|s|min|h)\b")
ZERO = re.compile(r"-(0\.0+)\b")
"""A number that is nearly 0, whose sign depends on the processor."""
SPACES = re.compile(r"[ \t]+")
TAG = re.compile(r"<[^>]*>")


def to_store(ran: NotebookNode) -> NotebookNode:
    """A notebook after a run, as it is kept.

    GitHub, and Jupyter before it trusts a notebook, drop SVG elements from HTML and leave their words in a row: there a
    drawing is an image. Only the first HTML has the style, which holds for the whole notebook. A bar of progress stays
    only where the cell asks for one: others depend on how fast the machine is.
    """
    stored, styled = copy.deepcopy(ran), False
    stored.metadata = NotebookNode(kernelspec=ran.metadata.kernelspec)
    for number, cell in enumerate((cell for cell in stored.cells if cell.cell_type == "code"), start=1):
        cell.metadata, cell.execution_count = NotebookNode(), number
        cell.outputs = [output for output in cell.outputs if not _is_progress(output) or "progress=True" in cell.source]
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
            data = output.get("data", {})
            if "text/html" in data:
                html = DRAWING.sub(_image, data["text/html"])
                data["text/html"] = STYLE.sub("", html) if styled else html
                styled = styled or bool(STYLE.search(html))
    return stored


def comparable(notebook: NotebookNode) -> list[tuple[str, list[dict[str, str]]]]:
    """The outputs of each cell of a kept notebook without what varies, such as times."""
    return [
        (cell.id, [_comparable(output) for output in cell.outputs if not _is_progress(output)])
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def merged(stored: NotebookNode, ran: NotebookNode) -> NotebookNode:
    """The run's notebook with the stored outputs of each cell whose outputs differ only in what varies."""
    result, before, now = copy.deepcopy(ran), dict(comparable(stored)), dict(comparable(ran))
    old = {cell.id: cell for cell in stored.cells}
    for cell in result.cells:
        if cell.cell_type == "code" and cell.id in old and before.get(cell.id) == now[cell.id]:
            cell.outputs = old[cell.id].outputs
    return result


def _is_progress(output: NotebookNode) -> bool:
    text = "".join(output.get("data", {}).get("text/plain", ""))
    return output.output_type == "display_data" and re.match(r"\d+ of \d+ (conversations|answers)", text) is not None


def _image(match: re.Match[str]) -> str:
    svg = match[0]
    label = re.search(r'aria-label="([^"]*)"', svg)
    return f'<img alt="{label[1] if label else ""}" src="data:image/svg+xml;base64,{_encoded(svg)}">'


def _encoded(svg: str) -> str:
    from duologue.views.figures import standalone

    kind = "graph" if 'class="node' in svg else "chart"
    return base64.b64encode(standalone(svg, kind, "").svg.encode()).decode()


def _comparable(output: NotebookNode) -> dict[str, str]:
    texts = {"text/plain": output.get("text", ""), **output.get("data", {})}
    return {"type": output.output_type, **{mime: _fixed(mime, text) for mime, text in texts.items()}}


def _fixed(mime: str, text: str) -> str:
    """A text without times and the version; of a drawing only its words, as the boxes are as wide as they are."""
    if mime == "image/svg+xml":
        text = _words(text)
    if mime == "text/html":
        text = PICTURE.sub(
            lambda match: f"{match[1]}: {_words(base64.b64decode(match[2]).decode())}", STYLE.sub("", text)
        )
        text = NODES.sub(lambda match: SECONDS.sub("<td>TIME</td>", match[0]), text)
    text = TIME.sub("TIME", text.replace(duologue.__version__, "VERSION"))
    return SPACES.sub(" ", ZERO.sub(r"\1", text))


def _words(svg: str) -> str:
    return " ".join(unescape(TAG.sub(" ", STYLE.sub("", svg))).split())
