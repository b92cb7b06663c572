"""Testers against people, and users that tell planted assistants apart or do not."""

from math import sqrt
from statistics import fmean, variance

import pytest

from duologue.analysis.concordance import Pair
from duologue.analysis.testers import Meetings, Rated, Report, above, concordance, people_report, told_apart
from duologue.analysis.testers.plain import LENGTH, reply_length
from duologue.analysis.testers.sizes import for_means, for_shares
from duologue.data import Conversation, Message
from duologue.data.identity import digest
from duologue.data.users import part_of
from duologue.errors import DataError

pytest.importorskip("scipy")


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


def many(users, each=4, points=lambda user, number: 1 + number % 5, reply=lambda user, number: "Here you are."):
    return [
        rated_talk(f"u{user}", number, points(user, number), reply(user, number))
        for user in range(users)
        for number in range(each)
    ]


def as_people(conversations):
    """The conversations as a source would tell them, with the names of their users."""
    rated = Rated.of(conversations)
    object.__setattr__(rated, "users", tuple(one.extra["user"] for one in rated.conversations))
    return rated


def test_concordance_pools_pairs_counts_ties_half_and_tells_users_of_equal_weight_apart():
    # u has three pairs, v one: the tester agrees, ties, disagrees; and agrees.
    pairs = [Pair("u", 0, 1), Pair("u", 0, 2), Pair("u", 1, 2), Pair("v", 3, 4)]
    found = concordance(pairs, [2.0, 1.0, 2.0, 5.0, 0.0])
    assert found.value == (1 + 0.5 + 0 + 1) / 4
    assert found.by_user == ((1 + 0.5 + 0) / 3 + 1) / 2
    assert (found.pairs, found.users, found.low, found.high) == (4, 2, None, None)


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
    assert Rated.of([talk.model_copy(update={"messages": (*talk.messages[:-1], last)})]).satisfaction == (3.5,)


def test_people_without_a_satisfaction_are_refused_in_a_line_that_says_what_is_missing():
    with pytest.raises(DataError, match="no conversation has a satisfaction of its user: give"):
        Rated.of([Conversation(id="1", scenario={"goal": "x"}, messages=[Message(role="user", text="x")])])


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
    rated = as_people(many(60, each=5, points=lambda user, number: 1 + int(digest(user, number)[:6], 16) % 5))
    by_chance = [float(int(digest("tester", one.id)[:8], 16)) for one in rated.conversations]
    found = concordance(rated.pairs(), by_chance)
    assert found.value == pytest.approx(0.5, abs=0.06)
    assert found.low < 0.5 < found.high


def test_the_interval_is_that_of_a_ratio_over_users_in_wilsons_form():
    # Ten users with 2 pairs each, of which the tester agrees with 2, 2, 2, 2, 2, 1, 1, 1, 1, 0.
    agreed = [2, 2, 2, 2, 2, 1, 1, 1, 1, 0]
    pairs, values = [], []
    for user, count in enumerate(agreed):
        for number in range(2):
            pairs.append(Pair(str(user), len(values), len(values) + 1))
            values += [1.0, 0.0] if number < count else [0.0, 1.0]
    found = concordance(pairs, values)
    share, t = 0.7, 2.2621571628540993
    spread = 10 / 9 * sum((count - 2 * share) ** 2 for count in agreed) / 20**2
    total = share * (1 - share) / spread
    centre = (share + t * t / (2 * total)) / (1 + t * t / total)
    half = t * sqrt(share * (1 - share) / total + t * t / (4 * total**2)) / (1 + t * t / total)
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half))


def test_above_is_the_difference_over_the_same_pairs():
    rated = as_people(many(12))
    constant = [0.0] * len(rated.satisfaction)
    found = above(rated.pairs(), rated.satisfaction, constant)
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))


def words_of(user, number):
    return f"{'splendid' if number % 2 else 'dreadful'} plan {number}"


def test_what_learns_never_meets_the_test_people():
    """The labels of the test people decide what is judged, and nothing that is learnt."""
    pytest.importorskip("sklearn")
    one = as_people(many(40, points=lambda user, number: 5 if number % 2 else 1, reply=words_of))

    def turned(user, number):
        right = 5 if number % 2 else 1
        return right if part_of(f"u{user}") == "tune" else 6 - right

    other = as_people(many(40, points=turned, reply=words_of))
    found = [
        {row.tester: row.concordance.value for row in people_report(rated, {}).rows if row.kind == "learnt"}
        for rated in (one, other)
    ]
    assert found[0]["words of the replies"] == found[0]["nearest replies"] == 1.0
    assert found[1]["words of the replies"] == found[1]["nearest replies"] == 0.0


def test_nearest_replies_learn_from_points_that_are_no_whole_numbers():
    pytest.importorskip("sklearn")
    talks = many(40, points=lambda user, number: 4.5 if number % 2 else 1.5, reply=words_of)
    some_whole = [*talks, *many(40, each=1, points=lambda user, number: 1, reply=lambda user, number: "splendid")]
    report = people_report(as_people(some_whole), {})
    (row,) = (row for row in report.rows if row.tester == "nearest replies")
    assert row.concordance.value > 0.7  # the few whole ones alone would teach the reverse


def test_only_the_part_is_judged_and_what_learns_is_left_out_of_other_parts():
    pytest.importorskip("sklearn")
    rated = as_people(many(40, reply=words_of))
    test = people_report(rated, {})
    assert test.users == sum(part_of(f"u{user}") == "test" for user in range(40))
    tune = people_report(rated, {}, "tune")
    assert not any(row.kind == "learnt" for row in tune.rows)
    assert any("left out" in note for note in tune.notes)


def test_a_tester_that_fails_is_counted_and_its_reason_told():
    rated = as_people(many(12))
    values = [None, *rated.satisfaction[1:]]
    report = people_report(rated, {"mine": values}, "all", {"mine": ["out of money"]})
    row = report.rows[-1]
    assert (row.tester, row.failed, row.failure, row.concordance.value) == ("mine", 1, "out of money", 1.0)
    assert any("mine: says nothing of 1 of 48 conversations: out of money" in note for note in report.notes)
    assert report.table().rows[-1][0] == "mine"


def test_reply_length_is_the_mean_of_the_replies():
    talk = rated_talk("u", 0, 5, reply="four", turns=2)
    assert reply_length(talk) == 4.0
    assert LENGTH in {row.tester for row in people_report(as_people(many(3)), {}, "all").rows}


def met(scenarios, repeats=1, success=lambda scenario: True, said=lambda scenario: 4.0):
    """Conversations with an assistant, as a run records them."""
    return Meetings(
        [
            Conversation(
                id=f"{scenario}-{repeat}",
                scenario={"goal": str(scenario)},
                messages=[],
                labels={
                    "scores": {
                        "success": {"value": success(scenario), "reason": ""},
                        "satisfaction": {"value": said(scenario), "reason": ""},
                    }
                },
            )
            for scenario in range(scenarios)
            for repeat in range(repeats)
        ]
    )


def test_the_interval_of_success_is_newcombes():
    """His example (1998, table II, a): 56 of 70 against 48 of 80, method 10: 0.0524 to 0.3339."""
    good, bad = met(70, success=lambda n: n < 56), met(80, success=lambda n: n < 48)
    (told,) = told_apart("u", "rule", "errands", {"good": good, "bad": bad})
    assert (-told.success.high, -told.success.low) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert told.success.tells == "yes"


def test_repeats_that_all_end_alike_prove_no_more_than_their_scenarios():
    one = told_apart("u", "rule", "e", {"good": met(12), "bad": met(12, success=lambda n: False)})
    four = told_apart("u", "rule", "e", {"good": met(12, 4), "bad": met(12, 4, success=lambda n: False)})
    assert one[0].success.high == four[0].success.high
    assert four[0].conversations == 48


def test_a_user_that_says_the_same_of_everybody_is_reported_as_unable():
    told = told_apart("blind", "rule", "errands", {"good": met(16, 2), "wordy": met(16, 2)})
    assert (told[0].success.tells, told[0].satisfaction.tells) == ("no", "no")
    assert told[0].satisfaction.needed is None
    report = Report(told=told)
    assert report.cannot() == [
        "blind does not tell 'wordy' from 'good' by success, not with 32 conversations with each.",
        "blind does not tell 'wordy' from 'good' by satisfaction (rule), not with 32 conversations with each.",
    ]
    assert set(report.cannot()) <= set(report.table().notes)


def test_a_user_that_prefers_the_bad_assistant_is_no_tester():
    good, bad = met(16, said=lambda n: 3 + n % 2), met(16, said=lambda n: 4 + n % 2 / 2)
    (told,) = told_apart("u", "rule", "e", {"good": good, "bad": bad})
    assert told.satisfaction.tells == "prefers it"
    assert any("it prefers it" in line for line in Report(told=(told,)).cannot())


def test_satisfaction_is_compared_by_scenario_and_needs_ten():
    wild = [1.0, 5.0] * 8
    good, bad = met(16, said=lambda n: wild[n]), met(16, said=lambda n: wild[n] - 0.5 - n % 2 / 10)
    (told,) = told_apart("u", "rule", "e", {"good": good, "bad": bad})
    assert told.satisfaction.tells == "yes"
    assert told.satisfaction.difference == pytest.approx(-0.55)
    (few,) = told_apart("u", "rule", "e", {"good": met(9), "bad": met(9, said=lambda n: 1.0 + n)})
    assert few.satisfaction.tells == "too few"


def test_a_conversation_without_a_score_counts_in_no_difference():
    bad = met(12)
    bad = Meetings([*bad.conversations, Conversation(id="x", scenario={"goal": "x"}, messages=[], stop="model_failed")])
    (told,) = told_apart("u", "rule", "e", {"good": met(12), "bad": bad})
    assert told.failed == 1
    assert told.success.value == 1.0


def test_the_needed_conversations_are_those_of_the_formulas():
    # Fleiss (1981), 3.14, without correction: (1.96 sqrt(2 .7 .3) + 0.8416 sqrt(.9 .1 + .5 .5))^2 / .4^2 = 19.38
    assert for_shares(0.9, 0.5) == for_shares(0.5, 0.9) == 20
    assert for_shares(1.0, 0.0) == 2
    one, other = [1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 4.0, 6.0]
    by_hand = (1.959964 + 0.841621) ** 2 * (variance(one) + variance(other)) / (fmean(one) - fmean(other)) ** 2
    assert for_means(one, other) == int(by_hand + 1.959964**2 / 4) + 1
    assert for_means([1.0, 1.0], [2.0, 2.0]) == 2
    assert for_means([1.0], [2.0]) is None
    with pytest.raises(ValueError, match="equal shares"):
        for_shares(0.5, 0.5)
