"""Two versions of an agent in pairs, drawn again and again: false alarms, power, and whether the intervals hold."""

from collections.abc import Iterator, Sequence
from random import Random

from duologue.analysis.estimates import paired
from duologue.analysis.testing.pairs import on_these_scenarios

Chances = Sequence[tuple[float, float]]
"""Of each scenario the chance of success of the old version and of the new."""
SAME = (0.3, 0.5, 0.7, 0.95)
BROKEN: Chances = ((1.0, 3 / 8), (1.0, 5 / 8), (1.0, 4 / 8), *[(1.0, 1.0)] * 9)
"""Three of twelve scenarios fell from 8 of 8 to 3, 5 and 4."""


def drawn(chances: Chances, repeats: int, draws: int, seed: int = 1) -> Iterator[list[list[tuple[bool, bool]]]]:
    """Pairs by scenario, so many times."""
    random = Random(seed)
    for _ in range(draws):
        yield [[(random.random() < old, random.random() < new) for _ in range(repeats)] for old, new in chances]


def on_these(chances: Chances, repeats: int, draws: int) -> tuple[float, float]:
    """How often the versions are called different on these scenarios, and how often the interval holds the truth."""
    truth = sum(new - old for old, new in chances) / len(chances)
    different = holds = 0
    for scenarios in drawn(chances, repeats, draws):
        found = on_these_scenarios([pair for pairs in scenarios for pair in pairs])
        different += found.shown != "not shown"
        holds += found.low is not None and found.high is not None and found.low <= truth <= found.high
    return different / draws, holds / draws


def on_like(scenarios: int, repeats: int, draws: int) -> float:
    """How often the interval over scenarios holds 0, where the chances of both versions are drawn alike."""
    random, holds = Random(2), 0
    for _ in range(draws):
        pairs = []
        for _ in range(scenarios):
            old, new = random.random(), random.random()
            pairs.append([(float(random.random() < old), float(random.random() < new)) for _ in range(repeats)])
        found = paired(pairs, (0.0, 1.0))
        holds += found.low is not None and found.high is not None and found.low <= 0 <= found.high
    return holds / draws


def versions(draws: int) -> Iterator[str]:
    """Two versions in pairs: false alarms on the same chances, the power for three broken scenarios, coverage."""
    yield "scenarios x repeats, equal chances: called different, interval on these holds, over such scenarios holds"
    for scenarios in (6, 12, 30):
        for repeats in (1, 2, 4, 8):
            rows = [on_these([(chance, chance)] * scenarios, repeats, draws) for chance in SAME]
            alarms, coverage = max(row[0] for row in rows), min(row[1] for row in rows)
            yield f"{scenarios:3} x {repeats}: {alarms:.3f} {coverage:.3f} {on_like(scenarios, repeats, draws):.3f}"
    yield f"12 x 8, three broken: called worse {on_these(BROKEN, 8, draws)[0]:.3f}"
