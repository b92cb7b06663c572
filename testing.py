"""For other people's tests: a simulated user as a pytest fixture, an assertion about its conversations, a scripted model.

    def test_a_flight_is_moved(simulated_user):
        conversation = simulated_user(agent, goal="move my flight to 3 May", facts="The booking code is QX4821.")
        assert_solved(conversation)

The fixture is there wherever Duologue is installed (entry point `pytest11`). This file is imported when pytest starts, so
it imports the rest of the package only when a test asks for it.
"""

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

    from .analysis.outcomes import Outcome
    from .data import Conversation
    from .nodes.models.scripted import ScriptedModel

__all__ = ["SimulatedUser", "assert_solved", "recorded_calls", "scripted_model", "simulated_user"]

PARTS = ("goal", "facts", "persona", "first_message", "success")
"""Of a scenario, as a call names them."""
END, SHOWN = 6, 3
"""Messages of a conversation's end, and conversations, that a failing assertion shows."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options: where conversations are kept, and whether recorded replies are made anew."""
    group = parser.getgroup("duologue")
    group.addoption("--duologue-out", metavar="DIR", type=Path, help="keep conversations in DIR; default: tmp_path")
    group.addoption("--record-calls", action="store_true", help="write the files of `recorded_calls` anew")


class SimulatedUser:
    """Calls hold conversations between a simulated user and an agent, and keep their records in run folders."""

    def __init__(self, folder: Path, name: str, tell: Callable[[str], None]) -> None:
        self._folder, self._name, self._tell = folder, name, tell

    def __call__(self, agent: Any = None, **settings: Any) -> Any:
        """A conversation with the agent; with `repeats`, a list of so many.

        `goal`, `facts`, `persona`, `first_message`, `success`: the scenario, as in a line of a scenario file; or
        `scenario`, a whole one. Everything else is an argument of `duologue.test`. It waits until the conversation is over; an
        agent that belongs to the loop of an async test needs `await simulated_user.asimulate(...)`.
        """
        from .runs import blocking

        return blocking(self.asimulate(agent, **settings), self._folder)

    async def asimulate(
        self,
        agent: Any = None,
        *,
        scenario: Mapping[str, Any] | None = None,
        repeats: int | None = None,
        **settings: Any,
    ) -> Any:
        """As a call, in the event loop of an async test."""
        from .errors import SettingError
        from .runs import new_folder
        from .studies.agent_tests import prepared

        parts = {name: value for name in PARTS if (value := settings.pop(name, None)) is not None}
        if scenario is not None and parts.keys() - {"success"}:
            raise SettingError(f"simulated_user: give a scenario, or {', '.join(parts)}, not both")
        if agent is None and settings.get("cast") is None:
            raise SettingError("simulated_user: give the agent under test")
        folder = new_folder(self._folder, self._name)
        lines = [{**(scenario or {}), **parts}]
        test = prepared(agent, lines, repeats=repeats or 1, out=folder, scored=False, **settings)
        records = (await test.run(test.settings)).records
        self._tell(f"duologue show {folder}")
        return records[0] if repeats is None else list(records)


@pytest.fixture
def simulated_user(request: pytest.FixtureRequest, tmp_path: Path) -> SimulatedUser:
    """A simulated user: call it with an agent and what the user wants, and it gives the conversation."""
    out: Path | None = request.config.getoption("--duologue-out")
    name = re.sub(r"[^\w.-]+", "_", request.node.name)[:80].strip("_.") or "test"

    def tell(line: str) -> None:
        request.node.add_report_section("call", "duologue", line)

    return SimulatedUser(tmp_path if out is None else request.config.invocation_params.dir / out, name, tell)


@pytest.fixture
def recorded_calls(request: pytest.FixtureRequest) -> "Callable[[str | Path], AbstractContextManager[None]]":
    """A context in which calls of models are answered from a file beside the test, such as `moved.sqlite`.

    `with recorded_calls("moved.sqlite"): ...`: the file lies beside the test's. With `pytest --record-calls` the models are
    called, and it is written anew. A call that it does not hold fails the conversation.
    """

    @contextmanager
    def used(path: "str | Path") -> Generator[None]:
        from .nodes.calls.service import kept_in
        from .nodes.calls.store import Replies
        from .nodes.settings.environment import without_calls

        file, record = request.path.parent / path, bool(request.config.getoption("--record-calls"))
        if record:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink(missing_ok=True)
        elif not file.is_file():
            pytest.fail(f"{file}: is not there: make it with pytest --record-calls", pytrace=False)
        # Without an endpoint a model is made without a key; one of the agent's own gets a placeholder.
        keys = nullcontext() if record else without_calls()
        with Replies(file, frozen=not record) as replies, kept_in(replies), keys:
            yield

    return used


def assert_solved(
    conversations: "Conversation | Iterable[Conversation]", threshold: float = 1.0, *, at_least: float | None = None
) -> None:
    """Fails unless the conversation was a success, or of several a share of `threshold` (0 to 1).

    `at_least`: the lowest lower end of the share's 95 % interval, in its place. Success is the record's score, of the
    scenario's `success` or of the cast. A conversation in which the user simulator is at fault is left out, and where there
    is no other, the test is skipped. One without a score, as after a failure of an endpoint, fails the test.
    """
    __tracebackhide__ = True
    from .analysis.outcomes import outcome
    from .analysis.testing.success import share_over_scenarios
    from .data import Conversation
    from .errors import SettingError

    for name, bound in (("threshold", threshold), ("at_least", at_least)):
        if bound is not None and (isinstance(bound, bool) or not 0 < bound <= 1):
            raise SettingError(f"assert_solved: {name} is a share above 0 and at most 1, not {bound!r}")
    listed = [conversations] if isinstance(conversations, Conversation) else list(conversations)
    if not listed:
        raise SettingError("assert_solved: there is no conversation")
    judged = [(outcome(one), one) for one in listed]
    counted = [pair for pair in judged if pair[0].fault != "user"]
    if not counted:
        because = "" if judged[0][0].cause is None else judged[0][0].cause.because
        pytest.skip(f"the simulated user is at fault, not the agent: {because}")
    if unscored := [pair for pair in counted if pair[0].success is None]:
        raise AssertionError(_message(f"{len(unscored)} of {len(listed)} conversations have no score", unscored))
    wrong = [pair for pair in counted if not pair[0].success]
    reached = len(counted) - len(wrong)
    rate = share_over_scenarios((one, bool(found.success)) for found, one in counted)
    if at_least is None and reached < threshold * len(counted):
        why = f"expected a share of {threshold:g}"
    elif at_least is not None and (rate.low is None or rate.low < at_least):
        end = rate.reason if rate.low is None else f"which is {rate.low:.2f}"
        why = f"expected {at_least:g} as the lower end of the 95 % interval ({end})"
    else:
        return
    left = len(judged) - len(counted)
    left_out = f" ({left} left out: the simulated user is at fault)" if left else ""
    raise AssertionError(_message(f"{reached} of {len(counted)} conversations succeeded{left_out}, {why}", wrong))


def scripted_model(*lines: "str | AIMessage | Exception", **options: Any) -> "ScriptedModel":
    """A chat model that sends these lines in order in each conversation, then the last one for ever.

    Its `sent` has the messages of each call. `by_call=True`: each call takes the next line, in any conversation.
    `tokens=(8, 2)`: input and output tokens that each call reports.
    """
    from .errors import SettingError
    from .nodes.models.scripted import ScriptedModel

    if not lines:
        raise SettingError("scripted_model: give at least one line")
    return ScriptedModel(lines=list(lines), **options)


def _message(line: str, wrong: "Sequence[tuple[Outcome, Conversation]]") -> str:
    """The text of a failing assertion: the ends of the shortest conversations, the reasons, whose fault it is."""
    from .analysis.outcomes import details_of, in_words

    parts = [line]
    for result, one in sorted(wrong, key=lambda pair: len(pair[1].messages))[:SHOWN]:
        parts += ["", f"{one.id}: {result.scenario}", f"  reason: {in_words(result, one.stop)}"]
        parts += [f"    {detail}" for detail in details_of(result)]
        parts += [f"  stop: {one.stop or 'not told'}, fault: {result.fault}"]
        parts += [f"  {message.role}: {message.text}" for message in one.messages[-END:]]
    return "\n".join(parts)
