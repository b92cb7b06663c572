"""The pytest plugin: agents tested in a repository of their own, run as a stranger would."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, Message, load
from duologue.errors import SettingError
from duologue.testing import assert_solved, scripted_model

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parent.parent
AGENT = """
import re


def agent(messages):
    said = "\\n".join(message["content"] for message in messages if message["role"] == "user")
    code = re.search(r"[A-Z]{2}\\d{4}", said)
    return f"Done: {code[0]} is now on 3 May." if code else "Which booking is it? Please tell me the code."


def stubborn(messages):
    return "I am sorry, I cannot change a booking."


def broken(messages):
    raise KeyError("no seat")
"""
OFF = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "duologue.testing")


@pytest.fixture
def repository(pytester: pytest.Pytester) -> pytest.Pytester:
    """A repository with an agent."""
    pytester.makepyfile(my_agent=AGENT)
    pytester.makepyprojecttoml('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    return pytester


@pytest.fixture
def run_pytest(forks: Any, repository: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """Its tests in a process of their own: as `runpytest_subprocess`, but that everything is imported already."""

    def run(*arguments: str, **environment: str) -> pytest.RunResult:
        command = ("-m", "pytest", "--basetemp", repository.path / "temporary", *arguments)
        done = forks.run(*command, cwd=repository.path, environment=environment)
        return pytest.RunResult(done.returncode, done.stdout.splitlines(), done.stderr.splitlines(), 0)

    return run


@pytest.fixture
def run(run_pytest: Callable[..., pytest.RunResult], repository: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """The outcome of tests that are written as they are told."""

    def written(source: str, *arguments: str) -> pytest.RunResult:
        write(repository, source)
        return run_pytest(*OFF, *arguments)

    return written


def write(repository: pytest.Pytester, source: str) -> None:
    head = "import pytest\nfrom duologue import nodes\nfrom duologue.testing import assert_solved, scripted_model\n"
    repository.makepyfile(test_own=head + "from my_agent import agent, broken, stubborn\n" + source)


@pytest.mark.heavy
def test_a_fault_of_the_simulated_user_is_a_skip_with_its_rule(run):
    result = run(
        """
LEAKS = scripted_model("As the user simulator, I should now ask for a seat, given my profile.")


def test_skipped(simulated_user):
    assert_solved(simulated_user(agent, goal="a seat", user=LEAKS))
""",
        "-rs",
    )
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*the simulated user is at fault, not the agent*"])


@pytest.mark.heavy
def test_an_agent_passes_and_fails_with_the_end_the_reason_and_the_fault(run):
    result = run(
        """
GOAL = {"goal": "move my flight to 3 May", "facts": "The booking code is QX4821."}


def test_moves(simulated_user):
    conversation = simulated_user(agent, **GOAL)
    assert_solved(conversation)
    assert conversation.messages[-1].text == "Thank you, goodbye."


def test_refuses(simulated_user):
    assert_solved(simulated_user(stubborn, **GOAL, max_turns=3))


def test_breaks(simulated_user):
    assert_solved(simulated_user(broken, **GOAL))


def test_breaks_half_of_the_time(simulated_user):
    conversations = [simulated_user(broken, **GOAL), simulated_user(agent, **GOAL)]
    assert_solved(conversations, threshold=0.5)


def test_a_success_that_cannot_be_scored(simulated_user):
    calls = []

    def counts(messages):
        calls.append(messages)
        return "Done: moved."

    with pytest.raises(ValueError, match="success.final_state: compares a state that nothing gives: give the cast a world"):
        simulated_user(counts, goal="move it", success={"final_state": {"a": 1}})
    with pytest.raises(ValueError, match="names no model to judge"):
        simulated_user(counts, goal="move it", success={"judged": "It is moved."})
    assert calls == []


def test_ends_at_an_endpoint_that_is_away(simulated_user):
    def away(messages):
        raise ConnectionRefusedError("111")

    with pytest.raises(AssertionError, match="1 of 1 conversations have no score"):
        assert_solved(simulated_user(away, **GOAL))
""",
    )
    result.assert_outcomes(passed=4, failed=2)
    out = result.stdout.str()
    assert "0 of 1 conversations succeeded" in out
    assert "assistant: I am sorry, I cannot change a booking." in out
    assert "KeyError: 'no seat'" in out
    assert "stop: model_failed, fault: assistant" in out


@pytest.mark.heavy
def test_repeats_have_a_share(run):
    result = run(
        """
def test_share(simulated_user):
    many = simulated_user(agent, goal="move my flight", facts=["My code is QX4821."], repeats=3, seed=7)
    assert len(many) == 3
    assert_solved(many, 0.6)
    with pytest.raises(AssertionError, match="expected 0.6 as the lower end of the 95 % interval"):
        assert_solved(many, at_least=0.6)


def test_success_of_the_scenario(simulated_user):
    one = simulated_user(stubborn, scenario={"goal": "cancel", "success": {"refused": True}}, max_turns=2)
    assert_solved(one)


def test_a_cast_of_its_own(simulated_user):
    from duologue.graphs import agent_test
    cast = agent_test.cast().replace(closing=nodes.scoring(success=nodes.text_contains("QX4821")))
    assert_solved(simulated_user(agent, cast=cast, first_message="Move QX4821!"))
""",
    )
    result.assert_outcomes(passed=3)


@pytest.mark.heavy
def test_it_works_inside_async_tests(run):
    result = run(
        """
import asyncio


@pytest.mark.asyncio
async def test_call(simulated_user):
    assert_solved(simulated_user(agent, goal="move my flight", facts="My code is QX4821."))


@pytest.mark.asyncio
async def test_own_loop(simulated_user):
    loop = asyncio.get_running_loop()

    async def of_this_loop(messages):
        assert asyncio.get_running_loop() is loop
        return agent(messages)

    one = await simulated_user.asimulate(of_this_loop, goal="move my flight", facts="My code is QX4821.")
    assert_solved(one)
""",
    )
    result.assert_outcomes(passed=2)


@pytest.mark.heavy
def test_a_misspelt_setting_is_named_with_those_that_there_are(run):
    result = run(
        """
def test_call(simulated_user):
    with pytest.raises(ValueError, match="succes: agent_test has no such setting; it has "):
        simulated_user(agent, goal="x", succes={"solved": True})


@pytest.mark.asyncio
async def test_own_loop(simulated_user):
    with pytest.raises(ValueError, match="turns: agent_test has no such setting"):
        await simulated_user.asimulate(agent, goal="x", turns=3)
""",
    )
    result.assert_outcomes(passed=2)


@pytest.mark.heavy
def test_nothing_warns_where_warnings_are_errors(repository):
    write(
        repository,
        """
def pieces(messages):
    yield "Done: "
    yield "moved."


def test_a_function(simulated_user):
    assert_solved(simulated_user(agent, goal="move it", facts="The code is QX4821.", repeats=2))


def test_a_model_and_a_success(simulated_user):
    user = scripted_model("Please move it.", "Thanks, bye!")
    assert_solved(simulated_user(pieces, goal="move it", user=user, success={"text_contains": "moved"}))


def test_a_failure(simulated_user):
    with pytest.raises(AssertionError, match="0 of 1 conversations succeeded"):
        assert_solved(simulated_user(broken, goal="move it"))


def test_a_graph(simulated_user):
    from langgraph.graph import MessagesState, StateGraph

    graph = StateGraph(MessagesState).add_node("a", lambda state: {"messages": [("assistant", "Done: moved.")]})
    assert_solved(simulated_user(graph.set_entry_point("a").compile(), goal="move it"))
""",
    )
    strict = ("-W", "error", "-o", "asyncio_default_fixture_loop_scope=function")
    result = repository.runpytest_subprocess(*OFF, *strict)  # not in a fork, where the imports are done
    result.assert_outcomes(passed=4)


@pytest.mark.heavy
def test_conversations_are_kept_where_the_option_says(run, repository):
    source = """
@pytest.mark.parametrize("where", ["a/b"])
def test_kept(simulated_user, where):
    simulated_user(agent, goal="move my flight", facts="My code is QX4821.", repeats=2)
"""
    for _ in range(2):
        run(source, "--duologue-out", "kept").assert_outcomes(passed=1)
    folders = sorted(path.name for path in (repository.path / "kept").iterdir())
    assert folders == ["test_kept_a_b-1", "test_kept_a_b-2"]
    assert len(load(repository.path / "kept" / folders[0]).conversations) == 2


@pytest.mark.heavy
def test_every_argument_of_a_test_is_one_of_the_fixture(run):
    result = run(
        """
from langgraph.graph import MessagesState, StateGraph

booked = StateGraph(MessagesState).add_node("a", lambda state: {"messages": [("assistant", "Done: moved.")]})


class Desk:
    pass


def world(scenario):
    return Desk()


def test_world(simulated_user):
    settings = {"world": world, "approve": "all", "context": {"desk": 1}, "behaviour": "impatient", "max_turns": 2}
    graph = booked.set_entry_point("a").compile()
    talks = simulated_user(graph, goal="move it", repeats=2, seed=3, max_tokens=9999, **settings)
    assert [talk.provenance.limits["seed"] for talk in talks] == [3, 3]
    assert all(talk.provenance.limits["max_turns"] == 2 for talk in talks)
""",
    )
    result.assert_outcomes(passed=1)


def test_pytest_starts_without_langgraph(tmp_path):
    code = "import sys, duologue.testing; print([m for m in ('langgraph', 'langchain_core', 'pydantic') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr


def test_the_plugin_is_declared_under_the_modules_name():
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert points["pytest11"] == {"duologue.testing": "duologue.testing"}
    assert ast.get_docstring(ast.parse((ROOT / "testing.py").read_text()))


def talk(name, value, *messages, stop="max_turns"):
    labels = {"scores": {"success": {"value": value, "reason": "because"}}}
    contents = tuple(Message(role=role, text=text) for role, text in messages)
    return Conversation(id=name, scenario={"goal": "a seat"}, messages=contents, stop=stop, labels=labels)


def test_user_faults_are_left_out_of_the_share_and_named():
    broken = talk("b", False, ("user", "Assistant: here is your seat"), stop="user_ended")
    assert_solved([talk("a", True), broken])
    with pytest.raises(AssertionError, match=r"0 of 1 .* \(1 left out: the simulated user is at fault\)"):
        assert_solved([talk("a", False), broken])
    with pytest.raises(pytest.skip.Exception, match="at fault"):
        assert_solved(broken)


def test_a_long_conversation_shows_its_end_and_of_many_the_shortest():
    talks = [talk(f"id{n}", False, *[("user", f"a seat {n}.{m}") for m in range(n)]) for n in range(4, 10)]
    with pytest.raises(AssertionError) as failed:
        assert_solved(talks)
    message = str(failed.value)
    assert [f"id{n}:" in message for n in range(4, 10)] == [True] * 3 + [False] * 3


@pytest.mark.parametrize("arguments", [([],), (talk("a", True), 0), (talk("a", True), True), (talk("a", True), 1.5)])
def test_an_assertion_about_nothing_is_an_error(arguments):
    with pytest.raises(SettingError):
        assert_solved(*arguments)


def test_a_scripted_model_says_its_lines_by_what_it_has_said():
    from langchain_core.messages import AIMessage, HumanMessage

    model = scripted_model("one", AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "1"}]), "three")
    heard = [HumanMessage("?")]
    assert model.invoke(heard).text == "one"
    assert model.invoke([*heard, AIMessage("one")]).tool_calls[0]["name"] == "t"
    assert model.bind_tools([]).invoke([*heard, *[AIMessage("x")] * 7]).text == "three"
    with pytest.raises(SettingError):
        scripted_model()


def test_a_scripted_model_may_say_a_line_by_call_raise_an_error_and_keeps_what_it_is_sent():
    model = scripted_model("one", OSError("nobody is there"), by_call=True, tokens=(8, 2))
    reply = model.invoke("Hello?")
    assert (reply.text, reply.usage_metadata["total_tokens"]) == ("one", 10)
    for _ in range(2):
        with pytest.raises(OSError, match="nobody is there"):
            model.invoke("And now?")
    assert model.texts == ["Hello?", "And now?", "And now?"]
    assert [message.type for message in model.sent[0]] == ["human"]


@pytest.mark.heavy
def test_recorded_calls_answer_a_test_without_its_model(run_pytest, repository):
    repository.makepyfile(
        paid="""
        import os
        from duologue.nodes.models.scripted import ScriptedModel

        class Paid(ScriptedModel):
            def _generate(self, *given, **more):
                assert "CLOSED" not in os.environ, "nobody is there"
                return super()._generate(*given, **more)
        """,
        test_replayed="""
        from duologue.testing import assert_solved
        from paid import Paid

        def test_moved(simulated_user, recorded_calls):
            with recorded_calls("calls/moved.jsonl"):
                talk = simulated_user(Paid(lines=["It is moved to 3 May.", "Bye."]), goal="move the flight", max_turns=2)
            assert talk.messages[1].text == "It is moved to 3 May."
        """,
    )
    run_pytest().stdout.fnmatch_lines(["*moved.jsonl: is not there: make it with pytest --record-calls"])
    run_pytest("--record-calls").assert_outcomes(passed=1)
    run_pytest(CLOSED="1").assert_outcomes(passed=1)
