"""Figures as SVG documents of their own."""

from xml.etree import ElementTree

import pytest
from IPython.core.interactiveshell import InteractiveShell

import duologue
from duologue import data, views
from duologue.analysis.estimates import Estimate
from duologue.graphs import simquac
from duologue.views import figures

SVG = "{http://www.w3.org/2000/svg}"


def drawn(figure):
    return ElementTree.fromstring(figure.svg)


def of_class(figure, name):
    return [element for element in drawn(figure).iter() if element.get("class") == name]


def test_a_forest_plot_has_a_point_and_an_interval_for_each_estimate_at_their_places_on_the_scale():
    figure = views.forest_plot({"half": Estimate(value=0.5, low=0.25, high=0.75)}, label="success", reference=0.75)
    (point,), (interval,) = of_class(figure, "point"), of_class(figure, "interval")
    assert (point.get("cx"), interval.get("x1"), interval.get("x2")) == ("320.0", "160.0", "480.0")
    assert [line.get("x1") for line in of_class(figure, "zero")] == ["0.0", "480.0"]
    assert "success" in "".join(drawn(figure).itertext())
    assert repr(figure) == "half: 0.50 (95 % interval 0.25 to 0.75)"


@pytest.mark.parametrize("name", ["<script>x</script>", "]]></svg>", "x" * 500])
def test_a_name_stays_text(name):
    figure = views.forest_plot({name: Estimate(value=0.5, low=0.2, high=0.8)})
    assert not [element for element in drawn(figure).iter() if element.tag == f"{SVG}script"]
    assert name in "".join(drawn(figure).itertext())


def test_a_picture_brings_its_style_with_colours_written_out_and_asks_nothing_of_a_network():
    (conversation,) = duologue.simulate(simquac.cast(), simquac.scenarios(data.simquac.samples()[:1]))
    figure = views.graph_figure(conversation)
    assert "var(" not in figure.svg
    assert "fill:#1c1e21" in figures.drawing_style()
    assert "http" not in figure.svg.replace("http://www.w3.org", "")
    assert "turn_recorder -> user_prompt_selector: continue 11" in repr(figure).splitlines()
    bundle, _ = InteractiveShell().display_formatter.format(figure)
    assert set(bundle) == {"image/svg+xml", "text/plain"}
