"""A mean that a judge gave everywhere, put right by what people gave somewhere."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import t as students_t

from ...data.records import Record
from ...errors import SettingError
from .intervals import FEWEST_USERS, TINY, Estimate, Floats, effective_users, jackknife_variance


class Calibrated(Record):
    """A mean by a judge alone, by people alone, and by both."""

    n: int
    """Things that people labelled and the judge, too."""
    of: int
    """Things that the judge labelled."""
    users: int
    """Users of those that people labelled."""
    naive: Estimate
    """The judge's mean over all."""
    people: Estimate
    """People's mean over what they labelled."""
    calibrated: Estimate
    weight: float
    """How much the judge counts, 0 to 1: the power-tuned lambda."""


def calibrated_mean(
    people: Sequence[float | None],
    judged: Sequence[float],
    *,
    users: Sequence[str] | None = None,
    weight: float | None = None,
    step: float = 1.0,
) -> Calibrated:
    """The prediction-powered mean: people's mean, plus `weight` times what the judge's mean is greater where people did
    not label than where they did.

    `judged` has the judge's number of each thing, `people` theirs, None where they gave none; `users` whose each thing
    is; `step` how far apart neighbouring values are. Without `weight` it is the one that makes the variance smallest if the
    judge's numbers vary where people did not label as where they did.
    Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered Inference" (2023), section 6. The variance is
    that over users, each left out in turn, with half of what one more label a step away would add, and no less than the
    whole: a few labels without an error are no proof that there is none. It holds where those whom people labelled are
    like the others. SettingError for numbers that are not of the same things, or none.
    """
    if len(people) != len(judged) or (users is not None and len(users) != len(judged)):
        raise SettingError("people, judged and users: give one of each for each thing")
    if not judged:
        raise SettingError("judged: is empty: give the judge's number of each thing")
    sums = sums_of_users(people, judged, users)
    number, rest = sums[:, 0], sums[:, 3]
    total, left_out = sums.sum(axis=0), sums.sum(axis=0) - sums
    labelled = int((number > 0).sum())
    naive = _mean(left_out[:, 5], left_out[:, 0] + left_out[:, 3], total[5], total[0] + total[3], number + rest, step)
    if not total[0]:
        none = Estimate(value=None, reason="not calibrated: people labelled none")
        return Calibrated(n=0, of=len(judged), users=0, naive=naive, people=none, calibrated=none, weight=0.0)
    own = _mean(left_out[:, 1], left_out[:, 0], total[1], total[0], number, step)
    if not total[3] or labelled < FEWEST_USERS or (left_out[:, 3] < TINY).any():
        reason = own.reason if total[3] else own.reason or "people labelled all: theirs is the mean"
        if total[3] and not own.reason:
            reason = "one user alone has what people did not label: theirs is the mean"
        alone = own.model_copy(update={"reason": reason})
        return Calibrated(n=int(total[0]), of=len(judged), users=labelled, naive=naive, people=own, calibrated=alone,
                          weight=0.0)  # fmt: skip
    means, there = left_out[:, 1] / left_out[:, 0], left_out[:, 2] / left_out[:, 0]
    elsewhere = left_out[:, 4] / left_out[:, 3]
    if weight is None:
        weight = tuned_weight([sums])
    value = total[1] / total[0] + weight * (total[4] / total[3] - total[2] / total[0])
    # A few that people did not label may be alike by chance: they vary no less than those that people labelled.
    lacking = max(jackknife_variance(there) * total[0] / total[3] - jackknife_variance(elsewhere), 0.0)
    variance = jackknife_variance(means + weight * (elsewhere - there)) + weight**2 * lacking
    calibrated = _interval(value, variance, number, step)
    return Calibrated(n=int(total[0]), of=len(judged), users=labelled, naive=naive, people=own, calibrated=calibrated,
                      weight=weight)  # fmt: skip


def sums_of_users(people: Sequence[float | None], judged: Sequence[float], users: Sequence[str] | None) -> Floats:
    """A row for each user: of what people labelled the number, theirs, the judge's; of the rest number and the judge's;
    the judge's of all."""
    names = list(map(str, range(len(judged)))) if users is None else list(users)
    place = {user: number for number, user in enumerate(dict.fromkeys(names))}
    sums = np.zeros((len(place), 6))
    for user, told, value in zip(names, people, judged, strict=True):
        there = told is not None
        sums[place[user]] += (there, told or 0, value if there else 0, not there, 0 if there else value, value)
    return sums


def tuned_weight(of_values: Sequence[Floats]) -> float:
    """One weight for all values of a label, so that their rates add up to what people's do.

    The slope of people's on the judge's over users, 0 to 1, times the share that people did not label: where the rest is
    small the judge has little to tell. The judge's variance is that over all, since that of a small rest is known too badly.
    """
    together = alone = share = 0.0
    for sums in of_values:
        total, left_out = sums.sum(axis=0), sums.sum(axis=0) - sums
        if not total[3] or (sums[:, 0] > 0).sum() < FEWEST_USERS:
            return 0.0
        means, judged = (left_out[:, column] / left_out[:, 0] for column in (1, 2))
        of_all = left_out[:, 5] / (left_out[:, 0] + left_out[:, 3])
        share = float(total[3] / (total[0] + total[3]))
        together += float(((means - means.mean()) * (judged - judged.mean())).sum())
        alone += float(np.square(of_all - of_all.mean()).sum() / (1 - share))  # as if of as many as people labelled
    return min(max(together / alone, 0.0), 1.0) * share if alone > TINY else 0.0


def _mean(sums: Floats, numbers: Floats, total: float, number: float, labels: Floats, step: float) -> Estimate:
    """A mean with its interval, from the sums and numbers without each user."""
    value, users = total / max(number, 1), int((labels > 0).sum())
    if users < FEWEST_USERS:
        return Estimate(value=value, reason=f"an interval needs {FEWEST_USERS} users")
    return _interval(value, jackknife_variance(sums / numbers), labels, step)


def _interval(value: float, variance: float, of_users: Floats, step: float) -> Estimate:
    """The interval of a mean, by how many labels each user has."""
    of_users = of_users[of_users > 0]
    users = effective_users(of_users)
    more = step**2 / (users * float(of_users.sum()))  # the variance that one more label a step away would add
    half = float(students_t.ppf(0.975, max(users - 1, 1)) * np.sqrt(max(variance + more / 2, more)))
    return Estimate(value=value, low=value - half, high=value + half)
