"""What a run shows of its drafts."""

from typing import Any

import duologue
from duologue import data, graphs
from duologue.analysis import DraftCount
from duologue.data.records import Attempt, Conversation, Message, Span
from duologue.nodes import Limits


def said(role: Any, text: str, *drafts: tuple[int, str, str | None], spans: tuple[Span, ...] = ()) -> Message:
    attempts = tuple(Attempt(number=n, text=words, verdict="rejected", reason=why) for n, words, why in drafts)
    last = Attempt(number=len(drafts) + 1, text=text, verdict="accepted")
    return Message(role=role, text=text, attempts=(*attempts, last), spans=spans)


def test_each_side_has_its_rejections_its_attempts_and_who_spoke_as_whom() -> None:
    topic = graphs.simquac.scenario(data.simquac.samples()[0])["scenario"]
    talk = Conversation(
        id="a",
        scenario=topic,
        messages=(
            said("user", "Who lived there?", (1, "Assistant: It was built by a crew.", "too_long"), (2, "a\nb", "newline")),
            said("assistant", "the crew", spans=(Span(text="the crew", start=4),)),
            said("user", "And where is that?"),
            said("assistant", "I cannot find the answer.", (1, "Far away.", "not_in_section")),
        ),
    )  # fmt: skip
    user, assistant = DraftCount.of([talk, talk]).sides
    assert (user.drafts, user.rejected, user.reasons) == (8, 0.5, {"too_long": 0.25, "newline": 0.25})
    assert (user.turns, user.accepted_after) == (4, {1: 0.5, 3: 0.5})
    assert (user.confused_drafts, user.confused_messages, user.words) == (0.25, 0.0, 3.5)
    assert (assistant.grounded, assistant.accepted_after, assistant.confused_drafts) == (0.5, {1: 0.5, 2: 0.5}, None)
    assert "speaks for another side: 25 % of drafts, 0 % of messages" in user.line
    assert "turns accepted: 50 % at attempt 1, 50 % at attempt 2; 50 % of replies grounded" in assistant.line


def test_published_conversations_have_no_drafts_to_tell_of() -> None:
    assert DraftCount.of([Conversation(id="a", scenario={}, messages=(Message(role="user", text="Hi"),))]).sides == []


def test_the_rule_based_sides_of_a_task_are_never_confused() -> None:
    states = graphs.agent_test.scenarios([{"goal": "Book a room.", "facts": {}}])
    talks = duologue.simulate(graphs.agent_test.cast(), states, limits=Limits(max_turns=3))
    user, assistant = DraftCount.of(talks).sides
    assert (user.confused_messages, user.rejected, assistant.grounded) == (0.0, 0.0, None)
