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
from typing import TYPE_CHECKING, Any, Literal, overload

import pytest

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

    from .analysis.outcomes import Outcome
    from .data import Conversation
    from .graphs import Cast
    from .nodes.models.scripted import ScriptedModel

__all__ = ["SimulatedUser", "assert_solved", "recorded_calls", "scripted_model", "simulated_user"]

END = 6
"""Messages of a conversation's end that a failing assertion shows."""
SHOWN = 3
"""Conversations that a failing assertion shows."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option for where conversations are kept."""
    parser.getgroup("duologue").addoption(
        "--duologue-out",
        metavar="DIR",
        type=Path,
        default=None,
        help="keep simulated conversations in DIR, a run folder for each call, for `duologue show`; default: tmp_path",
    )
    parser.getgroup("duologue").addoption(
        "--record-calls",
        action="store_true",
        help="call the models, and write what they reply to the files of `recorded_calls` anew",
    )


class SimulatedUser:
    """Calls hold conversations between a simulated user and an agent, and keep their records in run folders."""

    def __init__(self, folder: Path, name: str, tell: Callable[[str], None]) -> None:
        self._folder, self._name, self._tell = folder, name, tell
        self.folders: list[Path] = []
        """The run folder of each call so far."""

    @overload
    def __call__(self, agent: Any, *, repeats: None = None, **settings: Any) -> "Conversation": ...

    @overload
    def __call__(self, agent: Any, *, repeats: int, **settings: Any) -> "list[Conversation]": ...

    def __call__(
        self, agent: Any = None, *, repeats: int | None = None, **settings: Any
    ) -> "Conversation | list[Conversation]":
        """A conversation with the agent; with `repeats`, a list of so many.

        `agent`: a compiled LangGraph graph, a function of messages, a chat model or a spec. `goal`, `facts`, `persona`,
        `first_message`, `success`: the scenario, as in a line of a scenario file; or `scenario`, a whole one, with a
        `kind` for a `cast` of your own. `model`: who plays the user, `offline` (rules) or `openai:NAME`. `max_turns`,
        `seed`; `cast`: in place of the one for agent tests; its assistant is replaced by `agent` where one is given.

        It waits until the conversation is over, also inside an async test; an agent that belongs to the loop of the
        test needs `await simulated_user.asimulate(...)`.
        """
        from .runs import blocking

        _check_known(settings)
        try:
            return blocking(self.asimulate(agent, repeats=repeats, **settings))
        except KeyboardInterrupt as error:
            error.add_note(f"interrupted: what is finished is kept in {self._folder}; see it: duologue show FOLDER")
            raise

    async def asimulate(
        self,
        agent: Any = None,
        *,
        goal: str | None = None,
        facts: Any = None,
        persona: str | None = None,
        first_message: str | None = None,
        success: Mapping[str, Any] | None = None,
        scenario: Mapping[str, Any] | None = None,
        cast: "Cast | None" = None,
        model: Any = None,
        repeats: int | None = None,
        max_turns: int | None = None,
        seed: int = 0,
        **unknown: Any,
    ) -> "Conversation | list[Conversation]":
        """As a call, in the event loop of an async test."""
        _check_known(unknown)
        from dataclasses import replace

        from .errors import SettingError
        from .graphs import agent_test
        from .runs import asimulate, new_folder

        parts = {"goal": goal, "facts": facts, "persona": persona, "first_message": first_message, "success": success}
        scenario_parts = {key: value for key, value in parts.items() if value is not None}
        if scenario is not None and scenario_parts.keys() - {"success"}:
            raise SettingError(f"simulated_user: give a scenario, or {', '.join(scenario_parts)}, not both")
        states = agent_test.scenarios([{**(scenario or {}), **scenario_parts}])
        sides = {"assistant": agent, "user_simulator": model}
        if cast is not None:
            changes = {place: speaker for place, speaker in sides.items() if speaker is not None}
            agent_cast = cast.replace(**changes) if changes else cast
        elif agent is None:
            raise SettingError("simulated_user: give the agent under test")
        else:
            settings = agent_test.Goals().settings_for(states)
            agent_cast = agent_test.cast("offline" if model is None else model, agent, **settings)
        limits = replace(agent_cast.limits, seed=seed, max_turns=max_turns or agent_cast.limits.max_turns)
        folder = new_folder(self._folder, self._name)
        conversations = await asimulate(agent_cast, states, limits=limits, repeats=repeats or 1, out=folder)
        self.folders.append(folder)
        self._tell(f"duologue show {folder}")
        return conversations if repeats is not None else conversations[0]


def _check_known(settings: Mapping[str, Any]) -> None:
    """SettingError for a setting that a simulated user does not have."""
    import inspect
    from difflib import get_close_matches

    from .errors import SettingError

    parameters = inspect.signature(SimulatedUser.asimulate).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    for name in settings:
        if name not in names:
            meant = get_close_matches(name, names, n=1)
            hint = f"did you mean {meant[0]!r}? " if meant else ""
            raise SettingError(f"simulated_user: has no setting {name!r}: {hint}It has {', '.join(names)}")


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
    """A context in which calls of models are answered from a file, so that a test needs no endpoint.

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
        with (
            Replies(file, frozen=not record) as replies,
            kept_in(replies),
            nullcontext() if record else without_calls(),
        ):
            yield

    return used


def assert_solved(
    conversations: "Conversation | Iterable[Conversation]",
    at_least: float = 1.0,
    *,
    by: Literal["share", "interval"] = "share",
    scorer: Any = None,
    user_faults: Literal["skip", "count"] = "skip",
) -> None:
    """Fails unless the conversation was a success, or of several a share of `at_least` (0 to 1).

    `by="share"` decides by the share itself, as `duologue test --threshold`; `by="interval"` by the lower end of its 95 %
    interval, as `--at-least`. Conversations about one scenario count together.

    By default success is the record's score: what the scenario's `success` says, else whether the user left with what
    it came for. `scorer`: a scorer in its place, such as `nodes.tool_called("change")`; it sees no live world.

    A conversation in which the user simulator is at fault says nothing about the agent: it is left out. If there is no
    other conversation, the test is skipped, and the rule is the reason. `user_faults="count"` counts it like any other.
    A conversation without a score, as after a failure of an endpoint, fails the test. One in which the agent's own code
    crashed, or which it did not answer, is a failure.
    """
    __tracebackhide__ = True
    from .analysis.outcomes import outcome
    from .analysis.testing.success import share_over_scenarios
    from .data import Conversation
    from .errors import SettingError

    if by not in ("share", "interval"):
        raise SettingError(f"assert_solved: by is 'share' or 'interval', not {by!r}")
    if isinstance(at_least, bool) or not 0 < at_least <= 1:
        raise SettingError(f"assert_solved: at_least is a share above 0 and at most 1, not {at_least!r}")
    listed = [conversations] if isinstance(conversations, Conversation) else list(conversations)
    if not listed:
        raise SettingError("assert_solved: there is no conversation")
    if scorer is not None:
        listed = [_scored(conversation, scorer) for conversation in listed]
    judged = [(outcome(conversation), conversation) for conversation in listed]
    counted = [pair for pair in judged if user_faults == "count" or pair[0].user_fault is None]
    if not counted:
        pytest.skip(f"the simulated user is at fault, not the agent: {judged[0][0].user_fault}")
    unscored = [pair for pair in counted if pair[0].success is None]
    reached = sum(bool(result.success) for result, _ in counted)
    if unscored:
        raise AssertionError(_message(f"{len(unscored)} of {len(listed)} conversations have no score", unscored))
    rate = share_over_scenarios((conversation, bool(result.success)) for result, conversation in counted)
    if reached < at_least * len(counted) if by == "share" else rate.low is None or rate.low < at_least:
        wrong = [pair for pair in counted if not pair[0].success]
        share = f"{reached} of {len(counted)} conversations succeeded, expected a share of {at_least:g}"
        if by == "interval":
            end = rate.reason if rate.low is None else f"which is {rate.low:.2f}"
            share += f" as the lower end of its 95 % interval ({end})"
        left_out = len(judged) - len(counted)
        share += f" ({left_out} left out: the simulated user is at fault)" if left_out else ""
        raise AssertionError(_message(share, wrong))


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


def _scored(conversation: "Conversation", scorer: Any) -> "Conversation":
    """The conversation with the scorer's answer as its score."""
    from .errors import SettingError
    from .nodes.scorers.outcomes import FinalState
    from .nodes.scorers.scores import LABEL, SUCCESS, agent_channels, check_scorer, scorers_of, tried
    from .nodes.state import ended_state
    from .runs import blocking

    check_scorer(SUCCESS, scorer)
    if conversation.failure is not None:
        return conversation.model_copy(update={"labels": {}})
    state = ended_state(conversation)
    if any(isinstance(part, FinalState) for part in scorers_of(scorer)) and not agent_channels(state):
        raise SettingError(
            "assert_solved: the scorer final_state compares a state that nothing gives: write the scorer over its messages, "
            "or the scenario's success the final_state and the cast a world"
        )
    score = blocking(tried(SUCCESS, scorer, state))
    return conversation.model_copy(update={"labels": {LABEL: {} if score is None else {SUCCESS: score.plain()}}})


def _message(line: str, wrong: "Sequence[tuple[Outcome, Conversation]]") -> str:
    """The text of a failing assertion: the conversations' ends, the reasons, whose fault it is."""
    from .analysis.outcomes import INTERRUPTED, details_of, in_words

    parts = [line]
    for result, conversation in sorted(wrong, key=lambda pair: len(pair[1].messages))[:SHOWN]:
        earlier = len(conversation.messages) - END
        parts += [
            "",
            f"{conversation.id}: {result.scenario}",
            f"  reason: {in_words(result, conversation.stop)}",
            *(f"    {line}" for line in details_of(result)),
            f"  stop: {conversation.stop or 'not told'}, fault: {result.fault}",
            *([f"  ... {earlier} messages before"] if earlier > 0 else []),
            *(f"  {message.role}: {message.text}" for message in conversation.messages[-END:]),
        ]
    parts += ["", f"and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else []
    if any(conversation.stop == INTERRUPTED for _, conversation in wrong):
        parts += ["", "cast=graphs.agent_test.cast(assistant=AGENT, approve='all') answers approvals (--approve all)"]
    return "\n".join(parts)
