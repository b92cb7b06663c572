"""The pages in a real browser that has no network: open, filter, sort, unfold, click, keys, narrow, dark, hostile."""

import pytest

import duologue
from duologue import data, runs, views
from duologue.analysis.testing.pairs import compare_pairs
from duologue.data import Conversation, Message
from duologue.data.records import Label, labels_from
from duologue.graphs import simquac
from duologue.nodes import Limits

pytestmark = [pytest.mark.heavy, pytest.mark.xdist_group("browser")]
ROW = "tr.row:not([hidden])"


class Opened:
    """A page in a context without network; what it asked for and complained of is kept."""

    def __init__(self, context, path):
        self.requests, self.outputs = [], []
        context.route("**/*", self._route)
        self.page = context.new_page()
        self.page.set_default_timeout(180_000)  # a machine may be busy; what never comes is seen all the same
        self.page.on("console", lambda message: self.outputs.append(message.text))
        self.page.on("pageerror", lambda error: self.outputs.append(str(error)))
        self.page.on("dialog", self.dismiss)
        self.page.goto(path.as_uri())

    def dismiss(self, dialog):
        self.outputs.append(dialog.message)
        dialog.dismiss()

    def _route(self, route):
        if route.request.url.startswith("file:"):
            return route.continue_()
        self.requests.append(route.request.url)
        return route.abort()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens HTML, or a file; at the end nothing may have been asked of a network or complained of."""
    contexts = []

    def opening(html, width=1400, dark=False):
        path = html
        if isinstance(html, str):
            path = tmp_path / f"page{len(contexts)}.html"
            path.write_text(html, encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900}, offline=True, color_scheme="dark" if dark else "light"
        )
        contexts.append((context, Opened(context, path)))
        return contexts[-1][1].page

    yield opening
    for context, seen in contexts:
        assert seen.requests == []
        assert seen.outputs == []
        context.close()


@pytest.fixture(scope="module")
def conversations():
    scenarios = list(runs.repeated(simquac.scenarios(data.simquac.samples()), 3))
    conversations = []
    for rate, some in ((0.4, scenarios[:14]), (0.7, scenarios[14:])):
        cast = simquac.cast(user=f"offline?misbehave={rate}", assistant="offline?misbehave=0.4")
        conversations += duologue.simulate(cast, some, limits=Limits(max_turns=3, question_attempts=2))
    outlines = [data.outline(conversation) for conversation in conversations]
    assert any(line.stop == "user_rejected" and line.rejected >= 3 for line in outlines)
    return conversations


@pytest.fixture(scope="module")
def html(conversations):
    return views.run_page(conversations, "a run")


def column(page, number):
    """The texts of a column, of the rows that are seen."""
    return page.locator(f"{ROW} > :nth-child({number})").all_inner_texts()


def figures(page, number):
    return [float(text.replace(",", "")) for text in column(page, number)]


def test_a_list_opens_with_a_row_for_each_conversation_and_the_summed_graph(opened, html, conversations):
    page = opened(html)
    assert page.title() == "a run"
    assert page.locator(ROW).count() == len(conversations)
    assert page.locator("aside svg .node").count() == 11
    assert page.locator("output").inner_text() == f"{len(conversations)} of {len(conversations)}"


def test_filters_hold_together_and_are_counted(opened, html, conversations):
    page = opened(html)
    rows = [data.outline(conversation) for conversation in conversations]
    page.select_option("[name=column]", label="rejected")
    page.fill("[name=least]", "3")
    assert page.locator(ROW).count() == sum(row.rejected >= 3 for row in rows)
    page.select_option("[name=stop]", "user_rejected")
    both = sum(row.rejected >= 3 and row.stop == "user_rejected" for row in rows)
    assert 0 < both < len(rows)
    assert page.locator("output").inner_text() == f"{both} of {len(rows)}"
    page.fill("[name=least]", "")
    page.select_option("[name=stop]", "")
    page.select_option("[name=column]", label="coverage")
    page.fill("[name=most]", "0.1")
    assert page.locator(ROW).count() == sum(row.coverage <= 0.1 for row in rows)


def test_a_row_unfolds_and_folds_and_a_span_leads_to_its_message(opened, html):
    page = opened(html)
    row = page.locator(ROW).first
    article = page.locator(".unfolded article")
    article.wait_for()
    assert row.get_attribute("aria-expanded") == "true"
    assert article.locator("details.rejected[open]").count() == 1
    article.locator("details.rejected summary").first.click()
    assert article.locator("details.rejected[open]").count() == 0
    article.locator("details.rejected summary").first.click()
    assert article.locator("details.rejected[open] pre").first.is_visible()
    span = article.locator("a.span").first
    target = span.get_attribute("href").removeprefix("#")
    span.click()
    assert page.url.endswith(f"#{target}")
    assert page.evaluate("document.querySelector(':target').id") == target
    assert page.locator(f"[id='{target}']").is_visible()
    article.locator(".dialogue .what a").first.click()
    assert page.evaluate("document.querySelector(':target').className") == "span"
    row.click()
    assert page.locator(".unfolded").count() == 0
    assert row.get_attribute("aria-expanded") == "false"


def test_the_whole_list_is_reached_by_keys(opened, html, conversations):
    page = opened(html)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "search"
    page.keyboard.type("a/")
    assert page.input_value("[name=search]") == "a/"
    page.fill("[name=search]", "")
    page.keyboard.press("Escape")
    places = "[...document.querySelectorAll('tr.row')].indexOf(document.activeElement)"
    assert page.evaluate(places) == 0
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert page.evaluate(places) == 1
    page.keyboard.press("Enter")
    page.locator(".unfolded article").nth(1).wait_for()
    page.keyboard.press(" ")
    assert page.locator(".unfolded").count() == 1
    page.keyboard.press("End")
    assert page.evaluate(places) == len(conversations) - 1
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Home")
    assert page.evaluate(places) == 0
    assert page.locator("tr.row[tabindex='0']").count() == 1


def versions(old):
    """The page of conversations beside those of a version that says less."""
    new = [one.model_copy(update={"messages": one.messages[:-1]}) for one in old]
    return views.pairs_page(compare_pairs(old, new), old, new)


@pytest.mark.parametrize("width", [1350, 820, 320])
def test_no_window_needs_sideways_scrolling(opened, html, conversations, width):
    overflow = "document.documentElement.scrollWidth - innerWidth"
    page = opened(html, width=width)
    page.locator(".unfolded article").wait_for()
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.evaluate(overflow) <= 0
    assert opened(views.conversation_page(conversations[0]), width=width).evaluate(overflow) <= 0
    for some in (conversations[:2], conversations):  # with few figures and with all of them
        pair = opened(versions(some), width=width)
        pair.locator(".unfolded article").wait_for()
        assert pair.evaluate(overflow) <= 0


def test_dark_and_light_have_their_own_colours_with_enough_contrast(opened, html):
    luminance = """element => {
        const [r, g, b] = getComputedStyle(element)[PROPERTY].match(/[\\d.]+/g).map(v => v / 255)
            .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; }"""
    seen = []
    for dark in (False, True):
        page = opened(html, dark=dark)
        main = page.locator("main")
        ground = main.evaluate(luminance.replace("PROPERTY", "'backgroundColor'"))
        for selector, name in (
            ("main", "color"),
            (".what", "color"),
            (".way.regenerate text", "fill"),
            (".node .reason", "fill"),
        ):
            ink = page.locator(selector).first.evaluate(luminance.replace("PROPERTY", f"'{name}'"))
            brighter, darker = max(ink, ground), min(ink, ground)
            assert (brighter + 0.05) / (darker + 0.05) >= 4.5, (selector, dark)
        seen.append(ground)
    assert seen[0] > 0.9 > 0.1 > seen[1]


def test_two_versions_are_read_side_by_side(opened, conversations):
    page = opened(versions(conversations[:2]))
    columns = page.locator(".unfolded .pair > div")
    columns.first.wait_for()
    left, right = columns.nth(0).bounding_box(), columns.nth(1).bounding_box()
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]


def test_hostile_conversations_run_nothing_and_are_read_as_they_are(opened, hostile, hostile_text):
    conversation = hostile(hostile_text)
    pages = {
        "list": views.run_page([conversation, conversation], hostile_text),
        "pair": versions([conversation]),
        "one": views.conversation_page(conversation),
    }
    for name, html in pages.items():
        page = opened(html, width=700)
        title = page.title()
        if name != "one":
            page.locator(".unfolded article").wait_for()
            page.fill("[name=search]", hostile_text[:50])
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        page.wait_for_timeout(50)
        assert page.title() == title != "hit"
        assert page.locator("img, iframe, object, link, template").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        article = page.locator("article").first.text_content()
        read = hostile_text.encode("utf-8", "replace").decode().replace("\x00", "")  # what a browser leaves out
        assert read in article.replace("\ufffd", "")


def named(name, *, title="Talk", messages=8):
    """A conversation of this id, each message a screen high."""
    contents = [
        Message(role="user" if n % 2 == 0 else "assistant", text=f"{n}: **words**" + "\n\nmore" * 40)
        for n in range(messages)
    ]
    return Conversation(id=name, scenario={"kind": "x", "title": title}, messages=tuple(contents))


IN_VIEW = """id => { const box = document.getElementById(id)?.getBoundingClientRect();
    return !!box && box.top >= 0 && box.top < innerHeight && box.height > 0; }"""
ODD = ("0123456789abcdef", "trip/a b/3.json", "旅行规划/07", 'a"b<i>&amp;#?%41', "x" * 300)


def test_keys_work_as_soon_as_the_page_is_open_and_the_first_conversation_is_unfolded(opened, html):
    page = opened(html)
    page.locator(".unfolded article").wait_for()
    assert page.locator(ROW).first.get_attribute("aria-expanded") == "true"
    assert page.evaluate("scrollY") == 0
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator(".unfolded article").nth(1).wait_for()
    assert page.locator(ROW).nth(1).get_attribute("aria-expanded") == "true"


@pytest.fixture(scope="module")
def many_with_odd(tmp_path_factory):
    """A page of many conversations, among them one of each odd id below those that are laid out at once."""
    many = [named(str(n)) for n in range(250)]
    many[230:230] = [named(name, title=f"Sought {number}") for number, name in enumerate(ODD)]
    file = tmp_path_factory.mktemp("many") / "many.html"
    file.write_text(views.run_page(many, "many"), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", ODD, ids=["plain", "path", "chinese", "signs", "long"])
def test_an_address_leads_to_a_conversation_and_to_a_message(opened, many_with_odd, name):
    file = many_with_odd
    page = opened(file)
    page.locator(".unfolded article").wait_for()
    encoded = page.evaluate("text => encodeURIComponent(text)", name)
    page.goto("about:blank")
    page.goto(f"{file.as_uri()}#{encoded}/5")
    page.wait_for_function(IN_VIEW, arg=f"{name}/5")
    assert page.evaluate("document.querySelector(':target').id") == f"{name}/5"
    assert page.locator(".unfolded article").count() == 1
    assert page.locator(".unfolded h1").inner_text() == f"Sought {ODD.index(name)}"
    link = page.locator(".unfolded .dialogue .here").nth(6)
    link.click()
    assert page.url.partition("#")[2].endswith("/6")
    page.wait_for_function(IN_VIEW, arg=f"{name}/6")
    page.fill("[name=search]", "nothing like this")
    page.evaluate("address => { location.hash = address; }", "7/1")
    page.wait_for_function(IN_VIEW, arg="7/1")
    page.evaluate("address => { location.hash = address; }", encoded)
    page.wait_for_function(IN_VIEW, arg=name)


def test_a_replys_markdown_is_laid_out_and_loads_nothing(opened):
    text = "# Plan\n\n- **one**\n- ![a map](http://127.0.0.1/map.png) [x](javascript:document.title='hit')\n\n| a | b |\n|--:|---|\n| 1 | 2 |"
    contents = (Message(role="user", text="*Hi*"), Message(role="assistant", text=text))
    for width in (1400, 360):
        page = opened(
            views.conversation_page(Conversation(id="a", scenario={"kind": "x"}, messages=contents)), width=width
        )
        assert page.locator(".markdown li strong").inner_text() == "one"
        assert "a map: http://127.0.0.1/map.png" in page.locator(".markdown").inner_text()
        assert page.locator("img").count() == 0
        assert page.locator("li.user .text").inner_text() == "*Hi*"
        assert page.locator(".markdown td").first.evaluate("e => getComputedStyle(e).textAlign") == "right"
        page.locator("summary", has_text="as it was written").click()
        assert page.locator("li.assistant pre").inner_text() == text
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def labelled(number, mood, people=None, votes=()):
    """A conversation whose second message has a label of three votes, and its own label with people's beside it."""
    voted = Label(value=votes[0] if votes else None, votes=votes)
    contents = (
        Message(role="user", text="Hi"),
        Message(role="assistant", text="Hello", labels={"tone": voted} if votes else {}),
    )
    labels = {"mood": mood} | ({"mood_human": people} if people else {})
    about = {"kind": "messages", "digest": str(number)}
    return Conversation(id=f"talk {number}/{number}", scenario=about, messages=contents, labels=labels, extra={"user": f"u{number}"})  # fmt: skip


LABELLED = [
    labelled(0, "good", "good", ("warm", "warm", "warm")),
    labelled(1, "good", "bad", ("warm", "warm", "cold")),
    labelled(2, "<b onclick=alert(1)>bad</b>", "bad", ("cold", "cold", "cold")),
    labelled(3, "bad"),
]


def test_a_label_is_chosen_as_a_filter_and_a_column(opened):
    page = opened(views.run_page(LABELLED, "x"))
    assert not page.locator(".rows th.label").is_visible()
    page.select_option("[name=label]", label="mood")
    assert page.locator(".rows th.label").inner_text() == "mood"
    cells = page.locator(f"{ROW} .label").all_inner_texts()
    assert cells == ["good", "good", "<b onclick=alert(1)>bad</b>", "bad"]
    page.select_option("[name=value]", label="good")
    assert page.locator(ROW).count() == 2
    page.select_option("[name=label]", label="tone")
    assert page.locator(f"{ROW} .label").all_inner_texts() == ["warm", "warm", "cold"]  # nobody labelled the fourth
    page.select_option("[name=label]", label="none")
    assert page.locator(ROW).count() == 4
    assert not page.locator(".rows th.label").is_visible()


@pytest.fixture
def tested():
    """The result of a test in which a scenario succeeds, one crashes, and one was not begun."""
    from duologue.analysis.testing.success import PlannedConversation, successes, with_verdict

    titles = ["a table for two near the old harbour", "money" * 30, "another seat"]
    planned = [Conversation(id=f"{n}", scenario={"goal": title}) for n, title in enumerate(titles)]
    labels = labels_from({"scores": {"success": {"value": True, "reason": "booked"}}})
    done = [planned[0].model_copy(update={"stop": "user_ended", "labels": labels}), planned[1]]
    done[1] = done[0].model_copy(update={"id": "1", "scenario": {"goal": titles[1]}, "stop": "agent_timeout"})
    return done, with_verdict(successes(done, plan=[PlannedConversation.of(one) for one in planned]))


ZEBRA = ".rendered_html table{color:black}.rendered_html tbody tr:nth-child(odd){background:#f5f5f5}"
"""How a notebook without a theme of its own paints tables."""


@pytest.mark.parametrize("dark", [True, False])
@pytest.mark.parametrize("begin", [f'<style>{ZEBRA}</style><div class="rendered_html">', '<div class="plain">'])
def test_the_result_of_a_test_is_read_in_the_dark_and_in_the_light(opened, tested, begin, dark):
    from duologue.views.run import notebook_result

    page = opened(f"<!doctype html>{begin}{notebook_result(tested[1])}</div>", dark=dark)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    contrast = """e => {
        const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
        const ink = numbers(getComputedStyle(e).color);
        let paper = [0, 0, 0, 0];
        for (let at = e; at && !paper[3]; at = at.parentElement) {
            paper = numbers(getComputedStyle(at).backgroundColor);
            if (paper.length < 4) paper.push(1);
        }
        return Math.min(...[0, 1, 2].map(n => Math.abs(ink[n] - paper[n])));
    }"""
    for shown in (
        ".result .text b",
        ".result .what",
        ".result tbody tr:first-child td",
        ".result tbody tr:nth-child(2) td",
    ):
        assert page.locator(shown).first.evaluate(contrast) > 60, shown
