"""Tuning: what is planted is found, the parts of the people never meet, and nothing is done twice."""

import json
import sys
from pathlib import Path

import pytest

import duologue
from duologue.analysis.tuning import noise_line
from duologue.data.formats import record_lines
from duologue.data.people.splits import of_part, user_of
from duologue.data.tuning import TuningResult
from duologue.errors import DataError, MissingExtraError, SettingError
from duologue.runs import Conduct, Control
from duologue.runs.journals.journal import RunError
from duologue.runs.tuning.search import tune
from duologue.runs.tuning.search_space import default_space, space_of
from duologue.runs.tuning.simulators import Simulator, with_arguments
from tests.runs import tuned_toys as toys

pytest.importorskip("optuna")
LEVEL = {"cast.level": {"low": 0.0, "high": 1.0, "start": 0.0}}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    toys.register()
    return toys.written(tmp_path)


def searched(
    people: Path, out: Path, *, trials: int = 14, objective: toys.Wordiness | None = None, **more
) -> TuningResult:
    toys.register()
    more = {"limits": {"max_turns": 1}, "limit": 3} | more
    limits, limit = more.pop("limits"), more.pop("limit")
    simulator = Simulator("tuned_toy", people, limits=limits, limit=limit)
    return tune(simulator, objective or toys.Wordiness(), space_of(LEVEL), out=out, trials=trials, **more)


@pytest.mark.heavy
def test_a_planted_optimum_is_found_and_judged_on_people_who_were_not_asked(people, tmp_path):
    objective = toys.Wordiness()
    tuned = searched(people, tmp_path / "out", objective=objective)
    assert tuned.start is not None
    assert tuned.start.value == pytest.approx(6.9)
    assert tuned.chosen is not None
    assert tuned.chosen.value < 1.0
    assert tuned.settings["level"] == pytest.approx(0.7, abs=0.1)
    assert tuned.judged is not None
    assert tuned.judged.best.value < 1.0 < tuned.judged.start.value
    assert objective.judged == ["select"] * 15 + ["test"] * 2
    assert TuningResult.model_validate(json.loads((tmp_path / "out/tune.json").read_text())) == tuned
    assert f"--level {tuned.settings['level']}" in tuned.command
    assert "--max-turns 1" in tuned.command


@pytest.mark.heavy
def test_a_resumed_search_equals_one_that_was_never_interrupted(people, tmp_path):
    whole = searched(people, tmp_path / "whole", trials=5, judge=False)
    objective = toys.Wordiness()
    searched(people, tmp_path / "parts", trials=2, judge=False, objective=objective)
    with (tmp_path / "parts/trials.jsonl").open("a") as journal:
        journal.write('{"number": 3, "val')  # as a kill leaves it
    again = searched(people, tmp_path / "parts", trials=5, judge=False, objective=objective, resume=True)
    assert (again.trials, again.best, again.settings) == (whole.trials, whole.best, whole.settings)
    assert objective.judged == ["select"] * 6
    assert {path.name for path in (tmp_path / "parts/trials").iterdir()} == {f"{number:03}" for number in range(6)}


def test_each_trial_is_a_run_that_opens_like_any_other(people, tmp_path):
    searched(people, tmp_path / "out", trials=1, judge=False)
    assert len(duologue.load(tmp_path / "out/trials/001")) == 3


def test_a_folder_of_another_search_is_not_gone_on_with(people, tmp_path):
    searched(people, tmp_path / "out", trials=1, judge=False)
    with pytest.raises(RunError, match="--resume"):
        searched(people, tmp_path / "out", trials=2, judge=False)
    with pytest.raises(RunError, match="another seed"):
        searched(people, tmp_path / "out", trials=2, judge=False, seed=1, resume=True)
    with pytest.raises(RunError, match="another limit"):
        searched(people, tmp_path / "out", trials=2, judge=False, limit=2, resume=True)


@pytest.mark.heavy
def test_the_ledger_counts_openings_and_the_same_judgement_opens_nothing(people, tmp_path):
    first = searched(people, tmp_path / "out", trials=2)
    assert first.judged is not None
    assert first.judged.untouched
    same = searched(people, tmp_path / "out", trials=2, resume=True)
    assert same.judged == first.judged
    more = searched(people, tmp_path / "out", trials=12, resume=True)
    assert more.best != first.best
    assert more.judged is not None
    assert (more.judged.opening.number, more.judged.untouched) == (2, False)
    ledger = [json.loads(line) for line in (tmp_path / "out/openings.jsonl").read_text().splitlines()]
    assert [opening["number"] for opening in ledger] == [1, 2]
    test = [one for one in toys.of_people() if of_part(one, "test")]
    assert {opening["users"] for opening in ledger} == {len({user_of(one) for one in test})}
    assert not {"date", "time"} & ledger[0].keys()


@pytest.mark.heavy
def test_people_to_learn_from_to_select_by_and_to_test_on_never_meet(people, tmp_path):
    pytest.importorskip("sklearn")
    simulator = Simulator("recllmsim", people, {"user": f"people:{people}", "assistant": f"people:{people}"})
    out = tmp_path / "out"
    tuned = tune(simulator, toys.Falling(), space_of({"user.stay": {"low": 0.0, "high": 1.0}}), out=out, trials=2)
    trials = [record_lines.read_run(folder) for folder in sorted((out / "trials").iterdir())]
    tests = [record_lines.read_run(folder) for folder in sorted((out / "test").iterdir()) if folder.is_dir()]
    assert len(trials) == 3
    assert len(tests) == 2
    texts = [message.text for run in trials for one in run for message in one.messages]
    assert any("markerlearn" in text for text in texts)
    assert not any("markerselect" in text or "markertest" in text for text in texts)
    assert not any("markertest" in message.text for run in tests for one in run for message in one.messages)
    assert all(of_part(one, "select") for run in trials for one in run)
    assert all(of_part(one, "test") for run in tests for one in run)
    for file in (out / "trials").rglob("*"):  # neither do their words stand in any file of a trial
        if file.is_file():
            text = file.read_text("utf-8", "replace")
            assert not any(marker in text for marker in ("markertest", "markerselect")), file
    assert "part=tune" in tuned.settings["user"]
    assert "stay=" in tuned.settings["user"]


@pytest.mark.parametrize("part", ["test", "select", "learn"])
def test_a_memory_of_a_part_that_is_not_to_tune_on_is_refused(people, part):
    with pytest.raises(SettingError, match="is not the part to tune on"):
        Simulator("recllmsim", people, {"user": f"people:{people}?part={part}"})


def test_too_few_people_are_one_line(tmp_path):
    toys.register()
    with pytest.raises(DataError, match="needs 2 or more in each of learn, select, test"):
        searched(toys.written(tmp_path, 2), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_search_that_is_ended_keeps_its_trials(people, tmp_path):
    control = Control()
    seen = []

    def end(trial):
        seen.append(trial.number)
        if trial.number == 2:
            control.end("interrupted")

    ended = searched(people, tmp_path / "out", conduct=Conduct(control=control), watch=end)
    assert (seen, len(ended.trials), ended.judged) == ([0, 1, 2], 3, None)
    assert "--resume" in ended.notes[0]
    assert not (tmp_path / "out/openings.jsonl").exists()
    assert len(searched(people, tmp_path / "out", trials=3, resume=True).trials) == 4


def test_without_the_package_the_error_names_the_extra(people, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"duologue\[tune\]"):
        searched(people, tmp_path / "out", trials=1)
    assert not (tmp_path / "out").exists()  # nothing was asked of a model before


def test_a_gain_within_the_noise_of_repeats_is_no_gain(people, tmp_path):
    pytest.importorskip("scipy")
    tuned = searched(people, tmp_path / "out", trials=3, noise_runs=2, judge=False)
    assert len(tuned.repeats) == 2
    assert len({run.name for run in (tmp_path / "out/repeats").iterdir()}) == 2
    seeds = {
        json.loads((tmp_path / "out" / run / "manifest.json").read_text())["settings"]["limits"]["seed"]
        for run in ("trials/000", "repeats/001", "repeats/002")
    }
    assert len(seeds) == 3
    assert tuned.start is not None
    assert tuned.chosen is not None
    # Mean 2, deviation 0.5, Student's quantile of two degrees of freedom for the best of three: half the interval is
    # 7.649 * 0.5 * sqrt(4 / 3).
    start, best = (one.model_copy(update={"value": value}) for one, value in ((tuned.start, 2.0), (tuned.chosen, 0.1)))
    trials = tuple(
        trial.model_copy(update={"judgement": best if trial.number == tuned.best else start}) for trial in tuned.trials
    )
    near = tuned.model_copy(update={"trials": trials, "repeats": (1.5, 2.5)})
    line = noise_line(near)
    assert (
        "gain of 1.900 (-2.516 to 6.316, 95 % over repeats of one simulator for the best of 3, not over people)" in line
    )
    assert "within the noise of repeats, so it is not a gain" in line
    # What one further run exceeds in 2.5 % of the searches, the best of many exceeds far more often.
    one = near.model_copy(update={"trials": (trials[0], next(one for one in trials if one.number == tuned.best))})
    assert "is beyond the noise" in noise_line(one.model_copy(update={"repeats": (1.72, 2.28)}))
    assert "within the noise" in noise_line(near.model_copy(update={"repeats": (1.72, 2.28)}))
    assert "is beyond the noise" in noise_line(near.model_copy(update={"repeats": (1.9, 2.1)}))
    assert noise_line(near.model_copy(update={"repeats": ()})) is None


@pytest.mark.heavy
def test_a_notebook_calls_it_at_the_front_door(people, tmp_path):
    tuned = duologue.tune(
        "tuned_toy", people, LEVEL, out=tmp_path / "out", trials=3, objective=toys.Wordiness(), limit=2, judge=False
    )
    assert len(tuned.trials) == 4
    assert tuned.judged is None


def test_what_a_search_begins_with_is_a_name_of_the_simulator(people):
    simulator = Simulator("recllmsim", people, {"user": "offline"})
    for name, error in (("user.bold", "no argument"), ("cast.bold", "no setting"), ("limits.bold", "limits.bold")):
        with pytest.raises(SettingError, match=error):
            simulator.check(space_of({name: {"low": 0.0, "high": 1.0}}))
    with pytest.raises(SettingError, match="rate"):
        simulator.check(space_of({"user.greeting": {"low": 0.0, "high": 2.0}}))
    simulator.check(default_space("offline"))


def test_arguments_are_put_into_a_spec_and_can_be_read_again():
    assert with_arguments("offline", {"greeting": 0.25}) == "offline?greeting=0.25"
    assert with_arguments("people:a b?mask=true&stay=1", {"stay": 0.5}) == "people:a b?mask=true&stay=0.5"


GOOD = {
    "a.json": '{"user.greeting": {"low": 0, "high": 1.0}, "limits.max_turns": {"choices": [2, 4]}}',
    "a.toml": "[user.greeting]\nlow = 0\nhigh = 1.0\n['limits.max_turns']\nchoices = [2, 4]\n",
    "a.yaml": "user.greeting: {low: 0, high: 1.0}\nlimits.max_turns: {choices: [2, 4]}\n",
}


@pytest.mark.parametrize("name", GOOD)
def test_a_space_is_read_from_json_toml_and_yaml(tmp_path, name):
    (tmp_path / name).write_text(GOOD[name])
    assert space_of(tmp_path / name) == space_of(json.loads(GOOD["a.json"]))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[]", "holds no names"),
        ("{", "a.json"),
        ('{"greeting": {"low": 0, "high": 1}}', "greeting: write user.NAME"),
        ('{"user.a": {"low": 0}}', "user.a: give it low and high"),
        ('{"user.a": {"low": 1, "high": 0}}', "user.a: low must be below high"),
        ('{"user.a": {"low": 0, "high": 1, "log": true}}', "log needs a low above 0"),
        ('{"user.a": {"low": 0, "high": 1, "size": 3}}', "user.a: size"),
        ('{"user.a": {"choices": [1]}}', "user.a: choices"),
        ('{"user.a": {"choices": [1, 2], "start": 3}}', "start must be one of the choices"),
    ],
)
def test_a_bad_search_file_is_one_line(tmp_path, text, error):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises((DataError, SettingError), match=r"a\.json") as raised:
        space_of(tmp_path / "a.json")
    assert error in str(raised.value)
    assert "\n" not in str(raised.value)


def test_only_users_with_settings_of_their_own_have_a_search():
    assert set(default_space("people:talks")) >= {"user.stay", "user.spread"}
    with pytest.raises(SettingError, match="--search"):
        default_space("openai:NAME")


def test_a_manner_is_not_searched_in_a_cast_whose_offline_user_has_none(people):
    with pytest.raises(SettingError, match=r"user\.greeting has no effect in the cast agent_test"):
        Simulator("agent_test", people).check(default_space("offline"))
    Simulator("agent_test", people, {"user": f"people:{people}"}).check(default_space(f"people:{people}"))


def test_whatever_goes_by_people_goes_by_those_to_learn_from(people):
    settings = {"user": "openai:NAME?like=talks/&examples=2", "like": "talks/?drafts=run"}
    simulator = Simulator("recllmsim", people, settings)
    for part, memory in (("select", "learn"), ("learn", "learn"), ("test", "tune")):
        cast_settings = simulator.settings_with({}, part)
        assert cast_settings["user"] == f"openai:NAME?like=talks/&examples=2&part={memory}"
        assert cast_settings["like"] == f"talks/?drafts=run&part={memory}"
    with pytest.raises(SettingError, match="like: part=test"):
        Simulator("recllmsim", people, {"like": "talks/?part=test"})
