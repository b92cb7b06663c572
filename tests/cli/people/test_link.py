"""`duologue validity --link`: what it prints, writes, continues and refuses."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("scipy")
pytest.importorskip("sklearn")

from duologue import load
from duologue.studies.link.study import link_plan

Command = Callable[..., tuple[int, str, str]]

LINKED = ("--link", "--user", "offline", "--user", "offline+terse", "--user", "offline+vague,wordy", "--limit", 1)


@pytest.mark.heavy
def test_the_link_is_printed_by_user_written_and_continued(duologue: Command, tmp_path: Path) -> None:
    code, out, err = duologue("validity", *LINKED, "--out", tmp_path / "out", "--json")
    assert code == 0, err
    report = json.loads(out)
    assert [(row["user"], row["domain"], row["conversations"]) for row in report["users"]] == [
        (user, domain, 26)
        for domain in ("airline", "town")
        for user in ("offline", "offline+terse", "offline+vague,wordy")
    ]
    assert report["rows"] == []
    assert "Realism is not measured" in " ".join(report["notes"])
    written = (tmp_path / "out" / "link.json").read_text()
    shutil.rmtree(sorted((tmp_path / "out").rglob("manifest.json"))[0].parent)
    code, out, err = duologue("validity", *LINKED, "--out", tmp_path / "out", "--resume")
    assert code == 0, err
    assert (tmp_path / "out" / "link.json").read_text() == written
    assert "Assistants of known order, by user" in out


def test_the_link_takes_ones_own_assistants_the_best_first_and_ones_own_scenarios(
    duologue: Command, tmp_path: Path
) -> None:
    lines = [
        {"goal": f"change the flight booking AB10{n}1", "success": {"text_contains": f"AB10{n}1"}} for n in range(4)
    ]
    scenarios = tmp_path / "mine.jsonl"
    scenarios.write_text("".join(json.dumps(line) + "\n" for line in lines))
    own = ("--assistant", "good", "--assistant", "bad=duologue.nodes.seeded_faults:wrong")
    code, out, err = duologue(
        "validity", "--link", "--user", "offline", *own, "--scenarios", scenarios, "--out", tmp_path / "o", "--json"
    )
    assert code == 0, err
    (row,) = json.loads(out)["users"]
    assert (row["domain"], row["conversations"], row["order_kept"]) == ("mine", 8, True)


def test_a_style_filter_needs_people_and_is_met_in_their_tasks_only(
    duologue: Command, people: Path, tmp_path: Path
) -> None:
    code, _, err = duologue("validity", "--link", "--user", "offline+terse,like")
    assert code == 2
    assert "--user offline+terse,like: give SRC" in err
    plan = link_plan(source=people, people=load(people))
    assert [user.name for user in plan.users if user.like][:2] == ["offline+like", "offline+vague,like"]
    assert {" ".join(user.kind.shares) for user in plan.users if user.like} == {"", "vague", "wordy", "vague wordy"}
    domains = {domain.name: plan.users_in(domain) for domain in plan.domains}
    assert [name for name, users in domains.items() if any(user.like for user in users)] == ["people's tasks"]


@pytest.mark.parametrize("more", [("--no-meet",), ("--rater", "offline")])
def test_the_link_excludes_ratings_of_stored_conversations(duologue: Command, people: Path, more: tuple[str]) -> None:
    code, _, err = duologue("validity", people, "--link", *more)
    assert code == 2
    assert "--link excludes --rater and --no-meet" in err


@pytest.mark.heavy
def test_the_link_correlates_realism_with_usefulness_over_users(
    duologue: Command, people: Path, tmp_path: Path
) -> None:
    users = [
        spec for name in ("", "+terse", "+wordy", "+incomplete", "+doubts") for spec in ("--user", f"offline{name}")
    ]
    retrieval = ("--user", f"people:{people}?part=tune", "--user", "offline+terse,like")
    code, out, err = duologue(
        "validity", people, "--link", *users, *retrieval, "--limit", 2, "--out", tmp_path / "out", "--json"
    )
    assert code == 0, err
    report = json.loads(out)
    assert {row["domain"] for row in report["users"]} == {"airline", "town", "people's tasks"}
    for beginning in ("people:", "offline+terse,like"):
        own = [row for row in report["users"] if row["user"].startswith(beginning)]
        assert [row["domain"] for row in own] == ["people's tasks"]
        assert len([one for one in report["realism"] if one["user"] == own[0]["user"]]) > 20
    measures = {row["measure"] for row in report["rows"]}
    assert {"AUC of the measures", "median distance", "message length", "next turn: chrf"} <= measures
    assert (tmp_path / "out" / "link.svg").read_text().startswith("<svg")
