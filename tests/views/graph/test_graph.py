"""The executed graph as SVG: laid out by code, the same each time, for any edges."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data import Conversation, Edge
from duologue.data.executed_graph import ExecutedNode
from duologue.graphs import simquac
from duologue.runs.engine import edges_of
from duologue.views import graph_html
from duologue.views.graph.drawing import _lines
from duologue.views.graph.layout import laid_out, layers, ways_back

TOPOLOGY = [Edge(source=source, target=target, label=label) for source, target, label in edges_of(simquac.graph)]
NAMES = ["a", "b", "c", "d", "e", "f"]
WAYS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=14)


def ran(edges, name="a", **more):
    return Conversation(id=name, scenario={"kind": "x"}, edges=tuple(edges), **more)


def svg(html):
    return ElementTree.fromstring(re.search(r"<svg.*</svg>", html, re.S)[0])


def sizes(ways):
    return {name: (100.0, 40.0) for way in ways for name in way}


@given(WAYS)
def test_any_edges_are_laid_out_inside_the_drawing_without_overlap(ways):
    layout = laid_out(ways, sizes(ways))
    assert layout == laid_out(ways, sizes(ways))
    assert len(layout.lines) == len(ways)
    boxes = list(layout.boxes.values())
    for box in boxes:
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.width <= layout.width
        assert box.y + box.height <= layout.height
    for n, one in enumerate(boxes):
        for other in boxes[n + 1 :]:
            apart = (
                one.x + one.width <= other.x or other.x + other.width <= one.x
                or one.y + one.height <= other.y or other.y + other.height <= one.y
            )  # fmt: skip
            assert apart
    for line in layout.lines:
        assert all(0 <= float(x) <= layout.width for x in re.findall(r"H([\d.-]+)", line.path))


@given(WAYS)
def test_no_two_edges_that_go_round_run_over_each_other(ways):
    upright = []
    for line in laid_out(ways, sizes(ways)).lines:
        match = re.search(r"Q([\d.-]+) [\d.-]+ [\d.-]+ ([\d.-]+)V([\d.-]+)Q", line.path)
        if match:
            x, *ends = map(float, match.groups())
            upright.append((x, *sorted(ends)))
    for n, (x, top, bottom) in enumerate(upright):
        for other, other_top, other_bottom in upright[n + 1 :]:
            assert x != other or bottom < other_top or other_bottom < top


@given(WAYS)
def test_without_its_ways_back_a_graph_has_no_circle_and_leads_down(ways):
    back = ways_back(ways, list(sizes(ways)))
    ahead = [way for n, way in enumerate(ways) if n not in back]
    depth = layers(ahead, list(sizes(ways)))
    assert set(depth) == set(sizes(ways))
    assert all(depth[target] > depth[source] for source, target in ahead)


def test_the_topology_stands_in_one_column_its_loops_on_the_left_and_its_stops_on_the_right():
    ways = [(edge.source, edge.target) for edge in TOPOLOGY]
    layout = laid_out(ways, sizes(ways))
    middles = {box.x + box.width / 2 for box in layout.boxes.values()}
    assert len(middles) == 1
    assert sorted(layout.boxes, key=lambda name: layout.boxes[name].y) == list(dict.fromkeys(
        [*(source for source, _ in ways), "__end__"]
    ))  # fmt: skip
    towards = {(edge.source, edge.label): line.towards for edge, line in zip(TOPOLOGY, layout.lines, strict=True)}
    assert {towards[name, "regenerate"] for name in ("question_validator", "answer_validator")} == {"right"}
    assert towards["turn_recorder", "continue"] == "right"
    assert {towards[name, "stop"] for name in ("question_validator", "answer_validator")} == {"left"}


def test_counts_loops_stops_and_ways_not_taken_are_told_in_text_and_class():
    counts = {"": 4, "user": 1, "assistant": 0, "accepted": 3, "regenerate": 2, "continue": 0, "stop": 1}
    html = graph_html(ran([edge.model_copy(update={"count": counts[edge.label]}) for edge in TOPOLOGY]))
    drawn = svg(html)
    text = " ".join("".join(drawn.itertext()).split())
    for words in ("regenerate 2", "stop 1", "continue 0", "accepted 3", "question validator", "ran 4×"):
        assert words in text, words
    classes = [group.get("class") for group in drawn.iter("g")]
    assert {"way regenerate", "way stop", "way continue untaken", "way accepted", "way next", "node"} <= set(classes)
    assert drawn.get("aria-label") == "Executed graph of 1 conversation"


def test_the_graph_of_many_adds_their_counts():
    one = ran([Edge(source="a", target="b", count=2)])
    other = ran([Edge(source="a", target="b", count=3), Edge(source="b", target="odd place", count=1)])
    text = "".join(svg(graph_html([one, other])).itertext())
    assert "ran 5×" in text
    assert "odd place" in text
    assert "2 conversations" in text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0999, "100 ms"),
        (0.0954, "95 ms"),
        (0.01, "10 ms"),
        (0.00994, "9.9 ms"),
        (0.00005, "0.05 ms"),
        (0.1, "0.10 s"),
    ],
)
def test_a_short_time_is_a_plain_number(seconds, words):
    node = ExecutedNode(name="a", runs=1, seconds=seconds)
    assert words in " · ".join(_lines(node))


def test_a_wider_line_was_taken_more_often():
    drawn = svg(graph_html(ran([Edge(source="a", target="b", count=9), Edge(source="b", target="c", count=1)])))
    often, once = (float(path.get("stroke-width")) for path in drawn.iter("path") if path.get("class") == "line")
    assert often > once


def test_conversations_without_edges_have_no_graph():
    assert graph_html(ran([])) == ""
    assert graph_html([]) == ""


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "x" * 100_000, "</svg>", '"><img onerror=a()>', "\u202ex"]
)
def test_a_hostile_node_is_text_and_has_a_bounded_width(name):
    drawn = svg(graph_html(ran([Edge(source=name, target="b", count=1)])))
    assert {element.tag for element in drawn.iter()} == {"svg", "title", "g", "path", "text", "rect"}
    assert float(drawn.get("width")) < 800
