"""`duologue test --summary FILE`: the result as Markdown for the page of a CI job."""

import json
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def scenarios() -> None:
    goals = [{"goal": "a <seat>", "success": {"text_contains": "never"}}, {"goal": "b", "success": {"solved": True}}]
    Path("goals.jsonl").write_text("".join(json.dumps(goal) + "\n" for goal in goals))


@pytest.mark.heavy
def test_the_summary_has_result_table_faults_and_links_into_the_run_folder(duologue) -> None:
    more = ("--out", "run", "--summary", "ci/summary.md", "--threshold", 0.9)
    code, out, err = duologue("test", "--scenarios", "goals.jsonl", *more)
    assert code == 1, err
    text = Path("ci/summary.md").read_text()
    assert text.startswith("## duologue test: agent\\_test\n\n**")
    assert out.splitlines()[0] in text.replace("\\", "")
    assert "| a \\<seat\\> | 1 | 0 |" in text
    assert "the share is below the threshold 0.9" in text
    talks = [json.loads(line) for line in Path("run/conversations.jsonl").read_text().splitlines()]
    (failed,) = [talk["id"] for talk in talks if talk["scenario"]["goal"] == "a <seat>"]
    assert f"(page.html#{failed}/" in text
    assert "file:" not in text
    assert duologue("test", "--scenarios", "goals.jsonl", *more, "--no-page")[0] == 1
    assert Path("ci/summary.md").read_text().count("## duologue test") == 1
    assert "](page.html" not in Path("ci/summary.md").read_text()


@pytest.mark.heavy
def test_githubs_file_is_appended_to(duologue, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("steps.md").write_text("# another step\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(Path("steps.md").resolve()))
    code, _, err = duologue("test", "--scenarios", "goals.jsonl", "--out", "run", "--summary", "steps.md")
    assert code == 1, err
    assert Path("steps.md").read_text().startswith("# another step\n## duologue test")


def test_a_summary_that_is_the_scenarios_or_a_folder_is_refused_before_the_run(duologue) -> None:
    for file in ("goals.jsonl", "."):
        code, out, err = duologue("test", "--scenarios", "goals.jsonl", "--out", "run", "--summary", file)
        assert (code, out) == (2, ""), err
    assert not Path("run").exists()
