"""`duologue.test`: the command's result as a function, which a notebook shows."""

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import graphs, nodes
from duologue.analysis.testing.report import Line, report
from duologue.analysis.testing.success import successes
from duologue.errors import DataError, MissingExtraError, SettingError
from duologue.runs.settings import RunSettings
from duologue.studies.judge_check import judged_faults
from duologue.testing import scripted_model

pytest_plugins = ["pytester"]

GOALS: list[dict[str, Any]] = [
    {"goal": "book a <b>table</b>", "success": {"text_contains": "booked"}},
    {"goal": "give my money back", "success": {"text_contains": "refund"}},
]


def agent(messages: list[dict[str, str]]) -> str:
    return "It is booked."


def test_an_agent_is_tested_and_the_conversations_lie_in_the_folder(tmp_path: Path) -> None:
    result = duologue.test(agent, GOALS, repeats=3, out=tmp_path / "run")
    assert (result.successes, result.scored, result.folder) == (3, 6, tmp_path / "run")
    assert [row.conversations for row in result.scenarios] == [3, 3]
    assert len(result.records) == len(duologue.load(tmp_path / "run")) == 6
    assert repr(result).startswith("<not passed (3 of 6 failed): 6 conversations planned, 6 scored; 0.50 (no interval")
    assert "records" not in json.loads(result.model_dump_json())
    again = duologue.test(agent, GOALS, repeats=3, out=tmp_path / "run")
    assert again.success == result.success
    html = result._repr_html_()
    assert "3 of 6 scored conversations succeeded" in html
    assert "<b>table" not in html


def test_it_takes_a_file_a_cast_and_what_the_command_takes(tmp_path: Path) -> None:
    file = tmp_path / "goals.jsonl"
    file.write_text("".join(json.dumps(goal) + "\n" for goal in GOALS))
    assert duologue.test(agent, file, limit=1).successes == 1
    scored = graphs.agent_test.cast().replace(closing=nodes.scoring(success=lambda state: True))
    assert duologue.test(agent, [{"goal": "x"}], cast=scored).successes == 1
    with pytest.raises(SettingError, match="language: agent_test has no such setting"):
        duologue.test(agent, GOALS, cast=scored, language="zh")
    with pytest.raises(SettingError, match="languag: agent_test has no such setting"):
        duologue.test(agent, GOALS, languag="zh")
    states = graphs.agent_test.scenarios(GOALS)
    assert duologue.test(agent, states).successes == 1
    talks = duologue.test(agent, [{"goal": "x"}], user=lambda messages: "Thank you, goodbye.", max_turns=1, seed=7)
    assert talks.records[0].provenance is not None
    assert talks.records[0].provenance.limits["seed"] == 7
    with pytest.raises(SettingError, match=r"there is no scorer 'tool_caled'"):
        duologue.test(agent, [{"goal": "x", "success": {"tool_caled": "x"}}])


def test_settings_of_a_cast_may_have_the_names_of_arguments() -> None:
    seen: list[Any] = []

    def mine(user: Any = "offline", assistant: Any = "offline", limit: int = 1, again: str = "", out: str = "") -> Any:
        seen.append((limit, again, out))
        return graphs.agent_test.cast(user, assistant)

    factory = graphs.casts.CastFactory("mine", mine)
    graphs.casts.registry.SHIPPED["mine"] = factory
    try:
        result = duologue.test(agent, GOALS, cast="mine", limit=1, settings={"limit": 7, "out": "there"}, again="yes")
    finally:
        del graphs.casts.registry.SHIPPED["mine"]
    assert (result.planned, seen[-1]) == (1, (7, "yes", "there"))


def test_equal_scenarios_are_repeats_and_it_can_be_awaited() -> None:
    async def both() -> int:
        return len((await duologue.atest(agent, [GOALS[0], GOALS[0]])).scenarios)

    assert asyncio.run(both()) == 1


def test_the_table_is_a_data_frame_and_without_pandas_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    result = duologue.test(agent, GOALS)
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert list(frame["share"]) == [1.0, 0.0]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"duologue\[stats\]"):
        result.to_pandas()


def test_pytest_does_not_collect_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("from duologue import atest, test\n\n\ndef test_own():\n    assert test and atest\n")
    pytester.runpytest("-p", "no:cacheprovider", "-p", "no:asyncio").assert_outcomes(passed=1)


def test_the_example_of_the_page_gives_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(duologue.__file__).parent / "docs/start/agent.md").read_text()
    code, *others = re.findall(r"```python\n(.*?)```", page, re.S)
    (call,) = [block for block in others if "duologue.test(" in block]
    (tmp_path / "scenarios.jsonl").write_text(re.findall(r"```json\n(.*?)```", page, re.S)[0])
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(code + call.replace("result.to_pandas()", ""), names)
    assert f"{names['result'].success.value:.2f}, and the lower end" in call.replace("# ", "")
    assert (tmp_path / "out/again/manifest.json").is_file()


def test_agents_that_do_nothing_are_the_floor() -> None:
    class Store(dict[str, Any]):
        pass

    def world(scenario: dict[str, Any]) -> Any:
        return Store(paid=0)

    goals = [
        {"goal": "keep my money", "success": {"final_state": {"paid": 0}}},
        {"goal": "get my money", "success": {"final_state": {"paid": 1}}},
        {"goal": "hear that you cannot", "success": {"text_contains": "cannot help"}},
    ]
    result = duologue.test(agent, goals, world=world)
    assert result.floor is not None
    assert (result.floor.scenarios, result.floor.refusing, result.floor.silent) == (3, 2, 1)
    assert "succeeds in 2 of 3 scenarios, one that says nothing in 1" in result._repr_html_()
    assert duologue.test(agent, [{"goal": "x"}]).floor is None


def test_a_judges_agreement_with_people_and_the_rectified_share_stand_beside_the_judged_one(tmp_path: Path) -> None:
    goals = [{"goal": f"book table {n}", "success": {"text_contains": "booked"}} for n in range(12)]
    first = duologue.test(agent, goals)
    labels = tmp_path / "labels.jsonl"
    rows = [{"conversation": one.id, "value": n < 6} for n, one in enumerate(first.records[:8])]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    judge = duologue.test(agent, goals, labels=labels).judge
    assert judge is not None
    assert (judge.labelled, judge.agreed, judge.judged, judge.kappa.value) == (8, 6, 1.0, 0)
    assert judge.rectified.value == pytest.approx(0.75)
    labels.write_text('{"conversation": "x", "value": "maybe"}\n')
    with pytest.raises(DataError, match=r"labels.jsonl: line 1: the label is 'maybe'"):
        duologue.test(agent, goals, labels=labels)


def test_a_judge_names_the_fault_of_an_undecided_failure_with_its_name_beside_it() -> None:
    model = scripted_model('{"reason": "it only asks", "value": "assistant"}')
    goal = {"goal": "book a table", "success": {"text_contains": "booked"}}
    records = duologue.test(lambda messages: "Hm.", [goal]).records
    named = asyncio.run(judged_faults(model, records, RunSettings()))
    assert [*named.values()] == [("assistant", "by the judge ScriptedModel: it only asks")]
    result = successes(records, named=named)
    assert result.faults["assistant"] == 1
    assert any("by the judge ScriptedModel" in line.text for line in report(result) if isinstance(line, Line))
