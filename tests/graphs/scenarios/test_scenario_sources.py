"""`graphs.scenarios_of`: scenarios of stored conversations in Python, and what a source of them is."""

import json
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import data, graphs
from duologue.data import Conversation, DataError, Domain, Message, domains
from duologue.data.formats import record_lines
from duologue.data.identity import digest
from duologue.data.people.pairing import paired, topic_key
from duologue.data.people.splits import part_of, user_of
from duologue.data.scenarios import ScenarioReader
from duologue.errors import SettingError
from duologue.graphs import recllmsim
from duologue.graphs.scenarios.tasks import TaskSource

PROFILE: dict[str, Any] = {"gender": "female", "age": 30, "personality": ["calm"]}


def of_people(count: int) -> list[Conversation]:
    """Conversations of people about tasks, as records."""
    return [
        Conversation(
            id=f"p{number}",
            scenario={
                "kind": "recllmsim", "language": "en", "task": "travel", "task_context": f"You go to place {number // 2}.",
                "profile": PROFILE | {"age": 30 + number},
            },
            messages=(Message(role="user", text="Stored words."), Message(role="assistant", text="Stored reply.")),
            labels={"rating": 3},
            extra={"variant": "human_v2", "path": f"User_{number}/a.json"},
        )
        for number in range(count)
    ]  # fmt: skip


@pytest.fixture
def people(tmp_path: Path) -> Path:
    record_lines.write(of_people(6), tmp_path / "people.jsonl")
    return tmp_path / "people.jsonl"


def test_in_python_one_function_gives_states_for_a_cast_and_what_the_manifest_says(people, tmp_path):
    taken = graphs.scenarios_of(people, "recllmsim", limit=3, repeats=2)
    assert (len(taken), taken.settings) == (6, {"language": "en"})
    conversations = duologue.simulate(
        graphs.recllmsim.cast(**taken.settings), taken, limits=duologue.Limits(max_turns=1), out=tmp_path / "run"
    )
    assert [one.scenario for one in conversations] == [one.scenario for one in of_people(3) for _ in range(2)]
    assert all((one.labels, one.extra["stored"]["id"][0]) == ({}, "p") for one in conversations)
    (source,) = json.loads((tmp_path / "run" / "manifest.json").read_text())["data"]
    assert (source["source"], source["format"]) == ("people.jsonl", "JSON lines of records")
    assert len(source["source_digest"]) == 64


def test_it_is_what_the_command_takes(people):
    by_function = graphs.scenarios_of(people, "recllmsim", part="test")
    source = graphs.casts.find("recllmsim").source(scenarios=people, part="test")
    assert source.read(graphs.casts.find("recllmsim").checked({}), 0) == by_function


def test_an_option_that_there_is_not_is_one_line(people):
    with pytest.raises(SettingError, match="recllmsim: topics: Extra inputs are not permitted"):
        graphs.scenarios_of(people, "recllmsim", topics="a")
    with pytest.raises(SettingError, match="recllmsim: limit: Input should be greater than or equal to 1"):
        graphs.scenarios_of(people, "recllmsim", limit=0)
    with pytest.raises(SettingError, match="there is no cast 'recllm'"):
        graphs.scenarios_of(people, "recllm")


def test_equal_scenarios_keep_their_numbers_in_a_part(tmp_path):
    talks = of_people(6)
    record_lines.write(
        [*talks, *(one.model_copy(update={"id": f"{one.id} again"}) for one in talks)], tmp_path / "t.jsonl"
    )
    ids: dict[str, list[str]] = {}
    for part in ("tune", "test"):
        taken = graphs.scenarios_of(tmp_path / "t.jsonl", "recllmsim", part=part)
        numbers = [(state["extra"]["stored"]["id"], state["ordinal"]) for state in taken]
        assert all(ordinal == name.endswith("again") for name, ordinal in numbers)
        ids[part] = [name for name, _ in numbers]
        assert ids[part][: len(ids[part]) // 2] == [one.id for one in talks if part_of(user_of(one)) == part]
    assert len(ids["tune"]) + len(ids["test"]) == 12
    assert min(map(len, ids.values())) > 0


def test_a_part_without_a_user_is_one_line(tmp_path):
    (talk,) = of_people(1)
    record_lines.write([talk], tmp_path / "t.jsonl")
    other = "tune" if part_of(user_of(talk)) == "test" else "test"
    with pytest.raises(DataError, match=f"t.jsonl: none of its 1 scenarios is of a user in the part '{other}': give"):
        graphs.scenarios_of(tmp_path / "t.jsonl", "recllmsim", part=other)


def test_each_simulated_conversation_is_paired_with_its_stored_one_in_either_order(people):
    stored = of_people(6)  # two of each topic, of different people
    taken = graphs.scenarios_of(people, "recllmsim")
    simulated = duologue.simulate(graphs.recllmsim.cast(), taken, limits=duologue.Limits(max_turns=1))[::-1]
    for first, second in ((simulated, stored), (stored, simulated)):
        pairing = paired(first, second)
        assert len(pairing.pairs) == 6
        assert all(one.scenario["profile"] == other.scenario["profile"] for one, other in pairing.pairs)
    assert all(topic_key(one) == topic_key(other) for one, other in paired(simulated, stored).pairs)


def test_an_id_alone_does_not_pair_conversations_about_different_things():
    one = Conversation(id="x", scenario={"kind": "a", "n": 1}, extra={"stored": {"id": "1", "scenario": "0" * 64}})
    other = Conversation(id="1", scenario={"kind": "a", "n": 2})
    assert paired([one], [other]).pairs == ()
    odd = one.model_copy(update={"extra": {"stored": ["1"]}})
    assert paired([odd], [other]).pairs == ()


def test_of_repeats_the_first_is_paired_with_the_stored_conversation(people):
    taken = graphs.scenarios_of(people, "recllmsim", limit=1, repeats=2)
    simulated = duologue.simulate(graphs.recllmsim.cast(), taken, limits=duologue.Limits(max_turns=1))
    pairing = paired(simulated, of_people(1))
    assert [one.repeat for one, _ in pairing.pairs] == [0]
    assert [one.repeat for one in pairing.only_first] == [1]


def test_sides_that_replay_two_folders_are_noted_and_those_that_replay_one_are_not(people, tmp_path):
    record_lines.write(of_people(6), tmp_path / "others.jsonl")
    one, other = f"replay:{people}", f"replay:{tmp_path / 'others.jsonl'}"
    notes = [
        TaskSource().read(recllmsim.RecLLMSimSettings(user=user, assistant=assistant), seed=0).notes
        for user, assistant in ((one, other), (one, one), (one, "offline"))
    ]
    assert [any("replay two folders" in note for note in of_source) for of_source in notes] == [True, False, False]


@pytest.mark.parametrize("contexts", ["0,2", ["0", "2"], ["0,2"]])
def test_contexts_are_numbers_with_commas_or_one_each(contexts):
    source = TaskSource.model_validate({"contexts": contexts, "sample": 1})
    assert len(source.read(recllmsim.RecLLMSimSettings(), seed=0).states) == 10


def test_shipped_tasks_with_shipped_profiles_alone_come_with_their_licence(tmp_path):
    (tmp_path / "tasks.yaml").write_text("travel: {prompt: You go to $place., options: {place: [Rome, Oslo]}}\n")
    settings = recllmsim.RecLLMSimSettings()
    shipped = TaskSource(sample=1).read(settings, seed=0).source
    own = TaskSource(sample=1, tasks=tmp_path / "tasks.yaml").read(settings, seed=0).source
    assert (shipped["licence_id"], own.get("licence_id")) == ("mit", None)


def test_a_run_is_read_one_conversation_at_a_time(tmp_path, monkeypatch):
    topics = data.simquac.samples()[:4]
    duologue.simulate(
        graphs.simquac.cast(),
        graphs.simquac.scenarios(topics),
        limits=duologue.Limits(max_turns=1),
        out=tmp_path / "run",
    )
    numbers: list[int] = []
    of_run = ScenarioReader(tmp_path / "run")
    for number, scenario in enumerate(of_run):
        numbers.append(number)
        assert scenario.conversation is not None
    assert numbers == [0, 1, 2, 3]
    monkeypatch.setattr(record_lines.StoredRun, "load", lambda run: pytest.fail("the whole run is held"))
    assert len(graphs.scenarios_of(tmp_path / "run", "simquac")) == 4


def test_the_digest_of_a_source_is_that_of_its_files(people, tmp_path):
    first = ScenarioReader(people).digest
    assert ScenarioReader(people).digest == first
    people.write_text(people.read_text().replace("Stored words", "Other words"))
    assert ScenarioReader(people).digest != first
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.jsonl").write_text(people.read_text())
    (folder / ".hidden").write_text("x")
    before = ScenarioReader(folder).digest
    (folder / ".hidden").write_text("y")
    assert ScenarioReader(folder).digest == before
    (folder / "a.jsonl").rename(folder / "b.jsonl")
    assert ScenarioReader(folder).digest != before


@pytest.mark.parametrize(
    ("line", "format"),
    [
        ({"goal": "a", "messages": "none"}, "JSON lines of scenarios"),
        ({"goal": "a", "messages": [{"role": "user", "content": "b"}]}, "JSON lines of messages"),
        ({"kind": "own", "data": [1]}, "JSON lines of scenarios"),
        ({"kind": "recllmsim", "task_context": "a", "profile": {}}, "JSON lines of scenarios"),
        ({"title": "t", "section": "s"}, "JSON lines of scenarios"),
    ],
)
def test_a_line_is_a_scenario_unless_it_holds_messages(tmp_path, line, format):
    (tmp_path / "s.jsonl").write_text(json.dumps(line) + "\n")
    assert ScenarioReader(tmp_path / "s.jsonl").format == format


def test_spans_of_a_trace_are_conversations_although_they_have_a_kind(tmp_path):
    span = {"name": "chat", "kind": "CLIENT", "context": {"trace_id": "1", "span_id": "2"}, "attributes": {}}
    (tmp_path / "s.jsonl").write_text(json.dumps(span) + "\n")
    with pytest.raises(DataError, match="holds spans without messages"):
        graphs.scenarios_of(tmp_path / "s.jsonl", "agent_test")


def test_a_domain_of_ones_own_is_read_in_its_format_and_its_scenarios_are_taken_as_they_are(airline, tmp_path):
    (tmp_path / "counter.log").write_text(
        "== QX1: change a seat\nC: Hello\nD: Yes?\n== QX2: go home\nC: Hello\nD: Yes?\n"
    )
    taken = graphs.scenarios_of(tmp_path / "counter.log", "agent_test")
    assert [(s["scenario"]["booking"], s["scenario"]["goal"]) for s in taken] == [
        ("QX1", "change a seat"),
        ("QX2", "go home"),
    ]
    assert all("messages" not in state for state in taken)


def test_a_source_of_ones_own_has_the_option_and_says_what_it_takes(tmp_path):
    from duologue.graphs.scenarios.sources import Scenarios, ScenarioSource

    class Rooms(ScenarioSource):
        rooms: int = 2

        def own(self, settings: Any, seed: int) -> Scenarios:
            return Scenarios([{"scenario": {"kind": "room", "n": n}} for n in range(self.rooms)], {"source": "rooms"})

        def fitting(self, scenario: dict[str, Any]) -> dict[str, Any]:
            if "n" not in scenario:
                raise DataError("has no room")
            return scenario

    (tmp_path / "s.jsonl").write_text('{"kind": "room", "n": 7}\n')
    assert [state["scenario"]["n"] for state in Rooms().read(None, 0)] == [0, 1]
    assert [state["scenario"]["n"] for state in Rooms(scenarios=tmp_path / "s.jsonl").read(None, 0)] == [7]
    (tmp_path / "s.jsonl").write_text('{"kind": "room"}\n')
    with pytest.raises(DataError, match=r"s\.jsonl: line 1: has no room"):
        Rooms(scenarios=tmp_path / "s.jsonl").read(None, 0)


def test_a_registered_kind_whose_format_knows_only_messages_is_not_taken_for_a_log(own_registry, tmp_path):
    class Hotel(Domain):
        kind = "hotel"

    domains.register(Hotel())
    talk = Conversation(id="a", scenario={"kind": "hotel", "digest": "d"}, messages=(Message(role="user", text="Hi"),))
    record_lines.write([talk], tmp_path / "r.jsonl")
    (scenario,) = ScenarioReader(tmp_path / "r.jsonl")
    assert (scenario.scenario, scenario.opening) == (talk.scenario, None)


def test_more_conversations_than_a_run_holds_are_refused(people, monkeypatch):
    monkeypatch.setattr("duologue.graphs.scenarios.sources.MOST_SCENARIOS", 10)
    assert len(graphs.scenarios_of(people, "recllmsim")) == 6
    with pytest.raises(DataError, match="12 conversations are planned, the bound is 10: choose by --limit or --part"):
        graphs.scenarios_of(people, "recllmsim", repeats=2)


def test_logs_that_name_no_topic_are_paired_with_what_was_simulated_on_them(tmp_path):
    talks = [{"id": f"t{n}", "messages": [{"role": "user", "content": f"Question {n % 2}?"}]} for n in range(4)]
    (tmp_path / "l.jsonl").write_text("".join(json.dumps(talk) + "\n" for talk in talks))
    stored = list(duologue.load(tmp_path / "l.jsonl"))
    taken = graphs.scenarios_of(tmp_path / "l.jsonl", "agent_test")
    simulated = duologue.simulate(graphs.agent_test.cast(), taken, limits=duologue.Limits(max_turns=1))[::-1]
    assert [(a.extra["stored"]["id"], b.id) for a, b in paired(simulated, stored).pairs] == [
        (f"t{n}",) * 2 for n in (3, 2, 1, 0)
    ]
    assert [(a.id, b.extra["stored"]["id"]) for a, b in paired(stored, simulated).pairs] == [
        (f"t{n}",) * 2 for n in range(4)
    ]


def test_what_is_simulated_on_a_persons_scenario_is_in_that_persons_half(people: Path, tmp_path: Path) -> None:
    for part in ("tune", "test"):
        states = graphs.scenarios_of(people, "recllmsim", part=part)
        run = tmp_path / part
        duologue.simulate(graphs.recllmsim.cast(), states, limits=duologue.Limits(max_turns=1), out=run)
        other = "test" if part == "tune" else "tune"
        assert len(graphs.scenarios_of(run, "recllmsim", part=part)) == len(states) > 0
        with pytest.raises(DataError, match="none of its"):
            graphs.scenarios_of(run, "recllmsim", part=other)


def test_a_repeat_has_no_other_partner_than_its_own_stored_conversation() -> None:
    stored = of_people(2)  # of two people about the same context
    origin = {"stored": {"id": "p0", "scenario": digest(stored[0].scenario)}}
    simulated = [stored[0].model_copy(update={"id": f"m{n}", "extra": origin}) for n in range(3)]
    pairing = paired(simulated, stored)
    assert [(a.id, b.id) for a, b in pairing.pairs] == [("m0", "p0")]
    assert [one.id for one in pairing.only_first] == ["m1", "m2"]


def test_a_task_with_its_context_needs_no_kind(tmp_path: Path) -> None:
    line = {"task": "travel", "task_context": "A trip.", "preference": "1. Gender: Female"}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(line) + "\n")
    (state,) = graphs.scenarios_of(tmp_path / "tasks.jsonl", "recllmsim")
    assert (state["scenario"]["kind"], state["scenario"]["language"]) == ("recllmsim", "en")
