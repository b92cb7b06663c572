"""Testers against people, and users that tell planted assistants apart or do not."""

from math import ceil, sqrt

import pytest

from duologue.analysis.over_users.concordance import Pair
from duologue.analysis.over_users.rates import clustered, difference
from duologue.analysis.validity import (
    Meetings,
    RatedConversations,
    ValidityReport,
    above,
    concordance,
    people_report,
    told_apart,
)
from duologue.analysis.validity.rules import LENGTH, reply_length
from duologue.analysis.validity.sample_sizes import for_pairs, for_shares
from duologue.analysis.validity.shared_scenarios import paired_shares
from duologue.data import Conversation, Message
from duologue.data.identity import digest
from duologue.data.people import part_of
from duologue.errors import DataError

stats = pytest.importorskip("scipy.stats")


def rated_talk(user, number, points, reply="Here you are.", turns=1):
    """A person's conversation, each reply with this satisfaction."""
    messages = []
    for turn in range(turns):
        messages.append(Message(role="user", text=f"Wish {turn} of {user}"))
        messages.append(Message(role="assistant", text=reply, labels={"satisfaction": str(points)}))
    return Conversation(
        id=f"{user}-{number}",
        scenario={"goal": f"{user} {number}", "task": "t"},
        messages=messages,
        extra={"user": user},
    )


def many(users, per_user=4, points=lambda user, number: 1 + number % 5, reply=lambda user, number: "Here you are."):
    return [
        rated_talk(f"u{user}", number, points(user, number), reply(user, number))
        for user in range(users)
        for number in range(per_user)
    ]


def as_people(conversations):
    """The conversations as a source would tell them, with the names of their users."""
    rated = RatedConversations.of(conversations)
    object.__setattr__(rated, "users", tuple(one.extra["user"] for one in rated.conversations))
    return rated


def test_concordance_pools_pairs_counts_ties_half_and_tells_users_of_equal_weight_apart():
    # u has three pairs, v one: the tester agrees, ties, disagrees; and agrees.
    pairs = [Pair("u", 0, 1), Pair("u", 0, 2), Pair("u", 1, 2), Pair("v", 3, 4)]
    pooled = concordance(pairs, [2.0, 1.0, 2.0, 5.0, 0.0])
    assert pooled.value == (1 + 0.5 + 0 + 1) / 4
    assert pooled.by_user == ((1 + 0.5 + 0) / 3 + 1) / 2
    assert (pooled.pairs, pooled.users, pooled.low, pooled.high) == (4, 2, None, None)


def test_a_pair_of_which_a_tester_says_nothing_is_left_out():
    pairs = [Pair("u", 0, 1), Pair("u", 0, 2)]
    assert concordance(pairs, [2.0, 1.0, None]).pairs == 1
    assert concordance(pairs, [None, None, None]).value is None


def test_all_pairs_of_a_user_count_across_tasks_but_not_those_that_it_likes_equally():
    rated = as_people([rated_talk("u", 0, 5), rated_talk("u", 1, 3), rated_talk("u", 2, 3), rated_talk("v", 0, 1)])
    assert [(pair.better, pair.worse) for pair in rated.pairs()] == [(0, 1), (0, 2)]


def test_the_satisfaction_with_a_conversation_is_the_mean_over_its_replies():
    talk = rated_talk("u", 0, 5, turns=2)
    last = talk.messages[-1].model_copy(update={"labels": {"satisfaction": "2"}})
    assert RatedConversations.of([talk.model_copy(update={"messages": (*talk.messages[:-1], last)})]).satisfaction == (
        3.5,
    )


def test_people_without_a_satisfaction_are_refused_in_a_line_that_says_what_is_missing():
    with pytest.raises(DataError, match="no conversation has a satisfaction of its user: give"):
        RatedConversations.of([Conversation(id="1", scenario={"goal": "x"}, messages=[Message(role="user", text="x")])])


def test_a_tester_that_knows_the_truth_has_one_a_reversed_one_nought_and_a_constant_one_a_half():
    rated = as_people(many(12))
    pairs = rated.pairs()
    truth = concordance(pairs, rated.satisfaction)
    assert truth.value == 1.0
    assert truth.low is not None
    assert truth.low < 1.0 == truth.high  # twelve people do not prove it
    assert concordance(pairs, [-value for value in rated.satisfaction]).value == 0.0
    constant = concordance(pairs, [3.0] * len(rated.satisfaction))
    assert (constant.value, constant.low) == (0.5, None)


def test_a_tester_by_chance_is_near_a_half_and_its_interval_holds_it():
    rated = as_people(many(60, per_user=5, points=lambda user, number: 1 + int(digest(user, number)[:6], 16) % 5))
    by_chance = [float(int(digest("tester", one.id)[:8], 16)) for one in rated.conversations]
    pooled = concordance(rated.pairs(), by_chance)
    assert pooled.value == pytest.approx(0.5, abs=0.06)
    assert pooled.low < 0.5 < pooled.high


def test_the_interval_is_that_of_a_ratio_over_users_in_wilsons_form():
    # Ten users with 2 pairs each, of which the tester agrees with 2, 2, 2, 2, 2, 1, 1, 1, 1, 0.
    agreed = [2, 2, 2, 2, 2, 1, 1, 1, 1, 0]
    pairs, values = [], []
    for user, count in enumerate(agreed):
        for number in range(2):
            pairs.append(Pair(str(user), len(values), len(values) + 1))
            values += [1.0, 0.0] if number < count else [0.0, 1.0]
    pooled = concordance(pairs, values)
    share = 0.7
    spread = 10 / 9 * sum((count - 2 * share) ** 2 for count in agreed) / 20**2
    total = (share * (1 - share) + 0.01) / (spread + 0.01 / 10)  # with a tenth of a pair of each user before it
    t = float(stats.t.ppf(0.975, 4 * 9))
    centre = (share + t * t / (2 * total)) / (1 + t * t / total)
    half = t * sqrt(share * (1 - share) / total + t * t / (4 * total**2)) / (1 + t * t / total)
    assert (pooled.low, pooled.high) == pytest.approx((centre - half, centre + half), abs=1e-5)


def test_above_is_the_difference_over_the_same_pairs():
    rated = as_people(many(12))
    constant = [0.0] * len(rated.satisfaction)
    difference = above(rated.pairs(), rated.satisfaction, constant)
    assert (difference.value, difference.low, difference.high) == (0.5, None, None)  # nothing tells how users vary


def test_only_the_part_is_judged():
    test = people_report(as_people(many(40)), {})
    assert test.users == sum(part_of(f"u{user}") == "test" for user in range(40))


def test_a_tester_that_fails_is_counted_and_its_reason_told():
    rated = as_people(many(12))
    values = [None, *rated.satisfaction[1:]]
    report = people_report(rated, {"mine": values}, "all", {"mine": ["out of money"]})
    row = report.rows[-1]
    assert (row.tester, row.failed, row.failure, row.concordance.value) == ("mine", 1, "out of money", 1.0)
    assert any("mine: gives nothing for 1 of 48 conversations: out of money" in note for note in report.notes)
    assert report.table().rows[-1][0] == "mine"


def test_reply_length_is_the_mean_of_the_replies():
    talk = rated_talk("u", 0, 5, reply="four", turns=2)
    assert reply_length(talk) == 4.0
    assert LENGTH in {row.tester for row in people_report(as_people(many(3)), {}, "all").rows}


def met(scenarios, repeats=1, success=lambda scenario: True, satisfaction=lambda scenario: 4.0, name=""):
    """Conversations with an assistant, as a run records them."""
    return Meetings(
        [
            Conversation(
                id=f"{scenario}-{repeat}",
                scenario={"goal": f"{name}{scenario}"},
                messages=[],
                labels={
                    "scores": {
                        "success": {"value": success(scenario), "reason": ""},
                        "satisfaction": {"value": satisfaction(scenario), "reason": ""},
                    }
                },
            )
            for scenario in range(scenarios)
            for repeat in range(repeats)
        ]
    )


def test_without_a_shared_scenario_the_interval_of_success_is_newcombes_and_a_note_gives_the_reason():
    """His example (1998, table II, a): 56 of 70 against 48 of 80, method 10: 0.0524 to 0.3339.

    By him each share has Wilson's interval; here it has Blaker's, which is a little wider.
    """
    good, bad = met(70, success=lambda n: n < 56), met(80, success=lambda n: n < 48, name="other ")
    (meeting,) = told_apart("u", "rule", "errands", {"good": good, "bad": bad})
    assert (-meeting.success.high, -meeting.success.low) == pytest.approx((0.0487, 0.3401), abs=5e-5)
    assert (meeting.success.tells, meeting.success.needed) == ("yes", for_shares(0.8, 0.6))
    assert meeting.satisfaction.tells == "not tried"
    notes = ValidityReport(told=(meeting,)).table().notes
    assert "u, 'bad' and 'good', success: compared as two samples, since no scenario is shared." in notes
    assert "u, 'bad' and 'good', satisfaction: not compared, since no scenario is shared." in notes


def test_success_is_compared_within_shared_scenarios_and_others_are_left_out_with_a_note():
    """Bonett and Price (2012), 3.1: 40 pairs, of which 8 are lost and 2 are gained."""
    good, bad = met(41, success=lambda n: n < 30), met(40, success=lambda n: n >= 38 or 8 <= n < 30)
    (meeting,) = told_apart("u", "rule", "errands", {"good": good, "bad": bad})
    up, down = 3 / 42, 9 / 42
    half = 1.959964 * sqrt((up + down - (up - down) ** 2) / 42)
    assert (meeting.success.low, meeting.success.high) == pytest.approx((up - down - half, up - down + half))
    assert (meeting.success.reference, meeting.success.value, meeting.success.difference) == (
        0.75,
        0.6,
        pytest.approx(-0.15),
    )
    assert (meeting.success.scenarios, meeting.success.left_out) == (40, 1)
    note = "u, 'bad' and 'good', success: 1 scenarios that only one of both has are left out."
    assert note in ValidityReport(told=(meeting,)).table().notes


def test_what_makes_scenarios_hard_for_both_assistants_does_not_hide_a_difference():
    """Half of the scenarios fail with both; of the others each loses one conversation in four."""
    counts = [((4, 4), (3, 4)) if number % 2 else ((0, 4), (0, 4)) for number in range(30)]
    shares = paired_shares(counts)
    one, two = (clustered([pair[side] for pair in counts]) for side in (0, 1))
    unpaired = difference(two, one)[1]
    assert shares.high < 0 < unpaired
    assert (shares.reference, shares.value) == (0.5, 0.375)


def test_repeats_that_all_end_alike_prove_no_more_than_their_scenarios():
    one = told_apart("u", "rule", "e", {"good": met(12), "bad": met(12, success=lambda n: False)})
    four = told_apart("u", "rule", "e", {"good": met(12, 4), "bad": met(12, 4, success=lambda n: False)})
    assert one[0].success.high == four[0].success.high
    assert four[0].conversations == 48


def test_a_user_that_says_the_same_of_everybody_is_reported_as_unable():
    meetings = told_apart("blind", "rule", "errands", {"good": met(16, 2), "wordy": met(16, 2)})
    assert (meetings[0].success.tells, meetings[0].satisfaction.tells) == ("no", "no")
    assert meetings[0].satisfaction.needed is None
    report = ValidityReport(told=meetings)
    assert report.cannot() == [
        "blind does not distinguish 'wordy' from 'good' by success, not with 32 conversations with each.",
        "blind does not distinguish 'wordy' from 'good' by satisfaction (rule), not with 32 conversations with each.",
    ]
    assert set(report.cannot()) <= set(report.table().notes)


def test_where_all_scenarios_differ_equally_the_sign_decides():
    thirds = [(1 + n % 3) / 3 for n in range(12)]  # differences of 1, but for rounding
    good, bad = (met(12, satisfaction=lambda n, less=less: 4 + thirds[n] - less) for less in (0, 1))
    (meeting,) = told_apart("u", "rule", "e", {"good": good, "bad": bad})
    assert (meeting.satisfaction.tells, meeting.satisfaction.low, meeting.satisfaction.needed) == ("yes", None, None)


def test_a_user_that_prefers_the_bad_assistant_is_no_tester():
    good, bad = met(16, satisfaction=lambda n: 3 + n % 2), met(16, satisfaction=lambda n: 4 + n % 2 / 2)
    (meeting,) = told_apart("u", "rule", "e", {"good": good, "bad": bad})
    assert meeting.satisfaction.tells == "prefers it"
    assert any("it prefers it" in line for line in ValidityReport(told=(meeting,)).cannot())


def test_satisfaction_is_compared_by_scenario_and_needs_ten():
    wild = [1.0, 5.0] * 8
    good, bad = met(16, satisfaction=lambda n: wild[n]), met(16, satisfaction=lambda n: wild[n] - 0.5 - n % 2 / 10)
    (meeting,) = told_apart("u", "rule", "e", {"good": good, "bad": bad})
    assert meeting.satisfaction.tells == "yes"
    assert meeting.satisfaction.difference == pytest.approx(-0.55)
    (few,) = told_apart("u", "rule", "e", {"good": met(9), "bad": met(9, satisfaction=lambda n: 1.0 + n)})
    assert few.satisfaction.tells == "too few"


def test_a_conversation_without_a_score_counts_in_no_difference():
    bad = met(12)
    bad = Meetings([*bad.conversations, Conversation(id="x", scenario={"goal": "x"}, messages=[], stop="model_failed")])
    (meeting,) = told_apart("u", "rule", "e", {"good": met(12), "bad": bad})
    assert meeting.failed == 1
    assert meeting.success.value == 1.0


def test_the_needed_conversations_are_those_of_the_formulas_at_the_observed_difference():
    # Fleiss (1981), 3.14, without correction: (1.96 sqrt(2 .7 .3) + 0.8416 sqrt(.9 .1 + .5 .5))^2 / .4^2 = 19.38
    assert for_shares(0.9, 0.5) == for_shares(0.5, 0.9) == 20
    assert for_shares(1.0, 0.0) == for_pairs(1.0, 0.0) == 2
    scenarios = ceil((1.959964 + 0.841621) ** 2 * 0.3 / 0.4**2 + 1.959964**2 / 2)
    assert for_pairs(-0.4, 0.3) == for_pairs(0.4, 0.3) == scenarios == 17
    good, bad = met(20, 3, satisfaction=lambda n: 4), met(20, 3, satisfaction=lambda n: 2 + n % 2 * 2)
    (meeting,) = told_apart("u", "rule", "e", {"good": good, "bad": bad})
    assert meeting.satisfaction.needed == 3 * for_pairs(-1.0, 20 / 19)
    assert "computed at the observed difference" in " ".join(ValidityReport(told=(meeting,)).table().notes)
    for formula in (for_shares, for_pairs):
        with pytest.raises(ValueError, match="equal"):
            formula(0.0, 0.0)
