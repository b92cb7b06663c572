"""The realism report: what its page shows, how it shows itself, and in a browser without network."""

import subprocess
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell

from duologue import views
from duologue.analysis.realism import RealismReport, RealismRow, compare
from duologue.analysis.realism.records import Example, ReferenceRow, TaskRow
from duologue.analysis.realism.report import SideSummary
from duologue.analysis.realism.statistics.auc import (
    Coefficient,
    Discriminator,
    FamilyAuc,
    Interval,
    ReferenceAuc,
)
from duologue.analysis.realism.statistics.correlations import Correlation
from duologue.data import Conversation, Message, load
from duologue.views.figures import BESIDE, STACKED
from duologue.views.pages import render
from duologue.views.realism.charts import DRAWINGS, distances, effects
from duologue.views.realism.report import report_html, report_page, write

BOXES = "parts => parts.map(part => part.getBoundingClientRect()).map(box => [box.left, box.right, box.height])"


def row(name="thanks", **figures):
    """A row that is ranked, if it is not said otherwise."""
    words = dict.fromkeys(("family", "unit", "definition", "source", "direction"), "words")
    fields = {
        "effect": 1.0,
        "excess": 0.5,
        "chance": 0.25,
        "distance": 1.0,
        "floor": 0.5,
        "sim": 0.75,
        "human": -0.0001,
    }
    return RealismRow(**({"name": name, "survives_translation": True} | words | fields | figures))


def report_of(*rows, text="words", **changes):
    """A report of these rows, every free text of which is the one given."""
    unknown = Interval(value=None, reason=text)
    return RealismReport(
        **{
            "language": "en", "part": "all", "seed": 0, "sim": side(text=text), "human": side(text=text), "published": None, "tasks": (text,),
            "notes": (text,), "measures": rows, "discriminator": Discriminator(auc=unknown, floor=unknown),
        } | changes
    )  # fmt: skip


def reference(name, distance=0.25):
    return ReferenceRow(
        name=name, mean=0.5, effect=0.5, distance=0.75, effect_from_people=0.125, distance_from_people=distance
    )


def task(name, effect):
    return TaskRow(
        task=name, sim=0.5, human=0.5, effect=effect, effect_low=-0.5, effect_high=0.5, p=1.0, p_adjusted=1.0
    )


def side(*, conversations=3, compared=2, users=2, text="words", **more):
    return SideSummary(
        **{
            "conversations": conversations, "compared": compared, "users": users, "tasks": {text: compared},
            "translated": 0, "digest": "d",
        } | more
    )  # fmt: skip


def hostile_report(text):
    """A report all of whose texts are the one given: labels, references, assistants and reasons are somebody's data."""
    example = Example(conversation=text, user=text, message=0, text=text)
    shown = row(
        text, unit=text, definition=text, source=text, keyboard=text, family=text, no_interval=text,
        tasks=(task(text, -0.5), task(text, 0.5)), references=(reference(text),), examples_sim=(example,),
    )  # fmt: skip
    discriminator = Discriminator(
        auc=Interval(value=0.9, reason=text),
        floor=Interval(value=None, reason=text),
        leans_on=(Coefficient(name=text, weight=1.0),),
        families=(FamilyAuc(family=text, alone=0.9, without=0.8),),
        references=(ReferenceAuc(name=text, auc=Interval(value=0.9), from_people=Interval(value=0.6)),),
    )
    return report_of(
        shown, row("apart", apart="annotation"), row("none", excess=None, reason=text), text=text,
        tasks=(text, "other"), references={text: side(text=text, assistants={text: 2})}, discriminator=discriminator,
    )  # fmt: skip


def page_text(tags, html):
    """The text that a page shows, in one line."""
    return " ".join("".join(tags(html).text).split())


def test_hostile_texts_stay_text_on_the_report(hostile_text, tags):
    expected = report_page(hostile_report("words"), "mine", "people")
    page = report_page(hostile_report(hostile_text), hostile_text, hostile_text)
    assert tags(page).tags == tags(expected).tags
    page.encode("utf-8")


def test_the_page_has_the_frame_and_the_one_style_of_all_pages(tags):
    page = report_page(report_of(row()))
    conversation = views.conversation_page(Conversation(id="c", scenario={"kind": "messages"}, messages=()))
    assert tags(page).policy == tags(conversation).policy
    assert (
        page.partition("</style>")[0].partition("<style>")[2]
        == conversation.partition("</style>")[0].partition("<style>")[2]
    )
    assert "default-src 'none'" in tags(page).policy
    assert "<script" not in page


@pytest.mark.parametrize("drawing", DRAWINGS, ids=[drawing.kind for drawing in DRAWINGS])
def test_marks_lie_where_their_numbers_are(drawing):
    width = drawing.width
    fields = {"effect": 1.0, "effect_low": 0.5, "effect_high": 1.0, "published_effect": 0.0}
    rows = [row("above", **fields, tasks=(task("a", -0.5), task("b", 0.5))), row("below", effect=-1.0, floor=None)]
    above, below = effects(rows, drawing).marks
    assert (above.effect, above.low, above.high, above.published) == (width, width * 3 / 4, width, width / 2)
    assert above.tasks == (width / 4, width * 3 / 4)
    assert (below.effect, below.low, below.high, below.published, below.tasks) == (0, None, None, None, ())
    assert below.y - above.y == drawing.row
    assert above.description == "above: 1.00, 95 % interval 0.50 to 1.00, in tasks -0.50 to 0.50"
    assert below.description == "below: -1.00, no interval"
    shown = row(distance=1.0, floor=3.0, floor_high=None, published=0.0, references=(reference("other", 1.0),))
    (mark,) = distances([shown, rows[1]], drawing).marks
    assert (mark.distance, mark.floor, mark.floor_high, mark.published) == (width / 2, width * 3 / 4, width * 3 / 4, 0)
    assert mark.references == (width / 2,)
    assert mark.description == "thanks: 1.00; people from people 3.00, up to 3.00; other 1.00; published 0.00"


def test_a_narrow_drawing_has_each_name_above_its_marks_and_a_wide_one_beside_them():
    for drawing, beside in ((BESIDE, True), (STACKED, False)):
        (mark,) = effects([row()], drawing).marks
        assert (abs(drawing.name_y(mark.y) - mark.y) < 7) is beside
        assert 0 < drawing.name_y(mark.y) < mark.y + 7 <= drawing.row
    assert STACKED.left + STACKED.width + STACKED.right <= 420 - 32


def test_each_figure_is_drawn_for_wide_and_for_narrow_screens_with_the_same_marks(tags):
    html = report_html(report_of(row("one"), row("two", references=(reference("other"),))))
    for kind in ("beside", "stacked"):
        assert html.count(f'<svg class="{kind}"') == 2
    assert html.count('class="reference"') == html.count('class="point"') / 4 == 2


def test_what_differs_in_nothing_is_drawn_at_0_and_not_left_out():
    (effect,) = effects([row(effect=0.0, distance=0.0, floor=0.0)], BESIDE).marks
    (distance,) = distances([row(effect=0.0, distance=0.0, floor=0.0)], BESIDE).marks
    assert (effect.effect, distance.distance) == (BESIDE.width / 2, 0)


def test_what_is_set_apart_or_not_compared_is_in_no_figure_and_in_a_list_of_its_own(tags):
    others = [row("translated away", apart="translation"), row("nothing known", excess=None, reason="nobody tells it")]
    assert effects(others, BESIDE).marks == distances(others, BESIDE).marks == ()
    text = page_text(tags, report_html(report_of(row(), *others)))
    assert "Measures that are not ranked" in text
    assert "nothing known: nobody tells it" in text
    assert "Least like people first" not in report_html(report_of(*others))


def test_each_measure_answers_whether_it_could_be_the_keyboard(tags):
    html = report_html(report_of(row(keyboard="Partly: typing is work.")))
    assert 'title="Could it be the keyboard? Partly: typing is work."' in html
    measured = page_text(tags, html.partition("What was measured")[2])
    assert "Could it be the keyboard? Partly: typing is work." in measured


def test_the_spread_between_references_stands_beside_the_floor_and_in_the_auc(tags):
    first, second = reference("first", 0.25), reference("second", 0.5)
    of_first = ReferenceAuc(
        name="first",
        auc=Interval(value=0.97, low=0.95, high=0.99),
        from_people=Interval(value=0.66, low=0.6, high=0.7),
    )
    discriminator = Discriminator(
        auc=Interval(value=0.9), floor=Interval(value=0.52, low=0.4, high=0.6), references=(of_first,)
    )
    report = report_of(
        row(references=(first, second)),
        references={"first": side(), "second": side(users=44)},
        discriminator=discriminator,
    )
    assert report.measures[0].between_references == 0.5
    html = report_html(report)
    assert "between references</th>" in html
    assert ">0.50</td>" in html.partition("between references</th>")[2]
    text = page_text(tags, html)
    assert "reference second" in text
    assert "distinguished from the people with AUC 0.66 (0.60 to 0.70)" in text
    assert "from the simulated users with 0.97 (0.95 to 0.99)" in text
    assert 'title="first 0.25, second 0.50"' in report_html(report)
    assert "between references" not in report_html(report_of(row()))


def test_who_answered_stands_with_each_side(tags):
    people = side(assistants={"gpt-4-turbo": 57, "deepseek-v3": 32})
    assert "gpt-4-turbo 57, deepseek-v3 32" in page_text(tags, report_html(report_of(row(), human=people)))


def test_the_auc_without_length_and_the_families_stand_on_the_report(tags):
    families = (FamilyAuc(family="shape", alone=0.998, without=0.87), FamilyAuc(family="ending", alone=0.9, without=1))
    discriminator = Discriminator(auc=Interval(value=1.0), floor=Interval(value=0.5), families=families)
    html = report_html(report_of(row(), discriminator=discriminator))
    assert "ithout the measures of length (family shape)" in page_text(tags, html)
    assert '<td>shape</td><td class="n">0.998</td><td class="n">0.870</td>' in html


def test_a_missing_interval_is_a_dash_with_its_reason_and_one_line_names_all_such_measures(tags):
    few = {"no_interval": "too few users"}
    html = report_html(report_of(row("a", **few), row("b", **few), row("c", effect_low=0.125, effect_high=0.875)))
    assert '<span title="too few users">–</span>' in html
    assert page_text(tags, html).count("No interval for a, b: too few users.") == 1
    assert "0.12 to 0.88" in html


def test_conversations_with_a_value_are_counted_where_they_are_fewer_than_compared(tags):
    people = side(conversations=300, compared=219)
    fewer = row("first-message share", human_conversations=214, sim_conversations=2)
    html = report_html(report_of(fewer, row("turns", human_conversations=219, sim_conversations=2), human=people))
    assert page_text(tags, html).count("in 214 of 219") == 1
    assert "in 219 of" not in html
    assert "in 2 of" not in html


def test_the_number_of_measures_stands_with_how_many_uncorrelated_ones_they_count_as(tags):
    html = report_html(report_of(row("a"), row("b"), effective_measures=1.25))
    assert "since they are correlated they count as 1.2 that are not" in page_text(tags, html)
    html = report_html(report_of(row("a")))
    assert "correlated" not in html


def test_correlated_measures_stand_in_a_table_as_text(tags):
    pair = Correlation(first="<b>thanks</b>", second="praise", value=-0.625)
    html = report_html(report_of(row("a"), correlated=(pair,)))
    assert "Measures that go together" in page_text(tags, html)
    assert '&lt;b&gt;thanks&lt;/b&gt;</td><td>praise</td><td class="n">-0.62</td>' in html.replace("−", "-")
    assert "Measures that go together" not in report_html(report_of(row("a")))


def test_a_report_of_a_file_against_itself_shows_no_difference_and_decides_by_nothing(tags):
    note = "The conversations of the two sides are the same: a comparison of them with themselves finds nothing."
    nothing = {"effect": 0.0, "excess": -0.25, "distance": 0.0}
    discriminator = Discriminator(
        auc=Interval(value=0.5, low=0.47, high=0.53),
        floor=Interval(value=0.5, low=0.42, high=0.58),
        leans_on=(Coefficient(name="thanks", weight=7e-18),),
    )
    report = report_of(row(**nothing), notes=(note,), discriminator=discriminator)
    html = report_html(report)
    assert note in page_text(tags, html)
    assert "0.50 (0.47 to 0.53)" in page_text(tags, html)
    assert "What it decides by" not in html


def test_numbers_are_read_as_people_read_them():
    html = report_html(report_of(row(sim=1234.5, human=-0.0001, p=0.0001, p_adjusted=None)))
    for cell in ("1,234.500", "0.000", "&lt;0.001", "–"):
        assert f'<td class="n">{cell}</td>' in html
    assert "-0.000" not in html


def test_an_auc_without_an_interval_says_why_or_stands_alone():
    few = Discriminator(auc=Interval(value=0.75, reason="few"), floor=Interval(value=None, reason="too few people"))
    html = report_html(report_of(row(), discriminator=few))
    assert "0.75" in html
    assert "None" not in html
    assert "– to" not in html
    assert "not available: too few people" in html


def test_a_report_shows_itself_in_a_notebook():
    shell = InteractiveShell()
    views.load_ipython_extension(shell)
    html = shell.display_formatter.format(report_of(row()))[0]["text/html"]
    assert html.startswith("<style>")
    assert "simulated against people" in html


@pytest.mark.heavy
def test_the_other_pages_do_not_wait_for_what_the_report_needs(tmp_path):
    code = (
        "import sys, duologue.views; print([m for m in ('numpy', 'scipy', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_template_of_the_report_refuses_a_value_that_nobody_gave():
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        render("realism/report.html")


def test_files_are_written_for_people_and_for_programs(tmp_path):
    messages = (Message(role="user", text="Thank you!"), Message(role="assistant", text="Yes."))
    people = [Conversation(id=str(n), scenario={"kind": "messages"}, messages=messages) for n in range(2)]
    paths = write(compare(people, people, shufflings=20, halvings=2), tmp_path / "out")
    assert [path.name for path in paths] == ["report.html", "report.json"]
    assert all(path.stat().st_size > 1000 for path in paths)


@pytest.mark.heavy
def test_the_report_opens_in_a_browser_and_the_figures_are_whole_on_any_screen(browser, open_data, tmp_path):
    sim, people, others = (
        load(open_data / "recllmsim" / name).conversations
        for name in ("LLM_agent_user", "human_exp_V2", "real_human_user")
    )
    write(compare(sim, people, sim[:100], references={"x" * 300: others}, shufflings=200, halvings=10), tmp_path)
    complaints: list[str] = []
    page = browser.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: None if request.url.startswith("file:") else complaints.append(request.url))
    for width, drawn in ((1200, BESIDE), (420, STACKED)):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto((tmp_path / "report.html").as_uri())
        figures = page.locator("figure svg:visible")
        assert [figures.nth(number).get_attribute("class") for number in range(figures.count())] == [drawn.kind] * 2
        for number in range(2):
            figure = figures.nth(number)
            box = figure.bounding_box()
            assert box is not None
            assert box["height"] > 200
            assert figure.locator("circle.point").count() >= 10
            parts = figure.locator("text, circle, path, line, rect").evaluate_all(BOXES)
            assert all(box["x"] <= left and right <= box["x"] + box["width"] for left, right, _ in parts)
            letters = figure.locator("text").evaluate_all(BOXES)
            assert min(height for _, _, height in letters) > 10
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("blockquote").count() >= 30
    page.close()
    assert complaints == []


def test_a_figure_without_a_mark_is_left_out():
    with_floor, without = (report_html(report_of(row(floor=floor)), "a", "b") for floor in (0.5, None))
    assert ("Human-human baseline</h2>" in with_floor, "Human-human baseline</h2>" in without) == (True, False)
    assert "Effect of each measure" in without


def test_users_made_from_people_are_in_figures_tables_and_auc_of_the_report():
    interval = Interval(value=0.6789)
    apart = Discriminator(auc=Interval(value=1.0), floor=Interval(value=0.5), made=interval)
    html = report_html(report_of(row(made=0.4321, made_effect=0.25), made=side(), discriminator=apart))
    assert html.count('class="made"') == 4  # both figures, wide and narrow
    assert "0.68" in html
    assert "0.43" in html
    assert "made from people" in html
    without = report_html(report_of(row()))
    assert 'class="made"' not in without
    assert "made from people" not in without
