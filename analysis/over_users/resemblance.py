"""How alike what belongs to one user is: the intraclass correlation, by one-way analysis of variance.

Shrout and Fleiss, "Intraclass Correlations" (1979), ICC(1); users with unequal numbers of items as in Donner (1986).
"""

from collections.abc import Callable
from operator import truediv
from typing import Any, NamedTuple


class MeanSquares(NamedTuple):
    """An analysis of variance; each a number, or an array with one for each draw of users."""

    between: Any
    """Mean square between users."""
    within: Any
    size: Any
    """Mean number of a user's items, corrected for unequal numbers."""

    def correlation(self, divided: Callable[[Any, Any], Any] = truediv) -> Any:
        """The intraclass correlation: the share of the variance that lies between users."""
        difference, rest = self.between - self.within, (self.size - 1) * self.within
        return divided(difference, self.between + rest)


def mean_squares(
    users: Any, items: Any, squared: Any, between: Any, within: Any, divided: Callable[[Any, Any], Any] = truediv
) -> MeanSquares:
    """The mean squares from sums over users.

    `squared`: the sum of the squares of users' numbers of items; `between`, `within`: sums of squares. `divided`: how
    arrays are divided where a draw of users has no divisor.
    """
    return MeanSquares(
        divided(between, users - 1), divided(within, items - users), divided(items - divided(squared, items), users - 1)
    )
