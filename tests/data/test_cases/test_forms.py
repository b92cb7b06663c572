"""The forms of test cases: each has a row in the docs, is told from a log, and may be a stranger's."""

import json
import re
from pathlib import Path

import pytest

import duologue
from duologue import data
from duologue.data import Conversation, DataError
from duologue.data.scenarios import ScenarioReader, scenario_formats
from duologue.data.test_cases import FORMS, LINES
from tests.tree import ROOT


def test_each_form_has_a_row_with_its_sign_in_the_docs():
    page = (ROOT / "docs/test/stored_conversations.md").read_text(encoding="utf-8")
    table = page.partition("| form | sure sign |")[2].partition("\n\n")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", table, re.MULTILINE))
    assert rows == {form.name: form.sign for form in (*FORMS, LINES)}
    assert sorted(scenario_formats()) == sorted(rows)


def test_test_cases_are_no_conversations():
    Path("tasks.json").write_text('[{"user_scenario": {"instructions": "Ask for tea."}}]', encoding="utf-8")
    with pytest.raises(DataError, match=r"tasks\.json: holds scenarios and no conversation: simulate them first"):
        duologue.load("tasks.json")


def test_a_log_of_messages_stays_one_whatever_its_lines_say_beside_them():
    talk = [{"role": "user", "content": "Tea?"}, {"role": "assistant", "content": "Here."}]
    line = {"goal": "tea", "messages": talk, "inputs": {"question": "Tea?"}, "expected_output": "Here."}
    Path("log.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert duologue.load("log.jsonl").kind == "messages"


def test_lines_of_a_stranger_are_scenarios_by_a_format_of_its_own(own_registry):
    def read(path: Path) -> list[Conversation]:
        wishes = data.read_text(path).splitlines()[1:]
        return [Conversation(id=wish, scenario={"goal": wish}) for wish in wishes]

    form = data.Format(
        "wishes", "a list of wishes", lambda source: source.text.startswith("#wishes"), read, scenarios=True
    )
    data.register_format(form)
    Path("wishes.txt").write_text("#wishes\ndrink tea\nread\n", encoding="utf-8")
    reader = ScenarioReader("wishes.txt")
    assert [entry.scenario for entry in reader] == [{"goal": "drink tea"}, {"goal": "read"}]
    assert (reader.format, reader.stored) == ("a list of wishes", False)
    with pytest.raises(DataError, match="holds scenarios and no conversation"):
        duologue.load("wishes.txt")


def test_many_test_cases_are_read_in_a_time_that_grows_with_their_number():
    task = {"user_scenario": {"instructions": "Ask for tea."}, "evaluation_criteria": {"actions": [{"name": "brew"}]}}
    Path("tasks.jsonl").write_text(f"{json.dumps(task)}\n" * 3_000, encoding="utf-8")
    names = [entry.extra["stored"]["id"] for entry in ScenarioReader("tasks.jsonl")]
    assert len(set(names)) == 3_000
