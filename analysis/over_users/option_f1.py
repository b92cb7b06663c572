"""F1 of several options, and what it does not know of rare ones."""

import numpy as np

from .estimate import FloatArray, divided


def f1(both: FloatArray, predicted: FloatArray, true: FloatArray) -> FloatArray:
    """F1 by the counts of options that are both, predicted, and true; 0 where one is neither."""
    used = predicted + true
    return np.divide(2 * both, used, out=np.zeros_like(used), where=used > 0)


def mean_f1(both: FloatArray, predicted: FloatArray, true: FloatArray, *, weighted: bool = False) -> FloatArray:
    """The mean over options, the last axis; `weighted` by how often each is true, NaN where none is."""
    of_option = f1(both, predicted, true)
    mean: FloatArray = of_option.mean(axis=-1)
    return divided((of_option * true).sum(axis=-1), true.sum(axis=-1)) if weighted else mean


def one_more_f1(both: FloatArray, predicted: FloatArray, true: FloatArray, *, weighted: bool = False) -> float:
    """The variance that comes from how few users err, or are right, of an option.

    The parameters are user x option. It is the square of the change by one more user, over the number of users plus
    one. It is the greatest of the options, as of a kappa (`jackknife.one_more`). That user has as many of the option as
    those who have it. Without it intervals of mean F1 cover .45 to .92 where an option is rare.
    """
    if not true.any():
        return 0.0
    size = np.maximum((true**2).sum(axis=0) / np.maximum(true.sum(axis=0), 1), 1)
    both, predicted, true = (counts.sum(axis=0) for counts in (both, predicted, true))
    value = mean_f1(both, predicted, true, weighted=weighted)
    one, none = np.diag(size), np.zeros((len(size), len(size)))
    wrong, rightly = 1 + (predicted + true - 2 * both) / size, 1 + both / size
    greatest = 0.0
    for right, more, had, number in ((none, one, none, wrong), (none, none, one, wrong), (one, one, one, rightly)):
        changed = mean_f1(both + right, predicted + more, true + had, weighted=weighted)
        greatest = max(greatest, float((np.square(changed - value) / number).max()))
    return greatest


def why_none(both: FloatArray, predicted: FloatArray, true: FloatArray) -> str:
    """Why mean F1 has no interval, if it has none.

    The parameters are user x option. It would cover .45 to .86 in draws in which an option is true for no user. It
    would cover .23 in those in which one is predicted, but never rightly.
    """
    both, predicted, true = (counts.sum(axis=0) for counts in (both, predicted, true))
    if (true == 0).any():
        return "one of the values is true for no user"
    return "one of the values is predicted, but never rightly" if ((both == 0) & (predicted > 0)).any() else ""
