"""A judge's mean over everything, corrected by people's labels of a part."""

from collections.abc import Sequence

import numpy as np

from ....data.records import Record
from ....errors import SettingError
from ...over_users.estimate import FloatArray, UserScore, jackknife_variance, of_users
from ...over_users.folds import FOLDS, dealt
from ...over_users.jackknife import TINY, mean_interval

FEWEST_WEIGHED = 30
"""Labelled users that the judge's weight is tuned on: tuned on fewer, the interval covers as little as .89."""


class Calibrated(Record):
    """A mean by a judge, by people, and by both."""

    n: int
    """Things that people labelled and the judge, too."""
    of: int
    """Things that the judge labelled."""
    users: int
    """Users of those that people labelled."""
    naive: UserScore
    """The judge's mean over all."""
    people: UserScore
    """People's mean over what they labelled."""
    calibrated: UserScore
    weight: float
    """How much the judge counts, 0 to 1: the power-tuned lambda, the mean over folds."""


def calibrated_mean(
    people: Sequence[float | None],
    judged: Sequence[float],
    *,
    users: Sequence[str] | None = None,
    weight: float | FloatArray | None = None,
    step: float = 1.0,
    rate: bool | None = None,
) -> Calibrated:
    """The prediction-powered mean of a judge's values and of people's values for some of them.

    It is people's mean, plus `weight` times a difference: the judge's mean where people did not label, less the judge's
    mean where they did. Method: Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered Inference" (2023),
    section 6; cross-fitted as in Zrnic and Candès, "Cross-Prediction-Powered Inference" (2024). The interval is that of
    `mean_interval`. It holds where those whom people labelled are like the others.

    Args:
        people: People's number of each thing, None where they gave none.
        judged: The judge's number of each thing.
        users: The user of each thing.
        weight: A number, or one for each user. Default: each user's is of `tuned_weights`: it makes the variance
            smallest if the judge's numbers vary where people did not label as where they did.
        step: Distance of neighbouring values.
        rate: Whether the numbers are 1 and 0; default: where both occur and no other.

    Returns:
        The mean with its interval.

    Raises:
        SettingError: The numbers are not of the same things, or there are none.
    """
    if len(people) != len(judged) or (users is not None and len(users) != len(judged)):
        raise SettingError("people, judged and users: give one of each for each thing")
    if not judged:
        raise SettingError("judged: is empty: give the judge's number of each thing")
    sums = sums_of_users(people, judged, users)
    if rate is None:
        rate = {*judged, *(value for value in people if value is not None)} == {0, 1}
    number, rest = sums[:, 0], sums[:, 3]
    total, left_out = sums.sum(axis=0), sums.sum(axis=0) - sums
    with np.errstate(divide="ignore", invalid="ignore"):  # one user alone may have all
        of_people, there = left_out[:, 1] / left_out[:, 0], left_out[:, 2] / left_out[:, 0]
        elsewhere = left_out[:, 4] / left_out[:, 3]
        everywhere = left_out[:, 5] / (left_out[:, 0] + left_out[:, 3])
    labelled = int((number > 0).sum())
    weights = tuned_weights([sums], users) if weight is None else np.broadcast_to(weight, len(sums))
    own, weighed = UserScore(value=None, reason="not calibrated: people labelled none"), 0.0
    calibrated = own
    if total[0]:
        calibrated = own = mean_interval(total[1] / total[0], of_people, number, step, rate=rate)
        reason = own.reason
        if not total[3]:
            reason = reason or "people labelled all: the mean is of their labels"
        elif not reason and (left_out[:, 3] < TINY).any():
            reason = "only one user has what people did not label: the mean is of people's labels"
        elif not reason and labelled < FEWEST_WEIGHED and not weights.any():
            reason = f"the mean is of people's labels: the judge counts from {FEWEST_WEIGHED} labelled users on"
        if reason:
            calibrated = own.model_copy(update={"reason": reason})
        else:
            weighed = float((weights * number).sum() / total[0])
            corrected = sums[:, 1] - weights * sums[:, 2]
            value = float(corrected.sum() / total[0] + weighed * total[4] / total[3])
            # A few that people did not label may be alike by chance: they vary no less than those that people labelled.
            lacking = max(jackknife_variance(there) * total[0] / total[3] - jackknife_variance(elsewhere), 0.0)
            means = (corrected.sum() - corrected) / left_out[:, 0] + weighed * elsewhere
            calibrated = mean_interval(value, means, number, step, weighed**2 * lacking, rate=rate)
    naive = mean_interval(total[5] / len(judged), everywhere, number + rest, step, rate=rate)
    return Calibrated(
        n=int(total[0]), of=len(judged), users=labelled, naive=naive, people=own, calibrated=calibrated, weight=weighed
    )


def sums_of_users(people: Sequence[float | None], judged: Sequence[float], users: Sequence[str] | None) -> FloatArray:
    """A row of six sums for each user.

    Of the things that people labelled: their number, the sum of people's values, the sum of the judge's. Of the rest:
    their number, the sum of the judge's values. Last, the sum of the judge's values over all.
    """
    names, place = of_users(list(map(str, range(len(judged)))) if users is None else users)
    sums = np.zeros((len(names), 6))
    for user, human_value, value in zip(place, people, judged, strict=True):
        there = human_value is not None
        sums[user] += (there, human_value or 0, value if there else 0, not there, 0 if there else value, value)
    return sums


def tuned_weights(of_values: Sequence[FloatArray], users: Sequence[str] | None) -> FloatArray:
    """For each user a weight, cross-fitted over folds of users.

    It is one for all values of a label, so that their rates add up to what people's do. It is tuned on the users of
    other folds. Tuned on a user's own labels, it would grow with their distance above the judge's, which would make a
    rare value rarer. Those whom people labelled and the others are dealt out apart. All are 0 where people labelled
    fewer than `FEWEST_WEIGHED` users.
    """
    names = of_users(list(map(str, range(len(of_values[0])))) if users is None else users)[0]
    labelled = of_values[0][:, 0] > 0
    if labelled.sum() < FEWEST_WEIGHED:
        return np.zeros(len(names))
    fold = np.zeros(len(names), dtype=int)
    for group in (labelled, ~labelled):
        fold[group] = dealt([names[place] for place in np.flatnonzero(group)])
    weights = [_tuned([sums[fold != number] for sums in of_values]) for number in range(FOLDS)]
    return np.array(weights)[fold]


def _tuned(of_values: Sequence[FloatArray]) -> float:
    """The power-tuned weight of these users.

    It is the slope of people's values on the judge's over users, 0 to 1, times the share that people did not label:
    where the rest is small the judge adds little. The judge's variance is that over all, since that of a small rest is
    too uncertain.
    """
    together = alone = share = 0.0
    for sums in of_values:
        total, left_out = sums.sum(axis=0), sums.sum(axis=0) - sums
        if not total[3] or (sums[:, 0] > 0).sum() < 2:
            return 0.0
        means, judged = (left_out[:, column] / left_out[:, 0] for column in (1, 2))
        of_all = left_out[:, 5] / (left_out[:, 0] + left_out[:, 3])
        share = float(total[3] / (total[0] + total[3]))
        together += float(((means - means.mean()) * (judged - judged.mean())).sum())
        alone += float(np.square(of_all - of_all.mean()).sum() / (1 - share))  # as if of as many as people labelled
    return min(max(together / alone, 0.0), 1.0) * share if alone > TINY else 0.0
