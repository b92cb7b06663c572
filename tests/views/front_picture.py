"""The picture of the README, put together from three pages: `python -m tests.views.front_picture` draws it anew.

A rejected draft from the page of the demo, success by scenario from a test of `examples/agent`, and how far the published
simulated users are from people. The texts of the three parts are kept in the picture, so a test can tell whether it is
still what the pages show.
"""

import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, PngImagePlugin

from tests.tree import ROOT

PICTURE = ROOT / "docs" / "front.png"
WIDTH, GAP = 760, 16
"""Width of a part, and the space between parts, in pixels of the page."""
MEASURES = 10
"""Rows of the chart of measures that are shown."""
CAPTIONS = (
    "A rejected draft, its reason, and the answer that was sent",
    "On how many scenarios an agent succeeds",
    "How far published simulated users are from people",
)


def pages(folder: Path, open_data: Path) -> list[Path]:
    """The three pages, written by the command."""
    people = open_data / "recllmsim"
    example = [f"{ROOT / 'examples/agent'}/scenarios.jsonl", "--repeats", "4"]
    commands = (
        ["demo", "--out", "demo"],
        ["test", "--assistant", "my_agent:graph", "--scenarios", *example, "--out", "mine"],
        [
            "compare",
            people / "LLM_agent_user",
            people / "human_exp_V2",
            "--part",
            "test",
            "--out",
            "near",
        ],
    )
    for command in commands:
        called = [sys.executable, "-m", "duologue.cli", *map(str, command)]
        path = os.pathsep.join([str(ROOT / "build/types"), str(ROOT / "examples/agent")])
        done = subprocess.run(
            called, cwd=folder, env=os.environ | {"PYTHONPATH": path}, capture_output=True, check=False
        )
        assert done.returncode in (0, 1), done.stderr.decode()
    return [folder / "demo" / "page.html", folder / "mine" / "page.html", folder / "near" / "report.html"]


def parts(browser: Any, written: list[Path]) -> tuple[list[Image.Image], list[str]]:
    """The three parts as images, each below its caption, and their texts."""
    images: list[Image.Image] = []
    texts = []
    for page, caption, show in zip(written, CAPTIONS, (_DRAFT, _SUCCESS, _MEASURES), strict=True):
        view = browser.new_page(viewport={"width": WIDTH, "height": 10}, device_scale_factor=1.25, color_scheme="light")
        view.goto(page.as_uri())
        view.evaluate(show, MEASURES)
        text = view.evaluate(f"""() => {{
            const head = document.createElement("h2"); head.textContent = {caption!r}; head.style.cssText = "font:600 17px system-ui;margin:0 0 10px";
            document.body.prepend(head); document.body.style.cssText = "margin:0;padding:12px;background:#fff"; return document.body.innerText }}""")
        images.append(Image.open(BytesIO(view.screenshot(full_page=True))))
        texts.append(" ".join(text.split()))
        view.close()
    return images, texts


_ONLY = """const only = kept => { const list = [].concat(kept);
    for (let one = list[0]; one !== document.body; one = one.parentElement)
        [...one.parentElement.children].filter(other => !list.includes(other) && other !== one).forEach(other => other.remove()); };"""
_DRAFT = f"""() => {{ {_ONLY}
    only([...document.querySelectorAll("article.conversation li.user, article.conversation li.assistant")].slice(0, 4)) }}"""
_SUCCESS = f"""() => {{ {_ONLY} only(document.querySelector("section.result"));
    [...document.querySelectorAll("details")].at(-1).open = true }}"""
_MEASURES = f"""rows => {{ {_ONLY}
    const chart = document.querySelector("figure.chart"), drawn = chart.querySelector("svg.beside");
    const words = [...document.querySelectorAll("p")].find(one => one.textContent.includes("AUC"));
    drawn.style.display = "block";
    drawn.setAttribute("viewBox", `-180 -26 840 ${{rows * 22 + 30}}`);
    [...drawn.querySelectorAll("g")].slice(rows).forEach(one => one.remove());
    only(chart); chart.replaceChildren(drawn); chart.before(words) }}"""


def drawn(browser: Any, folder: Path, open_data: Path) -> tuple[bytes, list[str]]:
    """The picture as PNG, and the texts of its parts, which it holds too."""
    images, texts = parts(browser, pages(folder, open_data))
    left, *right = images
    height = max(left.height, sum(one.height for one in right) + GAP * (len(right) - 1))
    whole = Image.new("RGB", (left.width + GAP + right[0].width, height), "white")
    whole.paste(left, (0, 0))
    top = 0
    for one in right:
        whole.paste(one, (left.width + GAP, top))
        top += one.height + GAP
    about = PngImagePlugin.PngInfo()
    for number, text in enumerate(texts):
        about.add_itxt(f"part {number}", text)
    buffer = BytesIO()
    whole.quantize(64).save(buffer, "PNG", pnginfo=about, optimize=True)
    return buffer.getvalue(), texts


def texts_of(picture: Path) -> list[str]:
    """The texts that a picture holds."""
    with Image.open(picture) as image:
        image.load()
        return [str(image.info[f"part {number}"]) for number in range(len(CAPTIONS))]


def main() -> None:
    """Draw the picture anew."""
    import tempfile

    from playwright.sync_api import sync_playwright

    from tests.views.conftest import executable

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        png, _ = drawn(browser, Path(folder), ROOT.parent / "shared" / "seed-data")
        PICTURE.write_bytes(png)
        browser.close()


if __name__ == "__main__":
    main()
