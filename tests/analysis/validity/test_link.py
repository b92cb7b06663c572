"""The link between realism and usefulness: rank correlations over users, their control, and the criteria of validity."""

import numpy as np
import pytest

from duologue.analysis.validity.link_correlations import DomainScores, adjusted, correlated, ranks, spearman
from duologue.analysis.validity.link_outcomes import KnownPair, UserOutcomes, pairs_of
from duologue.analysis.validity.link_report import LinkReport, RealismValue, linked
from duologue.data import Conversation, Message

stats = pytest.importorskip("scipy.stats")

CHAIN = ("good", "bad_5", "bad_20")
PAIRS = pairs_of([CHAIN], [("success", "cost")])


def talk(number, success, length, fault=None):
    """A conversation with this success, and a reply of this length."""
    return Conversation(
        id=f"{number}-{length}",
        scenario={"goal": f"g{number}"},
        messages=[Message(role="user", text="A wish."), Message(role="assistant", text="x" * length)],
        labels={"scores": {"success": {"value": success, "reason": ""}, "satisfaction": {"value": 4.0, "reason": ""}}},
        stop="user_rejected" if fault else "user_ended",
    )


def met(failures, lengths=(10, 10, 10), count=10, first=0):
    """Conversations with each assistant, of which so many fail."""
    return {
        name: [talk(first + number, number >= failed, length) for number in range(count)]
        for name, failed, length in zip(CHAIN, failures, lengths, strict=True)
    }


def domain(users=12, pairs=20, seed=0, skill=None):
    """Users who keep pairs with a chance of their own."""
    draw = np.random.default_rng(seed)
    chances = draw.uniform(0.3, 0.95, users) if skill is None else skill
    pairs_of_two = tuple(KnownPair("success", f"a{n}", f"b{n}", True) for n in range(pairs))
    orders = (draw.uniform(size=(users, pairs)) < chances[:, None]).astype(float)
    names = tuple(name for pair in pairs_of_two for name in (pair.better, pair.worse))
    return DomainScores(
        "d", tuple(f"u{n}" for n in range(users)), names, pairs_of_two, orders, orders - 0.5, np.ones(users)
    )


def test_pairs_of_a_chain_are_all_pairs_best_first_and_neighbours_are_marked():
    assert len(PAIRS) == 6
    assert [(pair.better, pair.worse) for pair in PAIRS if pair.neighbours and pair.outcome == "cost"] == [
        ("good", "bad_5"),
        ("bad_5", "bad_20"),
    ]


def test_a_user_keeps_an_order_that_its_outcomes_show_and_half_keeps_one_without_a_difference():
    one = UserOutcomes("u", "d", (met((0, 1, 4)), met((0, 2, 4), first=10)))
    success = [pair for pair in PAIRS if pair.outcome == "success"]
    assert [one.order_score(pair) for pair in success] == [1.0, 1.0, 1.0]
    assert [one.order_score(pair) for pair in PAIRS if pair.outcome == "cost"] == [0.5, 0.5, 0.5]
    assert one.difference(success[0]) == pytest.approx(0.15)
    assert one.same_at_twice(success) == 1.0
    assert one.band("success") == pytest.approx(np.quantile([0.0, 0.1, 0.0], 0.95))
    assert one.beyond_band(success) == 1.0
    turned = UserOutcomes("u", "d", (met((4, 1, 0)), met((4, 1, 0), first=10)))
    assert [turned.order_score(pair) for pair in success] == [0.0, 0.0, 0.0]
    assert turned.beyond_band(success) == 0.0


def test_a_longer_conversation_costs_more_so_the_shorter_one_is_better():
    one = UserOutcomes("u", "d", (met((0, 0, 0), (10, 20, 40)), met((0, 0, 0), (10, 20, 40), first=10)))
    cost = [pair for pair in PAIRS if pair.outcome == "cost"]
    assert [one.order_score(pair) for pair in cost] == [1.0, 1.0, 1.0]
    assert one.difference(cost[0]) == pytest.approx(np.log(27 / 17))  # with seven characters of the user


def test_the_rank_correlation_is_scipys_also_with_ties():
    draw = np.random.default_rng(1)
    one, two = (draw.integers(0, 6, (20, 15)).astype(float) for _ in range(2))
    counts = draw.integers(0, 3, (20, 15)).astype(float)
    once, drawn = spearman(one, two), spearman(one, two, counts)
    for row, times in enumerate(counts.astype(int)):
        assert once[row] == pytest.approx(stats.spearmanr(one[row], two[row]).statistic)
        repeated = (np.repeat(values[row], times) for values in (one, two))
        assert drawn[row] == pytest.approx(stats.spearmanr(*repeated).statistic)
        assert np.allclose(ranks(one, np.ones((20, 15)))[row] + 0.5, stats.rankdata(one[row]))
    assert np.isnan(spearman(np.ones((1, 9)), np.arange(9.0)[None])).all()
    assert np.isnan(spearman(np.arange(4.0)[None], np.arange(4.0)[None])).all()


def test_a_true_link_is_found_and_its_shuffled_control_is_about_zero():
    skill = np.linspace(0.2, 0.98, 20)
    scores = domain(20, 60, skill=skill)
    realism = dict(zip(scores.users, skill, strict=True))
    estimate = correlated(realism, [scores, domain(20, 60, 5, skill)], "agreement", draws=400)
    assert (estimate.rho or 0) > 0.8
    assert (estimate.low or 0) > 0.4
    assert (estimate.high or 9) < 1
    assert (estimate.p or 1) < 0.01
    assert estimate.control == pytest.approx(0, abs=0.05)
    assert -0.7 < (estimate.control_low or 0) < -0.2 < 0.2 < (estimate.control_high or 0) < 0.7


def test_without_a_link_p_is_uniform_enough_and_adjustment_makes_it_larger():
    small, all_adjusted = 0, []
    for seed in range(40):
        scores = domain(16, 20, seed)
        draw = np.random.default_rng([seed, 9])
        several = [
            correlated(dict(zip(scores.users, draw.normal(size=16), strict=True)), [scores], "agreement", draws=99)
            for _ in range(3)
        ]
        small += sum(one.p is not None and one.p <= 0.05 for one in several)
        together = adjusted(several)
        assert all(
            wide is not None and one.p is not None and wide >= one.p - 1e-9
            for one, wide in zip(several, together, strict=True)
        )
        all_adjusted.append(min(p for p in together if p is not None))
    assert small / 120 < 0.12
    assert sum(p <= 0.05 for p in all_adjusted) / 40 < 0.2


def test_the_shuffled_control_is_about_zero_also_if_some_users_are_in_one_domain_only():
    few = domain(20, 40, 3, np.linspace(0.2, 0.98, 20))
    scores = [few, few.of_users(few.users[:10])]
    realism = dict(zip(few.users, np.linspace(0, 1, 20), strict=True))
    assert correlated(realism, scores, "agreement", draws=600).control == pytest.approx(0, abs=0.06)


def reported(realism):
    outcomes = [
        UserOutcomes(f"u{n}", "d", (met((0, n % 3, n % 5)), met((0, n % 3, n % 5), first=10))) for n in range(8)
    ]
    values = [RealismValue(user=f"u{n}", measure="m", family="f", value=value) for n, value in enumerate(realism)]
    return linked(outcomes, {"d": PAIRS}, values, kinds={}, draws=50)


def test_a_report_without_realism_has_only_the_users_and_one_with_it_says_if_it_found_nothing():
    report = reported([])
    assert report.rows == ()
    assert [table.title for table in report.tables()] == [
        "Criteria of validity, by kind of user",
        "Assistants of known order, by user",
    ]
    (criteria,) = report.criteria_table().rows
    keeping = sum(row.order_kept is True for row in report.users)
    assert (criteria[:4], keeping) == (("", "d", 8, keeping), 6)
    agreements = sorted(row.agreement for row in report.users)
    assert criteria[4:7] == (np.median(agreements), agreements[0], agreements[-1])
    assert [row.conversations for row in report.users] == [60] * 8
    report_of_eight = reported([3, 1, 4, 1, 5, 9, 2, 6])
    assert report_of_eight.verdict.startswith(
        "None of 2 correlations differs from 0 by more than chance: a null result."
    )
    assert report_of_eight.rows[0].by["faults"].rho is None  # no user is at fault
    assert set(report_of_eight.intervals("agreement")) == {"m"}
    assert LinkReport.model_validate_json(report_of_eight.model_dump_json()) == report_of_eight


def test_user_faults_are_the_share_of_conversations_with_one():
    by_name = {name: [talk(0, True, 5), talk(1, True, 5, fault=True)] for name in CHAIN}
    assert UserOutcomes("u", "d", (by_name, by_name)).faults == 0.5


def test_a_difference_between_kinds_of_users_is_no_link_within_them():
    # One kind is less human and more useful than the other; within each realism says nothing.
    skill = np.array([0.9] * 12 + [0.3] * 12)
    scores = domain(24, 40, 7, skill)
    draw = np.random.default_rng(3)
    realism = dict(zip(scores.users, np.where(skill > 0.5, 0.0, 5.0) + draw.normal(size=24), strict=True))
    kinds = {user: "rules" if number < 12 else "retrieval" for number, user in enumerate(scores.users)}
    mixed = correlated(realism, [scores], "agreement", draws=200)
    within = correlated(realism, [scores], "agreement", kinds=kinds, draws=200)
    assert (mixed.rho or 0) < -0.6
    assert abs(within.rho or 1) < 0.4
    assert (within.p or 0) > 0.05
    assert within.control == pytest.approx(0, abs=0.05)
