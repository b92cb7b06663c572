"""`--scenarios SRC`: what stored conversations are about, in every cast, and JSON lines of scenarios."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from duologue import data
from duologue.data import load, recllmsim, simquac
from duologue.data.formats import messages, record_lines
from duologue.data.people import paired, part_of, topic_key, user_of
from duologue.runs import write_dataset

AGENT = """
def agent(messages):
    return "Done: three minutes, as you asked."
"""


def manifest(folder: str = "run") -> Any:
    return json.loads(Path(folder, "manifest.json").read_text())


def card(folder: str = "run") -> str:
    write_dataset(folder)
    return Path(folder, "dataset", "README.md").read_text()


def test_peoples_tasks_contexts_and_profiles_are_talked_about_one_by_one_in_their_order(duologue, some_people):
    code, _, err = duologue("simulate", "recllmsim", "--scenarios", some_people, "--max-turns", "2", "--out", "run")
    assert code == 0, err
    stored, conversations = recllmsim.read(some_people), load("run")
    assert [one.scenario for one in conversations] == [one.scenario for one in stored]
    assert [one.extra["stored"]["path"] for one in conversations] == [one.extra["path"] for one in stored]
    assert manifest()["cast"]["settings"] == {"language": "zh"}
    assert all(one.labels.get("questionnaire") is None and "variant" not in one.extra for one in conversations)
    for first, second in ((conversations, stored), (stored, conversations)):
        pairs = paired(list(first), list(second)).pairs
        assert len(pairs) == len(stored)
        assert all(one.scenario == other.scenario for one, other in pairs)
    code, _, err = duologue("show", "run", "--beside", some_people, "--out", "both.html")
    assert code == 0, err


def test_users_simulated_on_peoples_profiles_are_not_called_people_in_run_or_data_set(duologue, some_people):
    assert duologue("simulate", "recllmsim", "--scenarios", some_people, "--limit", "3", "--out", "run")[0] == 0
    domain = data.recllmsim.DOMAIN
    stored = recllmsim.read(some_people)[:3]
    for simulated in (list(load("run")), recllmsim.read(write_dataset("run").path)):
        assert all(domain.simulated(one) for one in simulated)
        pairs = paired(simulated, stored).pairs
        assert len(pairs) == 3
        assert all(domain.profile(one.scenario) == domain.profile(other.scenario) for one, other in pairs)
    assert not any(domain.simulated(one) for one in stored)
    write_dataset("run")
    (written, *_) = (json.loads(path.read_text()) for path in Path("run/dataset").rglob("*.json"))
    assert "profile" not in written
    assert "1. " in written["preference"]


def test_a_part_takes_the_users_of_one_half_and_the_halves_never_meet(duologue, some_people):
    ids: dict[str, set[str]] = {}
    stored = recllmsim.read(some_people)
    for part in ("tune", "test", "all"):
        options = ("--part", part, "--max-turns", "1", "--out", part)
        code, _, err = duologue("simulate", "recllmsim", "--scenarios", some_people, *options)
        assert code == 0, err
        ids[part] = {one.id for one in load(part)}
        of_part = [one for one in stored if part in ("all", part_of(user_of(one)))]
        assert [one.scenario for one in load(part)] == [one.scenario for one in of_part]
        assert manifest(part)["data"][0].get("part", "all") == part
    assert not ids["tune"] & ids["test"]
    assert ids["tune"] | ids["test"] == ids["all"]
    assert min(map(len, ids.values())) > 0
    assert "users in the part `test`" in card("test")


def test_limit_and_repeats_count_scenarios_of_the_part(duologue, some_people):
    options = ("--part", "test", "--limit", "2", "--repeats", "3", "--max-turns", "1", "--out", "run", "--json")
    code, out, err = duologue("simulate", "recllmsim", "--scenarios", some_people, *options)
    assert (code, json.loads(out)["planned"]) == (0, 6), err
    assert [one.repeat for one in load("run")] == [0, 1, 2] * 2
    assert len({one.extra["stored"]["id"] for one in load("run")}) == 2


def test_tasks_are_chosen_among_peoples_as_among_shipped_ones(duologue, some_people):
    options = ("--task", "礼物准备", "--sample", "1", "--max-turns", "1", "--out", "run")
    code, _, err = duologue("simulate", "recllmsim", "--scenarios", some_people, *options)
    assert code == 0, err
    assert {one.scenario["task"] for one in load("run")} == {"礼物准备"}
    assert len({json.dumps(one.scenario["profile"]) for one in load("run")}) == 1
    code, _, err = duologue("simulate", "recllmsim", "--scenarios", some_people, "--tasks", "a.yaml", "--out", "no")
    assert code == 2
    assert "--tasks: --scenarios says what is talked about: leave it out" in " ".join(err.split())


def test_published_sections_are_asked_about_once_for_each_conversation(duologue, open_data):
    source = open_data / "simquac" / "sim_quac.json"
    code, _, err = duologue(
        "simulate", "simquac", "--scenarios", source, "--limit", "4", "--max-turns", "2", "--out", "run"
    )
    assert code == 0, err
    stored, conversations = simquac.read(source)[:4], list(load("run"))
    assert [one.scenario for one in conversations] == [one.scenario for one in stored]
    assert [(a.id, b.id) for a, b in paired(conversations, stored).pairs] == [
        (a.id, b.id) for a, b in zip(conversations, stored, strict=True)
    ]


def test_a_run_is_a_source_for_another_run_and_its_licence_goes_along(duologue):
    assert duologue("simulate", "simquac", "--limit", "3", "--repeats", "2", "--max-turns", "1", "--out", "a")[0] == 0
    code, _, err = duologue("simulate", "simquac", "--scenarios", "a", "--max-turns", "2", "--seed", "7", "--out", "b")
    assert code == 0, err
    first, second = list(load("a")), list(load("b"))
    assert [one.scenario for one in second] == [one.scenario for one in first]
    assert [one.ordinal for one in second] == [0, 1] * 3
    source = manifest("b")["data"][0]
    assert (source["source"], source["format"], source["licence_id"]) == ("a", "the folder of a run", "mit")
    assert "Licence of the source text: MIT, written for duologue." in card("b")
    assert source["source_digest"][:16] in card("b")
    assert [(a.id, b.id) for a, b in paired(second, first).pairs] == [
        (a.id, b.id) for a, b in zip(second, first, strict=True)
    ]
    code, _, err = duologue(
        "simulate", "simquac", "--scenarios", "a", "--licence", "mine", "--max-turns", "1", "--out", "c"
    )
    assert code == 0, err
    assert "Licence of the source text: mine." in card("c")
    assert "license: mine" in card("c")


def test_a_scenario_is_the_same_whatever_is_said_in_its_source(duologue, some_people):
    """No word of a stored message comes into a run on its scenarios."""
    marker = "Zebrafinkenmarkierung"
    for path in some_people.rglob("*.json"):
        talk = json.loads(path.read_text())
        for turn in talk["history"]:
            turn["content"] += marker
        path.write_text(json.dumps(talk | {"questionnaire": marker}, ensure_ascii=False))
    assert duologue("simulate", "recllmsim", "--scenarios", some_people, "--limit", "2", "--out", "run")[0] == 0
    assert not any(marker in path.read_text(errors="replace") for path in Path("run").rglob("*") if path.is_file())


@pytest.mark.heavy
def test_resumed_after_a_death_it_is_the_run_that_nobody_disturbed(duologue, some_people):
    about = ("simulate", "recllmsim", "--scenarios", some_people, "--part", "test", "--max-turns", "2")
    assert duologue(*about, "--out", "whole")[0] == 0
    shutil.copytree("whole", "cut")
    lines = Path("cut/conversations.jsonl").read_text().splitlines(keepends=True)
    Path("cut/conversations.jsonl").write_text(lines[0] + lines[1][:50])
    code, _, err = duologue(*about, "--out", "cut")
    assert code == 0, err
    assert [one.without_timing() for one in load("cut")] == [one.without_timing() for one in load("whole")]
    assert manifest("cut")["data"] == manifest("whole")["data"]
    assert card("cut") == card("whole")
    code, _, err = duologue(*about[:4], "--part", "tune", "--max-turns", "2", "--out", "cut")
    assert code == 2
    assert "resume with the same scenarios" in " ".join(err.split())


def test_a_plan_counts_what_the_source_gives_and_calls_nothing(duologue, some_people):
    count = len(recllmsim.read(some_people))
    code, out, err = duologue(
        "simulate", "recllmsim", "--scenarios", some_people, "--user", "openai:m", "--plan", "--json", "--repeats", "2", "--out", "run"
    )  # fmt: skip
    assert (code, json.loads(out)["conversations"]) == (0, 2 * count), err
    assert not Path("run").exists()


def test_users_of_a_log_begin_as_they_did_and_the_card_says_so(duologue, logs, talks):
    Path("my_agent.py").write_text(AGENT)
    code, _, err = duologue("test", "--assistant", "my_agent:agent", "--scenarios", logs, "--out", "run", "--json")
    assert code == 0, err
    conversations, stored = list(load("run")), list(load(logs))
    assert [one.messages[0].text for one in conversations] == [talk["messages"][1]["content"] for talk in talks]
    assert [(a.id, b.id) for a, b in paired(conversations, stored).pairs] == [
        (a.id, b.id) for a, b in zip(conversations, stored, strict=True)
    ]
    assert [topic_key(one) for one in conversations] == [topic_key(one) for one in stored]
    assert [user_of(one) for one in conversations] == ["ann", "bea", "cay", "dot"]
    assert manifest()["data"][0]["first_messages"] == 4
    assert "simulated**, except for the first message of 4 of them" in card()
    assert "must not be taken" not in Path("run/conversations.jsonl").read_text()
    written = messages.read(write_dataset("run").path)
    assert [topic_key(one) for one in written] == [topic_key(one) for one in stored]
    page = Path("run/page.html").read_text()
    assert "<title>green tea" not in page


def test_a_line_of_a_log_may_name_goal_facts_and_persona_and_then_nothing_is_said_before(duologue, talks):
    talk = talks[0] | {
        "goal": "know how long tea steeps",
        "profile": {"cup": "blue"},
        "persona": "Brief.",
        "success": True,
    }
    Path("logs.jsonl").write_text(json.dumps(talk) + "\n")
    assert duologue("simulate", "agent_test", "--scenarios", "logs.jsonl", "--max-turns", "1", "--out", "run")[0] == 0
    (conversation,) = load("run")
    scenario = {key: value for key, value in conversation.scenario.items() if key != "digest"}
    assert scenario == {"goal": talk["goal"], "facts": {"cup": "blue"}, "persona": "Brief."}
    assert conversation.messages[0].text != talk["messages"][1]["content"]
    assert "No person wrote the messages" in card()


def test_a_log_without_words_of_a_user_is_left_out_and_told(duologue, logs):
    empty = {"id": "e", "messages": [{"role": "assistant", "content": "Hello?"}]}
    logs.write_text(logs.read_text() + json.dumps(empty) + "\n")
    code, out, err = duologue(
        "simulate", "agent_test", "--scenarios", logs, "--max-turns", "1", "--out", "run", "--json"
    )
    assert (code, json.loads(out)["planned"]) == (0, 4), err
    assert "1 of 5 conversations name no goal and have no words of a user: left out" in " ".join(err.split())
    assert manifest()["data"][0]["left_out"] == 1
    logs.write_text(json.dumps(empty) + "\n")
    code, _, err = duologue("simulate", "agent_test", "--scenarios", logs, "--out", "no")
    assert code == 2
    assert "logs.jsonl: holds no conversation that states what its user wants" in " ".join(err.split())


def test_sharegpt_is_a_log_too_and_parts_go_by_the_user_that_a_line_names(duologue, talks):
    turns = [{"from": "human", "value": "Hello?"}, {"from": "gpt", "value": "Yes?"}]
    Path("s.json").write_text(json.dumps([{"id": t["id"], "user": t["user"], "conversations": turns} for t in talks]))
    users: dict[str, list[str]] = {}
    for part in ("tune", "test"):
        code, _, err = duologue(
            "simulate", "agent_test", "--scenarios", "s.json", "--part", part, "--max-turns", "1", "--out", part
        )
        users[part] = [user_of(one) for one in load(part)] if code == 0 else []
        assert code == 0 or "none of its 4 scenarios is of a user in the part" in " ".join(err.split())
    assert {part: [talk["user"] for talk in talks if part_of(str(talk["user"])) == part] for part in users} == users


OWN = """
from duologue.graphs import simquac
from duologue.runs import write_dataset

def cast():
    return simquac.cast()
"""


def test_a_cast_of_ones_own_takes_a_kind_that_nobody_knows_as_it_is_and_says_so(duologue):
    scenario = {"kind": "own", "title": "t", "background": "", "header": "h", "section": "Ten of them.", "n": 3}
    record_lines.write([data.Conversation(id="a", scenario=scenario)], Path("r.jsonl"))
    Path("scen_own.py").write_text(OWN)
    _, _, err = duologue("simulate", "scen_own:cast", "--scenarios", "r.jsonl", "--max-turns", "1", "--out", "run")
    (conversation,) = (*load("run"), *record_lines.cut_short("run"))
    assert conversation.scenario == scenario
    assert "1 of 1 scenarios are of the kind 'own', of which no domain is known" in " ".join(err.split())


def test_a_broken_file_of_a_folder_is_named_and_the_others_are_taken(duologue, some_people):
    (some_people / "User_2" / "broken.json").write_text('{"history": [')
    count = len(recllmsim.read_folder(some_people).conversations)
    about = ("simulate", "recllmsim", "--scenarios", some_people, "--max-turns", "1", "--out", "run", "--json")
    code, out, err = duologue(*about)
    assert (code, json.loads(out)["finished"]) == (1, count)
    assert "broken.json" in err
    assert "broken.json" in manifest()["data"][0]["broken"][0]


def test_a_replayed_assistant_answers_the_users_of_one_part(duologue, some_people):
    options = ("--assistant", f"replay:{some_people}", "--part", "test", "--out", "run")
    _, _, err = duologue("simulate", "recllmsim", "--scenarios", some_people, *options)
    conversations = [*load("run"), *record_lines.cut_short("run")]
    by_path = {one.extra["path"]: one for one in recllmsim.read(some_people)}
    assert conversations, err
    for one in conversations:
        stored = by_path[one.extra["stored"]["path"]]
        replies = [message.text for message in stored.messages if message.role == "assistant"]
        assert next(message.text for message in one.messages if message.role == "assistant") in replies


def test_a_test_takes_stored_goals_with_what_counts_as_success(duologue):
    Path("my_agent.py").write_text(AGENT)
    lines = [{"goal": f"do {n}", "success": {"text_contains": "three minutes"}} for n in range(3)]
    Path("s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    about = ("test", "--assistant", "my_agent:agent", "--scenarios")
    assert duologue(*about, "s.jsonl", "--limit", "2", "--repeats", "2", "--out", "a", "--json")[0] == 0
    code, out, err = duologue(*about, "a", "--out", "b", "--json")
    assert code == 0, err
    assert json.loads(out)["planned"] == 4
    assert [one.scenario for one in load("b")] == [lines[0], lines[0], lines[1], lines[1]]
