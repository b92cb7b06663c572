"""A simulated user for another loop: it gives its next message by what it has heard."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage
from langchain_core.messages.utils import convert_to_openai_messages
from langgraph.runtime import Runtime

from ..data.behaviours import KEY as BEHAVIOURS
from ..data.behaviours import checked_names
from ..data.formats import messages as openai_messages
from ..data.identity import digest
from ..data.records import Conversation, Message, Record, labels_from
from ..errors import SettingError, placed
from ..graphs import Cast, agent_test, casts
from ..graphs.scenarios.sources import ScenarioSource, numbered
from ..graphs.single_turn import FAILED, asking
from ..nodes.limits import Limits
from ..nodes.scorers import Scoring
from ..nodes.state import Planned, Update, ended_state
from ..nodes.success import KEY as SUCCESS
from ..nodes.success import named, success_of, with_success_of_scenario
from ..runs.engine import blocking, planned
from ..runs.settings import RunSettings
from ..runs.simulate import arun

_log = logging.getLogger(__name__)

Heard: TypeAlias = Message | BaseMessage | Mapping[str, Any]
"""A message of a conversation: a record's, LangChain's, or one of OpenAI's form."""


class UserEnded(Record):
    """The end of a conversation by its user."""

    reason: str
    """`user_ended`, `user_gave_up`, `user_rejected`, `max_turns`, or another stop reason of the cast."""
    message: Message | None = None
    """The user's last message, such as its goodbye; None if it left without one."""
    failure: str = ""
    """Why it could not answer, in a line; empty unless its model or code failed."""


class User:
    """A simulated user, with the prompt selector, validator and attempts of its cast.

    Its answer is a function of the scenario, the seed and the messages. Asked twice, it gives the same answer and asks no
    model again.
    """

    def __init__(self, cast: Cast, state: Planned, limits: Limits, bounds: RunSettings | None = None) -> None:
        self.cast, self.limits, self._bounds = cast, limits, None if bounds is None else bounds.shared()
        self._cast = replace(asking(cast), record_memory=True)
        [self._state] = planned(self._cast, [state])
        # The harness decides when to score: the conversation up to a turn is not ours to judge.
        own = {key: value for key, value in self._state["scenario"].items() if key != SUCCESS}
        self.success: Any = self._state["scenario"].get(SUCCESS)
        """What counts as success, as its scenario has it; it is not scored here."""
        self._state["scenario"] = own
        self._records: dict[str, Conversation] = {}
        """The record of each answer, by a digest of what was heard and the answer."""
        self._answers: dict[str, tuple[Message | UserEnded, Conversation]] = {}
        """Each answer with its record, by a digest of the messages before it."""
        self._last = Conversation(id=str(self._state.get("id", "")), scenario=self._state["scenario"])

    @property
    def conversation(self) -> Conversation:
        """The record up to the last answer, with the drafts of the user that were rejected."""
        return self._last

    async def reply(self, messages: Iterable[Heard] = ()) -> Message | UserEnded:
        """The user's next message, or how it ends the conversation.

        Args:
            messages: The conversation so far; without any, the user begins. The last one is the assistant's.

        Raises:
            DataError: A message has no role or no text.
            SettingError: The last message is the user's own.
        """
        heard = messages_of(messages)
        if heard and heard[-1].role == "user":
            raise SettingError("user.reply: the last message is the user's own: give it with the assistant's answer")
        if heard and not heard[-1].text.strip() and not heard[-1].parts:
            _log.warning(
                "user.reply: the assistant's message %s has no text: the user cannot answer it", len(heard) - 1
            )
        key = _key(heard)
        if key in self._answers:
            answer, self._last = self._answers[key]
            return answer
        opening = None if heard else self._opening()
        answer = await self._answered(heard) if opening is None else opening
        if not isinstance(answer, UserEnded) or not answer.failure:
            self._answers[key] = answer, self._last
        return answer

    def _opening(self) -> Message | None:
        """The first message that the scenario gives the user; None if it has to find one."""
        opening = self._state.get("messages", [])
        if [message.get("role") for message in opening] != ["user"]:
            return None
        answer = Message.model_validate(opening[0])
        self._last = self._last.model_copy(update={"messages": (answer,)})
        return answer

    @property
    def _over(self) -> str | None:
        """Why no model is called for it any more, in words; None if calls are in their bounds."""
        calls = None if self._bounds is None else self._bounds.calls()
        return None if calls is None or calls.goes_on else calls.ending

    async def _answered(self, heard: Sequence[Message]) -> Message | UserEnded:
        if (over := self._over) is not None:
            return UserEnded(reason="budget", failure=over)
        earlier_record, length = self._before(heard)
        before = () if earlier_record is None else earlier_record.messages
        earlier = [*before, *heard[length:]]
        state: Planned = {**self._state, "messages": [message.plain() for message in earlier]}
        if earlier_record is not None and earlier_record.memory:
            state["memories"] = dict(earlier_record.memory)
        run = await arun({"": self._cast}, [state], self._bounds or RunSettings(progress=False), limits=self.limits)
        run.check(run.records())
        [record] = run.records()
        self._last = record
        new = [message for message in record.messages[len(earlier) :] if message.role == "user"]
        answer = new[0] if new else None
        if answer is not None:
            # A host takes one message: several of a turn are paragraphs of it.
            answer = answer.model_copy(update={"text": "\n\n".join(message.text for message in new)})
            self._records[_key([*heard, answer])] = record
        if answer is not None and record.stop == "max_turns":  # of the one turn that was asked for
            self._last = record.model_copy(update={"stop": None})
            return answer
        failure = "" if record.failure is None else f"{record.failure.node}: {record.failure.error}"
        reason = record.stop or "user_ended"
        if not failure and reason in FAILED:
            reason, failure = (reason, f"ended as {reason}") if self._over is None else ("budget", self._over)
        return UserEnded(reason=reason, message=answer, failure=failure)

    def reply_now(self, messages: Iterable[Heard] = ()) -> Message | UserEnded:
        """As `reply`, where nothing can be awaited."""
        return blocking(self.reply(messages))

    def _before(self, heard: Sequence[Message]) -> tuple[Conversation | None, int]:
        """The record of the answer that ends the longest part of these messages, and the length of that part."""
        for length in range(len(heard), 0, -1):
            if (
                heard[length - 1].role == "user"
                and (earlier_record := self._records.get(_key(heard[:length]))) is not None
            ):
                return earlier_record, length
        return None, 0


def messages_of(messages: Iterable[Heard]) -> tuple[Message, ...]:
    """The messages as records; tool calls belong to the assistant's message after them."""
    listed = list(messages)
    if all(isinstance(message, Message) for message in listed):
        return tuple(message for message in listed if isinstance(message, Message))
    plain = [_plain(message) for message in listed]
    [conversation] = openai_messages.of_values("user.reply", [("messages", {"messages": plain})])
    return conversation.messages


def _plain(message: Heard) -> Any:
    if isinstance(message, Message):
        return {"role": message.role, "content": message.text}
    return convert_to_openai_messages(message) if isinstance(message, BaseMessage) else dict(message)


def _key(messages: Sequence[Message]) -> str:
    return digest([(message.role, message.text) for message in messages])


def user(
    *,
    goal: str | None = None,
    facts: Any = None,
    persona: str | None = None,
    scenario: Mapping[str, Any] | None = None,
    cast: Cast | str = agent_test.NAME,
    user: Any = "offline",
    behaviours: Sequence[str] = (),
    max_turns: int | None = None,
    seed: int = 0,
    repeat: int = 0,
    bounds: RunSettings | None = None,
    **settings: Any,
) -> User:
    """A simulated user for a loop of your own; it is asked by `await user.reply(messages)`.

    Args:
        goal: What the user wants.
        facts: The user's answers to questions.
        persona: Who the user is, and how it writes.
        scenario: A whole scenario in place of these, as in a line of a scenario file. Its `success` is not scored here.
        cast: The cast whose user it is, by name or as an object.
        user: Who plays the user: `offline` (rules), a model such as `openai:NAME`, `people:SRC` and others, as for `test`.
        behaviours: What makes it difficult, such as `["impatient"]`.
        max_turns: Maximum number of turns. Default: as in the cast.
        seed: Seed of its draws.
        repeat: Number of the conversation about the scenario, from 0. Each repeat has draws of its own, as in a run.
        bounds: Pace and budgets of the calls for all its answers; users that are given the same `shared()` ones share them.
        settings: Further settings of the cast, such as `language`.

    Returns:
        The user.

    Raises:
        SettingError: Neither a goal nor a scenario, or both; an unknown setting. DataError: a scenario of another domain.

    Example::

        >>> import asyncio, duologue
        >>> customer = duologue.user(goal="book a table for two", facts=["The name is Quill."])
        >>> first = asyncio.run(customer.reply())  # in a notebook: await customer.reply()
        >>> first.role, "table for two" in first.text
        ('user', True)
    """
    parts = {"goal": goal, "facts": facts, "persona": persona}
    parts = {name: value for name, value in parts.items() if value is not None}
    if bool(parts) == (scenario is not None):
        raise SettingError("user: give a goal with its facts, or a scenario")
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 0:
        raise SettingError(f"user: repeat must be a whole number from 0, not {repeat!r}")
    told = parts if scenario is None else scenario
    if isinstance(cast, Cast):
        if settings:
            raise SettingError(f"user: {next(iter(settings))!r} is a setting, and the cast is an object: set it there")
        [state] = numbered([state_of(told, where="user")])
        own_cast = cast.replace(user_simulator=user) if user != "offline" else cast
    else:
        factory = casts.find(cast)
        source = factory.source()
        [state] = numbered([state_of(told, source, "user")])
        own_cast = factory(**{**source.settings_for([state]), **settings, "user": user})
    state["repeat"] = repeat
    if behaviours:
        state["extra"] = {**state.get("extra", {}), BEHAVIOURS: list(checked_names(behaviours, BEHAVIOURS))}
    try:
        most = own_cast.limits.max_turns if max_turns is None else max_turns
        limits = replace(own_cast.limits, seed=seed, max_turns=most)
    except (TypeError, SettingError) as error:
        raise SettingError(f"user: {str(error).removeprefix('Limits.')}") from None
    return User(own_cast, state, limits, bounds)


def described(scenarios: str | Path | Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The scenarios of a file as of `duologue test --scenarios`, or those that are given as objects.

    DataError or SettingError with the place of one that cannot be used.
    """
    states: Sequence[Planned]
    if isinstance(scenarios, str | Path):
        states = casts.scenarios_of(scenarios, agent_test.NAME).states
    else:
        states = agent_test.scenarios(scenarios)
    return [dict(state["scenario"]) for state in states]


def state_of(scenario: Any, source: ScenarioSource | None = None, where: str = "") -> Planned:
    """The initial state of a scenario whose success is not scored here; an error begins with `where`.

    A judge is not made, since its model may be the harness's.
    """
    with placed(where):
        if not isinstance(scenario, Mapping):
            raise SettingError(f"expected a scenario as an object with a 'goal', not {scenario!r}")
        own = dict(scenario)
        success = {SUCCESS: own.pop(SUCCESS)} if SUCCESS in own else {}
        state = (source or agent_test.Goals()).state(own)
        # A scenario of another kind may have an outcome there.
        own_words = success and ("kind" not in own or isinstance(success[SUCCESS], dict))
        if own_words and not any(name == "judged" for _, name, _ in named(success[SUCCESS])):
            success_of(success[SUCCESS])
        return {**state, "scenario": {**state["scenario"], **success}}


async def scored_record(
    user: User, messages: Iterable[Heard], ended: UserEnded | None, success: Any = None
) -> Conversation:
    """The record of the user's conversation, with the score `success` that a run would give it.

    Args:
        user: The user, who gave its answer to these messages.
        messages: All messages of the conversation, with its calls of tools.
        ended: How the user ended it. None if something else did; then nothing is scored.
        success: What counts as success, as in a scenario. Default: whether the user left as one who has what it came
            for.
    """
    record = user.conversation
    if record.provenance is not None:  # the assistant was the harness's, not that of the cast
        nodes = {name: node for name, node in record.provenance.nodes.items() if node.role != "assistant"}
        record = record.model_copy(update={"provenance": record.provenance.model_copy(update={"nodes": nodes})})
    if success is not None:
        record = record.model_copy(update={"scenario": {**record.scenario, SUCCESS: success}})
    if ended is None:
        after = takewhile(lambda message: message.role == "assistant", reversed(messages_of(messages)))
        return record.model_copy(update={"messages": (*record.messages, *reversed(list(after))), "stop": None})
    if ended.failure:  # it says nothing about the agent
        return record.model_copy(update={"stop": ended.reason})
    state = ended_state(record.model_copy(update={"stop": ended.reason}))
    runtime = Runtime(context=user.limits)
    update: Update = {}
    if isinstance(user.cast.closing, Scoring):
        update = await user.cast.closing(state, runtime)
    update = await with_success_of_scenario(update, state, runtime)
    labels = {**record.labels, **labels_from(update.get("labels", {}))}
    return record.model_copy(update={"labels": labels, "stop": ended.reason})
