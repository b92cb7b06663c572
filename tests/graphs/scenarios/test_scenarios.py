"""`graphs.scenarios_of`: scenarios of stored conversations, logs and lines, and what a source of them is."""

import json
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import graphs
from duologue.data import Conversation, DataError, Message
from duologue.data.formats import record_lines
from duologue.data.identity import digest
from duologue.data.people import paired, part_of, user_of
from duologue.data.records import Label
from duologue.errors import SettingError
from duologue.graphs import recllmsim
from duologue.graphs.scenarios.sources import Scenarios, ScenarioSource

PROFILE: dict[str, Any] = {"gender": "female", "age": 30, "personality": ["calm"]}
SETTINGS = graphs.casts.find("recllmsim").checked
ONE_TURN = duologue.Limits(max_turns=1)


def of_people(count: int) -> list[Conversation]:
    """Conversations of people about tasks, as records: two about each."""
    return [
        Conversation(
            id=f"p{number}",
            scenario={
                "kind": "recllmsim", "language": "en", "task": "travel", "task_context": f"You go to place {number // 2}.",
                "profile": PROFILE | {"age": 30 + number},
            },
            messages=(Message(role="user", text="Stored words."), Message(role="assistant", text="Stored reply.")),
            labels={"rating": Label(value=3)},
            extra={"variant": "human_v2", "path": f"User_{number}/a.json"},
        )
        for number in range(count)
    ]  # fmt: skip


@pytest.fixture
def people(tmp_path: Path) -> Path:
    record_lines.write(of_people(6), tmp_path / "people.jsonl")
    return tmp_path / "people.jsonl"


def written(folder: Path, *talks: Any) -> Path:
    lines = (json.dumps(talk if isinstance(talk, dict) else {"messages": talk}) + "\n" for talk in talks)
    (folder / "log.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder / "log.jsonl"


def test_one_function_gives_states_for_a_cast_and_what_the_manifest_says(people: Path, tmp_path: Path) -> None:
    taken = graphs.scenarios_of(people, "recllmsim", limit=3, repeats=2)
    assert (len(taken), taken.settings) == (6, {"language": "en"})
    talks = duologue.simulate(recllmsim.cast(**taken.settings), taken, limits=ONE_TURN, out=tmp_path / "run")
    assert [one.scenario for one in talks] == [one.scenario for one in of_people(3) for _ in range(2)]
    assert [one.repeat for one in talks] == [0, 1] * 3
    assert all((one.labels, one.extra["stored"]["id"][0]) == ({}, "p") for one in talks)
    (source,) = json.loads((tmp_path / "run" / "manifest.json").read_text())["data"]
    assert (source["source"], source["format"]) == ("people.jsonl", "JSON lines of records")
    assert len(source["source_digest"]) == 64
    with pytest.raises(SettingError, match="recllmsim: topics: Extra inputs are not permitted"):
        graphs.scenarios_of(people, "recllmsim", topics="a")


def test_equal_scenarios_keep_their_numbers_in_a_part(tmp_path: Path) -> None:
    talks = of_people(6)
    again = [one.model_copy(update={"id": f"{one.id} again"}) for one in talks]
    record_lines.write([*talks, *again], tmp_path / "t.jsonl")
    for part in ("tune", "test"):
        taken = graphs.scenarios_of(tmp_path / "t.jsonl", "recllmsim", part=part)
        names = [state["extra"]["stored"]["id"] for state in taken]
        assert [state["ordinal"] for state in taken] == [int(name.endswith("again")) for name in names]
        assert names[: len(names) // 2] == [one.id for one in talks if part_of(user_of(one)) == part] != []


def test_each_simulated_conversation_is_paired_with_its_stored_one_in_either_order(people: Path) -> None:
    stored = of_people(6)
    simulated = duologue.simulate(recllmsim.cast(), graphs.scenarios_of(people, "recllmsim"), limits=ONE_TURN)[::-1]
    for first, second in ((simulated, stored), (stored, simulated)):
        pairs = paired(first, second).pairs
        assert len(pairs) == 6
        assert all(one.scenario["profile"] == other.scenario["profile"] for one, other in pairs)
    origin = {"stored": {"id": "p0", "scenario": digest(stored[0].scenario)}}
    repeats = [stored[0].model_copy(update={"id": f"m{n}", "extra": origin}) for n in range(3)]
    assert [(a.id, b.id) for a, b in paired(repeats, stored[:2]).pairs] == [("m0", "p0")]
    other = Conversation(id="p0", scenario={"kind": "a", "n": 2})  # an id alone does not pair
    assert paired(repeats[:1], [other]).pairs == ()


def test_a_domain_of_ones_own_is_read_in_its_format_and_its_scenarios_are_taken_as_they_are(
    airline: Any, tmp_path: Path
) -> None:
    (tmp_path / "counter.log").write_text("== QX1: change a seat\nC: Hello\nD: Yes?\n== QX2: go home\nC: Hello\n")
    taken = graphs.scenarios_of(tmp_path / "counter.log", "agent_test")
    wanted = [(state["scenario"]["booking"], state["scenario"]["goal"]) for state in taken]
    assert wanted == [("QX1", "change a seat"), ("QX2", "go home")]
    assert all("messages" not in state for state in taken)


class Rooms(ScenarioSource):
    rooms: int = 2

    def own(self, settings: Any, seed: int) -> Scenarios:
        return Scenarios([{"scenario": {"kind": "room", "n": n}} for n in range(self.rooms)], {"source": "rooms"})

    def fitting(self, scenario: dict[str, Any]) -> dict[str, Any]:
        if "n" not in scenario:
            raise DataError("has no room")
        return scenario


def test_a_source_of_ones_own_has_the_options_and_says_what_it_takes(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text('{"kind": "room", "n": 7}\n')
    assert [state["scenario"]["n"] for state in Rooms().read(None, 0)] == [0, 1]
    assert [state["scenario"]["n"] for state in Rooms(scenarios=file).read(None, 0)] == [7]
    file.write_text('{"kind": "room"}\n')
    with pytest.raises(DataError, match=r"s\.jsonl: line 1: has no room"):
        Rooms(scenarios=file).read(None, 0)


TALK = [
    {"role": "system", "content": "You change flights."},
    {"role": "user", "content": "Hi, I want to move my flight."},
    {"role": "assistant", "content": "Your code and your seat, please? 12 June is full."},
    {"role": "user", "content": "QX4821. I'd like a window seat. What does it cost?"},
    {"role": "assistant", "content": "Which date?"},
    {"role": "user", "content": "To 7 June."},
    {"role": "user", "content": "Great, thanks! Goodbye."},
]


def test_later_statements_of_a_logs_user_are_facts_and_the_offline_user_answers_each_question_with_them(
    tmp_path: Path,
) -> None:
    taken = graphs.scenarios_of(written(tmp_path, TALK), "agent_test")
    (state,) = taken
    assert state["scenario"]["first_message"] == "Hi, I want to move my flight."
    facts = ["QX4821. I'd like a window seat.", "To 7 June."]
    assert [fact for fact in facts if any(fact in one for one in state["scenario"]["facts"])] == facts
    assert [message["text"] for message in state["messages"]] == ["Hi, I want to move my flight."]
    lines = iter(
        ("What is your booking code?", "To which date?", "Do you want a window or an aisle seat?", "It is moved.")
    )
    cast = graphs.agent_test.cast(assistant=lambda messages: next(lines), **taken.settings)
    (conversation,) = duologue.simulate(cast, taken)
    texts = [message.text for message in conversation.messages if message.role == "user"]
    answers = ("QX4821", "To 7 June", "I'd like a window seat")
    assert [answer in text for answer, text in zip(answers, texts[1:-1], strict=True)] == [True] * 3
    assert conversation.stop == "user_ended"


def test_a_line_of_a_log_may_name_goal_facts_profile_and_context_and_keeps_its_images(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Hi, my code is QX4821."}, {"role": "user", "content": "To 7 June."}]
    image = {"type": "image_url", "image_url": {"url": "https://host/a.png"}}
    first, second, third, fourth = graphs.scenarios_of(
        written(
            tmp_path,
            {"goal": "Move it.", "profile": {"age": 30}, "messages": said},
            {"goal": "Move it.", "facts": "The code is AB1.", "messages": said},
            {"task_context": "A trip.", "profile": "calm", "messages": [{"role": "user", "content": "Hello"}]},
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}]},
        ),
        "agent_test",
    )
    assert first["scenario"]["facts"] == [{"age": 30}, "Hi, my code is QX4821.", "To 7 June."]
    assert second["scenario"]["facts"] == "The code is AB1."
    assert (third["scenario"]["goal"], third["scenario"]["facts"]) == ("A trip.", "calm")
    (talk,) = duologue.simulate(graphs.agent_test.cast(), [fourth], limits=ONE_TURN)
    assert (talk.messages[0].text, talk.messages[0].parts[0].url) == ("What is it?", "https://host/a.png")
