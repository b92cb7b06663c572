"""The example of a domain that the package does not know: an agent with tools, run as its README says."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, load

ROOT = Path(__file__).parents[2]
Command = Callable[..., subprocess.CompletedProcess[str]]
RunTest = Callable[..., tuple[dict[str, Any], list[Conversation]]]
SECTIONS = re.compile(r"duologue test[^\n]*")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example to stand in."""
    copy = tmp_path / "airline_example"
    shutil.copytree(ROOT / "examples" / "airline", copy, ignore=shutil.ignore_patterns("__pycache__", "out"))
    monkeypatch.chdir(copy)
    return copy


@pytest.fixture
def duologue(forks: Any, folder: Path) -> Command:
    """What a command, or code after `-c`, gives in the folder of the example."""
    return lambda *arguments, cwd=folder: forks.run(*arguments, cwd=cwd)


@pytest.fixture
def run_test(duologue: Command, folder: Path) -> RunTest:
    """The result and the conversations of `duologue test` with the example's cast."""

    def run(*more: object, out: str = "run") -> tuple[dict[str, Any], list[Conversation]]:
        arguments = ("test", "--cast", "airline:cast", "--scenarios", "scenarios.jsonl", "--out", out, "--json", *more)
        done = duologue(*arguments)
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout), list(load(folder / out))

    return run


@pytest.mark.heavy
def test_it_runs_as_its_readme_says_and_counts_success(run_test: RunTest, folder: Path) -> None:
    command = SECTIONS.search((folder / "README.md").read_text())
    assert command is not None
    assert "--cast airline:cast --scenarios scenarios.jsonl --repeats 4" in command[0]
    result, conversations = run_test("--repeats", 4)
    assert (result["scored"], len(conversations)) == (24, 24)
    assert result["successes"] == 23  # the scripted customer gives up now and then
    readme = " ".join((folder / "README.md").read_text().split())
    assert "Of 24 conversations, 23 succeed" in readme
    assert list(result["pass_hat"]) == ["1", "2", "3", "4"]
    assert result["pass_hat"]["1"]["value"] == pytest.approx(result["success"]["value"])
    assert result["pass_hat"]["4"]["value"] < result["pass_hat"]["1"]["value"]
    failure = result["failures"][0]
    assert failure["stop"] == "user_gave_up"
    assert failure["reason"].startswith("booking ")


@pytest.mark.heavy
def test_a_promise_that_no_tool_confirmed_is_rejected_and_a_tool_is_called(run_test: RunTest) -> None:
    _, conversations = run_test("--set", "careless=0.9")
    drafts = [draft for conversation in conversations for draft in conversation.attempts("assistant")]
    rejected = [draft for draft in drafts if draft.verdict == "rejected"]
    assert rejected
    assert {draft.reason for draft in rejected} == {"unconfirmed"}
    assert not any(draft.tool_calls for draft in rejected)
    done = [
        message for conversation in conversations for message in conversation.messages if "is now on" in message.text
    ]
    assert done
    for message in done:
        assert [call.name for call in message.attempts[-1].tool_calls] == ["look_up", "change"]
        assert message.attempts[-1].tool_calls[-1].result["date"] in message.text


@pytest.mark.heavy
def test_each_conversation_has_a_database_of_its_own(run_test: RunTest, folder: Path) -> None:
    scenarios = (folder / "scenarios.jsonl").read_text().splitlines(keepends=True)
    (folder / "scenarios.jsonl").write_text(next(line for line in scenarios if "come home" in line))
    _, home = run_test("--repeats", 4, "--set", "impatient=0")
    assert [conversation.scores["success"]["value"] for conversation in home] == [
        True
    ] * 4  # one seat is free, in each of four
    moved = [call for conversation in home for draft in conversation.attempts("assistant") for call in draft.tool_calls]
    assert [call.error for call in moved if call.name == "change"] == [None] * 4


@pytest.mark.heavy
def test_a_rejected_draft_after_a_change_has_changed_nothing(duologue: Command, folder: Path) -> None:
    (folder / "strict.py").write_text(
        "import airline\n"
        "from duologue import nodes\n\n\n"
        "def first_is_rejected(draft, state):\n"
        "    changed = any(call['name'] == 'change' for call in draft.get('tool_calls', []))\n"
        "    return 'tone' if changed and not nodes.rejected(state) else None\n\n\n"
        "def cast():\n"
        "    return airline.cast(impatient=0, careless=0).replace(answer_validator=nodes.validator(first_is_rejected))\n"
    )
    scenario = json.loads((folder / "scenarios.jsonl").read_text().splitlines()[0])
    seats = scenario["database"]["seats"]
    scenario["success"] = {"final_state": {"seats": {"2026-05-03": seats["2026-05-03"] - 1}}}
    (folder / "one.jsonl").write_text(json.dumps(scenario) + "\n")
    done = duologue("test", "--cast", "strict:cast", "--scenarios", "one.jsonl", "--out", "strict_run", "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    (conversation,) = load(folder / "strict_run")
    drafts = [draft for draft in conversation.attempts("assistant") if draft.tool_calls]
    assert [draft.verdict for draft in drafts] == ["rejected", "accepted"]
    assert [call.name for call in drafts[1].tool_calls] == ["look_up", "change"]


@pytest.mark.heavy
def test_a_policy_that_is_wrong_on_purpose_is_found(duologue: Command, run_test: RunTest) -> None:
    right, _ = run_test("--set", "impatient=0")
    done = duologue(
        *(
            "test",
            "--cast",
            "airline:cast",
            "--scenarios",
            "scenarios.jsonl",
            "--set",
            "impatient=0",
            "--set",
            "lenient=true",
        ),
        *("--threshold", "1", "--out", "wrong", "--json"),
    )
    wrong = json.loads(done.stdout)
    assert right["success"]["value"] == 1
    assert [failure["scenario"] for failure in wrong["failures"]] == ["Move my booking to 2026-07-20"]
    assert wrong["failures"][0]["fault"] == "undecided"
    assert done.returncode == 1


@pytest.mark.heavy
def test_a_run_that_was_cut_off_is_resumed_to_the_same_records(run_test: RunTest, folder: Path) -> None:
    def timeless(out: str) -> list[dict[str, Any]]:
        return [conversation.without_timing().plain() for conversation in load(folder / out)]

    run_test("--repeats", 2)
    shutil.copytree(folder / "run", folder / "cut")
    lines = (folder / "cut" / "conversations.jsonl").read_text().splitlines(keepends=True)
    (folder / "cut" / "conversations.jsonl").write_text("".join(lines[:5]) + lines[5][:80])
    run_test("--repeats", 2, "--concurrency", 1, out="cut")
    assert timeless("cut") == timeless("run")


@pytest.mark.heavy
def test_it_is_shown_checked_and_converted(duologue: Command, run_test: RunTest) -> None:
    run_test()
    shown = duologue("show", "run", "--out", "page.html")
    assert shown.returncode == 0, shown.stderr
    one = duologue("show", "run", "--id", load("run").conversations[0].id, "--out", "one.html")
    assert one.returncode == 0, one.stderr
    page = Path("one.html").read_text()
    assert "look_up" in page
    assert "QX4821" in page
    assert duologue("check", "run").returncode == 0
    converted = duologue("convert", "run", "talks.jsonl", "--to", "messages")
    assert converted.returncode == 0, converted.stderr
    talk = json.loads(Path("talks.jsonl").read_text().splitlines()[0])["messages"]
    roles = [message["role"] for message in talk]
    assert roles[-5:] == ["assistant", "tool", "tool", "assistant", "user"]  # the goodbye is a message like any other
    call = talk[-5]["tool_calls"][0]
    assert (call["type"], call["function"]["name"], talk[-4]["tool_call_id"]) == ("function", "look_up", call["id"])


DOMAIN = ("--domain", "airline.domain:DOMAIN")


@pytest.mark.heavy
def test_its_domain_is_known_to_every_command_that_names_it(duologue: Command, run_test: RunTest, folder: Path) -> None:
    readme = " ".join((folder / "README.md").read_text().split())
    assert "duologue --domain airline.domain:DOMAIN check out/airline" in readme
    run_test()
    (record, *_) = (folder / "run" / "conversations.jsonl").read_text().splitlines()
    lie = json.loads(record)
    lie["messages"] = [{"role": "user", "text": "Well?"}, {"role": "assistant", "text": "It is now on 2026-05-03."}]
    (folder / "lie.jsonl").write_text(json.dumps(lie) + "\n")
    plain = duologue("check", "lie.jsonl", "--json")
    result = duologue(*DOMAIN, *DOMAIN, "check", "lie.jsonl", "--json")
    assert "airline-unconfirmed" not in plain.stdout
    assert "airline-unconfirmed" in result.stdout, result.stderr
    assert result.returncode == 1
    shown = duologue(*DOMAIN, "show", "run", "--id", lie["id"], "--out", "page.html")
    assert shown.returncode == 0, shown.stderr
    assert "What the customer knows" in Path("page.html").read_text()


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("airline.domain", "--domain: 'airline.domain' is no import path"),
        ("airline.domain:NONE", "has no attribute 'NONE'"),
        ("airline.domain:RULES", r"--domain airline.domain:RULES: .* is not a domain"),
        ("airline.domain:Airline", "is not a domain: register an instance"),
    ],
)
def test_what_is_no_domain_is_one_line(duologue: Command, path: str, line: str) -> None:
    done = duologue("--domain", path, "check", "run")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert re.search(line, done.stderr), done.stderr


@pytest.mark.heavy
def test_its_domain_titles_checks_and_marks_conversations_once_it_is_known(
    duologue: Command, run_test: RunTest
) -> None:
    code = (
        "import airline, json; from duologue import data, views; "
        "talks = list(data.load('run')); print(data.outline(talks[0]).title); "
        "lie = talks[0].messages[-2].model_copy(update={'attempts': (), 'text': 'It is now on 2026-05-03.'}); "
        "lied = talks[0].model_copy(update={'messages': (*talks[0].messages[:-2], lie)}); "
        "from duologue.data.checks import check; print([f.rule for t in (talks[0], lied) for f in check(t)]); "
        "print('What the customer knows' in views.conversation_page(talks[0]))"
    )
    run_test("--set", "impatient=0")
    done = duologue("-c", code)
    assert done.stdout.splitlines() == ["Move my flight to 2026-05-03", "['airline-unconfirmed']", "True"], done.stderr


@pytest.mark.heavy
def test_it_is_found_with_the_folder_above_on_the_path_too(duologue: Command, folder: Path, tmp_path: Path) -> None:
    folder.rename(tmp_path / "airline")
    scenarios = tmp_path / "airline" / "scenarios.jsonl"
    done = duologue("test", "--cast", "airline:cast", "--scenarios", scenarios, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["planned"] == 6


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--cast", "airline:cast", "--set", "careless"), "--set careless: write NAME=VALUE"),
        (("--cast", "airline:cast", "--set", "careless=much"), "careless: .*number.*, not 'much'"),
        (("--cast", "airline:cast", "--set", "brave=1"), "airline:cast has no such setting"),
        (("--cast", "simquac", "--set", "question_words=9"), "no conversation has a score named 'success'"),
    ],
)
def test_bad_input_is_one_line(duologue: Command, arguments: tuple[str, ...], line: str) -> None:
    topic = {"kind": "simquac", "title": "t", "header": "h", "background": "", "section": "Three keepers lived there."}
    Path("topics.jsonl").write_text(json.dumps(topic) + "\n")
    scenarios = "topics.jsonl" if "simquac" in arguments else "scenarios.jsonl"
    done = duologue("test", *arguments, "--scenarios", scenarios, "--out", "run")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.search(line, done.stderr), done.stderr


def test_not_a_line_of_the_package_names_it() -> None:
    rooms = ("analysis", "cli", "data", "graphs", "nodes", "prompts", "runs", "views")
    files = [file for room in rooms for file in (ROOT / room).rglob("*") if file.suffix in (".py", ".md", ".html")]
    # The word itself may stand there, as for tasks about flights; a path of the example may not.
    assert [file for file in files if re.search(r"airline[.:/]\w", file.read_text(encoding="utf-8"))] == []
