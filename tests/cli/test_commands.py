"""The command line as a whole: its commands, its options, what is refused, and what each command calls."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from duologue.cli.commands import COMMANDS, command_of, parser
from duologue.data import load
from duologue.errors import DuologueError

HOW_TO_RUN = set(
    "--out --limit --repeats --seed --concurrency --max-cost --max-tokens --max-time --plan --json --replies --frozen "
    "--shard --ray".split()
)


def options_of(command: Any) -> dict[str, Any]:
    return {param.opts[0]: param for param in command.params if param.param_type_name == "option"}


def test_there_are_seventeen_commands_with_few_options_and_those_of_how_to_run_are_the_same_everywhere() -> None:
    by_command = {name: options_of(command_of(name)) for name in COMMANDS}
    names = {*options_of(parser()), *(name for options in by_command.values() for name in options)}
    assert (len(COMMANDS), len(names) <= 90) == (17, True)
    assert set(by_command["test"]) > HOW_TO_RUN < set(by_command["simulate"])
    assert len(by_command["test"].keys() - HOW_TO_RUN) <= 21
    assert len(by_command["simulate"].keys() - HOW_TO_RUN) <= 22
    for name in HOW_TO_RUN - {"--out", "--limit"}:  # which say what they are about
        metavars = {options[name].metavar for options in by_command.values() if name in options}
        assert len(metavars) == 1, name


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_each_command_begins_with_its_summary_and_fits_on_sixty_lines(duologue, name):
    code, out, _ = duologue(name, "--help")
    assert code == 0
    assert COMMANDS[name] in " ".join(out.split())
    assert len(out.splitlines()) <= 60


SCENARIO = {"goal": "book a table for two", "success": {"text_contains": "booked"}}


@pytest.fixture
def folder(tmp_path: Path, logs: Path) -> Path:
    """A working folder with scenarios, logs, and files that are neither."""
    Path("scenarios.jsonl").write_text(json.dumps(SCENARIO) + "\n")
    Path("notes.txt").write_text("Hello")
    Path("there.json").write_text("{}")
    return tmp_path


TEST = ("test", "--scenarios", "scenarios.jsonl")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("tset",), "No such command 'tset'. Did you mean 'test'?"),
        (("simulate", "simquac", "--asistant", "x"), "No such option: --asistant"),
        (("simulate", "simquac", "--trace"), "--trace stands before the command"),
        (("simulate", "simqac"), "there is no cast 'simqac': did you mean simquac?"),
        (("simulate", "simquac", "--set", "colour=red"), "colour: simquac has no such setting; it has"),
        (("simulate", "simquac", "--set", "colour"), "--set colour: write NAME=VALUE"),
        (("simulate", "simquac", "--tasks", "notes.txt"), "tasks: simquac has no such setting; it has"),
        (("simulate", "simquac", "--set", "question_words=[]"), "simquac: question_words: "),
        (("simulate", "simquac", "--max-time", "soon"), "'soon' is not a duration: write 45s"),
        (("simulate", "simquac", "--concurrency", "0"), "'0' is not a positive integer"),
        (("simulate", "simquac", "--max-cost", "0"), "'0' is not a bound"),
        (("simulate", "simquac", "--frozen"), "--frozen: give --replies FILE"),
        (("simulate", "simquac", "--shard", "3/2"), "shard: expected K/N"),
        (("test",), "--scenarios: give a file of JSON lines"),
        ((*TEST, "--assistant", "nothing:there"), "nothing:there"),
        ((*TEST, "--fail-if-worse", "shown"), "fail_if_worse: is that of a comparison"),
        ((*TEST, "--against", "x:y", "--fail-if-worse", "2"), "--fail-if-worse: expected shown, or a share"),
        ((*TEST, "--from", "a"), "from_ a: write ID:MESSAGE"),
        ((*TEST, "--from", "a:1", "--replay-user"), "from_ and replay_user exclude each other"),
        ((*TEST, "--replay-user", "--judge", "x"), "judge: goes without replay_user"),
        ((*TEST, "--junit", "scenarios.jsonl"), "scenarios.jsonl: is in scenarios.jsonl, which is read"),
        (("show", "no.jsonl"), "no.jsonl"),
        (("show", "logs.jsonl", "--out", "there.json"), "there.json: exists and is not a page of Duologue"),
        (("check", "notes.txt"), "notes.txt"),
        (("convert", "logs.jsonl", "there.json", "--to", "messages"), "there.json: exists: choose another place"),
        (("convert", "logs.jsonl", "new.json", "--to", "nothing"), "--to: 'nothing' is not a format to write"),
        (("convert", "logs.jsonl"), "give SRC, DST and --to FORMAT"),
        (("annotate", "logs.jsonl", "--out", "x"), "--labels: give labels"),
        (("annotate", "logs.jsonl", "--labels", "style"), "--out is missing"),
        (("agreement", "logs.jsonl"), "--between: give two labels"),
        (("label", "logs.jsonl"), "--labels: names none"),
        (("label", "logs.jsonl", "--labels", "style"), "--as: name who labels"),
        (("label", "--labels", "style"), "SRC is missing"),
        (("validity", "--assistant", "none"), "give SRC, people's conversations"),
        (("papers", "quac", "stats"), "PAPER: 'quac' is none"),
        (("papers", "simquac", "statistics"), "WHAT: simquac has no 'statistics': give stats, teacher"),
        (("papers", "simquac", "stats", "logs.jsonl"), "none about a section"),
        (("papers", "recllmsim", "stats", "logs.jsonl"), "none about a task with a profile"),
        (("papers", "recllmsim", "profiles", "many"), "give the number of profiles"),
        (("runs", "nowhere"), "nowhere: is not a folder"),
        (("serve-user",), "--scenarios: give a file of JSON lines"),
        (("serve-user", "--fact", "a"), "--goal: give it with its facts"),
        (("--domain", "nothing:there", "doctor"), "--domain: nothing:there cannot be imported"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else "",
)
def test_what_cannot_be_used_is_one_line_and_nothing_is_made(duologue, folder, arguments, line):
    before = sorted(folder.rglob("*"))
    code, out, err = duologue(*arguments)
    assert (code, out) == (2, "")
    assert line in err.splitlines()[-1]
    assert err.splitlines()[-1].startswith("duologue: ")
    assert "a bug" not in err
    assert sorted(path for path in folder.rglob("*") if "__pycache__" not in str(path)) == before


CALLED = [
    (("compare", "logs.jsonl", "logs.jsonl", "--examples", 2), "studies.comparison.compare", {"examples": 2}),
    (("agreement", "logs.jsonl", "--between", "a,b"), "studies.labels.agreement", {"between": [["a", "b"]]}),
    (("show", "logs.jsonl", "--id", "t1"), "studies.pages.show", {"id": "t1"}),
    (("runs", "."), "studies.history.history", {}),
    (("label", "logs.jsonl", "--labels", "style", "--out", "w"), "runs.people_labels.people_labels",
     {"labels": ("style",)}),
    (("papers", "recllmsim", "predict", "logs.jsonl"), "studies.papers.predict_profiles", {}),
    (("papers", "recllmsim", "judges", "logs.jsonl"), "studies.papers.judge_agreement", {}),
    (("papers", "recllmsim", "preference", "answers"), "studies.labels.study_preferences", {"without": ()}),
    (("papers", "simquac", "baseline", "logs.jsonl"), "studies.papers.baseline", {}),
    (("scenarios", "tools.json", "--out", "new.jsonl"), "studies.scenario_design.read_sources", {}),
    ((*TEST, "--repeats", 3, "--threshold", 0.5), "studies.agent_tests.prepared", {"repeats": 3, "threshold": 0.5}),
    ((*TEST, "--world", "a:b", "--set", "language=zh"), "studies.agent_tests.prepared", {}),
    (("annotate", "logs.jsonl", "--labels", "style", "--out", "o", "--votes", 2), "runs.annotate.AnnotationWork",
     {"votes": 2}),
    (("next-turn", "logs.jsonl"), "studies.prediction.next_turn", {"out": None}),
    (("validity", "--seed", 3), "studies.validation.validity", {"seed": 3}),
]  # fmt: skip


class _Called(DuologueError):  # noqa: N818 - it ends the command where the function is called
    pass


@pytest.mark.parametrize(
    ("arguments", "function", "expected"), CALLED, ids=[" ".join(map(str, a))[:40] for a, *_ in CALLED]
)
def test_a_command_calls_its_function(duologue, folder, monkeypatch, arguments, function, expected):
    calls: list[dict[str, Any]] = []

    def instead(*given: Any, **named: Any) -> None:
        calls.append(named)
        raise _Called

    module, _, name = function.rpartition(".")
    monkeypatch.setattr(import_module(f"duologue.{module}"), name, instead)
    assert duologue(*arguments)[0] == 2
    [called] = calls
    assert {name: called[name] for name in expected} == expected


def test_what_is_read_from_a_log_is_written_in_other_formats(duologue, logs):
    for to in ("messages", "sharegpt", "replay"):
        assert duologue("convert", logs, f"{to}.jsonl", "--to", to)[:2] == (
            0,
            f"4 conversations written to {to}.jsonl\n",
        )
        texts = [[one.text for one in talk.messages if one.stored] for talk in load(f"{to}.jsonl")]
        assert texts == [[one.text for one in talk.messages if one.stored] for talk in load(logs)]
    document = json.loads(duologue("check", logs, "--json")[1])
    assert (document["form"], document["conversations"]) == (load(logs).kind, 4)


def test_doctor_says_whether_there_is_a_key_and_never_the_key(duologue, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "open.sesame.1")
    code, out, _ = duologue("doctor", "--json")
    assert json.loads(out)["key"] == {"variable": "OPENAI_API_KEY", "set": True}
    assert code == 0
    assert "sesame" not in out + duologue("doctor")[1]


@pytest.mark.heavy
def test_the_demo_needs_no_key_and_shows_rejected_drafts(duologue, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    code, out, _ = duologue("demo", "--out", "d")
    assert code == 0
    assert "rejected" in out
    assert Path("d/page.html").is_file()
