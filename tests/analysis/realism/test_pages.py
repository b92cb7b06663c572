"""The pages in a browser that reaches no network."""

import shutil

import pytest

from duologue.analysis.realism import compare
from duologue.analysis.realism.writing import write


@pytest.mark.heavy
@pytest.mark.enable_socket
def test_the_report_and_the_card_open_without_a_network_and_the_figures_are_there(open_sides, tmp_path):
    browser = shutil.which("chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    if browser is None:
        pytest.skip("chromium is not installed")
    simulated, people = open_sides
    write(compare(simulated, people, simulated[:100]), tmp_path)
    told: list[str] = []
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = opened.new_page()
        page.on("console", lambda message: told.append(message.text))
        page.on("request", lambda request: None if request.url.startswith("file:") else told.append(request.url))
        page.goto((tmp_path / "report.html").as_uri())
        figures = page.locator("svg")
        assert figures.count() == 2
        for number in range(2):
            box = figures.nth(number).bounding_box()
            assert box is not None
            assert box["height"] > 200
            assert figures.nth(number).locator("circle.point").count() >= 10
        assert page.locator("blockquote").count() >= 30
        page.set_viewport_size({"width": 420, "height": 800})
        letters = figures.first.locator("text").first.bounding_box()
        assert letters is not None
        assert letters["height"] > 8
        assert page.evaluate("document.documentElement.scrollWidth") <= 420
        page.goto((tmp_path / "card.html").as_uri())
        assert "Realism card" in page.locator("h1").inner_text()
        opened.close()
    assert told == []
