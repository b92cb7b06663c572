"""What a judged number is worth, and which labels to keep."""

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("scipy", reason="agreement needs the extra stats")

from duologue.analysis.labels.agreement import calibrated_mean, worth  # noqa: E402
from duologue.analysis.labels.agreement.calibration import _tuned, sums_of_users, tuned_weights  # noqa: E402
from duologue.errors import SettingError  # noqa: E402

BETWEEN = [("human", "judge")]
ORACLE_POINT, ORACLE_LOW, ORACLE_HIGH, ORACLE_WEIGHT = 3.53243185, 3.40168367, 3.66318003, 0.512


def sample():
    draw = np.random.default_rng(7)
    judged = draw.normal(3, 1, 300)
    people = judged * 0.7 + 1.5 + draw.normal(0, 0.5, 300)
    return [float(one) if number < 60 else None for number, one in enumerate(people)], judged.tolist()


def test_a_calibrated_mean_counted_by_hand():
    people, judged = [1, 0, 1, 0, 1, None, None], [1, 1, 1, 0, 0, 1, 1]
    estimate = calibrated_mean(people, judged, weight=1)
    # people .6; the judge 1 where they did not label, .6 where they did
    assert estimate.people.value == pytest.approx(0.6)
    assert estimate.naive.value == pytest.approx(5 / 7)
    assert estimate.calibrated.value == pytest.approx(0.6 + (1 - 0.6))
    assert calibrated_mean(people, judged, weight=0).calibrated.value == pytest.approx(0.6)
    assert (estimate.n, estimate.of, estimate.users) == (5, 7, 5)


def test_where_each_label_is_of_its_own_user_it_is_that_of_ppi_plus_plus():
    # `ppi_mean_pointestimate` and `ppi_mean_ci` of ppi-python 0.2.3 gave these on the same sample. It brings numba and
    # statsmodels along, and a package `tests` that hides ours, so it is not installed here.
    people, judged = sample()
    estimate = calibrated_mean(people, judged)
    assert estimate.weight == pytest.approx(ORACLE_WEIGHT, abs=0.05)
    weighted = calibrated_mean(people, judged, weight=0.6)
    assert weighted.calibrated.value == pytest.approx(ORACLE_POINT, abs=1e-8)
    assert weighted.calibrated.low == pytest.approx(ORACLE_LOW, abs=0.02)
    assert weighted.calibrated.high == pytest.approx(ORACLE_HIGH, abs=0.02)


@pytest.fixture
def few_users(monkeypatch):
    """The judge's weight is tuned on however few users."""
    monkeypatch.setattr("duologue.analysis.labels.agreement.calibration.FEWEST_WEIGHED", 0)


@pytest.mark.parametrize("users", [29, 30])
def test_below_thirty_labelled_users_the_judge_counts_nothing(users):
    people = [float(n % 3 == 0) if n < users else None for n in range(200)]
    judged = [float(n % 3 == 0) for n in range(200)]
    estimate = calibrated_mean(people, judged)
    assert (estimate.weight > 0) == (users == 30)
    if users == 29:
        note = "the mean is of people's labels: the judge counts from 30 labelled users on"
        assert estimate.calibrated == estimate.people.model_copy(update={"reason": note})
        assert calibrated_mean(people, judged, weight=0.5).weight == 0.5


def test_the_weight_and_the_variance_over_users_counted_by_hand(few_users):
    people, judged = [1, 1, 0, 0, 1, None, None, None, None, None], [1, 1, 0, 0, 0, 1, 0, 1, 0, 1]
    # Folds of one user each of both sides: each weight is tuned on four labelled users and four others.
    sums = sums_of_users(people, judged, None)
    whole_weight = _tuned([sums])
    # Without each user, times 4: people's 2 2 3 3 2, deviations -.4 -.4 .6 .6 -.4; the judge's 1 1 2 2 2: -.6 -.6 .4 .4 .4;
    # together .24 + .24 + .24 + .24 - .16 = .8, over 16: .05. The judge's over all, half are 1: 10 (1/2 / 9)^2 = .030864,
    # of half as many labels twice that.
    assert whole_weight == pytest.approx(0.05 / (2 * 0.0308642) * 0.5, rel=1e-5)
    weights = tuned_weights([sums], None)
    pairs = [
        [place for place in range(10) if place not in (user, other)] for user in range(5) for other in range(5, 10)
    ]
    of_pairs = np.array([_tuned([sums[rest]]) for rest in pairs]).reshape(5, 5)
    # The user's pair is that of its fold: another of those whom people did not label.
    assert all(np.isclose(of_pairs[user], weights[user]).any() for user in range(5))
    estimate = calibrated_mean(people, judged)
    assert estimate.weight == pytest.approx(weights[:5].mean())
    corrected = np.mean([one - weight * other for one, weight, other in zip(people[:5], weights, judged, strict=False)])
    assert estimate.calibrated.value == pytest.approx(corrected + weights[:5].mean() * 0.6)
    whole = calibrated_mean(people, judged, weight=1, rate=False).calibrated
    # Each of the five of both sides left out, of ten users: people less judge .2, without one 4 x .25 and 1 x 0 of it
    means = [0.5, 0.5, 0.75, 0.75, 0.5, *[0.6] * 5]
    more = [0.6 - one for one in (0.25, 0.25, 0.5, 0.5, 0.5)] + [one - 0.4 for one in (0.5, 0.75, 0.5, 0.75, 0.5)]
    of_users = [one + other for one, other in zip(means, more, strict=True)]
    middle = sum(of_users) / 10
    variance = 0.9 * sum((one - middle) ** 2 for one in of_users)
    half = 2.7764451 * (variance + 1 / 25 / 2) ** 0.5  # half of what one more label of 5 would add
    assert (whole.low, whole.high) == (pytest.approx(whole.value - half), pytest.approx(whole.value + half))


def test_two_conversations_that_people_did_not_label_decide_little(talk, few_users):
    people = ["a", "b", "c", "a", "b", "c", "a", "b", "c", "b", None, None]
    judged = ["a", "b", "c", "a", "b", "c", "a", "b", "c", "c", "a", "a"]
    talks = [
        talk(str(n), ({"human": one} if one else {}) | {"judge": other}, user=f"user {n % 6}")
        for n, (one, other) in enumerate(zip(people, judged, strict=True))
    ]
    rows = worth(talks, between=BETWEEN).rows
    assert len({row.weight for row in rows}) == 1
    assert 0 < rows[0].weight <= 0.2  # the share that people did not label; of a fold without them a little more
    assert sum(row.calibrated or 0 for row in rows) == pytest.approx(1)
    (second,) = [row for row in rows if row.value == "b"]
    assert abs(second.calibrated - second.people) < 0.1  # the two that are left have none
    assert second.low < second.calibrated < second.high


def test_rates_that_would_be_below_none_leave_a_sum_of_one(talk):
    people = ["b" if n % 2 else "a" for n in range(20)] + [None] * 60
    judged = ["c" if n == 1 else "b" if n % 2 else "a" for n in range(80)]
    talks = [talk(str(n), ({"human": one} if one else {}) | {"judge": other})
             for n, (one, other) in enumerate(zip(people, judged, strict=True))]  # fmt: skip
    rows = {row.value: row for row in worth(talks, between=BETWEEN).rows}
    assert rows["c"].calibrated == rows["c"].low == 0  # people never say it, and the judge does where they labelled
    assert sum(row.calibrated or 0 for row in rows.values()) == pytest.approx(1)
    assert all(row.low <= row.calibrated <= row.high for row in rows.values())


def test_ties_of_people_count_as_not_labelled_and_what_that_assumes_is_said(talk, voted):
    talks = [
        talk(str(n), {"human": voted("a", "b", final="a" if n % 3 else None), "judge": "ab"[n % 2]}) for n in range(12)
    ]
    report = worth(talks, between=BETWEEN)
    assert {row.n for row in report.rows} == {8}
    (note,) = [note for note in report.notes if "ties" in note]
    assert note.startswith("4 ties of people in human, side not told, count as not labelled")
    assert not any("ties" in note for note in worth([talk("1", {"human": "a", "judge": "a"})], between=BETWEEN).notes)


def test_a_judge_that_tells_nothing_counts_nothing():
    people = [float(number % 2) for number in range(20)] + [None] * 80
    judged = [1.0] * 100
    estimate = calibrated_mean(people, judged)
    assert estimate.weight == 0
    assert estimate.calibrated.value == estimate.people.value == 0.5


def test_labels_of_one_user_widen_the_interval():
    people, judged = sample()
    alone = calibrated_mean(people, judged)
    order = sorted(range(60), key=lambda number: people[number])
    block = {number: place // 6 for place, number in enumerate(order)}
    together = calibrated_mean(people, judged, users=[f"a{block[n]}" if n < 60 else f"b{n}" for n in range(300)])
    assert together.calibrated.high - together.calibrated.low > alone.calibrated.high - alone.calibrated.low


def test_without_people_nothing_is_calibrated_and_it_is_said():
    estimate = calibrated_mean([None] * 8, [1.0, 0.0] * 4)
    assert (estimate.calibrated.value, estimate.calibrated.reason) == (None, "not calibrated: people labelled none")
    assert estimate.naive.value == 0.5


def test_where_people_labelled_all_theirs_is_the_mean():
    estimate = calibrated_mean([1.0, 0.0] * 4, [1.0] * 8)
    assert (estimate.calibrated.value, estimate.naive.value) == (0.5, 1)
    assert estimate.calibrated.low == estimate.people.low
    assert "people labelled all" in estimate.calibrated.reason


def test_bad_numbers_of_things_are_refused():
    with pytest.raises(SettingError, match="one of each"):
        calibrated_mean([1.0], [1.0, 2.0])
    with pytest.raises(SettingError, match="empty"):
        calibrated_mean([], [])


def test_words_have_a_rate_each_and_numbers_a_mean(talk):
    talks = [
        talk(str(n), ({"human": "yes" if n % 3 else "no", "score": n % 2} if n < 12 else {})
             | {"judge": "yes" if n % 4 else "no", "points": n % 2})
        for n in range(40)
    ]  # fmt: skip
    rates = {row.value: row for row in worth(talks, between=BETWEEN).rows}
    assert {value: (row.n, row.of) for value, row in rates.items()} == {"no": (12, 40), "yes": (12, 40)}
    assert rates["yes"].naive == 0.75
    assert rates["yes"].people == pytest.approx(8 / 12)
    assert rates["yes"].calibrated == pytest.approx(1 - rates["no"].calibrated)
    assert 0 <= rates["yes"].low < rates["yes"].calibrated < rates["yes"].high <= 1
    (mean,) = worth(talks, between=[("score", "points")]).rows
    assert (mean.value, mean.naive) == ("mean", 0.5)
