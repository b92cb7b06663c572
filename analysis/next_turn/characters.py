"""chrF: how many runs of characters two texts have in common.

"chrF: character n-gram F-score for automatic MT evaluation" (Popović 2015, section 2) with its recommended settings.
These are runs of 1 to 6 characters without white space, and recall twice as important as precision (beta 2). Precision
and recall are each the mean over the lengths of which both texts have a run, as in sacrebleu. A test compares the two.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

LONGEST = 6
"""Characters of the longest runs."""
BETA = 2
"""How many times as important recall is as precision."""
MOST = 50_000
"""Characters of a text, from its beginning, that are compared: a person writes no longer message by hand."""

Runs: TypeAlias = Sequence[Counter[str]]


@lru_cache(maxsize=20_000)
def runs_of(text: str) -> Runs:
    """The runs of 1, 2, ... 6 characters of a text's beginning with their numbers; white space does not count."""
    packed = "".join(text.split())[:MOST]
    return tuple(
        Counter(packed[start : start + length] for start in range(len(packed) - length + 1))
        for length in range(1, LONGEST + 1)
    )


def chrf(text: str, reference: str) -> float:
    """Similarity of a text to the reference, 0 to 1; 0 if either has no character.

    >>> round(chrf("ab", "abc"), 4)
    0.6364
    """
    precisions, recalls = [], []
    for of_text, of_reference in zip(runs_of(text), runs_of(reference), strict=True):
        all_text, all_reference = of_text.total(), of_reference.total()
        if all_text and all_reference:
            common = (of_text & of_reference).total()
            precisions.append(common / all_text)
            recalls.append(common / all_reference)
    if not any(precisions):
        return 0.0
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    return (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)
