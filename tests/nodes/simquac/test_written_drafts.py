"""The demo's drafts: replayed first, judged by the real validators, then those of the speaker behind them."""

import pytest

import duologue
from duologue.data.simquac import samples
from duologue.graphs import simquac
from duologue.nodes import Limits
from duologue.nodes.simquac.written_drafts import WrittenDrafts, sample_drafts

TOPICS = {topic.title: topic for topic in samples()}


def simulated(title, drafts, **limits):
    offline = simquac.cast()
    cast = offline.replace(
        user_simulator=WrittenDrafts("user", offline.nodes["user_simulator"], drafts),
        assistant=WrittenDrafts("assistant", offline.nodes["assistant"], drafts),
    )
    (conversation,) = duologue.simulate(cast, simquac.scenarios([TOPICS[title]]), limits=Limits(**limits))
    return conversation


@pytest.mark.parametrize("title", sample_drafts())
def test_every_shipped_draft_but_the_last_question_is_rejected_and_a_slice_of_the_section_follows(title):
    turns = sample_drafts()[title]
    messages = iter(simulated(title, sample_drafts(), max_turns=len(turns)).messages)
    for turn in turns:
        question, answer = next(messages), next(messages)
        assert [draft.text for draft in question.attempts] == turn["user"]
        assert [draft.text for draft in answer.rejected] == turn["assistant"]
        assert answer.spans
        assert answer.text in TOPICS[title].section
    assert next(messages, None) is None


def test_a_draft_without_a_flaw_is_accepted_so_nothing_is_rejected_because_it_was_written():
    drafts = {"Chess": [{"user": ["How does the king move?"], "assistant": ["one square in any direction"]}]}
    question, answer = simulated("Chess", drafts, max_turns=1).messages
    assert (question.text, answer.text) == ("How does the king move?", "one square in any direction")
    assert not answer.rejected


def test_turns_and_topics_without_drafts_are_those_of_the_speaker_behind():
    drafts = {"Chess": [{"user": ["How does the king move?"], "assistant": []}]}
    plain = duologue.simulate(simquac.cast(), simquac.scenarios([TOPICS["Bread"]]), limits=Limits(max_turns=2))[0]
    assert [m.text for m in simulated("Bread", drafts, max_turns=2).messages] == [m.text for m in plain.messages]
    chess = simulated("Chess", drafts, max_turns=2)
    assert [bool(message.attempts[-1].usage) for message in chess.messages] == [False, True, True, True]
    assert chess.provenance.nodes["assistant"].label == "written drafts, then offline"
