"""What 0.1.0 has written is gone on with, shown, checked and measured, and it comes out as 0.1.0 itself would have brought it to an end.

Each folder of `fixtures/written_by_0` but `inputs` is a case: `state` is what a command left that was killed, bounded or
complete; `case.json` has the commands that go on with it, what they told then, and every file that there was in the end.
`inputs` are a user's own files, which lie in the working folder.
"""

import hashlib
import json
import os
import shutil
import sys
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import gettempdir

import pytest

import duologue as package
from duologue.data.rules import USER_FAULT_RULES
from tests.cli.former_commands import translate

WRITTEN = Path(__file__).parent / "fixtures" / "written_by_0"
CASES = sorted(path.parent.name for path in WRITTEN.glob("*/case.json"))
RUNS = {
    "complete_simquac": "run",
    "endpoint_killed": "run",
    "like_people": "run",
    "own_cast_killed": "run",
    "planted_and_people": "run",
    "rated": "run/rated/openai_gpt-4.1-mini-2dbec3ff",
    "recllmsim_killed": "run",
    "replaced_nodes": "run",
    "replayed": "run",
    "simquac_at_a_bound": "run",
    "testers": "run/met/offline-65482f01/good-en-76fcc87a",
    "tuned": "tuned/trials/000",
}
TIMES = {"begun", "seconds", "started", "timing"}
NEW = {
    "sent_although_rejected",
    "ended_early",
    "request-repeated",
    "user-answers",
    "verbatim_repeats",
    "copies",
    "taken_up",
    *USER_FAULT_RULES,
}
"""Keys that 0.1.0 did not print."""
REWORDED = {" over conversations, each left out in turn": ", conversations resampled"}
"""Words of today in place of words that 0.1.0 printed and that were not true."""
REORDERED = {"sha256 6f99bf2f2cc5": "sha256 74a2f571c34c", "sha256 63f64e8f4881": "sha256 74314c50e603"}
"""Digests of `stats` as 0.1.0 printed it, and with its labels by their names, whatever the order of lines."""
NEEDS = {
    "agreement": "scipy",
    "next-turn": "scipy",
    "readers": "sklearn",
    "testers": "sklearn",
    "tune": "optuna",
    "judges": "sklearn",
}


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in TIMES | NEW}
    return [plain(item) for item in value] if isinstance(value, list) else value


def short(text):
    return text if len(text) < 80 else "sha256 " + hashlib.sha256(text.encode()).hexdigest()[:12]


def as_json(text):
    return short(json.dumps(plain(json.loads(text)), ensure_ascii=False))


def told(path):
    """A file as `case.json` has it: without times, long texts by their digests."""
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        return [as_json(line) for line in text.splitlines()]
    return as_json(text) if path.suffix == ".json" else short(text)


def files(folder):
    """Every file of the working folder that is no input and no page."""
    return {
        path.relative_to(folder).as_posix(): told(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not (WRITTEN / "inputs" / path.relative_to(folder)).exists()
        and path.suffix not in (".html", ".pyc")
    }


@pytest.fixture
def duologue(capsys, monkeypatch):
    """Exit code, stdout and stderr of the installed command."""
    (point,) = entry_points(group="console_scripts", name="duologue")
    main = point.load()

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["duologue", *translate(list(map(str, arguments)))])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        code = ended.value.code
        return (code if isinstance(code, int) else 0 if code is None else 1), printed.out, printed.err

    return run


@pytest.fixture
def own_files(tmp_path, monkeypatch):
    """A user's own files in the working folder, a module among them."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("users_own", None)
    shutil.copytree(WRITTEN / "inputs", tmp_path, dirs_exist_ok=True)
    yield
    sys.modules.pop("users_own", None)


@pytest.fixture
def opened(own_files, tmp_path):
    """Lays the files of a case out in the working folder, and gives what `case.json` says."""

    def lay_out(name):
        shutil.copytree(WRITTEN / name / "state", tmp_path, dirs_exist_ok=True)
        case = json.loads((WRITTEN / name / "case.json").read_text("utf-8"))
        for path, content in case.get("shared", {}).items():  # what several cases hold is stored once
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(WRITTEN / "shared" / content, tmp_path / path)
        for arguments, *_ in case["says"]:
            for word, module in NEEDS.items():
                if word in arguments[:2]:
                    pytest.importorskip(module)
        return case

    return lay_out


@pytest.mark.parametrize("name", CASES)
def test_what_an_earlier_version_wrote_is_gone_on_with_and_ends_as_it_would_have_then(
    name, duologue, opened, request, tmp_path, monkeypatch
):
    case = opened(name)
    endpoint = None
    if case["endpoint"] is not None:
        endpoint = request.getfixturevalue("faulty")(**case["endpoint"])
        for variable, value in endpoint.environment.items():
            monkeypatch.setenv(variable, value)
    for arguments, code, expected in case["says"]:
        if arguments == "resumed":
            assert len(import_module("users_own").simulated(resume=True)) == 2
            continue
        ended, out, err = duologue(*arguments)
        assert ended == code, (arguments, err)
        for now, then in REWORDED.items():
            out = out.replace(now, then)
        if expected is not None:
            expected = REORDERED.get(expected, expected)
            assert (as_json(out) if "--json" in arguments else out) == expected, (arguments, out)
    assert files(tmp_path) == case["files"]
    if endpoint is not None:  # replies that were kept are not asked for again
        assert endpoint.counts()["answered"] == case["calls"]


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_an_earlier_version_left_is_listed_validated_shown_and_measured_as_it_lies(name, duologue, opened):
    opened(name)
    folder = RUNS[name]
    (listed,) = json.loads(duologue("runs", "list", folder, "--json")[1])
    assert listed["version"] == "0.1.0"
    code, out, err = duologue("runs", "validate", folder)
    assert (code, err) in ((0, ""), (1, "")), out
    assert (code == 0) == listed["complete"]
    for command in (("show", folder, "--out", "page.html"), ("stats", folder), ("check", folder)):
        code, _, err = duologue(*command)
        assert code in (0, 1), (command, err)
        assert "Traceback" not in err


@pytest.mark.parametrize(
    "name", ["recllmsim_killed", "own_cast_killed", "replaced_nodes", "simquac_at_a_bound", "like_people"]
)
def test_a_run_without_its_manifest_is_mended_and_gone_on_with(name, duologue, opened, tmp_path):
    case = opened(name)
    (tmp_path / "run" / "manifest.json").unlink()
    assert duologue("runs", "repair", "run")[0] == 0
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["restored"]
    (arguments,) = case["resume"]
    if arguments == "resumed":
        import_module("users_own").simulated(resume=True)
    else:
        code, _, err = duologue(*arguments)
        assert code == 0, err
    assert duologue("runs", "validate", "run")[:2] == (0, "run: whole and complete\n")
    assert told(tmp_path / "run" / "conversations.jsonl") == case["files"]["run/conversations.jsonl"]


@pytest.mark.parametrize("case", json.loads((WRITTEN / "casts.json").read_text("utf-8")), ids=lambda case: case["name"])
def test_a_cast_that_was_kept_as_plain_data_is_built_and_is_what_it_was(case, own_files, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    cast = package.casts.CastSpec.model_validate_json(case["spec"]).build()
    assert cast.plain() == json.loads(case["spec"])
    nodes = json.dumps({place: node.flat() for place, node in cast.describe().items()}, ensure_ascii=False)
    assert hashlib.sha256(nodes.encode()).hexdigest()[:12] == case["nodes"], nodes


@pytest.mark.parametrize("name", RUNS)
def test_the_cast_of_a_stored_manifest_is_built_again(name, opened, tmp_path, monkeypatch):
    opened(name)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    manifest = json.loads((tmp_path / RUNS[name] / "manifest.json").read_text("utf-8"))
    cast = package.casts.CastSpec.model_validate(manifest["cast"]).build()
    nodes = {place: node.flat() for place, node in cast.describe().items()} | cast.words
    assert nodes == manifest["settings"]["nodes"]
    assert {page: value.digest for page, value in cast.pages.items()} == manifest["settings"]["prompts"]


def test_nothing_of_a_machine_stands_in_what_was_written():
    for path in WRITTEN.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            text = path.read_text("utf-8", errors="replace")  # a kill may cut a character in two
            for part in (f"{gettempdir()}/", f"{Path.home()}/", "/home/", "127.0.0.1", os.uname().nodename):
                assert part not in text, path
