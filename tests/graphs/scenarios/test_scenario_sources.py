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


def test_a_first_message_of_a_log_keeps_its_images(tmp_path):
    image = {"type": "image_url", "image_url": {"url": "https://host/a.png"}}
    talk = {"messages": [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}]}
    (tmp_path / "l.jsonl").write_text(json.dumps(talk) + "\n")
    (state,) = graphs.scenarios_of(tmp_path / "l.jsonl", "agent_test")
    assert state["messages"][0]["text"] == "What is it?"
    assert state["messages"][0]["parts"][0]["url"] == "https://host/a.png"
    conversations = duologue.simulate(graphs.agent_test.cast(), [state], limits=duologue.Limits(max_turns=1))
    assert conversations[0].messages[0].parts[0].url == "https://host/a.png"


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


def test_a_line_of_a_log_may_name_a_profile_and_a_task_context(tmp_path: Path) -> None:
    line = {"task_context": "A trip.", "profile": "calm", "messages": [{"role": "user", "content": "Hello"}]}
    (tmp_path / "log.jsonl").write_text(json.dumps(line) + "\n")
    (state,) = graphs.scenarios_of(tmp_path / "log.jsonl", "agent_test")
    assert (state["scenario"]["goal"], state["scenario"]["facts"]) == ("A trip.", "calm")


def test_a_task_with_its_context_needs_no_kind(tmp_path: Path) -> None:
    line = {"task": "travel", "task_context": "A trip.", "preference": "1. Gender: Female"}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(line) + "\n")
    (state,) = graphs.scenarios_of(tmp_path / "tasks.jsonl", "recllmsim")
    assert (state["scenario"]["kind"], state["scenario"]["language"]) == ("recllmsim", "en")


QUESTIONS = ("What is your booking code?", "To which date?", "Do you want a window or an aisle seat?")
ZH_QUESTIONS = ("请问您的订单号是多少？", "您想改到哪一天？", "您想要靠窗还是靠走道？")
TALKS = {
    "openai": [
        {"role": "system", "content": "You change flights."},
        {"role": "user", "content": "Hi, I want to move my flight."},
        {"role": "assistant", "content": "Your code and your seat, please? 12 June is full."},
        {"role": "user", "content": "QX4821. I'd like a window seat. What does it cost?"},
        {"role": "assistant", "content": "Which date?"},
        {"role": "user", "content": "To 7 June."},
        {"role": "user", "content": "Great, thanks! Goodbye."},
    ],
    "anthropic": [
        {"role": "user", "content": [{"type": "text", "text": "Hi, I want to move my flight."}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "find", "input": {"code": "ZZ1111"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "No flight ZZ1111."}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Code and seat?"}]},
        {"role": "user", "content": [{"type": "text", "text": "QX4821. I'd like a window seat."}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Which date?"}]},
        {"role": "user", "content": [{"type": "text", "text": "To 7 June."}]},
    ],
}  # fmt: skip


def written(folder: Path, *talks: Any) -> Path:
    lines = (json.dumps(talk if isinstance(talk, dict) else {"messages": talk}) + "\n" for talk in talks)
    (folder / "log.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder / "log.jsonl"


@pytest.mark.parametrize("shape", TALKS)
def test_later_statements_of_a_logs_user_are_the_facts_of_its_scenario(shape, tmp_path):
    (state,) = graphs.scenarios_of(written(tmp_path, TALKS[shape]), "agent_test")
    assert state["scenario"]["first_message"] == "Hi, I want to move my flight."
    assert state["scenario"]["facts"] == ["QX4821. I'd like a window seat.", "To 7 June."]
    assert [message["text"] for message in state["messages"]] == ["Hi, I want to move my flight."]


def test_of_a_line_with_a_goal_the_first_message_states_facts_too_and_facts_of_its_own_hold_alone(tmp_path):
    talk = [{"role": "user", "content": "Hi, my code is QX4821."}, {"role": "user", "content": "To 7 June."}]
    lines = [
        {"goal": "Move it.", "profile": {"age": 30}, "messages": talk},
        {"goal": "Move it.", "facts": "The code is AB1.", "messages": talk},
    ]
    first, second = graphs.scenarios_of(written(tmp_path, *lines), "agent_test")
    assert first["scenario"]["facts"] == [{"age": 30}, "Hi, my code is QX4821.", "To 7 June."]
    assert second["scenario"]["facts"] == "The code is AB1."


def asking(questions):
    """An agent that asks these questions and then reports success."""

    def reply(messages):
        asked_before = sum(message["role"] == "assistant" for message in messages)
        done = "已经为您改签了。" if questions is ZH_QUESTIONS else "I have moved your flight."
        return questions[asked_before] if asked_before < len(questions) else done

    return reply


@pytest.mark.parametrize(
    ("talk", "questions", "answers"),
    [
        (TALKS["openai"], QUESTIONS, ("QX4821", "To 7 June", "I'd like a window seat")),
        (
            [
                {"role": "user", "content": "你好，我想改签机票。"},
                {"role": "assistant", "content": "改到哪一天？"},
                {"role": "user", "content": "改到六月七日。"},
                {"role": "user", "content": "我想要靠窗的座位。订单号是 TR9310。"},
                {"role": "user", "content": "谢谢，再见。"},
            ],
            ZH_QUESTIONS,
            ("订单号是 TR9310", "改到六月七日", "我想要靠窗的座位"),
        ),
    ],
)
def test_the_offline_user_of_a_log_answers_each_question_with_what_that_person_stated(
    talk, questions, answers, tmp_path
):
    taken = graphs.scenarios_of(written(tmp_path, talk), "agent_test")
    cast = graphs.agent_test.cast(assistant=asking(questions), **taken.settings)
    (conversation,) = duologue.simulate(cast, taken)
    texts = [message.text for message in conversation.messages if message.role == "user"]
    assert [answer in text for answer, text in zip(answers, texts[1:-1], strict=True)] == [True] * 3
    assert conversation.stop == "user_ended"


def test_a_folder_that_is_no_run_is_said_to_be_read_as_conversations(tmp_path):
    written(tmp_path, TALKS["openai"])
    taken = graphs.scenarios_of(tmp_path, "agent_test")
    line = "is not a run folder: its files are read as conversations"
    assert taken.notes[0] == f"{tmp_path}: {line}"
    assert not any(line in note for note in graphs.scenarios_of(tmp_path / "log.jsonl", "agent_test").notes)
    with pytest.raises(DataError, match=rf"the scenario names no kind.* \({tmp_path} {line}; name a run or a file\)$"):
        graphs.scenarios_of(tmp_path, "recllmsim")
    duologue.simulate(graphs.agent_test.cast(), taken, limits=duologue.Limits(max_turns=1), out=tmp_path / "run")
    with pytest.raises(DataError) as of_run:
        graphs.scenarios_of(tmp_path / "run", "recllmsim")
    assert line not in str(of_run.value)
