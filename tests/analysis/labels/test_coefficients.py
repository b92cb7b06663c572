"""Coefficients of agreement, against published examples and the libraries that have them."""

import pytest

pytest.importorskip("scipy", reason="agreement needs the extra stats")

from hypothesis import given
from hypothesis import strategies as st

from duologue.analysis.labels.agreement import AgreementRow, agreement, cohen_kappa, fleiss_kappa
from duologue.errors import SettingError

VALUES = st.integers(1, 5)


def spread(*counts: tuple[str, str, int]) -> tuple[list[str], list[str]]:
    pairs = [(one, other) for one, other, number in counts for _ in range(number)]
    return [one for one, _ in pairs], [other for _, other in pairs]


@pytest.fixture
def reported(talk):
    """The report's row on two labels of the same conversations."""

    def row(one, other) -> AgreementRow:
        pairs = enumerate(zip(one, other, strict=True))
        talks = [talk(str(n), {"human": a, "judge": b}) for n, (a, b) in pairs]
        return agreement(talks, between=[("human", "judge")]).rows[0]

    return row


@pytest.fixture
def alpha(talk, voted):
    """The report's alpha of the votes on each conversation; `ordered`: the values from low to high."""

    def value(ratings, *ordered) -> float | None:
        votes = [[vote for vote in of_one if vote is not None] for of_one in ratings]
        talks = [talk(str(n), {"judge": voted(*of_one)}) for n, of_one in enumerate(votes)]
        return agreement(talks, between=[("judge",)], ordered=[ordered] if ordered else []).rows[0].alpha.value

    return value


def test_gwets_example_where_kappa_misleads(reported):
    # Gwet 2008, Table 2 of the paradox: 118, 5, 2, 0: observed .944, kappa -.023; chance 2 p (1 - p), p = 243 / 250.
    one, other = spread(("+", "+", 118), ("+", "-", 5), ("-", "+", 2))
    chance = 2 * (243 / 250) * (7 / 250)
    assert cohen_kappa(one, other).value == pytest.approx(-0.0234, abs=5e-5)
    assert reported(one, other).ac1.value == pytest.approx((118 / 125 - chance) / (1 - chance))
    assert reported(one, other).ac1.value == pytest.approx(0.9408, abs=5e-5)


def test_ac2_of_two_values_is_ac1_and_of_three_is_counted_by_hand(reported):
    one, other = [1, 1, 2, 2, 2], [1, 2, 2, 2, 1]
    assert reported(one, other).ac2 == pytest.approx(reported(one, other).ac1.value)
    # Weights 1, 3/4, 0: their sum 3 + 4 x 3/4 = 6; shares 3/8, 2/8, 3/8 spread by 2 x 15/64 + 3/16 = 21/32.
    one, other = [1, 2, 3, 3], [1, 2, 1, 3]
    chance = 6 / (3 * 2) * (2 * (3 / 8) * (5 / 8) + (2 / 8) * (6 / 8))
    assert reported(one, other).ac2 == pytest.approx((0.75 - chance) / (1 - chance))


def test_krippendorffs_example_with_missing_values(alpha):
    # Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C and E: four observers, 12 units.
    rows = [
        "1 2 3 3 2 1 4 1 2 . . .",
        "1 2 3 3 2 2 4 1 2 5 . 3",
        ". 3 3 3 2 3 4 2 2 5 1 .",
        "1 2 3 3 2 4 4 1 2 5 1 .",
    ]
    ratings = [[None if cell == "." else cell for cell in of_one] for of_one in zip(*map(str.split, rows), strict=True)]
    words = [[cell and "abcde"[int(cell) - 1] for cell in of_one] for of_one in ratings]
    assert alpha(words) == pytest.approx(0.743, abs=5e-4)
    assert alpha(words, *"abcde") == pytest.approx(0.815, abs=5e-4)
    assert alpha(ratings) == pytest.approx(0.849, abs=5e-4)


@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=40))
def test_kappas_are_scikit_learns(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    for weights in (None, "linear", "quadratic"):
        ours = cohen_kappa(one, other, weights=weights).value
        if ours is None:
            assert {*one} == {*other}
            assert len({*one}) == 1
        else:
            expected = metrics.cohen_kappa_score(one, other, weights=weights, labels=[1, 2, 3, 4, 5])
            assert ours == pytest.approx(expected, abs=1e-12)


@pytest.mark.heavy
@given(st.lists(st.tuples(VALUES, VALUES, st.none() | VALUES), min_size=3, max_size=30))
def test_alpha_is_nltks_and_fleiss_kappa_that_of_its_definition(alpha, ratings):
    nltk = pytest.importorskip("nltk.metrics.agreement")
    distance = pytest.importorskip("nltk.metrics")
    triples = [
        (str(rater), str(unit), value)
        for unit, of_one in enumerate(ratings)
        for rater, value in enumerate(of_one)
        if value is not None
    ]
    words = [[vote and "abcde"[vote - 1] for vote in of_one] for of_one in ratings]
    for said, measure in ((words, distance.binary_distance), (ratings, distance.interval_distance)):
        ours = alpha(said)
        if ours is not None:
            expected = nltk.AnnotationTask(triples, distance=measure).alpha()
            assert ours == pytest.approx(expected, abs=1e-9)
    whole = [of_one for of_one in ratings if None not in of_one]
    ours = fleiss_kappa(whole).value if whole else None
    if ours is not None:
        assert ours == pytest.approx(_fleiss(whole), abs=1e-9)


def _fleiss(votes):
    """The definition of 1971, term by term."""
    values, number = {value for of_one in votes for value in of_one}, len(votes[0])
    agreed = sum(
        (sum(of_one.count(value) ** 2 for value in values) - number) / (number * (number - 1)) for of_one in votes
    ) / len(votes)
    chance = sum((sum(of_one.count(value) for of_one in votes) / (len(votes) * number)) ** 2 for value in values)
    return (agreed - chance) / (1 - chance)


def test_where_both_always_say_one_value_kappa_is_undefined_and_ac1_is_not(reported, alpha):
    one = ["high"] * 8
    kappa = cohen_kappa(one, one)
    assert (kappa.value, kappa.low, kappa.high, kappa.reason) == (None, None, None, "nothing is counted")
    assert reported(one, one).ac1.value == 1
    assert alpha([("high", "high")] * 8) is None
    assert fleiss_kappa([("high",) * 3] * 8).value is None
    assert reported(one, one).accuracy.value == 1


def test_words_need_an_order_for_weights():
    with pytest.raises(SettingError, match="give `values`"):
        cohen_kappa(["low", "high"], ["low", "low"], weights="linear")
    with pytest.raises(SettingError, match="not among"):
        cohen_kappa(["low", "high"], ["low", "low"], values=["low"])
    with pytest.raises(SettingError, match="equally many"):
        cohen_kappa([1], [1, 2])
    ordered = cohen_kappa(
        ["low", "mid", "high"], ["low", "high", "high"], weights="linear", values=["low", "mid", "high"]
    )
    assert ordered.value == cohen_kappa([0, 1, 2], [0, 2, 2], weights="linear").value
