"""The realism report and its card: what their pages show, how they show themselves, and in a browser without network."""

import subprocess
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell

from duologue import views
from duologue.analysis.realism import Report, Row, compare
from duologue.analysis.realism.card import card_of
from duologue.analysis.realism.report import Discriminator, Example, Interval, SideSummary, TaskRow
from duologue.data import Conversation, Message, recllmsim
from duologue.views.pages import render
from duologue.views.realism import (
    ROW,
    WIDTH,
    card_html,
    card_page,
    distance_marks,
    effect_marks,
    report_html,
    report_page,
    write,
)


def row(name="thanks", **figures):
    """A row that is ranked, if it is not said otherwise."""
    words = dict.fromkeys(("family", "unit", "definition", "source", "direction"), "words")
    known = {"effect": 1.0, "excess": 0.5, "chance": 0.25, "distance": 1.0, "floor": 0.5, "sim": 0.75, "human": -0.0001}
    return Row(**({"name": name, "survives_translation": True} | words | known | figures))


def report_of(*rows, text="words", **changes):
    """A report of these rows, every free text of which is the one given."""
    side = SideSummary(conversations=3, compared=2, users=2, tasks={text: 2}, translated=0, digest="d")
    unknown = Interval(value=None, reason=text)
    return Report(
        **{
            "language": "en", "part": "all", "seed": 0, "sim": side, "human": side, "published": None, "tasks": (text,),
            "notes": (text,), "measures": rows, "discriminator": Discriminator(auc=unknown, floor=unknown), "persona": (),
        } | changes
    )  # fmt: skip


def hostile_report(text):
    example = Example(conversation=text, user=text, message=0, text=text)
    task = TaskRow(task=text, sim=0.5, human=0.5, effect=0.0, p=1.0, p_adjusted=1.0)
    shown = row(text, unit=text, definition=text, source=text, tasks=(task,), examples_sim=(example,))
    return report_of(shown, row("apart", apart="annotation"), row("none", excess=None, reason=text), text=text)


def test_hostile_texts_stay_text_on_the_report_and_the_card(hostile_text, tags):
    plain, hostile = hostile_report("words"), hostile_report(hostile_text)
    pages = [
        (report_page(plain, "mine", "people"), report_page(hostile, hostile_text, hostile_text)),
        (card_page(card_of(plain, "mine", "people")), card_page(card_of(hostile, hostile_text, hostile_text))),
    ]
    for expected, page in pages:
        assert tags(page).tags == tags(expected).tags
        page.encode("utf-8")


def test_both_pages_have_the_frame_and_the_one_style_of_all_pages(tags):
    report = report_of(row())
    conversation = views.conversation_page(Conversation(id="c", scenario={"kind": "messages"}, messages=()))
    for page in (report_page(report), card_page(card_of(report, "a", "b"))):
        assert tags(page).policy == tags(conversation).policy
        assert (
            page.partition("</style>")[0].partition("<style>")[2]
            == conversation.partition("</style>")[0].partition("<style>")[2]
        )
        assert "default-src 'none'" in tags(page).policy
        assert "<script" not in page


def test_marks_lie_where_their_numbers_are():
    rows = [row("above", effect=1.0, effect_low=0.5, effect_high=1.0, published_effect=0.0), row("below", effect=-1.0)]
    above, below = effect_marks(rows)
    assert (above.effect, above.low, above.high, above.published) == (WIDTH, WIDTH * 3 / 4, WIDTH, WIDTH / 2)
    assert (below.effect, below.low, below.high, below.published) == (0, 0, 0, None)
    assert (above.y, below.y, above.chance) == (ROW / 2, ROW * 3 / 2, WIDTH / 8)
    assert above.description == "above: 1.00, 95 % interval 0.50 to 1.00, chance 0.25"
    (mark,) = distance_marks([row(distance=1.0, floor=3.0, floor_high=None, published=0.0)])
    assert (mark.distance, mark.floor, mark.floor_high, mark.published) == (WIDTH / 2, WIDTH * 3 / 4, WIDTH * 3 / 4, 0)


def test_what_is_set_apart_or_not_compared_is_in_no_figure_and_in_a_list_of_its_own(tags):
    others = [row("translated away", apart="translation"), row("nothing known", excess=None, reason="nobody tells it")]
    assert effect_marks(others) == distance_marks(others) == []
    text = " ".join("".join(tags(report_html(report_of(row(), *others))).text).split())
    assert "Measures that are not ranked" in text
    assert "nothing known: nobody tells it" in text
    assert "Least like people first" not in report_html(report_of(*others))


def test_numbers_are_read_as_people_read_them():
    html = report_html(report_of(row(sim=1234.5, human=-0.0001, p=0.0001, p_adjusted=None)))
    for cell in ("1,234.500", "0.000", "&lt;0.001", "–"):
        assert f'<td class="n">{cell}</td>' in html
    assert "-0.000" not in html


def test_an_auc_without_an_interval_says_why_or_stands_alone():
    few = Discriminator(auc=Interval(value=0.75, reason="few"), floor=Interval(value=None, reason="too few people"))
    report = report_of(row(), discriminator=few)
    for html in (report_html(report), card_html(card_of(report, "a", "b"))):
        assert "0.75" in html
        assert "None" not in html
        assert "– to" not in html
        assert "not available: too few people" in html


def test_a_report_and_its_card_show_themselves_in_a_notebook():
    shell = InteractiveShell()
    views.load_ipython_extension(shell)
    report = report_of(row())
    for value, title in ((report, "simulated against people"), (card_of(report, "mine", "people"), "card: mine")):
        html = shell.display_formatter.format(value)[0]["text/html"]
        assert html.startswith("<style>")
        assert title in html


def test_the_other_pages_do_not_wait_for_what_the_report_needs(tmp_path):
    code = (
        "import sys, duologue.views; print([m for m in ('numpy', 'scipy', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_template_of_the_report_refuses_a_value_that_nobody_gave():
    from jinja2 import UndefinedError

    for template in ("realism/report.html", "realism/card.html"):
        with pytest.raises(UndefinedError):
            render(template)


def test_files_are_written_for_people_and_for_programs(tmp_path):
    messages = (Message(role="user", text="Thank you!"), Message(role="assistant", text="Yes."))
    people = [Conversation(id=str(n), scenario={"kind": "messages"}, messages=messages) for n in range(2)]
    paths = write(compare(people, people, shufflings=20, resamples=10, halvings=2), tmp_path / "out")
    assert [path.name for path in paths] == ["report.html", "report.json", "card.html", "card.json"]
    assert all(path.stat().st_size > 1000 for path in paths)


@pytest.mark.heavy
def test_the_report_and_the_card_open_in_a_browser_and_the_figures_are_there(browser, open_data, tmp_path):
    conversations = recllmsim.read(open_data / "recllmsim")
    simulated = [each for each in conversations if recllmsim.variant(each) == "simulated"]
    people = [each for each in conversations if recllmsim.variant(each) != "simulated"]
    write(compare(simulated, people, simulated[:100]), tmp_path)
    complaints: list[str] = []
    page = browser.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: None if request.url.startswith("file:") else complaints.append(request.url))
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
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    page.close()
    assert complaints == []
