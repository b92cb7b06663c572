"""Scores against people's satisfaction, and users that tell seeded faults apart or do not."""

import pytest

pytest.importorskip("scipy.stats")

from duologue.analysis.validity import (
    RatedConversations,
    ValidityReport,
    detects,
    people_report,
    satisfaction_in,
    told_apart,
)
from duologue.data import Conversation, Message
from duologue.data.people import part_of
from duologue.data.records import labels_from
from duologue.errors import DataError


def rated_talk(user, number, points, reply="Here you are.", turns=1):
    """A person's conversation, each reply with this satisfaction."""
    messages = []
    for turn in range(turns):
        messages.append(Message(role="user", text=f"Wish {turn} of {user}"))
        messages.append(Message(role="assistant", text=reply, labels=labels_from({"satisfaction": points})))
    return Conversation(
        id=f"{user}-{number}",
        scenario={"goal": f"{user} {number}", "task": "t"},
        messages=tuple(messages),
        extra={"user": user},
    )


def many(users, part="all"):
    talks = [rated_talk(f"u{user}", number, 1 + number) for user in range(users) for number in range(4)]
    return RatedConversations.of(talks, part)


def met(scenarios, success, satisfaction, repeats=1):
    """Conversations with an assistant: by scenario and repeat whether it succeeded, and the user's satisfaction."""
    return [
        Conversation(
            id=f"{scenario}-{repeat}",
            scenario={"kind": "agent_test", "goal": f"scenario {scenario}"},
            ordinal=repeat,
            stop="user_ended",
            messages=(Message(role="user", text="Hello"), Message(role="assistant", text="Yes.")),
            labels=labels_from(
                {
                    "scores": {
                        "success": {"value": success(scenario, repeat)},
                        "satisfaction": {"value": satisfaction(scenario, repeat)},
                    }
                }
            ),
        )
        for scenario in range(scenarios)
        for repeat in range(repeats)
    ]


def test_a_score_that_knows_the_truth_has_one_a_reversed_one_nought_and_a_constant_one_a_half():
    rated = many(12)
    truth = rated.concordance(rated.satisfaction)
    assert (truth.value, truth.high) == (1.0, 1.0)
    assert truth.low < 1.0  # twelve people do not prove it
    assert rated.concordance([-value for value in rated.satisfaction]).value == 0.0
    constant = rated.concordance([3.0] * len(rated.satisfaction))
    assert (constant.value, constant.low, constant.reason) == (0.5, None, "no interval: every pair is a tie")
    above = rated.concordance(rated.satisfaction, above=[0.0] * len(rated.satisfaction))
    assert above.value == 0.5


def test_pairs_are_of_one_person_who_liked_one_better_and_ties_count_one_half():
    rated = RatedConversations.of(
        [rated_talk("u", 0, 5), rated_talk("u", 1, 3), rated_talk("u", 2, 3), rated_talk("v", 0, 1)]
    )
    assert rated.pairs == [(0, 1), (0, 2)]
    assert rated.concordance([2.0, 1.0, 2.0, 9.0]).value == (1 + 0.5) / 2
    assert rated.concordance([2.0, 1.0, None, 9.0]).n == 1
    assert rated.concordance([None] * 4).value is None


def test_the_satisfaction_with_a_conversation_is_the_mean_over_its_replies():
    talk = rated_talk("u", 0, 5, turns=2)
    last = talk.messages[-1].model_copy(update={"labels": labels_from({"satisfaction": 2})})
    changed = talk.model_copy(update={"messages": (*talk.messages[:-1], last)})
    assert RatedConversations.of([changed]).satisfaction == (3.5,)
    with pytest.raises(DataError, match="has a satisfaction of its user: give"):
        RatedConversations.of([Conversation(id="1", scenario={}, messages=(Message(role="user", text="x"),))])


def test_scores_stand_beside_the_rules_and_one_that_fails_is_counted_with_its_reason():
    rated = many(12)
    report = people_report(rated, {"mine": [None, *rated.satisfaction[1:]]}, {"mine": ["out of money"]})
    row = report.rows[-1]
    assert (row.tester, row.kind, row.failed, row.failure) == ("mine", "tester", 1, "out of money")
    assert row.concordance.value == 1.0
    assert [one.tester for one in report.rows[:2]] == ["reply length", "number of turns"]
    test = people_report(many(40, part="test"), {})
    assert test.users == sum(part_of(f"u{user}") == "test" for user in range(40))


def test_a_bad_assistant_is_told_by_success_and_by_satisfaction_over_shared_scenarios():
    good = met(12, lambda *_: True, lambda scenario, _: 4 + scenario % 2, repeats=2)
    bad = met(12, lambda scenario, _: scenario == 0, lambda scenario, _: 2 + scenario % 3, repeats=2)
    same = met(14, lambda *_: True, lambda scenario, _: 4 + scenario % 2)
    rows = told_apart("mine", "rule", "errands", {"good": good, "bad": bad, "same": same})
    assert [(row.assistant, detects(row.success), detects(row.satisfaction)) for row in rows] == [
        ("bad", "yes", "yes"),
        ("same", "no", "no"),
    ]
    assert rows[0].success.value == pytest.approx(-11 / 12)
    assert (rows[0].success.groups, rows[0].conversations) == (12, 24)
    assert "2 scenarios that only one of both has are left out" in rows[1].success.reason
    assert detects(told_apart("m", "rule", "x", {"good": good[:4], "bad": bad[:4]})[0].success) == "too few"
    assert detects(told_apart("m", "rule", "x", {"good": bad, "better": good})[0].success) == "prefers it"
    tables = ValidityReport(told=rows, people=people_report(many(12), {})).tables()
    assert [len(table.rows) for table in tables] == [3, 4]


@pytest.mark.parametrize(("value", "number"), [(4, 4.0), ("2", 2.0), (True, None), ("good", None), (None, None)])
def test_the_recorded_satisfaction_is_a_number_or_nothing(value, number):
    talk = Conversation(id="a", scenario={}, labels=labels_from({"scores": {"satisfaction": {"value": value}}}))
    assert satisfaction_in(talk) == number
