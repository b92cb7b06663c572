"""The speaker that uses stored turns of people, and the criterion that ends where its source conversation ended."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any, ClassVar, Self

from langgraph.runtime import Runtime

from ...data import domains
from ...data.identity import call_seed
from ...data.people.pairing import STORED
from ...data.records import Conversation, Role
from ...data.rules import plain_words
from ...errors import DataError
from ..limits import Limits
from ..state import Draft, State, Update, attempt_number, history, id_of, rejected
from .choice import Choice, ChoiceWeights, PeopleMoment, chosen
from .memory import Memory, remembered
from .options import PeopleOptions, parsed, weighed
from .slots import FilledText
from .turns import ORIGIN, RETRIEVED, SourceConversation, SourceTurn, origin_of, person_in, wish_in


@dataclass(frozen=True)
class PeopleSpeaker:
    """Uses turns from like places of stored conversations: the user's, or as the assistant the replies.

    A turn is chosen by task and profile (as the user) and by the conversation so far. The other role's last message,
    its questions, and this role's messages count too. The conversation of the last turn goes on as long as its next
    turn fits; no turn is used twice. A user ends where the conversation of its last turn ended, and when no turn fits.
    """

    role: Role
    memory: Memory = field(repr=False)
    options: PeopleOptions = field(default_factory=PeopleOptions)
    weights: ChoiceWeights = field(default_factory=ChoiceWeights)
    prompted: ClassVar[bool] = False
    """No prompt is sent to it, so the record of its messages names none."""
    read_only: ClassVar[bool] = True
    """No tool is called."""

    @classmethod
    def of(
        cls,
        source: str | Path | Sequence[Conversation],
        role: Role,
        *,
        options: PeopleOptions | None = None,
        weights: ChoiceWeights | None = None,
    ) -> Self:
        """The speaker of stored conversations, or of their path.

        DataError if the conversations have no turn of this role. MissingExtraError without scikit-learn (extra `stats`),
        and for Chinese jieba (extra `zh`).

        Example::

            >>> import duologue
            >>> from duologue.nodes.people import PeopleSpeaker
            >>> talk = duologue.data.Conversation(
            ...     id="1", scenario={"task": "tea"}, messages=[{"role": "user", "text": "Which tea is mild?"}]
            ... )
            >>> PeopleSpeaker.of([talk], "user")
            PeopleSpeaker(role='user', options=PeopleOptions(), weights=Weights())
        """
        options = options or PeopleOptions()
        if isinstance(source, (str, Path)):
            memory = remembered(Path(source), role, options)
        else:
            memory = Memory.of(source, role, options, "conversations")
        return cls(role, memory, options, weights or ChoiceWeights.of(role))

    @classmethod
    def of_spec(cls, spec: str, role: Role) -> Self:
        """The speaker of a spec `people:SRC?unseen=true&part=tune&stay=0.3`; SettingError for any other."""
        path, options = parsed(spec, ChoiceWeights.names())
        weights = replace(ChoiceWeights.of(role), **weighed(spec, ChoiceWeights.names()))
        return cls.of(path, role, options=options, weights=weights)

    @property
    def longest(self) -> int:
        """Turns of the conversation with the most."""
        return self.memory.longest

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if self.role == "user" and self.ended(state):
            return {"drafts": [], "stop": "user_ended"}
        choice = self.choice(state, runtime.context)
        if choice is not None:
            return {"drafts": self.drafts(choice)}
        return {"drafts": [], "stop": "user_ended"} if self.role == "user" else {"drafts": []}

    def choice(self, state: State, limits: Limits) -> Choice | None:
        """The next turn; None if none fits.

        DataError if no turn at all may be used in this conversation.
        """
        return chosen(self.memory, *self.candidates(state, limits), self.weights)

    def candidates(self, state: State, limits: Limits) -> tuple[PeopleMoment, list[bool]]:
        """The state of the conversation, and whether each turn may be used; DataError if none may."""
        moment = self._moment(state, limits)
        allowed = self._allowed(state, moment.used)
        if not any(allowed) and not moment.used:
            why = (
                "about this context: leave unseen=true out"
                if self.options.unseen
                else "those of the person whose scenario this is: give those of others too"
            )
            raise DataError(f"people:{self.memory.source}: all of its conversations are {why}")
        return moment, allowed

    def ended(self, state: State) -> bool:
        """Whether this conversation has every later turn of the last turn's source conversation."""
        before = self._before(state)
        if before is None:
            return False
        own_words = {plain_words(text) for message in history(state, self.role) for text in _texts(message)}
        return all(not own_words.isdisjoint(self.memory.keys[number]) for number in self.memory.after(before))

    def _moment(self, state: State, limits: Limits) -> PeopleMoment:
        scenario, messages = state["scenario"], history(state)
        knows = self.role == "user"
        roles = [message["role"] for message in messages]
        heard = list(takewhile(lambda message: message["role"] != self.role, reversed(messages)))
        own = [message for message in messages if message["role"] == self.role]
        # An assistant may say the same again, such as that it does not know, in the words of another reply.
        previous = own if self.role == "user" else []
        tried = (plain_words(text) for message in (*previous, *rejected(state)) for text in _texts(message))
        return PeopleMoment(
            wish=wish_in(scenario) if knows else "",
            person=person_in(scenario) if knows else "",
            task=domains.of(scenario).task(scenario),
            messages=tuple((message["role"], message["text"]) for message in messages),
            heard=tuple(message["text"] for message in reversed(heard)),
            tried=frozenset(tried),
            used=frozenset(number for message in own if (number := self._number(message)) is not None),
            place=sum(role == self.role for role, _ in groupby(roles)),
            before=self._before(state),
            draw=call_seed(limits.seed, id_of(state), self.role, state.get("turn", 0), attempt_number(state)),
        )

    def _before(self, state: State) -> int | None:
        """The number of this role's last turn; None if it is not of this memory."""
        own = history(state, self.role)
        return self._number(own[-1]) if own else None

    def _number(self, message: Mapping[str, Any]) -> int | None:
        """The number of the turn that a message comes from; None if it is not of this memory."""
        origin = origin_of(message)
        if origin.get("digest") != self.memory.digest:
            return None
        return self.memory.places.get((str(origin.get("conversation")), origin.get("message", -1)))

    def _allowed(self, state: State, used: Set[int]) -> list[bool]:
        """Whether each turn may be used in this conversation."""
        memory, scenario = self.memory, state["scenario"]
        domain = domains.of(scenario)
        topic = domain.topic_key(scenario)
        allowed = list(memory.usable)
        stored = state.get("extra", {}).get(STORED)
        if isinstance(stored, Mapping):  # nobody is played by their own words about the same
            whose = stored.get("user")
            allowed = self._where(
                allowed, lambda donor: donor.id != stored.get("id") and (not whose or donor.user != whose)
            )
        if self.options.unseen:
            allowed = self._where(allowed, lambda donor: donor.topic is None or donor.topic != topic)
        if self.role == "user" or not any(allowed):
            return allowed
        allowed = [ok and number not in used for number, ok in enumerate(allowed)]
        # Replies of a conversation whose user speaks here would make it that conversation over again.
        speaking = {origin_of(message).get("conversation") for message in history(state, "user")}
        others = self._where(allowed, lambda donor: donor.id not in speaking)
        if domain.source_text(scenario) is not None:  # an answer has to come from the text, which the assistant sees
            of_text = self._where(allowed, lambda donor: donor.topic is not None and donor.topic == topic)
            of_others = self._where(others, lambda donor: donor.topic is not None and donor.topic == topic)
            allowed, others = (of_text, of_others) if any(of_text) else (allowed, others)
        return others if any(others) else allowed

    def _where(self, allowed: Sequence[bool], condition: Callable[[SourceConversation], bool]) -> list[bool]:
        donors = self.memory.donors
        return [ok and condition(donors[turn.donor]) for ok, turn in zip(allowed, self.memory.turns, strict=True)]

    def drafts(self, choice: Choice) -> list[Draft]:
        """The messages of a turn, each with the conversation and message that it comes from."""
        donor = self.memory.donors[choice.turn.donor]
        drafts = (
            self._draft(donor, message, text) for message, text in zip(choice.turn.messages, choice.texts, strict=True)
        )
        return list(drafts)

    def _draft(self, donor: SourceConversation, message: SourceTurn, filled: FilledText) -> Draft:
        origin: dict[str, Any] = {
            "source": self.memory.source,
            "digest": self.memory.digest,
            "conversation": donor.id,
            "message": message.number,
        }
        if filled.changed:
            origin["filled"] = [list(change) for change in filled.changed]
        draft = Draft(text=filled.text, extra={ORIGIN: origin})
        if message.parts:
            draft["parts"] = [part.plain() for part in message.parts]
        return draft

    def provenance(self) -> dict[str, Any]:
        memory = self.memory
        described: dict[str, Any] = {
            "turns_of": memory.source,
            "digest": memory.digest,
            "conversations": len(memory.donors),
            "users": len({donor.user for donor in memory.donors}),
            "options": self.options.plain(),
        }
        if self.weights != ChoiceWeights.of(self.role):
            described["weights"] = asdict(self.weights)
        return described


def _texts(message: Mapping[str, Any]) -> list[str]:
    """The words of a message, and those of the retrieved turn that a model edited."""
    retrieved = origin_of(message).get(RETRIEVED)
    return [message["text"], retrieved] if isinstance(retrieved, str) else [message["text"]]


@dataclass(frozen=True)
class DonorEnded:
    """Stop after the answer to the last user turn of the source conversation, where that user ended."""

    speaker: PeopleSpeaker

    def __call__(self, state: State, limits: Limits) -> str | None:
        messages = history(state)
        answered = bool(messages) and messages[-1]["role"] == "assistant"
        return "user_ended" if answered and self.speaker.ended(state) else None

    def provenance(self) -> dict[str, Any]:
        return {"turns_of": self.speaker.memory.source}
