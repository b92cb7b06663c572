"""Graphs as SVG: laid out by code, the same each time, for any edges."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data import Conversation
from duologue.data.executed_graph import Edge, ExecutedGraph, ExecutedNode
from duologue.graphs import simquac
from duologue.views import graph_html
from duologue.views.graph import drawn, in_column

TOPOLOGY = [
    Edge(source=edge.source, target=edge.target, label=edge.data or "") for edge in simquac.graph.get_graph().edges
]
NAMES = ["a", "b", "c", "d", "e", "f"]
WAYS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=1, max_size=14)


def ran(edges, runs=4):
    names = dict.fromkeys(name for edge in edges for name in (edge.source, edge.target))
    nodes = tuple(ExecutedNode(name=name, runs=runs) for name in names)
    return svg(drawn(ExecutedGraph(conversations=1, nodes=nodes, edges=tuple(edges))))


def svg(html):
    return ElementTree.fromstring(re.search(r"<svg.*</svg>", html, re.S)[0])


def of_ways(ways):
    return ran([Edge(source=one, target=other, count=1) for one, other in ways])


@given(WAYS)
def test_any_edges_are_laid_out_inside_the_drawing_without_overlap(ways):
    drawing = of_ways(ways)
    width, height = float(drawing.get("viewBox").split()[2]), float(drawing.get("viewBox").split()[3])
    boxes = sorted(
        tuple(float(box.get(name)) for name in ("y", "height", "x", "width")) for box in drawing.iter("rect")
    )
    assert len(boxes) == len({name for way in ways for name in way})
    assert all(x >= 0 and x + broad <= width and y + tall <= height for y, tall, x, broad in boxes)
    assert all(one[0] + one[1] < other[0] for one, other in pairwise(boxes))
    upright = []
    for path in drawing.iter("path"):
        assert all(0 <= float(x) <= width for x in re.findall(r"H([\d.-]+)", path.get("d")))
        if match := re.search(r"Q([\d.-]+) [\d.-]+ [\d.-]+ ([\d.-]+)V([\d.-]+)Q", path.get("d")):
            x, *ends = map(float, match.groups())
            upright.append((x, *sorted(ends)))
    for n, (x, top, bottom) in enumerate(upright):
        for other, other_top, other_bottom in upright[n + 1 :]:
            assert x != other or bottom < other_top or other_bottom < top


@given(WAYS)
def test_without_circles_every_edge_leads_down(ways):
    ahead = [(one, other) for one, other in ways if one < other]
    order = in_column(ahead, sorted({name for way in ahead for name in way}))
    assert all(order[one] < order[other] for one, other in ahead)


def test_the_graph_of_a_cast_begins_above_ends_below_and_goes_back_on_the_left():
    ways = [(edge.source, edge.target) for edge in TOPOLOGY]
    order = in_column(ways, list(dict.fromkeys(name for way in ways for name in way)))
    assert (order["__start__"], order["__end__"]) == (0, len(order) - 1)
    places = [
        order[name]
        for name in ("user_simulator", "question_validator", "assistant", "answer_validator", "turn_recorder")
    ]
    assert places == sorted(places)
    back = {edge.label for edge in TOPOLOGY if order[edge.target] < order[edge.source]}
    assert back == {"regenerate", "continue"}


def test_counts_loops_stops_and_ways_not_taken_are_told_in_text_and_class():
    counts = {"": 4, "user": 1, "assistant": 0, "accepted": 3, "regenerate": 2, "continue": 0, "stop": 1}
    drawing = ran([edge.model_copy(update={"count": counts[edge.label]}) for edge in TOPOLOGY])
    text = " ".join("".join(drawing.itertext()).split())
    for words in ("regenerate 2", "stop 1", "continue 0", "accepted 3", "question validator", "ran 4×"):
        assert words in text, words
    classes = [group.get("class") for group in drawing.iter("g")]
    assert {"way regenerate", "way stop", "way continue untaken", "way accepted", "way next", "node"} <= set(classes)
    assert drawing.get("aria-label") == "Executed graph of 1 conversation"


def test_a_wider_line_was_taken_more_often_and_nothing_is_drawn_of_what_no_graph_held():
    drawing = ran([Edge(source="a", target="b", count=11), Edge(source="b", target="odd place", count=1)])
    assert "odd place" in "".join(drawing.itertext())
    often, once = (float(path.get("stroke-width")) for path in drawing.iter("path") if path.get("class") == "line")
    assert often > once
    assert graph_html([Conversation(id="a", scenario={"kind": "x"})]) == graph_html([]) == ""


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "x" * 100_000, "</svg>", '"><img onerror=a()>', "\u202ex"]
)
def test_a_hostile_node_is_text_and_has_a_bounded_width(name):
    drawing = ran([Edge(source=name, target="b", count=1)])
    assert {element.tag for element in drawing.iter()} == {"svg", "title", "g", "path", "text", "rect"}
    assert float(drawing.get("width")) < 800
