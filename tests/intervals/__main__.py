"""How often intervals of 95 % hold a known truth, over users and scenarios that are drawn: `python -m tests.intervals`."""

import argparse
from collections.abc import Sequence

import numpy as np

from tests.intervals.grid import OFTEN, agreements, aucs, rules, successes
from tests.intervals.versions import versions

GRIDS = {"success": (successes, 1), "agreement": (agreements, 8), "auc": (aucs, 8)}
"""By name the cells, and by how much fewer draws each has."""
LINES = {"rules": rules, "versions": versions}
"""By name what prints lines of its own, with half the draws."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.intervals", description=__doc__)
    parser.add_argument("grids", nargs="*", help=f"of {', '.join([*GRIDS, *LINES])}; default: all")
    parser.add_argument("--draws", type=int, default=4000, help="draws of a cell (4000); some grids take a part of it")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.grids if name not in (*GRIDS, *LINES)]:
        parser.error(f"no grid {unknown[0]!r}: choose from {', '.join([*GRIDS, *LINES])}")
    for name in options.grids or [*GRIDS, *LINES]:
        if name in LINES:
            print(f"{name}: {LINES[name].__doc__}", *LINES[name](options.draws // 2), sep="\n", flush=True)
            continue
        grid, part = GRIDS[name]
        cells = [one for one in grid(max(options.draws // part, 1)) if one.with_interval > OFTEN]
        for of in dict.fromkeys(one.of for one in cells):
            own = sorted((one for one in cells if one.of == of), key=lambda one: one.coverage)
            coverage = np.array([one.coverage for one in own])
            print(
                f"{of}: {len(own)} cells, coverage {coverage.min():.3f} to {coverage.max():.3f}; "
                f"{(coverage >= 0.92).mean():.3f} of them at least .92, {(coverage > 0.99).mean():.3f} above .99; "
                f"mean width {np.mean([one.width for one in own]):.3f}",
                flush=True,
            )
            for one in own[:3]:
                print(f"  {one.coverage:.3f}  {one.where}", flush=True)


if __name__ == "__main__":
    main()
