"""A conversation in figures, the graph of many, and two data sets paired by topic."""

from duologue.data import Attempt, Conversation, Message, Span, Usage, coverage, executed, outline, paired
from duologue.data.executed_graph import SPEAKERS
from duologue.data.records import Failure, NodeInfo, Provenance, Unsaid

SECTION = "Three keepers lived there."
TOPIC = {"kind": "simquac", "title": "The lighthouse", "background": "", "header": "Keepers", "section": SECTION}


def attempt(verdict, reason=None, tokens=10, number=1):
    usage = Usage(input_tokens=tokens)
    return Attempt(number=number, text="x", verdict=verdict, reason=reason, usage=usage, seconds=0.5)


def talk(name="a", scenario=TOPIC, **more):
    return Conversation(
        id=name,
        scenario=scenario,
        messages=(
            Message(role="user", text="Who?", attempts=(attempt("rejected", "empty"), attempt("accepted", number=2))),
            Message(
                role="assistant",
                text="Three",
                spans=(Span(text="Three", start=0),),
                attempts=(attempt("rejected", "partly", 5), attempt("observed", "partly", 5, 2)),
            ),
            Message(role="user", text="And?"),
            Message(role="assistant", text="I cannot find the answer."),
        ),
        stop="max_turns",
        **more,
    )


def test_an_outline_counts_what_the_list_sorts_by():
    row = outline(talk())
    assert row.model_dump() == {
        "id": "a", "title": "The lighthouse", "topic": "Keepers", "kind": "simquac", "stop": "max_turns", "exchanges": 2,
        "messages": 4, "rejected": 2, "coverage": 5 / len(SECTION), "refused": 1, "characters": 4 + 5 + 4 + 25,
    }  # fmt: skip


def test_a_span_outside_of_the_section_covers_nothing():
    conversation = talk().model_copy(
        update={"messages": (Message(role="assistant", text="x", spans=(Span(text="y" * 90, start=-3),)),)}
    )
    assert coverage(conversation) == 1.0
    conversation = conversation.model_copy(
        update={"messages": (Message(role="assistant", text="x", spans=(Span(text="y", start=500),)),)}
    )
    assert coverage(conversation) == 0.0


def test_the_executed_graph_sums_edges_seconds_tokens_and_reasons():
    silent = Unsaid(role="user", after=2, attempts=(attempt("rejected", "too_long"), attempt("unjudged", number=2)))
    held = Provenance(cast="simquac", nodes={name: NodeInfo(name="x", label="x") for name in SPEAKERS})
    graph = executed([
        talk(provenance=held, stopped_at="turn_recorder"),
        talk("b", provenance=held, unsaid=(silent,), failure=Failure(node="user_simulator", error="down")),
        talk("c"),
    ])  # fmt: skip
    assert graph.conversations == 2
    taken = {(edge.source, edge.target): edge.count for edge in graph.edges if edge.count}
    assert taken == {
        ("__start__", "opening"): 2,
        ("opening", "user_prompt_selector"): 2,
        ("user_prompt_selector", "user_simulator"): 6,
        ("user_simulator", "question_validator"): 5,
        ("question_validator", "user_prompt_selector"): 3,
        ("question_validator", "assistant_prompt_selector"): 2,
        ("assistant_prompt_selector", "assistant"): 4,
        ("assistant", "answer_validator"): 4,
        ("answer_validator", "assistant_prompt_selector"): 2,
        ("answer_validator", "turn_recorder"): 2,
        ("turn_recorder", "user_prompt_selector"): 1,
        ("turn_recorder", "closing"): 1,
        ("closing", "__end__"): 1,
    }
    nodes = {node.name: node for node in graph.nodes}
    assert nodes["question_validator"].reasons == {"empty": 2, "too_long": 1}
    assert nodes["answer_validator"].reasons == {"partly": 4}
    assert (nodes["assistant"].seconds, nodes["assistant"].tokens) == (2.0, 20)
    assert (nodes["answer_validator"].seconds, nodes["answer_validator"].tokens) == (None, None)


def test_conversations_about_one_section_are_paired_in_order_and_the_rest_is_named():
    other = {**TOPIC, "title": "Another title", "section": SECTION.replace(" ", "  ")}
    elsewhere = {**TOPIC, "section": "Chess is a game."}
    first = [talk("a"), talk("b"), talk("c", elsewhere)]
    second = [talk("x", elsewhere | {"section": "Tea."}), talk("y", other), talk("z", elsewhere), talk("w", elsewhere)]
    pairing = paired(first, second)
    assert [(one.id, two.id) for one, two in pairing.pairs] == [("a", "y"), ("c", "z")]
    assert [conversation.id for conversation in pairing.only_first] == ["b"]
    assert [conversation.id for conversation in pairing.only_second] == ["x", "w"]


def test_of_one_task_the_conversations_of_the_same_person_are_paired_first():
    def asks(name, who):
        return talk(name, {"kind": "recllmsim", "task_context": "Plan a trip.", "preference": who})

    pairing = paired([asks("a", "Ann"), asks("b", "Bea"), asks("c", "Cay")], [asks("x", "Bea"), asks("y", "Dot")])
    assert [(one.id, two.id) for one, two in pairing.pairs] == [("a", "y"), ("b", "x")]
    assert [conversation.id for conversation in pairing.only_first] == ["c"]


def declared(name, **more):
    """A conversation as it is read from a line of messages with these further keys."""
    scenario = {"kind": "messages", "digest": name}
    return talk(name, scenario).model_copy(update={"extra": more})


def test_plain_conversations_are_paired_by_the_topic_that_their_line_names():
    first = [declared("a", topic="Tea  in\nYork"), declared("b", topic="7"), declared("c"), declared("d", topic=" ")]
    second = [declared("w"), declared("x", topic_id=7.0), declared("y", topic="Tea in York"), declared("z", topic=None)]
    pairing = paired(first, second)
    assert [(one.id, two.id) for one, two in pairing.pairs] == [("a", "y"), ("b", "x")]
    assert [conversation.id for conversation in pairing.only_first] == ["c", "d"]
    assert [conversation.id for conversation in pairing.only_second] == ["w", "z"]
