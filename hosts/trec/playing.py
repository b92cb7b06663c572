"""A run of the track: a user plays the platform's scenarios, from where the run was cut off.

import duologue.hosts.trec as trec

report = trec.play(trec.Platform("https://HOST", "task2", "run-1"), user="openai:gpt-4.1-mini", out="out/run-1")
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...data import record_lines
from ...data.attempts import as_object
from ...data.behaviours import checked_names
from ...data.behaviours.choice import UserKind
from ...data.identity import digest
from ...data.test_cases.trec import scenario_of
from ...errors import DataError
from ...nodes.settings.redaction import without_known_secrets
from ...nodes.stops import MANY_TURNS
from ...runs.engine.conduct import Conduct
from ...runs.engine.event_loop import blocking
from ..simulated_users import User, UserEnded
from ..simulated_users import user as simulated_user
from .journal import RunJournal, TrackStep, texts_sent
from .protocol import NEW_CONVERSATION, Platform, PlatformError, PlatformReply, UnansweredError
from .report import TrackReport, records_of, report_of
from .submission import SUBMISSION, problems_of

CONVERSATIONS = "conversations.jsonl"


@dataclass
class _Run:
    """A run under way: where it stands, by its journal."""

    platform: Platform
    journal: RunJournal
    make_user: Callable[[Mapping[str, Any]], User]
    max_turns: int | None
    on_message: Callable[[str, str], None]
    heard: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    scenario: Mapping[str, Any] = field(default_factory=dict[str, Any])
    conversation_id: str = ""
    users: dict[str, User] = field(default_factory=dict[str, User])
    """The last user, by its scenario: several conversations may share one."""

    async def play(self) -> None:
        """Play to the end of the run."""
        reply = await self._begun()
        number = 1 + max((step.number for step in self.journal.steps), default=0)
        while not reply.is_complete:
            step = await self._next(number)
            self.journal.keep(step)
            reply = self._received(number, await self._sent(step), step)
            if reply.status == NEW_CONVERSATION and not reply.scenario:  # or the run is over, which only this tells
                number += 1
                self.journal.keep(TrackStep(number=number, kind="sent"))
                reply = self._received(number, await self.platform.session())
            number += 1

    async def _begun(self) -> PlatformReply:
        """Begin the run, or take up what the journal has of it; gives the last answer of the platform."""
        if not self.journal.steps:
            self.journal.keep(TrackStep(number=0, kind="sent", request=self.platform.start_request))
            return self._received(0, await self.platform.start())
        received = {one.number: one for one in self.journal.steps if one.kind == "received"}
        reply = None
        for sent in [one for one in self.journal.steps if one.kind == "sent"]:
            if (answer := received.get(sent.number)) is not None:
                reply = PlatformReply(answer.status or 200, answer.body or {})
                self._take(reply, sent)
                continue
            if not sent.number:
                return self._received(0, await self._started_again())
            self.journal.steps.remove(sent)
            self.journal.steps.append(sent)
            reply = self._received(sent.number, await self._settled(sent) or await self._sent(sent), sent)
        if reply is None:
            raise DataError(f"{self.journal.store.folder}: its steps begin with no start: choose another folder")
        self._recall()
        return reply

    async def _started_again(self) -> PlatformReply:
        """The answer to a start that may have reached the platform before."""
        try:
            return await self.platform.start()
        except PlatformError as error:
            reply = await self.platform.session()
            if not reply.scenario and not reply.is_complete:
                raise error from None
            return reply

    async def _next(self, number: int) -> TrackStep:
        """The user's next message."""
        user = self._user()
        answer = await user.reply(self.heard)
        if isinstance(answer, UserEnded) and answer.failure:
            raise PlatformError(f"the user could not answer ({answer.failure}): mend it, then give the same command")
        message = answer.message if isinstance(answer, UserEnded) else answer
        own_turns = sum(one["role"] == "user" for one in self.heard) + 1
        is_final = isinstance(answer, UserEnded) or (self.max_turns is not None and own_turns >= self.max_turns)
        text = "" if message is None else message.text
        leaving = f"(ends: {answer.reason})" if isinstance(answer, UserEnded) else ""
        self.on_message("user", f"{text} {leaving}".strip())
        stamp = datetime.now(UTC).isoformat()  # noqa: TID251 - the protocol wants it; nothing depends on it
        return TrackStep(
            number=number,
            kind="sent",
            request=self.platform.request(self.conversation_id, text, stamp, is_final=is_final),
            heard=tuple(self.heard),
            scenario=dict(self.scenario),
            record=user.conversation,
        )

    async def _sent(self, step: TrackStep) -> PlatformReply:
        """The platform's answer to a message, which is sent again only if the platform does not have it."""
        request = as_object(step.request)
        try:
            return await self.platform.send(request)
        except UnansweredError as error:
            if (reply := await self._settled(step)) is not None:
                return reply
            try:
                return await self.platform.send(request)
            except UnansweredError:
                raise error from None

    async def _settled(self, sent: TrackStep) -> PlatformReply | None:
        """The answer to a message, by where the run stands; None if the platform does not have the message."""
        reply = await self.platform.session()
        if reply.is_complete:
            return reply
        messages, own = reply.messages, texts_sent([sent])
        if self.conversation_id and reply.conversation_id not in ("", self.conversation_id):
            return PlatformReply(NEW_CONVERSATION, reply.body)
        if messages is None:
            return reply if reply.utterance not in (None, *self.heard[-1:]) else None
        if messages == self.heard:
            return None
        if self.platform.task == "task1" or not messages:
            return PlatformReply(NEW_CONVERSATION, reply.body)
        texts = [message["content"] for message in messages if message["role"] == "user"]
        return reply if texts[-1:] == own and messages[-1]["role"] != "user" else None

    def _received(self, number: int, reply: PlatformReply, sent: TrackStep | None = None) -> PlatformReply:
        """The answer, which is taken up, and written down unless it is none: the run would continue from it."""
        self._take(reply, sent)
        self.journal.keep(TrackStep(number=number, kind="received", status=reply.status, body=dict(reply.body)))
        return reply

    def _take(self, reply: PlatformReply, sent: TrackStep | None) -> None:
        if reply.is_complete:
            return
        begins = sent is None or not sent.number or reply.status == NEW_CONVERSATION
        begins = begins or self.platform.task == "task1"
        begins = begins or reply.conversation_id not in ("", self.conversation_id)
        self.scenario = reply.scenario or self.scenario
        self.conversation_id = reply.conversation_id or self.conversation_id
        if not self.scenario:
            raise PlatformError("the platform's answer has no scenario: is it a platform of the track?")
        if reply.messages is not None:
            self.heard = reply.messages
        elif begins:
            self.heard = []
        else:
            self.heard = [
                *self.heard,
                *({"role": "user", "content": text} for text in texts_sent([sent] if sent else [])),
            ]
        if reply.messages is None and reply.utterance is not None:
            self.heard.append(reply.utterance)
        if begins:  # a new conversation may come with an empty message
            self.heard = [message for message in self.heard if message["content"].strip()]
        if self.heard and self.heard[-1]["role"] == "user":
            raise PlatformError("the platform's answer has no message of the agent: give the same command again")
        for message in self.heard[-1:]:
            self.on_message(message["role"], message["content"])

    def _user(self) -> User:
        key = digest(self.scenario)
        if key not in self.users:
            self.users = {key: self.make_user(self.scenario)}
        return self.users[key]

    def _recall(self) -> None:
        """Have the user know its part of the conversation under way, as before the run was cut off."""
        for sent, _ in self.journal.turns():
            if sent.scenario == dict(self.scenario) and sent.record is not None and sent.request is not None:
                text = str(sent.request["user_utterance"]["text"])
                self._user().recall(sent.record, [*sent.heard, {"role": "user", "content": text}])


async def aplay(
    platform: Platform,
    *,
    user: Any = "offline",
    out: str | Path | None = None,
    cast: str = "agent_test",
    behaviours: Sequence[str] | UserKind | None = None,
    max_turns: int | None = None,
    seed: int = 0,
    on_message: Callable[[str, str], None] = lambda role, text: None,
    conduct: Conduct | None = None,
    **settings: Any,
) -> TrackReport:
    """As `play`, to be awaited."""
    kind = behaviours if isinstance(behaviours, UserKind) or behaviours is None else _kind(behaviours)
    identity = {"run_id": platform.run_id, "task": platform.task, "debug": platform.debug, "seed": seed}
    identity |= {
        "user": user if isinstance(user, str) else "an object",
        "behaviours": None if kind is None else dict(kind.shares),
    }

    def make_user(value: Mapping[str, Any]) -> User:
        try:
            scenario = scenario_of(value)
        except ValueError as error:
            raise DataError(f"the platform's scenario {error}") from None
        if kind is not None:
            scenario.pop("behaviours", None)
            drawn = kind.drawn(platform.run_id, digest(value))
            scenario |= {"behaviours": drawn} if drawn else {}
        return simulated_user(
            scenario=scenario, cast=cast, user=user, max_turns=MANY_TURNS, seed=seed, conduct=conduct, **settings
        )

    folder = None if out is None else Path(out)
    make_user({"goal": {"topic": "any"}})  # what is wrong with it comes out before the platform knows of the run
    with ExitStack() as opened:
        journal = RunJournal.open(folder, identity, opened)
        await _Run(platform, journal, make_user, max_turns, on_message).play()
        dump = without_known_secrets(await platform.dump())
        if folder is not None:
            (folder / SUBMISSION).write_text(dump, encoding="utf-8")
            record_lines.write(records_of(journal), folder / CONVERSATIONS)
        return report_of(platform, journal, tuple(problems_of(dump, journal.steps, platform.run_id)), folder)


def _kind(names: Sequence[str]) -> UserKind:
    return UserKind(dict.fromkeys(checked_names(names, "behaviours"), 1.0))


def play(platform: Platform, **settings: Any) -> TrackReport:
    """Play a run of the track to its end.

    What was sent and got lies in `out`, where the same call continues after a kill or an outage. Nothing is sent twice.

    Args:
        platform: The platform's address, the task and the run.
        settings: `user`, `cast`, `behaviours`, `seed` and the cast's settings, as for `duologue.user`. Without
            `behaviours` the traits of each persona decide: a concise style is `terse`, an elaborate one `wordy`, and a
            user that is frustrated very quickly `impatient`. `max_turns`: the user ends a conversation with this message;
            default: only the platform's budget ends it. `out`: the folder. `on_message`: called with the role and text of
            each message, and of the last one before the user's first. `conduct`: pace and bounds of the calls, as for `simulate`.

    Returns:
        The counts of the run, and what is wrong with the platform's copy of it.

    Raises:
        PlatformError: The platform cannot be reached or refuses a request. SettingError: `out` holds another run.
    """
    return blocking(aplay(platform, **settings))
