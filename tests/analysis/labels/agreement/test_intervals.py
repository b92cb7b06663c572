"""Intervals over users hold what they say."""

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("scipy", reason="agreement needs the extra stats")

from duologue.analysis.labels.agreement import accuracy, calibrated_mean, cohen_kappa, gwet_ac  # noqa: E402
from duologue.analysis.over_users.chance import chance_of_margins, same  # noqa: E402
from duologue.analysis.over_users.jackknife import coefficient_interval  # noqa: E402

SIZES = (1,) * 8 + (2,) * 6 + (3,) * 4 + (4, 4)
"""40 conversations of 20 users, unequally many of each."""
FEW = (1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 6)
"""40 of 13."""


class Judge:
    """Users with values of their own, and a judge with a chance of its own to be right of each."""

    def __init__(self, shares, right, alike=0.15):
        self.shares, self.right, self.alike = np.array(shares), right, alike

    def tables(self, sizes, samples, seed):
        """samples x user x value x value."""
        draw = np.random.default_rng(seed)
        values, users = len(self.shares), len(sizes)
        freedom = 1 / self.alike - 1
        rights = draw.beta(self.right * freedom, (1 - self.right) * freedom, size=(samples, users))
        own = draw.dirichlet(self.shares * 8, size=(samples, users)).cumsum(axis=-1)
        tables = np.zeros((samples, users, values, values))
        for number in range(max(sizes)):
            there = np.array(sizes) > number
            true = (draw.random((samples, users, 1)) > own[..., :-1]).sum(axis=-1)
            wrong = (true + draw.integers(1, values, size=true.shape)) % values
            judged = np.where(draw.random(true.shape) < rights, true, wrong)
            for one in range(values):
                for other in range(values):
                    tables[:, :, one, other] += (true == one) & (judged == other) & there
        return tables

    def covered(self, sizes, disagreement, samples=1500, seed=1):
        """Share of the intervals that hold the coefficient of very many users."""
        many = self.tables((2,) * 50, 4000, seed + 1).sum(axis=(0, 1))
        observed, expected = disagreement(many)
        truth = 1 - observed / expected
        estimates = [coefficient_interval(of_one, disagreement) for of_one in self.tables(sizes, samples, seed)]
        return np.mean([one.low <= truth <= one.high for one in estimates if one.low is not None])


JUDGES = {
    "three values, right of seven tenths": Judge((0.5, 0.3, 0.2), 0.7),
    "three values, right of eight tenths": Judge((0.5, 0.3, 0.2), 0.8),
    "two values, right of seven tenths": Judge((0.5, 0.5), 0.7),
    "a rare value": Judge((0.8, 0.2), 0.8),
    "five values": Judge((0.1, 0.2, 0.3, 0.25, 0.15), 0.7),
}


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize("sizes", [SIZES, FEW], ids=["20 users", "13 users"])
@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES.keys())
def test_intervals_of_40_labels_cover_what_they_say(judge, sizes):
    assert sum(sizes) == 40
    kappa = chance_of_margins(1 - np.eye(len(judge.shares)))
    # 1,500 samples: the standard error of a coverage is .006.
    assert 0.93 <= judge.covered(sizes, same()) <= 0.97
    assert 0.93 <= judge.covered(sizes, kappa) <= 0.97


def drawn(draw, users=240, labels_per_user=1, labelled=40, right=0.8, rate=0.3, step=None):
    """A judge's values of all things, people's values of some, and the user of each thing.

    People labelled one thing of each of 40 users: of fewer than 30 the judge counts nothing.
    """
    own = np.repeat(draw.beta(rate * 6, (1 - rate) * 6, size=users), labels_per_user)
    true = (draw.random(users * labels_per_user) < own).astype(float)
    judged = np.where(draw.random(users * labels_per_user) < right, true, 1 - true)
    people = [float(one) if number < labelled else None for number, one in enumerate(true)]
    return people, judged.tolist(), [str(user) for user in np.repeat(np.arange(users), labels_per_user)]


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize("right", [0.6, 0.85, 0.97])
def test_calibrated_rates_of_40_labels_cover_what_they_say(right):
    draw = np.random.default_rng(1)
    means = [calibrated_mean(people, judged, users=users) for people, judged, users in
             (drawn(draw, right=right) for _ in range(1000))]  # fmt: skip
    covered = np.mean([one.calibrated.low <= 0.3 <= one.calibrated.high for one in means])
    # Of 40 labels hardly one is wrong where .97 are right: no interval can know that it is no more.
    assert 0.93 <= covered <= (0.975 if right < 0.9 else 1)
    # The judge alone is sure and wrong: it says .3 x right + .7 x (1 - right).
    naive = np.mean([one.naive.low <= 0.3 <= one.naive.high for one in means])
    assert naive < (0.05 if right == 0.6 else 0.99)
    wide = np.mean([one.calibrated.high - one.calibrated.low for one in means])
    of_people = np.mean([one.people.high - one.people.low for one in means])
    # A judge that knows next to nothing costs a little: its weight is learnt from the labels of other users.
    assert wide < of_people * (1.05 if right == 0.6 else 0.95)


def test_all_in_agreement_are_no_proof_that_there_is_no_error():
    one = ["a", "b"] * 10
    share = accuracy(one, one)
    assert share.value == share.high == 1
    assert 0.8 < share.low < 0.9  # Wilson's bound of 20 of 20 is .84
    assert cohen_kappa(one, one).low < 0.9


def test_labels_of_one_user_count_less_than_those_of_many():
    one, other = ["a", "b"] * 20, ["a", "b"] * 15 + ["b", "a"] * 5
    apart = accuracy(one, other)
    # The last quarter, which is wrong, is of two users.
    together = accuracy(one, other, users=[str(number // 5) for number in range(40)])
    assert apart.value == together.value == 0.75
    assert together.high - together.low > 1.5 * (apart.high - apart.low)


def test_few_users_have_no_interval_and_it_is_said_why():
    kappa = cohen_kappa(["a", "b"] * 20, ["a", "b"] * 20, users=["x", "y", "z", "x"] * 10)
    assert (kappa.value, kappa.low, kappa.reason) == (1, None, "an interval needs 5 users")
    one = ["a"] * 9 + ["b"] * 4
    users = [*map(str, range(9)), *["9"] * 4]
    assert cohen_kappa(one, one, users=users).reason == "no interval: all other values are of one user"


def test_kappa_of_a_rare_value_has_no_interval_and_other_coefficients_have_theirs():
    first, second = ["a"] * 97 + ["b"] * 3, ["a"] * 96 + ["b"] * 4
    kappa = cohen_kappa(first, second)
    reason = "no interval: 4 labels of other values than the commonest are needed, not 3.5"
    assert (kappa.value > 0.8, kappa.low, kappa.reason) == (True, None, reason)
    assert accuracy(first, second).low is not None
    assert gwet_ac(first, second).low is not None
    assert cohen_kappa([*first, "b"], [*second, "b"]).low is not None


def test_an_interval_is_the_same_in_any_order():
    one, other = ["a", "b", "c", "a"] * 5, ["a", "b", "a", "a"] * 5
    users = [str(number % 7) for number in range(20)]
    back = cohen_kappa(one[::-1], other[::-1], users=users[::-1])
    there = cohen_kappa(one, other, users=users)
    assert (back.low, back.high) == (pytest.approx(there.low), pytest.approx(there.high))
