"""`duologue papers recllmsim profiles`, and what it tells."""

import json
import os
import signal
import time

import pytest

from duologue.data.recllmsim import read_pool, shipped_profiles


def test_it_prints_the_coverage_and_where_the_files_are(duologue, tmp_path):
    code, out, err = duologue("papers", "recllmsim", "profiles", 5, "--out", tmp_path / "a.txt")
    assert code == 0, err
    assert "profiles: 5\nnew: 5" in out
    assert all(word in out for word in ("ages", "25-34", "genders", "occupations", "health and care", "traits", "calm"))
    assert len(read_pool(tmp_path / "a.txt")) == 5
    again = duologue("papers", "recllmsim", "profiles", 7, "--out", tmp_path / "a.txt", "--json")
    document = json.loads(again[1])
    assert (document["profiles"], document["new"], document["stop"]) == (7, 2, "done")
    assert sum(document["coverage"]["ages"].values()) == 7


def test_without_a_file_it_has_a_place_of_its_own_for_each_language(duologue):
    assert duologue("papers", "recllmsim", "profiles", 2, "--language", "zh")[0] == 0
    assert read_pool("out/profiles-zh.txt").language == "zh"


def test_a_pool_is_extended(duologue, tmp_path):
    pool = tmp_path / "pool.txt"
    pool.write_text("\n\n".join(shipped_profiles().texts), encoding="utf-8")
    code, out, _ = duologue(
        "papers", "recllmsim", "profiles", 6, "--profiles", pool, "--out", tmp_path / "n.txt", "--json"
    )
    document = json.loads(out)
    assert code == 0
    assert document["coverage"]["profiles"] == len(shipped_profiles()) + 6
    assert document["profiles"] == 6


def test_a_model_that_never_manages_ends_with_a_line_and_exit_code_1(duologue, tmp_path):
    code, out, err = duologue(
        "papers", "recllmsim", "profiles", 3, "--model", "offline?incomplete=1", "--out", tmp_path / "a.txt"
    )
    assert code == 1
    assert "3 of 3 profiles are missing: drafts were rejected as incomplete" in err
    assert "profiles: 0" in out


def test_bad_input_is_one_line(duologue, tmp_path):
    (tmp_path / "bad.txt").write_text("1. Gender: Male")
    for arguments, message in (
        ((0,), "N"),
        ((2, "--profiles", tmp_path / "bad.txt"), "'Age' is missing"),
        ((2, "--model", "nobody"), "nobody"),
        ((2, "--out", tmp_path), "is a folder"),
        ((2, "--out", "/dev/zero"), "/dev/zero: is a device and no file"),
    ):
        code, _, err = duologue("papers", "recllmsim", "profiles", *arguments)
        assert code == 2
        assert message in err
        assert len(err.strip().splitlines()) == 1


@pytest.mark.heavy
def test_ctrl_c_ends_it_after_the_draft_under_way_and_the_same_command_goes_on(forks, tmp_path):
    whole = ("papers", "recllmsim", "profiles", "60", "--model", "offline?misbehave=0.3", "--out", "out.txt")
    fork = forks(whole, tmp_path)
    while not fork.over and not ((tmp_path / "out.txt").exists() and (tmp_path / "out.txt").stat().st_size):
        time.sleep(0.01)
    os.kill(fork.pid, signal.SIGINT)
    assert fork.wait() == 130
    assert (
        fork.stderr.splitlines()[-1]
        == "interrupted: the finished profiles are in out.txt; continue with the same command"
    )
    assert forks.run(*whole, cwd=tmp_path).returncode == 0


def test_a_bound_ends_it_with_a_line_that_names_it_and_the_same_command_goes_on(duologue, tmp_path):
    command = ("papers", "recllmsim", "profiles", 5, "--out", tmp_path / "a.txt", "--json")
    code, out, err = duologue(*command, "--max-tokens", 1500)
    document = json.loads(out)
    assert code == 1
    assert 0 < document["profiles"] < 5
    assert err.endswith("continue with the same command\n")
    code, out, _ = duologue(*command)
    assert (code, json.loads(out)["profiles"]) == (0, 5)
