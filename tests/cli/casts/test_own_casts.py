"""`duologue simulate` with casts, speakers and scenarios of one's own, named by import path."""

import json
from pathlib import Path

import pytest

from duologue.data import load


def test_a_function_and_a_graph_of_ones_own_speak(duologue) -> None:
    code, out, err = duologue(
        "simulate", "simquac", "--user", "own_cast:student", "--assistant", "own_cast:agent", "--limit", "1",
        "--max-turns", "1", "--out", "run", "--json"
    )  # fmt: skip
    assert code == 0, err
    (conversation,) = load("run")
    assert conversation.messages[0].text == "Who lived there?"
    assert "keeper agent" in json.dumps(json.loads(Path("run/manifest.json").read_text())["settings"]["nodes"])
    assert (
        json.loads(Path("run/manifest.json").read_text())["cast"]
        == {
            "cast": "simquac",
            "settings": {"user": "own_cast:student", "assistant": "own_cast:agent"},
            "replace": {},
        }
        or json.loads(out)["finished"] == 1
    )


def test_a_cast_of_ones_own_is_a_command_with_its_parameters_as_options(duologue) -> None:
    code, out, _ = duologue("simulate", "own_cast:cast", "--help")
    assert code == 0
    for option in ("--words", "--loud", "--colours", "--scenarios", "--repeats", "--max-turns"):
        assert option in out
    assert "--seen" not in out  # no command line can give a dictionary
    code, out, err = duologue(
        "simulate", "own_cast:cast", "--scenarios", "scenarios.jsonl", "--words", "9", "--repeats", "2",
        "--max-turns", "1", "--out", "run", "--json"
    )  # fmt: skip
    assert (code, json.loads(out)["finished"]) == (0, 4), err
    assert json.loads(Path("run/manifest.json").read_text())["cast"] == {
        "cast": "own_cast:cast",
        "settings": {"words": 9},
        "replace": {},
    }
    assert [c.scenario["title"] for c in load("run")] == ["a", "a", "b", "b"]


def test_the_help_shows_type_bounds_and_description_of_a_setting(duologue) -> None:
    words = " ".join(duologue("simulate", "own_cast:bounded", "--help")[1].replace("│", " ").split())
    for part in ("Set the most words.", "1<=x<=50", "Set the share. (x>0, x<1)", "red|blue"):
        assert part in words
    assert " N " in words.partition("--bare")[2].split("[default: 3]")[0]  # a number, as everywhere
    scenarios = ("--scenarios", "scenarios.jsonl", "--max-turns", "1", "--out", "run", "--bare", "5")
    assert duologue("simulate", "own_cast:bounded", *scenarios)[0] == 0


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--most-words", "0", "Input should be greater than or equal to 1"),
        ("--most-words", "51", "Input should be less than or equal to 50"),
        ("--share", "0", "Input should be greater than 0"),
        ("--share", "1.5", "Input should be less than 1"),
        ("--bare", "many", "Input should be a valid integer"),
    ],
)
def test_a_value_beyond_any_bound_is_refused_with_the_name_of_its_option(duologue, option, value, reason) -> None:
    code, _, err = duologue("simulate", "own_cast:bounded", option, value, "--scenarios", "scenarios.jsonl")
    assert (code, err.count("\n")) == (2, 1)
    assert f"Invalid value for '{option}': {reason}" in err


def test_an_unknown_option_is_answered_with_the_casts_own(duologue) -> None:
    err = duologue("simulate", "own_cast:bounded", "--short", "80")[2]
    for option in ("--most-words", "--share", "--colour", "--bare"):
        assert option in err
    assert "--question-words" not in duologue("simulate", "simquac", "--short", "80")[2]


def test_limits_without_an_option_are_those_of_the_cast(duologue) -> None:
    begun = ("simulate", "own_cast:limited", "--scenarios", "scenarios.jsonl")
    of_cast = {"max_turns": 2, "question_attempts": 2, "answer_attempts": 1, "max_tokens": 50_000, "seed": 0}
    for folder, options, changed in (
        ("a", (), {}),
        ("b", ("--answer-attempts", "3", "--seed", "9"), {"answer_attempts": 3, "seed": 9}),
    ):
        code, _, err = duologue(*begun, *options, "--out", folder)
        assert code == 0, err
        assert json.loads(Path(folder, "manifest.json").read_text())["settings"]["limits"] == of_cast | changed


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("value", "own_cast:failing: ValueError: no database at https://[key]@host (own_cast.py, line "),
        ("exit", "own_cast:failing: SystemExit: [key] (own_cast.py, line "),
    ],
)
def test_a_cast_function_that_fails_is_the_users_to_mend(duologue, kind, line) -> None:
    code, _, err = duologue(
        "test", "--cast", "own_cast:failing", "--set", f"kind={kind}", "--scenarios", "scenarios.jsonl"
    )
    assert code == 2
    assert line in err
    assert "report" not in err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("own_cast:nothing",), "has no attribute 'nothing'"),
        (("nowhere:cast",), "No module named 'nowhere'"),
        (("own_cast:shaped",), "'settings' is not a plain value"),
        (("own_cast:cast",), "--scenarios: give a file of JSON lines, one scenario each"),
        (("own_cast:cast", "--scenarios", "nowhere.jsonl"), "nowhere.jsonl: "),
        (
            ("own_cast:cast", "--scenarios", "kindless.jsonl"),
            "kindless.jsonl: line 1: has no text 'kind', 'goal' or 'first_message'",
        ),
        (("own_cast:cast", "--scenarios", "none.jsonl"), "none.jsonl: holds no scenario"),
        (("simquac", "--user", "own_cast:nothing"), "has no attribute 'nothing'"),
        (("simquac", "--assistant", "agent:ftp://host"), "is not an address of a LangGraph server"),
        (("simquac", "--assistant", "agent:http://me:secret@host"), "is not an address of a LangGraph server"),
        (
            ("simquac", "--assistant", "agent:http://host?send=some"),
            "is not an address of a LangGraph server: write agent:http://HOST:PORT?graph=NAME",
        ),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(duologue, arguments, line) -> None:
    Path("kindless.jsonl").write_text('{"title": "a"}\n')
    Path("none.jsonl").write_text("")
    code, out, err = duologue("simulate", *arguments, "--out", "run")
    assert (code, out) == (2, "")
    assert line in err
    assert "secret" not in err
    assert not Path("run").exists()


def test_both_casts_bound_the_words_of_a_users_message(duologue) -> None:
    code, out, _ = duologue(
        "simulate", "recllmsim", "--question-words", "3", "--limit", "1", "--out", "run", "--json", "--question-attempts", "2"
    )  # fmt: skip
    user = json.loads(out)["sides"][0]
    assert code == 0
    assert user["reasons"]["too_long"] > 0
    assert json.loads(out)["stops"] == {"user_rejected": 1}


@pytest.mark.parametrize("form", [["--cast", "own_cast:cast"], ["--cast=own_cast:cast"]])
def test_a_cast_may_be_given_as_an_option(duologue, form) -> None:
    run = ["--scenarios", "scenarios.jsonl", "--words", "9", "--max-turns", "1", "--out", "run", "--json"]
    code, out, err = duologue("simulate", *run[:2], *form, *run[2:])
    assert (code, json.loads(out)["finished"]) == (0, 2), err
    assert json.loads(Path("run/manifest.json").read_text())["cast"]["cast"] == "own_cast:cast"
    assert duologue("simulate", *form, "--help")[1] == duologue("simulate", "own_cast:cast", "--help")[1]


def test_a_registered_cast_may_be_given_as_an_option_and_the_help_says_so(duologue) -> None:
    code, out, err = duologue("simulate", "--cast", "simquac", "--limit", "1", "--max-turns", "1", "--json")
    assert (code, json.loads(out)["finished"]) == (0, 1), err
    assert "--cast" in duologue("simulate", "--help")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "--cast", "nobody"], "nobody"),
        (["simulate", "--cast", "own_cast:nobody"], "has no attribute 'nobody'"),
        (["simulate", "--cast"], "requires an argument"),
        (["simulate", "simquac", "--cast", "recllmsim"], "No such option: --cast"),
    ],
)
def test_a_cast_that_is_missing_or_given_twice_is_one_line(duologue, arguments, message) -> None:
    code, _, err = duologue(*arguments)
    assert (code, err.count("\n")) == (2, 1), err
    assert message in err
