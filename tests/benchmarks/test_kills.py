"""A sample of the kill matrix: whatever signal ends a run, the resumed one has the same data."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.benchmarks import kills


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["test, agent and world", "annotate", "judges", "profiles"])
def test_a_run_that_each_signal_ended_has_the_data_of_one_that_none_did(
    forks: Any, faulty_process: Any, tmp_path: Path, name: str
) -> None:
    at_once = min(8, *kills.KINDS[name].at_once[-2:])
    cell = kills.measured(name, at_once, 1, forks, faulty_process, tmp_path, Random(name))
    assert cell.kills == {number.name: 1 for number in kills.SIGNALS}
    assert cell.same == cell.runs
    assert not any(cell.codes)  # 137, 143 and 130
    # Of a conversation with a world, which begins anew, its agent is asked again: up to three turns.
    assert cell.more <= 3 * at_once * (3 if name in ("annotate", "test, agent and world") else 1)


def test_a_request_is_late_if_its_reply_was_sent_a_while_before_its_asker_was_killed(tmp_path: Path) -> None:
    def run(name: str, *events: tuple[str, str, float], moments: tuple[float, ...] = ()) -> kills.Run:
        lines = [f'{{"request": "{request}", "{what}": {when}}}\n' for request, what, when in events]
        (tmp_path / f"{name}.times").write_text("".join(lines))
        killed = [(moment, "SIGKILL") for moment in moments]
        forks: Any = None
        return kills.Run(forks, None, kills.KINDS["simulate"], 1, tmp_path / name, killed)

    whole = run("whole", ("a", "asked", 1), ("a", "sent", 2), ("b", "asked", 3), ("b", "sent", 4))
    early = (("a", "asked", 1.0), ("a", "sent", 2.0), ("a", "asked", 5.0))
    assert run("none", ("a", "asked", 1), ("a", "sent", 2), ("b", "asked", 9), moments=(3,)).again(whole) == (0, 0)
    assert run("late", *early, moments=(3.0,)).again(whole) == (1, 1)
    assert run("soon", *early, moments=(2.1, 4.0)).again(whole) == (1, 0)
    to_the_dead = (("a", "asked", 1.0), ("a", "sent", 3.1), ("a", "asked", 9.0))
    assert run("dead", *to_the_dead, moments=(3.0, 8.0)).again(whole) == (1, 0)
    assert run("never", ("a", "asked", 1), ("a", "asked", 5), moments=(3,)).again(whole) == (1, 0)
