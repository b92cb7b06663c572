"""Retrieval-based users as a baseline: whose words and scenarios they have, and when there are none."""

from collections.abc import Callable

import pytest

pytest.importorskip("sklearn")

from duologue.analysis.realism.transcripts import task_of
from duologue.data import Conversation, Message
from duologue.data.people import of_part, part_of, user_of
from duologue.runs.people.retrieval import from_people

PLACES = ("Rome", "Oslo", "Lima", "Bonn", "Cork", "Nice", "Graz", "Bern", "Kyiv", "Riga")


@pytest.fixture(scope="module")
def people() -> list[Conversation]:
    """Conversations of a hundred people; each word of their own is the user's name."""
    return [spoken(f"u{number}", PLACES[number % 10], "ada" if number % 3 else "bea") for number in range(100)]


def spoken(user: str, place: str, assistant: str, **extra: str) -> Conversation:
    texts = (f"I want to see {place}, says {user}.", "Yes.", f"Is it far, asks {user}?", f"{assistant} says no.")
    roles = ("user", "assistant")
    return Conversation(
        id=f"of {user}",
        scenario={"kind": "messages", "digest": user},
        messages=tuple(Message(role=roles[n % 2], text=text) for n, text in enumerate(texts)),
        extra={"user": user, "goal": f"See {place}", "assistant": assistant, **extra},
    )


def assistant_of(conversation: Conversation) -> str:
    return str(conversation.extra["assistant"])


def origin_of(conversation: Conversation) -> str:
    """Id of the stored conversation whose scenario it has."""
    stored = conversation.extra["stored"]
    assert isinstance(stored, dict)
    return str(stored["id"])


def words_of(conversation: Conversation, role: str) -> set[str]:
    """Whose words a side says: the people's names in it."""
    return {
        str(origin["conversation"]).removeprefix("of ")
        for message in conversation.messages
        if message.role == role and isinstance(origin := message.extra.get("people"), dict)
    }


@pytest.mark.parametrize("part", ["tune", "test", "all"])
def test_nobody_is_played_by_their_own_half(people, part) -> None:
    baseline = from_people(people, part, most=12)
    assert baseline.conversations is not None
    assert len(baseline.conversations) == 12
    halves = {part_of(user_of(one)) for one in baseline.conversations}
    assert halves == {"all": {"tune", "test"}, "test": {"test"}}.get(part, {"tune"})
    assert all(of_part(one, part) for one in baseline.conversations)
    for one in baseline.conversations:
        words = words_of(one, "user") | words_of(one, "assistant")
        assert words
        assert {part_of(user) for user in words}.isdisjoint({part_of(user_of(one))})


def test_the_same_seed_draws_and_says_the_same_and_another_one_draws_others(people) -> None:
    first, again, other = (from_people(people, "test", seed=seed, most=5) for seed in (0, 0, 1))
    assert first.conversations
    assert again.conversations
    texts, said_again = (
        [[m.text for m in one.messages] for one in baseline.conversations or ()] for baseline in (first, again)
    )
    assert texts == said_again
    drawn = [{user_of(one) for one in baseline.conversations or ()} for baseline in (first, other)]
    assert drawn[0] != drawn[1]
    assert "5 conversations, drawn by the seed, on these people's scenarios" in first.notes[0]


def test_replies_come_from_the_assistant_that_answered_the_person(people) -> None:
    by_id = {one.id: one for one in people}
    baseline = from_people(people, "test", most=12, answered=assistant_of)
    assert baseline.conversations is not None
    for one in baseline.conversations:
        answered = assistant_of(by_id[origin_of(one)])
        assert one.labels["chat_model"] == answered
        assert {assistant_of(by_id[f"of {user}"]) for user in words_of(one, "assistant")} == {answered}


@pytest.mark.heavy
def test_with_few_conversations_of_an_assistant_replies_come_from_all(people) -> None:
    rare = [one if number % 33 else spoken(f"u{number}", "Rome", "cyd") for number, one in enumerate(people)]
    baseline = from_people(rare, "all", most=100, answered=assistant_of)
    names = [one.labels.get("chat_model") for one in baseline.conversations or ()]
    assert len(names) == 100
    assert "cyd" not in names
    assert None in names


def test_a_success_of_the_scenario_is_not_judged(people) -> None:
    judged = [one.model_copy(update={"scenario": {**one.scenario, "success": {"judge": "Is it?"}}}) for one in people]
    baseline = from_people(judged, "test", most=2)
    assert baseline.conversations is not None
    assert all("success" not in one.scenario for one in baseline.conversations)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda people: people[:30], "a split of the people has"),
        (lambda people: [], "a split of the people has 0 users"),
        (
            lambda people: [one.model_copy(update={"extra": {"user": user_of(one)}}) for one in people],
            "100 of 100 conversations do not state what their user wants",
        ),
    ],
)
def test_where_there_can_be_none_a_note_says_why(people, change: Callable, why: str) -> None:
    baseline = from_people(change(people))
    assert baseline.conversations is None
    assert len(baseline.notes) == 1
    assert why in baseline.notes[0]


@pytest.mark.heavy
def test_logs_that_tell_a_task_alone_have_users_of_the_same_tasks(people) -> None:
    logs = [
        one.model_copy(update={"extra": {"user": user_of(one), "task": f"to see {PLACES[number % 10]}"}})
        for number, one in enumerate(people)
    ]
    baseline = from_people(logs, "test")
    tasks = {one.id: task_of(one) for one in logs}
    assert baseline.conversations
    assert [task_of(one) for one in baseline.conversations] == [tasks[origin_of(one)] for one in baseline.conversations]
