"""Simulating: the same whatever the order, and one failure apart from the others."""

import gc
import multiprocessing
import traceback

import pytest

import duologue
from duologue import data, runs
from duologue.data import Message
from duologue.errors import DataError
from duologue.graphs import simquac
from duologue.nodes import Limits
from duologue.nodes.calls.gate import EndpointError

CAST = {"user": "offline?two_questions=0.2&reasoning=0.1", "assistant": "offline?misbehave=0.4"}


def test_conversations_come_in_the_order_of_the_scenarios(topics):
    conversations = duologue.simulate(
        simquac.cast(), simquac.scenarios(topics()), limits=Limits(max_turns=2), concurrency=5
    )
    assert [c.scenario["title"] for c in conversations] == [f"Place {n}" for n in range(6)]


@pytest.mark.heavy
def test_concurrency_and_order_change_nothing(tmp_path, topics, lines):
    scenarios = runs.repeated(simquac.scenarios(topics()), 2)
    for name, order, concurrency in (("a", scenarios, 1), ("b", scenarios, 7), ("c", scenarios[::-1], 3)):
        duologue.simulate(
            simquac.cast(**CAST),
            order,
            limits=Limits(seed=5, max_turns=6),
            concurrency=concurrency,
            out=tmp_path / name,
        )
    assert lines(tmp_path / "a") == lines(tmp_path / "b") == lines(tmp_path / "c")
    one, other = (runs.write_dataset(tmp_path / name)[0].read_bytes() for name in "ab")
    assert one == other
    assert len(lines(tmp_path / "a")) == 12


def test_another_seed_gives_other_conversations(topics):
    texts = []
    for seed in (1, 2):
        conversations = duologue.simulate(simquac.cast(**CAST), simquac.scenarios(topics(2)), limits=Limits(seed=seed))
        texts.append([[m.text for m in c.messages] for c in conversations])
    assert texts[0] != texts[1]


def test_repeats_of_a_scenario_differ(topics):
    conversations = duologue.simulate(simquac.cast(), runs.repeated(simquac.scenarios(topics(1)), 3))
    assert len({tuple(m.text for m in c.messages) for c in conversations}) == 3
    assert len({c.id for c in conversations}) == 3


def test_the_plan_of_equal_scenarios_takes_as_many_steps_for_each_however_many_there_are(topics, steps):
    cast, (scenario,) = simquac.cast(), simquac.scenarios(topics(1))
    few, many = (steps(runs.planned, cast, [scenario] * count) for count in (20, 200))
    assert many < 11 * few
    mixed = [scenario, {**scenario, "ordinal": 1}, scenario, {**scenario, "ordinal": 1}, scenario]
    assert [state["ordinal"] for state in runs.planned(cast, mixed)] == [0, 1, 2, 3, 4]


def test_equal_scenarios_are_each_simulated(topics):
    conversations = duologue.simulate(simquac.cast(), [simquac.scenario(topics(1)[0])] * 3, limits=Limits(max_turns=1))
    assert [c.ordinal for c in conversations] == [0, 1, 2]
    assert len({c.id for c in conversations}) == 3


def test_ids_hang_on_what_is_simulated_and_not_on_its_place(topics):
    first = duologue.simulate(simquac.cast(), simquac.scenarios(topics(3)), limits=Limits(max_turns=1))
    again = duologue.simulate(simquac.cast(), simquac.scenarios(topics(3)[1:]), limits=Limits(max_turns=1))
    assert [c.id for c in first][1:] == [c.id for c in again]


async def test_simulating_works_inside_a_running_loop(topics):
    conversations = duologue.simulate(simquac.cast(), simquac.scenarios(topics(1)), limits=Limits(max_turns=1))
    twin = await duologue.asimulate(simquac.cast(), simquac.scenarios(topics(1)), limits=Limits(max_turns=1))
    assert [c.without_timing() for c in conversations] == [c.without_timing() for c in twin]


def test_a_conversation_without_any_limit_meets_the_fuse_and_loses_nothing(monkeypatch, topics):
    monkeypatch.setattr("duologue.runs.engine.fuse", lambda limits, graph: 40)
    cast = simquac.cast().replace(stop=lambda state, limits: None, limits=Limits())
    (conversation,) = duologue.simulate(cast, simquac.scenarios(topics(1)))
    assert conversation.stop == "budget"
    assert "no stop criterion held" in conversation.failure.error
    assert len(conversation.messages) >= 2


def test_a_broken_node_of_ones_own_ends_its_conversation_with_the_reason(topics):
    async def wrong(state, runtime):
        return {"drafts": "Who?"}

    (conversation,) = duologue.simulate(simquac.cast().replace(user_simulator=wrong), simquac.scenarios(topics(1)))
    assert conversation.stop == "model_failed"
    assert "user_simulator: drafts: " in conversation.failure.error


def test_damaged_replies_of_a_run_are_paid_again_and_a_named_file_that_is_none_is_refused(tmp_path, topics, caplog):
    asked = []

    def user(messages):
        asked.append(len(messages))
        return "Who lived there?"

    def assistant(messages):
        if len(asked) < 2:
            raise RuntimeError("not yet")
        return "Three keepers lived there."

    def simulated(**where):
        cast = simquac.cast(user=user, assistant=assistant)
        return duologue.simulate(cast, simquac.scenarios(topics(1)), limits=Limits(max_turns=1), **where)

    replies, named = tmp_path / "run/replies.sqlite", tmp_path / "notes.txt"
    assert [one.stop for one in simulated(out=tmp_path / "run")] == ["model_failed"]
    replies.write_bytes(b"?" * replies.stat().st_size)
    assert [one.stop for one in simulated(out=tmp_path / "run")] == ["max_turns"]
    assert (len(asked), [one.getMessage().count("is damaged") for one in caplog.records].count(1)) == (2, 1)
    named.write_text("Mine.")
    with pytest.raises(DataError, match="holds no replies"):
        simulated(out=tmp_path / "other", replies=named)
    assert (named.read_text(), sorted(one.name for one in tmp_path.iterdir())) == (
        "Mine.",
        ["notes.txt", "other", "run"],
    )


def test_topics_in_place_of_scenarios_are_refused_with_what_to_do(topics):
    with pytest.raises(
        TypeError, match=r"scenarios\[0\]: expected an initial state, got Topic: make a list .*scenarios\(topics\)"
    ):
        duologue.simulate(simquac.cast(), topics(1))


def test_forks_of_one_topic_keep_their_ids_in_any_order(topics):
    topic = topics(1)[0]
    forks = [simquac.scenario(topic, messages=[Message(role="user", text=text)]) for text in ("Who?", "When?")]
    ids = []
    for order in (forks, forks[::-1]):
        conversations = duologue.simulate(simquac.cast(), order, limits=Limits(max_turns=1))
        ids.append({c.messages[0].text: c.id for c in conversations})
    assert ids[0] == ids[1]
    assert len(set(ids[0].values())) == 2


def test_a_state_that_is_none_is_written_down_as_a_failure(tmp_path, topics):
    scenario = simquac.scenario(topics(1)[0]) | {"labels": {"x": {1: 2}}}
    (conversation,) = duologue.simulate(simquac.cast(), [scenario], limits=Limits(max_turns=1))
    assert conversation.stop in ("model_failed", "max_turns")


def test_simulating_from_within_a_simulation_is_refused_and_does_not_hang(topics):
    async def nested(state, runtime):
        duologue.simulate(simquac.cast(), simquac.scenarios(topics(1)), limits=Limits(max_turns=1))
        return {"drafts": []}

    (conversation,) = duologue.simulate(simquac.cast().replace(assistant=nested), simquac.scenarios(topics(1)))
    assert "await asimulate there" in conversation.failure.error


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_simulates_too(topics):
    duologue.simulate(simquac.cast(), simquac.scenarios(topics(1)), limits=Limits(max_turns=1))
    child = multiprocessing.get_context("fork").Process(target=_in_child, args=(topics(2),))
    child.start()
    child.join(timeout=900)
    assert child.exitcode == 0


def _in_child(topics):
    assert len(duologue.simulate(simquac.cast(), simquac.scenarios(topics), limits=Limits(max_turns=1))) == 2


def test_a_sample_is_drawn_by_the_seed_alone(topics):
    scenarios = simquac.scenarios(topics(40))
    drawn = runs.chosen(scenarios, sample=5, seed=1)
    assert drawn == runs.chosen(scenarios, sample=5, seed=1)
    assert drawn != runs.chosen(scenarios, sample=5, seed=2)
    assert [s for s in scenarios if s in drawn] == drawn
    with pytest.raises(ValueError, match="a sample of 41 cannot be drawn from 40"):
        runs.chosen(scenarios, sample=41)


def alive():
    return sum(isinstance(thing, data.Conversation) for thing in gc.get_objects())


@pytest.mark.usefixtures("only_new_objects")
@pytest.mark.parametrize("goes_on", [False, True])
async def test_a_run_holds_no_conversation_that_is_over(tmp_path, monkeypatch, topics, goes_on):
    scenarios, limits = runs.repeated(simquac.scenarios(topics()), 5), Limits(max_turns=1)
    settings = runs.RunSettings(out=tmp_path / "r", concurrency=2)
    if goes_on:
        await runs.arun({"": simquac.cast()}, scenarios[:25], settings, limits=limits)
    gc.collect()
    before, most = alive(), []
    for name in ("plain", "model_validate", "model_validate_json"):  # a record is written, read, and read again
        method = getattr(data.Conversation, name)

        def counted(*arguments, method=method):
            most.append(alive() - before)
            return method(*arguments)

        monkeypatch.setattr(data.Conversation, name, counted)
    run = await runs.arun({"": simquac.cast()}, scenarios, settings, limits=limits)
    assert sum(1 for _ in run.attempted()) == 30
    assert len(most) >= 60
    assert max(most) <= 4


def test_a_wrong_key_is_raised_without_the_way_that_it_took_through_the_package(faulty, topics, monkeypatch, tmp_path):
    served = faulty(status=401)
    for name, value in served.environment.items():
        monkeypatch.setenv(name, value)
    cast = simquac.cast(user="openai:m", assistant="openai:m")
    for out in (None, tmp_path / "r"):
        with pytest.raises(EndpointError) as caught:
            duologue.simulate(cast, simquac.scenarios(topics(3)), out=out)
        lines = "".join(traceback.format_exception(caught.value)).splitlines()
        assert len([line for line in lines if line.startswith("  File ")]) <= 4
        assert "wrong_key" in lines[-1]


def test_conversations_that_a_bound_cut_short_are_warned_of(topics, caplog):
    conversations = duologue.simulate(simquac.cast(), simquac.scenarios(topics(4)), max_tokens=900)
    cut = sum(conversation.cut_by_run for conversation in conversations)
    warnings = [record.getMessage() for record in caplog.records if record.name.startswith("duologue")]
    assert cut > 0
    assert warnings[0].startswith(f"{cut} of 4 conversations were cut short: --max-tokens 900 is reached, with ")
