"""Scores of judges: by hand, as scikit-learn's, and the coverage of their intervals."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, mean_absolute_error, roc_auc_score

from duologue.analysis.recllmsim.judges.scores import PairedScores, intraclass, satisfaction_scores
from duologue.analysis.recllmsim.judges.turns import nearest
from duologue.data.identity import digest
from tests.analysis.recllmsim.judges.judged import POINTS, of_points, scores, turn


def test_the_scores_are_those_counted_by_hand():
    scored = scores(of_points(2, 5, 4), [2.6, 2.6, 4.4])
    # Nearest points 3, 3, 4: errors 1, 2, 0; always 4 errs by 2, 1, 0.
    assert (scored["mae"].value, scored["gain"].value) == (1.0, 0.0)
    # Of the dissatisfied turn and either satisfied one: level with one, below the other.
    assert scored["auc"].value == 0.75
    # One pair level, one right, one wrong: 5 points stand below 4.
    assert scored["concordance"].value == 0.5
    # Weights 1 + 4 + 0 observed; by chance (truth 2, 5, 4 against 3, 3, 4): (1+1+4 + 4+4+1 + 1+1+0) / 3.
    assert scored["qwk"].value == pytest.approx(1 - 5 / (17 / 3))
    assert [nearest(points) for points in (4.5, 3.49, 0.2, 9)] == [5, 3, 1, 5]


@drawn(st.lists(st.tuples(POINTS, POINTS), min_size=1, max_size=30))
def test_kappa_error_and_auc_are_those_of_scikit_learn(pairs):
    truth, predicted = map(list, zip(*pairs, strict=True))
    scored = scores(of_points(*truth, users=3), predicted)
    assert scored["mae"].value == pytest.approx(mean_absolute_error(truth, predicted))
    if scored["qwk"].value is None:
        assert len(set(truth + predicted)) == 1
        assert scored["qwk"].reason.startswith("undefined: ")
    else:
        labels = [1, 2, 3, 4, 5]
        assert scored["qwk"].value == pytest.approx(
            cohen_kappa_score(truth, predicted, weights="quadratic", labels=labels)
        )
    low = [points <= 3 for points in truth]
    if len(set(low)) == 2:
        assert scored["auc"].value == pytest.approx(roc_auc_score(low, [-points for points in predicted]))
    else:
        assert (scored["auc"].value, scored["auc"].reason[:9]) == (None, "undefined")


def test_turns_of_different_folds_are_not_compared():
    paired = PairedScores(of_points(2, 5, 2, 5), [4, 5, 1, 2], [0, 0, 1, 1])
    assert satisfaction_scores(paired)["auc"].value == 1
    assert scores(paired.turns, paired.points)["auc"].value == 0.75  # the first turn stands above the last


def test_the_intraclass_correlation_is_that_counted_by_hand():
    alike = [turn("a", 0, 5), turn("a", 1, 5), turn("b", 2, 1), turn("b", 3, 1)]
    assert intraclass(alike).value == 1
    unlike = [turn("a", 0, 4), turn("a", 1, 2), turn("b", 2, 4), turn("b", 3, 2)]
    assert intraclass(unlike).value == -1  # mean squares 0 between and 2 within: (0 - 2) / (0 + 2)
    # Means 13/3 and 2 around 15/4; two degrees of freedom within; turns a user, as Donner: (4 - 10/4) / 1 = 1.5.
    uneven = [turn("a", 0, 5), turn("a", 1, 5), turn("a", 2, 3), turn("b", 3, 2)]
    between, within = 3 * (13 / 3 - 15 / 4) ** 2 + (2 - 15 / 4) ** 2, (8 / 3) / 2
    assert intraclass(uneven).value == pytest.approx((between - within) / (between + 0.5 * within))
    assert intraclass([turn("a"), turn("b", 1)]).reason.startswith("undefined: ")


@pytest.mark.heavy
def test_intervals_over_users_hold_what_they_are_to_hold():
    """Forty users who differ in what they give, with a judge that sees half of it."""
    scores_by_name: dict[str, list[Any]] = {}
    for number in range(150):
        random = np.random.default_rng(int(digest("judges of forty users", number)[:16], 16))
        turns, points = [], []
        for user in range(40):
            own = random.normal(0, 0.5)
            for place in range(random.integers(1, 5)):
                talk_ = random.normal(0, 0.4)
                for nth in range(random.integers(2, 7)):
                    felt = 4.2 + own + talk_ + random.normal(0, 0.7)
                    turns.append(turn(f"u{user}", 10 * user + place, int(np.clip(round(felt), 1, 5)), turn=nth))
                    points.append(float(np.clip(4.2 + 0.15 * own + 0.5 * talk_ + random.normal(0, 0.25), 1, 5)))
        for name, score in (scores(turns, points) | {"icc": intraclass(turns)}).items():
            scores_by_name.setdefault(name, []).append(score)
    for name, values in scores_by_name.items():
        middle = np.mean([score.value for score in values])
        covered = np.mean([score.low <= middle <= score.high for score in values])
        assert 0.89 <= covered <= 0.98, (name, covered)
