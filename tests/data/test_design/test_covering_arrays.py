"""Covering arrays cover each pair of levels that can be together, from a seed, and name those that cannot."""

import os
import subprocess
import sys
from itertools import combinations, product

import pytest

from duologue.data.behaviours import BEHAVIOURS
from duologue.data.test_design import behaviours
from duologue.data.test_design.covering_arrays import Design, Exclusion, covering_array, pairs_of
from duologue.errors import DataError

FORBIDDEN = Exclusion(
    ("tool", "kind"), lambda row: "rule 2 forbids it" if row == row | {"tool": "refund", "kind": "valid"} else ""
)


def design(*exclusions, **factors):
    return Design({name: tuple(levels) for name, levels in factors.items()}, exclusions)


def every_pair(of):
    """The pairs that some whole row has, by looking at all rows."""
    rows = (dict(zip(of.factors, levels, strict=True)) for levels in product(*of.factors.values()))
    return {pair for row in rows if not of.reason(row) for pair in combinations(row.items(), 2)}


DESIGNS = (
    design(tool=["move", "refund"], kind=["valid", "missing"], mood=["plain", "terse", "wordy"]),
    design(FORBIDDEN, tool=["move", "refund"], kind=["valid", "missing"], mood=["plain", "terse", "wordy"]),
    design(
        FORBIDDEN,
        Exclusion(
            ("kind", "rule"), lambda row: "needs a rule" if (row["kind"], row["rule"]) == ("missing", "none") else ""
        ),
        tool=["move", "refund", "look"],
        kind=["valid", "missing", "odd"],
        rule=["none", "rule 1", "rule 2"],
        **behaviours.factors(behaviours.NAMES),
    ),
)


@pytest.mark.parametrize("of", DESIGNS)
@pytest.mark.parametrize("seed", range(4))
def test_each_pair_that_can_be_is_covered_and_no_row_has_one_that_cannot(of, seed):
    rows = covering_array(of, seed=seed)
    assert set(of.pairs) == every_pair(of)
    assert {pair for row in rows for pair in pairs_of(row, of.factors)} == of.pairs
    assert not any(map(of.reason, rows))
    assert all(row.keys() == of.factors.keys() for row in rows)


def test_rows_are_equal_for_equal_seeds_and_those_that_cover_most_come_first():
    of = DESIGNS[2]
    assert covering_array(of, seed=3) == covering_array(of, seed=3) != covering_array(of, seed=4)
    rows, covered, gains = covering_array(of), set(), []
    for row in rows:
        gains.append(len(pairs_of(row, of.factors) - covered))
        covered |= pairs_of(row, of.factors)
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] > 0


def test_a_pair_that_cannot_be_is_named_with_its_reason():
    (pair,) = DESIGNS[1].infeasible
    assert (pair.first, pair.second, pair.because) == ("tool refund", "kind valid", "rule 2 forbids it")
    assert DESIGNS[0].infeasible == ()


def test_more_rows_than_needed_are_further_combinations_and_fewer_are_the_first():
    of = DESIGNS[2]
    rows = covering_array(of)
    more = covering_array(of, count=len(rows) + 20)
    assert more[: len(rows)] == rows
    assert len({tuple(row.items()) for row in more}) == len(rows) + 20
    assert covering_array(of, count=5) == rows[:5]


def test_present_rows_leave_only_their_holes():
    of = DESIGNS[2]
    rows = covering_array(of)
    assert covering_array(of, present=rows) == []
    left = covering_array(of, present=rows[4:])
    covered = {pair for row in (*left, *rows[4:]) for pair in pairs_of(row, of.factors)}
    assert covered == of.pairs
    assert len(left) < len(rows)


def test_one_factor_has_a_row_for_each_level():
    assert covering_array(design(goal=["eat", "sleep"])) == [{"goal": "eat"}, {"goal": "sleep"}]


def test_a_design_that_is_too_large_is_refused_before_anything_is_computed():
    levels = [str(number) for number in range(300)]
    with pytest.raises(DataError, match=r"90,000 pairs of levels are to be covered, the bound is 50,000"):
        design(one=levels, other=levels)
    never = Exclusion(tuple("abcde"), lambda _: "")
    with pytest.raises(DataError, match=r"give fewer tools or rules"):
        design(never, **dict.fromkeys("abcde", levels[:15]))


def test_a_user_has_at_most_one_behaviour_of_a_group():
    assert behaviours.factors(("terse", "pushes")) == {"writing": ("plain", "terse"), "demand": ("plain", "pushes")}
    assert behaviours.factors(()) == {}
    assert sorted(behaviours.NAMES) == sorted(BEHAVIOURS)


def test_a_pair_has_as_many_rows_as_it_needs_also_with_those_that_exist():
    of, pair = DESIGNS[2], (("tool", "look"), ("kind", "odd"))
    rows = covering_array(of, least={pair: 9, (("tool", "refund"), ("kind", "valid")): 5})
    assert sum(row == row | dict(pair) for row in rows) == 9
    assert not any(map(of.reason, rows))
    assert covering_array(of, least={pair: 9}, present=rows) == []
    assert len(covering_array(of, least={pair: 10}, present=rows)) == 1


@pytest.mark.heavy
def test_another_process_makes_the_same_rows():
    text = (
        "from duologue.data.test_design import behaviours\n"
        "from duologue.data.test_design.covering_arrays import Design, covering_array\n"
        "own = {'tool': ('move', 'refund', 'look'), 'rule': ('none', 'rule 1', 'rule 2')}\n"
        "print(covering_array(Design(own | behaviours.factors(behaviours.NAMES), ()), seed=3, count=60))"
    )
    made = {
        subprocess.run(
            [sys.executable, "-c", text], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in "123"
    }
    assert len(made) == 1
