"""Conversations whose drafts a model judges: repaired, counted, stopped by a budget, never lost."""

import json

import pytest

import duologue
from duologue import data, graphs, nodes
from duologue.data.executed_graph import executed
from duologue.data.summaries import count
from duologue.nodes import Limits, judge
from duologue.testing import scripted_model

FINE = '{"reason": null}'
RUDE = '{"reason": "rude", "explanation": "Say it kindly."}'
PLACES = {"question_validator": "user", "answer_validator": "assistant"}


def judged(casting, *lines, place="question_validator", user=("Who lived there?",), turns=1, **limits):
    model = scripted_model(*lines, by_call=True, tokens=(50, 10))
    node = judge(model, "Reject what is rude.", ["rude"])
    cast = casting(list(user), **{place: nodes.every(node, nodes.not_empty)})
    scenario = graphs.simquac.scenario(
        data.simquac.Topic(title="The pier", background="b", header="Keepers", section="Three keepers lived there.")
    )
    return duologue.simulate(cast, [scenario], limits=Limits(max_turns=turns, **limits))[0], model


@pytest.mark.parametrize("place", PLACES)
def test_a_draft_that_a_judge_rejects_is_written_again_and_all_of_it_is_counted(casting, place):
    conversation, _ = judged(casting, RUDE, FINE, place=place)
    role = PLACES[place]
    first, second = conversation.attempts(role)
    assert (first.verdict, first.reason, first.explanation) == ("rejected", "rude", "Say it kindly.")
    assert (second.verdict, second.reason, second.explanation) == ("accepted", None, None)
    assert "Say it kindly." in second.prompt.text
    assert [attempt.judging.tokens for attempt in (first, second)] == [60, 60]
    assert (conversation.usage.tokens, conversation.usage.calls) == (120, 2)  # the scripted speakers cost nothing
    counts = count([conversation])
    assert (counts.tokens, counts.side(role).judging_tokens, counts.side(role).reasons) == (120, 120, {"rude": 1})
    assert next(node.tokens for node in executed([conversation]).nodes if node.name == place) == 120
    assert data.Conversation.model_validate(json.loads(json.dumps(conversation.plain()))) == conversation


def test_a_judge_that_is_down_ends_the_conversation_as_a_failed_model_and_nothing_is_lost(casting):
    conversation, _ = judged(casting, FINE, "Hm.", RuntimeError("503 at https://me:secret@host"), turns=3)
    assert (conversation.stop, conversation.fault, conversation.failure.node) == (
        "model_failed",
        "infrastructure",
        "question_validator",
    )
    assert conversation.failure.error == "RuntimeError: 503 at https://[key]@host"
    assert [message.role for message in conversation.messages] == ["user", "assistant"]
    (unsaid,) = conversation.unsaid
    assert [(a.text, a.verdict, a.judging.calls) for a in unsaid.attempts] == [("Who lived there?", "unjudged", 1)]
    assert conversation.usage.tokens == 120
    assert not conversation.finished  # a resumed run asks again


def test_a_judge_that_nobody_can_read_is_noted_and_counted(casting):
    conversation, _ = judged(casting, "Lovely!")
    (attempt,) = conversation.attempts("user")
    assert (attempt.verdict, attempt.notes, attempt.judging.calls) == ("accepted", ("not_judged",), 3)
    assert count([conversation]).side("user").notes == {"not_judged": 1}
    assert conversation.stop == "max_turns"
