"""A SimQuAC teacher that is held to the section: what is asked of the endpoint, and one that takes no grammar."""

import json

import pytest

import duologue
from duologue import graphs, nodes
from duologue.data.grounding import NO_ANSWER
from duologue.errors import ModelError, SettingError
from duologue.nodes.models.openai import OpenAIModel
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


def test_an_endpoint_that_refuses_the_field_or_gives_no_likelihoods_says_so_at_the_first_call(recorder):
    recorder.say = (400, {"error": {"message": "Unrecognized request argument supplied: grammar"}}, {})
    assert "supplied: grammar" in str(held("grammar").failure.error)
    recorder.say = completion({"content": "Nobody."})
    assert "takes no grammar" in str(held("likelihood").failure.error)


@pytest.mark.parametrize(("refuse_below", "reply"), [(None, "One left."), (-0.5, NO_ANSWER)])
def test_the_sentence_after_which_the_question_is_likeliest_is_the_reply(recorder, monkeypatch, refuse_below, reply):
    async def posted(model, body):
        (text,) = json.loads(body)["logit_bias"]
        token = {"logprob": -1.0 if b"One left." in body else -2.0}
        answer = completion({"content": text})
        answer["choices"][0]["logprobs"] = {"content": [token, token]}
        return 200, {}, json.dumps(answer).encode()

    monkeypatch.setattr(OpenAIModel, "_posted", posted)
    message = held("likelihood", refuse_below=refuse_below).messages[1]
    assert (message.text, message.labels, len(message.attempts)) == (reply, {"likelihood": -1.0}, 1)
    assert message.attempts[0].usage.calls == 2
    assert held("likelihood", section=" \n").messages[1].text == NO_ANSWER


def test_who_cannot_be_held_is_named():
    with pytest.raises(SettingError, match="hold"):
        graphs.simquac.cast(assistant=lambda messages: "No.", hold="grammar")
    with pytest.raises(ModelError, match="hold"):
        _ = graphs.simquac.cast(assistant="offline", hold="grammar").nodes
