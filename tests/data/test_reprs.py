"""What a notebook or a prompt shows of a record unasked: one line."""

from duologue.data import Attempt, Conversation, Message


def test_a_record_shows_itself_in_one_line_with_the_begin_of_its_text() -> None:
    drafts = (
        Attempt(number=1, text="no " * 500, verdict="rejected", reason="empty"),
        Attempt(number=2, text="Yes.\nNow", verdict="accepted"),
    )
    question = Message(role="user", text="Where is it?\n" * 500)
    reply = Message(role="assistant", text="Yes.\nNow", attempts=drafts)
    whole = Conversation(id="1", scenario={"kind": "call"}, messages=(question, reply) * 20)
    assert repr(reply) == "Message(assistant: 'Yes. Now', 2 drafts)"
    assert repr(drafts[1]) == "Attempt(2, accepted: 'Yes. Now')"
    for value in (question, drafts[0], *whole.exchanges):
        assert len(repr(value)) < 200
        assert "\n" not in repr(value)
    assert len(repr(whole.messages)) < 4000
