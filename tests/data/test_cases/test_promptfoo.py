"""promptfoo's tests as scenarios."""

from pathlib import Path
from typing import Any

import pytest

from duologue.data import DataError
from duologue.data.scenarios import ScenarioReader
from tests.data.test_cases.checked import check as check_success


def read(text: str) -> tuple[list[dict[str, Any]], str]:
    Path("config.yaml").write_text(text, encoding="utf-8")
    reader = ScenarioReader("config.yaml")
    scenarios = [entry.scenario for entry in reader]
    for scenario in scenarios:
        if "success" in scenario:
            check_success(scenario["success"])
    return scenarios, "; ".join(reader.notes)


def test_a_simulated_user_has_its_instructions_as_goal():
    (first, second), notes = read("""
prompts: ["You sell bread."]
defaultTest:
  vars: {shop: "the mill"}
  provider: {id: "promptfoo:simulated-user", config: {maxTurns: 6}}
  assert:
    - {type: llm-rubric, value: "The clerk of {{ shop }} is polite."}
tests:
  - description: two loaves
    provider:
      id: promptfoo:simulated-user
      config:
        instructions: You want {{ count }} loaves from {{shop}}.
        initialMessages: [{role: user, content: "Hello {{shop}}!"}]
    vars: {count: 2, mood: calm}
    assert:
      - {type: trajectory:tool-used, value: order}
      - {type: trajectory:tool-args-match, value: {name: order, args: {count: 2}, mode: partial}}
      - {type: latency, threshold: 900}
  - vars: {instructions: You want a cake.}
""")
    assert first["goal"] == "You want 2 loaves from the mill."
    assert (first["first_message"], first["title"]) == ("Hello the mill!", "two loaves")
    assert first["success"] == {
        "judged": "The clerk of the mill is polite.",
        "tool_called": ["order", {"name": "order", "arguments": {"count": 2}}],
    }
    assert second["goal"] == "You want a cake."
    assert second["promptfoo"]["provider.config.maxTurns"] == 6
    for name in ("assert latency (1)", "vars.mood (1)", "provider.config.maxTurns (1)"):
        assert name in notes


@pytest.mark.parametrize(
    ("check", "success"),
    [
        ("{type: contains, value: rye}", {"text_contains": {"all": ["rye"], "case": True}}),
        ("{type: icontains-any, value: [rye, oat]}", {"text_contains": {"any": ["rye", "oat"]}}),
        ("{type: not-icontains, value: rye}", {"not": {"text_contains": {"all": ["rye"]}}}),
        ("{type: regex, value: 'r.e'}", {"text_contains": {"all": ["r.e"], "regex": True, "case": True}}),
        ("{type: is-refusal}", {"refused": True}),
        ("{type: not-is-refusal}", {"refused": False}),
        ("{type: g-eval, value: [kind, brief]}", {"judged": ["kind", "brief"]}),
        ("{type: 'trajectory:tool-used', value: {name: bake, min: 2, max: 2}}", {"tool_called": {"name": "bake", "times": 2}}),
        ("{type: 'not-trajectory:tool-used', value: bake}", {"not": {"tool_called": "bake"}}),
        ("{type: assert-set, assert: [{type: is-refusal}]}", {"refused": True}),
    ],
)  # fmt: skip
def test_an_assertion_that_a_scenario_can_say_is_a_condition(check, success):
    (scenario,), notes = read(f'- vars: {{question: "Have you rye?"}}\n  assert: [{check}]\n')
    assert (scenario["first_message"], scenario["success"], notes) == ("Have you rye?", success, "")


@pytest.mark.parametrize(
    "check",
    [
        "{type: javascript, value: 'output.length > 3'}",
        "{type: contains, value: 'file://words.txt'}",
        "{type: contains, value: rye, weight: 0}",
        "{type: regex, value: '(?<name'}",
        "{type: 'trajectory:tool-used', value: {name: bake, min: 2}}",
        "{type: assert-set, threshold: 0.5, assert: [{type: is-refusal}]}",
        "{type: equals, value: rye}",
    ],
)
def test_another_assertion_is_listed_by_its_type(check):
    (scenario,), notes = read(f'- vars: {{question: "Have you rye?"}}\n  assert: [{check}]\n')
    kind = check.split("type: ")[1].split(",")[0].strip("'")
    assert "success" not in scenario
    assert f"assert {kind} (1)" in notes


def test_lists_of_values_and_scenarios_are_multiplied_out():
    scenarios, _ = read("""
tests:
  - {vars: {question: ["rye?", "oat?"]}}
scenarios:
  - config: [{vars: {bread: rye}}, {vars: {bread: oat}}]
    tests: [{vars: {question: "Is the {{bread}} fresh?"}}]
""")
    assert [one["first_message"] for one in scenarios] == [
        "rye?", "oat?", "Is the rye fresh?", "Is the oat fresh?",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tests: file://more.yaml\n", r"config\.yaml: its tests are in another file \(file://more\.yaml\)"),
        ("tests:\n  - {vars: {a: b}}\n  - file://more.yaml\n", r"tests\[1\]: is another file"),
        ("tests:\n  - {vars: {a: x, b: y}}\n", r"tests\[0\]: has no text of a user"),
        ("tests:\n  - {vars: {question: 'file://q.txt'}}\n", r"tests\[0\]: the user's message is in another file"),
        ("defaultTest: file://d.yaml\ntests:\n  - {vars: {a: b}}\n", r"its 'defaultTest' is in another file"),
        ("tests:\n  - {vars: {a: b}\n", r"line \d: is not YAML"),
        ("- {vars: {question: [a]}}\n- {vars: {question: " + str(list(range(1100))) + "}}\n", r"\[1\]: its lists of values make"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(text, problem):
    with pytest.raises(DataError, match=problem):
        read(text)


def test_values_of_yaml_that_json_lacks_are_texts():
    (scenario,), _ = read("- vars: {question: Open then, day: 2026-05-01, 7: [.inf], odd: !!binary aGk=}\n")
    assert scenario["promptfoo"] == {"vars.day": "2026-05-01", "vars.7": ["inf"], "vars.odd": "aGk="}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tests: &a\n  - *a\n", "has more than 100,000 values"),
        ("tests:\n" + "".join(f"  - &a{n} [{f'*a{n - 1}, ' * 9 if n else 'x'}]\n" for n in range(30)), "has more than"),
        ("tests:\n" + "".join(f"  - &a{n} [{f'*a{n - 1}' if n else 'x'}]\n" for n in range(200)), "too deeply"),
    ],
    ids=["in itself", "many", "deep"],
)
def test_aliases_without_end_are_refused(text, problem):
    with pytest.raises(DataError, match=rf"config\.yaml: is not YAML: .*{problem}"):
        read(text)
