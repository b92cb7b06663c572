"""The noise of one simulator's repeats, beside the gain of a search.

A search takes the best of many trials, so it finds a gain where the settings change nothing. Repeats of the settings as
they were, with other seeds, tell how large such a gain may be.
"""

from math import sqrt
from statistics import fmean, stdev

from ..data.tuning import TuningResult
from .over_users.student_quantile import students


def noise_line(tuned: TuningResult) -> str | None:
    """The gain of a search in words, with its 95 % interval over repeats of one simulator.

    None without two runs of the settings as they were. The interval is that of the best of as many further runs as
    there are trials, beside the mean of the repeats. It is by Student's t and Bonferroni. It is not over people.
    """
    if tuned.start is None or tuned.chosen is None or not tuned.repeats:
        return None
    values = [tuned.start.value, *tuned.repeats]
    gain, spread = fmean(values) - tuned.chosen.value, stdev(values)
    others = max(1, sum(trial.judgement is not None for trial in tuned.trials) - 1)
    half = students(len(values) - 1, 1 - 0.025 / others) * spread * sqrt(1 + 1 / len(values))
    verdict = "within the noise of repeats, so it is not a gain" if gain <= half else "beyond the noise of repeats"
    return (
        f"noise of repeats: {len(values)} runs of the settings as they were have a mean value of {fmean(values):.3f}, standard "
        f"deviation {spread:.3f}. The gain of {gain:.3f} ({gain - half:.3f} to {gain + half:.3f}, 95 % over repeats of one "
        f"simulator for the best of {others}, not over people) is {verdict}."
    )
