"""The site: built without a warning, whole, at home on the disk, and readable at any width."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tree import ROOT

pytestmark = [pytest.mark.heavy, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built in a folder of its own, each warning an error: among them a page outside the navigation."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "--builder", "html"]
    built = subprocess.run([*command, str(ROOT / "docs"), str(folder)], capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")
    return folder


def test_each_page_is_there_as_markdown_too_and_the_files_for_language_models(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs")
        assert (site / name.with_suffix(".html")).is_file()
        assert (site / "_sources" / f"{name}.txt").is_file()
    assert {"llms.txt", "llms-full.txt"} <= {file.name for file in site.iterdir()}


def test_the_pages_list_every_command_and_every_name_of_the_records(site: Path) -> None:
    commands = (site / "reference/commands.html").read_text(encoding="utf-8")
    for section, option in (("simulate", "--world"), ("check", "--fail-on"), ("runs", "")):
        assert f'id="{section}"' in commands
        assert option in commands
    assert "duologue.data.Conversation.without_timing" in (site / "reference/api.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["index", "data/logs", "reference/commands", "reference/api"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_opens_from_the_disk_without_a_server_and_fits_a_narrow_screen(
    site: Path, browser, page: str, scheme: str
) -> None:
    view = browser.new_page(viewport={"width": 420, "height": 900}, color_scheme=scheme)
    asked: list[str] = []
    view.on("request", lambda request: asked.append(request.url))
    view.goto((site / f"{page}.html").as_uri())
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert view.evaluate("document.documentElement.scrollWidth") <= 420
    background = view.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 380) == (scheme == "dark")
    view.close()
