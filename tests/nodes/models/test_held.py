"""A SimQuAC teacher that is held to the section: what is asked of the endpoint, and one that takes no grammar."""

import pytest

import duologue
from duologue import graphs, nodes
from duologue.data.grounding import NO_ANSWER
from duologue.errors import ModelError, SettingError
from duologue.nodes.simquac.held import span_grammar

from .conftest import completion

TOPIC = {
    "title": "The pier",
    "background": "",
    "header": "Keepers",
    "section": 'Three "keepers"  lived there. One left.',
}


def held(hold, section=TOPIC["section"], **settings):
    """A conversation of a turn with the teacher at the endpoint."""
    cast = graphs.simquac.cast("offline", "openai:m", hold=hold, **settings)
    limits = nodes.Limits(max_turns=1, answer_attempts=2)
    return duologue.simulate(cast, [graphs.simquac.scenario(TOPIC | {"section": section})], limits=limits)[0]


def test_the_grammar_has_a_rule_for_each_word_and_the_white_space_of_the_section():
    assert span_grammar('A "b"  \\ c\nd') == "\n".join(
        [
            'root ::= "I cannot find the answer." | w0 | w2 | w5 | w6',
            r'w0 ::= "A" (" " w1)?',
            r'w1 ::= "\"" ("" w2)?',
            r'w2 ::= "b" ("" w3)?',
            r'w3 ::= "\"" ("  " w4)?',
            r'w4 ::= "\\" (" " w5)?',
            'w5 ::= "c"',
            'w6 ::= "d"',
        ]
    )
    assert span_grammar(" ") == 'root ::= "I cannot find the answer."'


def test_a_reply_that_is_no_span_is_rejected_as_without_a_grammar_and_the_endpoint_told_once(recorder, caplog):
    recorder.say = [completion({"content": text}) for text in ("Nobody.", '"keepers"  lived')]
    conversation = held("grammar")
    assert conversation.messages[1].spans[0].text == '"keepers"  lived'
    assert [one.reason for one in conversation.messages[1].attempts] == ["not_in_section", None]
    assert [sent.data["grammar"] for sent in recorder.sent] == 2 * [span_grammar(TOPIC["section"])]
    recorder.say = completion({"content": "Nobody."})
    assert held("grammar").messages[1].text == NO_ANSWER
    assert caplog.text.count("takes no grammar") == 1


def test_an_endpoint_that_refuses_the_field_says_so_at_the_first_call(recorder):
    recorder.say = (400, {"error": {"message": "Unrecognized request argument supplied: grammar"}}, {})
    assert "supplied: grammar" in str(held("grammar").failure.error)


def test_who_cannot_be_held_is_named():
    with pytest.raises(SettingError, match="hold"):
        graphs.simquac.cast(assistant=lambda messages: "No.", hold="grammar")
    with pytest.raises(ModelError, match="hold"):
        _ = graphs.simquac.cast(assistant="offline", hold="grammar").nodes
