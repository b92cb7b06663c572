"""Simulated users in the ConversationSimulator of the installed MLflow: same words as by hand, and no model is asked."""

import contextlib

import pytest

pytest.importorskip("mlflow")

import mlflow
from mlflow.genai.scorers import scorer
from mlflow.genai.simulators import ConversationSimulator

import duologue
from duologue.errors import DataError, SettingError
from duologue.hosts import Users
from duologue.hosts import mlflow as host

MOVE = {"goal": "move my flight to 2026-05-03", "facts": ["The booking code is QX4821."]}
TABLE = {"goal": "book a table for two", "facts": ["The name is Quill."], "persona": "In a hurry."}


def reply(messages):
    heard = " ".join(message["content"] for message in messages if message["role"] == "user")
    return "Done: it is booked." if "QX4821" in heard or "Quill" in heard else "Which is your code or name?"


def agent(messages, **others):
    return {"choices": [{"message": {"role": "assistant", "content": reply(messages)}}]}


def by_hand(scenario, **settings):
    user, messages = duologue.user(scenario=scenario, **settings), []
    while not isinstance(answer := user.reply_now(messages), duologue.hosts.UserEnded):
        messages.append({"role": "user", "content": answer.text})
        messages.append({"role": "assistant", "content": reply(messages)})
    return [message["content"] for message in messages if message["role"] == "user"]


@pytest.fixture(autouse=True, scope="module")
def store(tmp_path_factory):
    """Runs and traces of these tests only; the store keeps the folder in which it is made."""
    folder = tmp_path_factory.mktemp("mlflow")
    with contextlib.chdir(folder):
        mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
        mlflow.search_experiments()


@pytest.fixture
def no_model(monkeypatch):
    """A model that is asked fails the test."""
    asked = []
    monkeypatch.setattr("mlflow.genai.simulators.simulator.invoke_model_without_tracing", lambda **a: asked.append(a))
    yield
    assert asked == []


def heard(traces):
    """The user's messages of a conversation, by what its last trace was given."""
    messages = traces[-1].data.spans[0].inputs["messages"]
    return [message["content"] for message in messages if message["role"] == "user"]


def test_each_test_case_has_its_user_which_ends_the_conversation(no_model):
    users = Users(seed=3)
    conversations = host.UserConversations([MOVE, TABLE], users, max_turns=8).simulate(agent)
    assert [heard(traces) for traces in conversations] == [by_hand(MOVE, seed=3), by_hand(TABLE, seed=3)]
    assert {conversation.stop for conversation in users.conversations} == {"user_ended"}


def test_it_is_the_data_of_an_evaluation(no_model):
    @scorer
    def is_booked(outputs):
        return "booked" in str(outputs)

    simulator = host.UserConversations([MOVE], Users(seed=3))
    result = mlflow.genai.evaluate(data=simulator, predict_fn=agent, scorers=[is_booked])
    values = list(result.result_df["is_booked/value"])
    assert values.count(True) == 1
    assert len(values) == len(by_hand(MOVE, seed=3))


def test_one_user_for_all_test_cases(no_model):
    customer = duologue.user(**MOVE, seed=3)
    [traces] = host.UserConversations([{"goal": "anything else"}], customer).simulate(agent)
    assert heard(traces) == by_hand(MOVE, seed=3)


def test_guidelines_and_persona_are_the_users_and_the_context_the_agents(no_model):
    seen = []

    def with_context(messages, seat, **others):
        seen.append(seat)
        return agent(messages)

    case = {**TABLE, "context": {"seat": "window"}, "simulation_guidelines": ["Write short."]}
    users = Users(seed=3)
    host.UserConversations([case], users).simulate(with_context)
    assert set(seen) == {"window"}
    [conversation] = users.conversations
    assert conversation.scenario["persona"] == "In a hurry.\nWrite short."


def test_test_cases_in_a_frame(no_model):
    pandas = pytest.importorskip("pandas")
    users = Users(seed=3)
    host.UserConversations(pandas.DataFrame([{"goal": "book a table for two"}]), users, max_turns=2).simulate(agent)
    assert [conversation.scenario["goal"] for conversation in users.conversations] == ["book a table for two"]


def test_in_mlflows_own_simulator_settings_travel_and_a_model_checks_the_goal(monkeypatch):
    asked = []

    def model(**arguments):
        asked.append(arguments["model_uri"])
        return '{"rationale": "booked", "result": "yes"}'

    monkeypatch.setattr("mlflow.genai.simulators.simulator.invoke_model_without_tracing", model)
    simulator = ConversationSimulator(
        [{"goal": MOVE["goal"]}], user_model="openai:/NAME", user_agent_class=host.UserAgent, seed=4
    )
    [traces] = simulator.simulate(agent)
    assert heard(traces) == by_hand({"goal": MOVE["goal"]}, seed=4)[:1]
    assert asked == ["openai:/NAME"]


def test_after_its_end_it_says_so_in_one_line():
    agent_of_mlflow = host.UserAgent(max_turns=1)
    context = mlflow.genai.simulators.simulator.SimulatorContext(
        goal="book", persona="", turn=1,
        conversation_history=[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
    )  # fmt: skip
    with pytest.raises(SettingError, match="the user has ended the conversation: max_turns"):
        agent_of_mlflow.generate_message(context)


@pytest.mark.parametrize(
    ("cases", "line"),
    [
        ([MOVE, {**MOVE, "facts": ["None."]}], "test case 1: has goal and persona of an earlier one"),
        ([MOVE, {"goal": "a", "fact": "b"}], "test case 1: has the key 'fact': did you mean 'facts'"),
        ([{"goal": "a", "success": {"solvd": True}}], "test case 0: success: there is no scorer 'solvd'"),
        ([{"persona": "Calm."}], "test case 0: has no text that a user would want"),
    ],
)
def test_wrong_test_cases_are_one_line(cases, line):
    with pytest.raises(DataError, match=line):
        host.UserConversations(cases, Users())


def test_another_way_to_check_the_goal_is_one_line(monkeypatch):
    monkeypatch.delattr(ConversationSimulator, "_check_goal_achieved")
    with pytest.raises(SettingError, match="checks the goal in another way"):
        host.UserConversations([MOVE], Users())
