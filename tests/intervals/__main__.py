"""How often intervals hold a known truth, over users and scenarios that are drawn: `python -m tests.intervals GRID`."""

import argparse
from collections.abc import Sequence
from statistics import NormalDist

from tests.intervals.coefficients import agreement, aucs, sections
from tests.intervals.scores import far_above, judges, kappa, shares, skewed
from tests.intervals.success import edges, pass_hat, rules, success, unequal
from tests.intervals.two_sides import differences, events
from tests.intervals.versions import versions

GRIDS = {
    grid.__name__: grid
    for grid in (
        success,
        unequal,
        pass_hat,
        edges,
        rules,
        kappa,
        judges,
        shares,
        skewed,
        far_above,
        agreement,
        aucs,
        sections,
        differences,
        events,
        versions,
    )
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.intervals", description=__doc__)
    parser.add_argument("grids", nargs="*", metavar="GRID", help=f"{', '.join(GRIDS)}; default: all")
    parser.add_argument("--draws", type=int, default=4000, help="draws of a cell (4000); some grids take a part of it")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.grids if name not in GRIDS]:
        parser.error(f"no grid {unknown[0]!r}: choose from {', '.join(GRIDS)}")
    error = NormalDist().stdev * (0.95 * 0.05 / options.draws) ** 0.5
    print(f"{options.draws} draws of a cell; standard error of a coverage of .95: {error:.4f}")
    for name in options.grids or GRIDS:
        print(f"\n{name}: {GRIDS[name].__doc__}\n")
        print("\n".join(GRIDS[name](options.draws)), flush=True)


if __name__ == "__main__":
    main()
