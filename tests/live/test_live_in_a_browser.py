"""The page of a growing run in a real browser: it grows by itself, keeps what is unfolded, and asks nobody else."""

import json

import pytest

from tests.live.test_live_server import serve  # noqa: F401

pytestmark = [pytest.mark.heavy, pytest.mark.xdist_group("browser")]
HOSTILE = "</table><script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\">"


@pytest.fixture
def opened(browser):
    """Opens the page of a server; at the end nothing was asked of another place, and nothing complained of."""
    contexts = []

    def opening(served, width=1400, dark=False):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
        )
        asked, outputs = [], []
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: outputs.append(message.text))
        page.on("pageerror", lambda error: outputs.append(str(error)))
        page.goto(served.server.address)
        page.wait_for_selector("#state")
        contexts.append((context, served, asked, outputs))
        return page

    yield opening
    for context, served, asked, outputs in contexts:
        assert {url.split("/")[2] for url in asked} == {f"127.0.0.1:{served.port}"}
        # The icon, which a browser asks for without a cookie, and in one test a server that has gone.
        assert [text for text in outputs if not text.startswith("Failed to load resource")] == []
        context.close()


def test_the_page_grows_by_itself_and_a_text_of_the_run_stays_a_text(serve, growing, opened):  # noqa: F811
    line = json.loads(growing.lines[0])
    line["scenario"]["title"] = line["messages"][0]["text"] = HOSTILE
    growing.lines[0] = json.dumps(line).encode() + b"\n"
    served = serve(growing.path)
    page = opened(served)
    page.get_by_text("The run has not begun.").wait_for()
    growing.begin()
    growing.grow(1)
    page.get_by_text("1 of 12", exact=True).wait_for()
    assert page.locator("tr.row").count() == 1
    assert HOSTILE in page.locator("tr.row").inner_text()
    growing.grow(8)
    page.get_by_text("9 of 12", exact=True).wait_for()
    assert page.title() == "9/12 growing"
    page.locator("#graphs summary").first.click()  # folded, and it stays so
    growing.grow(3)
    page.get_by_text("12 of 12", exact=True).wait_for()
    assert page.locator("#graphs details").first.get_attribute("open") is None
    page.locator("tr.row a").last.click()
    page.wait_for_selector("article")
    assert HOSTILE in page.inner_text("article")
    page.locator("a[href='./']").click()
    page.wait_for_selector("#state")
    served.page.end()
    page.wait_for_url("**/whole")
    page.get_by_role("searchbox").wait_for()
    assert "hit" not in page.title()


@pytest.mark.parametrize(("width", "dark"), [(1400, True), (420, False), (420, True)])
def test_the_page_fits_a_narrow_window_and_follows_the_systems_colours(serve, finished, opened, width, dark):  # noqa: F811
    page = opened(serve(finished), width, dark)
    page.get_by_text("12 of 12", exact=True).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#graphs details[open]").count() == (width > 1344)  # there it would stand before the list
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(21, 24, 28)" if dark else "rgba(0, 0, 0, 0)"
    )


def test_a_page_whose_server_has_gone_says_so(serve, finished, opened):  # noqa: F811
    served = serve(finished)
    page = opened(served)
    assert not page.get_by_role("alert").is_visible()
    served.server.shutdown()
    served.server.server_close()
    page.get_by_role("alert").wait_for()
