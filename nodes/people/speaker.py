"""The speaker that uses stored turns of people, and the criterion that ends where its source conversation ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from .retrieval import Memory, PeopleMoment, remembered
from .slots import FilledText
from .spec import PeopleOptions
from .turns import ORIGIN, PeopleTurn, origin_of, person_in, wish_in


@dataclass(frozen=True)
class PeopleSpeaker:
    """Uses turns from like places of stored conversations: the user's, or as the assistant the replies.

    The conversation of the last turn goes on as long as its next turn fits; no turn is used twice. A user ends where the
    conversation of its last turn ended, and when no turn fits.
    """

    role: Role
    memory: Memory = field(repr=False)
    options: PeopleOptions = field(default_factory=PeopleOptions)
    prompted: ClassVar[bool] = False
    """No prompt is sent to it, so the record of its messages names none."""
    read_only: ClassVar[bool] = True
    """No tool is called."""

    @classmethod
    def of(
        cls, source: str | Path | Sequence[Conversation], role: Role, *, options: PeopleOptions | None = None
    ) -> Self:
        """The speaker of stored conversations, or of their path.

        DataError if the conversations have no turn of this role. MissingExtraError without scikit-learn (extra `stats`),
        and for Chinese jieba (extra `zh`).
        """
        options = options or PeopleOptions()
        if isinstance(source, (str, Path)):
            return cls(role, remembered(Path(source), role, options), options)
        return cls(role, Memory(source, role, options, "conversations"), options)

    @property
    def longest(self) -> int:
        """Turns of the conversation with the most."""
        return self.memory.longest

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        over, choice = self.role == "user" and self.ended(state), None
        if not over:
            choice = self.memory.chosen(*self.candidates(state, runtime.context), self.options)
        if choice is not None:
            return {"drafts": self._drafts(*choice)}
        return {"drafts": [], "stop": "user_ended"} if self.role == "user" else {"drafts": []}

    def candidates(self, state: State, limits: Limits) -> tuple[PeopleMoment, list[int]]:
        """The state of the conversation, and the numbers of the turns that may be used; DataError if none may."""
        moment, allowed = self._moment(state, limits), self._allowed(state)
        if not allowed and not moment.used:
            why = "all of its conversations are of the person whose scenario this is, or about this context"
            raise DataError(f"people:{self.memory.source}: {why}: give those of others too, or leave unseen=true out")
        return moment, allowed

    def ended(self, state: State) -> bool:
        """Whether this conversation has every later turn of the last turn's source conversation."""
        own = history(state, self.role)
        before = self._number(own[-1]) if own else None
        if before is None:
            return False
        said = {plain_words(message["text"]) for message in own}
        return all(not said.isdisjoint(self.memory.keys[number]) for number in self.memory.after(before))

    def _moment(self, state: State, limits: Limits) -> PeopleMoment:
        scenario, messages, own = state["scenario"], history(state), history(state, self.role)
        is_user = self.role == "user"
        heard = takewhile(lambda message: message["role"] != self.role, reversed(messages))
        # An assistant may say the same again, such as that it does not know, in the words of another reply.
        tried = [*(own if is_user else []), *rejected(state)]
        numbers = [self._number(message) for message in own]
        return PeopleMoment(
            wish=wish_in(scenario) if is_user else "",
            person=person_in(scenario) if is_user else "",
            messages=[(message["role"], message["text"]) for message in messages],
            heard=[message["text"] for message in heard][::-1],
            tried=frozenset(plain_words(message["text"]) for message in tried),
            used=frozenset(number for number in numbers if number is not None),
            place=sum(role == self.role for role, _ in groupby(message["role"] for message in messages)),
            before=numbers[-1] if numbers else None,
            draw=call_seed(limits.seed, id_of(state), self.role, state.get("turn", 0), attempt_number(state)),
        )

    def _number(self, message: Mapping[str, Any]) -> int | None:
        """The number of the turn that a message comes from; None if it is not of this memory."""
        origin = origin_of(message)
        if origin.get("digest") != self.memory.digest:
            return None
        return self.memory.numbers.get((str(origin.get("conversation")), origin.get("message", -1)))

    def _allowed(self, state: State) -> list[int]:
        """The numbers of the turns that may be used in this conversation."""
        scenario, domain = state["scenario"], domains.of(state["scenario"])
        topic = domain.topic_key(scenario)
        sources = [turn.source for turn in self.memory.turns]
        allowed = [*range(len(sources))]
        stored = state.get("extra", {}).get(STORED)
        if isinstance(stored, Mapping):  # nobody is played by their own words about the same
            own_id, user = stored.get("id"), stored.get("user")
            allowed = [n for n in allowed if sources[n].id != own_id and not (user and sources[n].user == user)]
        if self.options.unseen:
            allowed = [n for n in allowed if sources[n].topic is None or sources[n].topic != topic]
        if self.role == "user":
            return allowed
        used = {self._number(message) for message in history(state, self.role)}
        # Replies of a conversation whose user speaks here would make it that conversation over again.
        speaking = {origin_of(message).get("conversation") for message in history(state, "user")}
        allowed = [n for n in allowed if n not in used]
        if domain.source_text(scenario) is not None and topic is not None:  # an answer has to come from the text
            allowed = [n for n in allowed if sources[n].topic == topic] or allowed
        return [n for n in allowed if sources[n].id not in speaking] or allowed

    def _drafts(self, turn: PeopleTurn, texts: Sequence[FilledText]) -> list[Draft]:
        """The messages of a turn, each with the conversation and message that it comes from."""
        drafts = []
        for message, text in zip(turn.messages, texts, strict=True):
            origin: dict[str, Any] = {"source": self.memory.source, "digest": self.memory.digest}
            origin |= {"conversation": turn.source.id, "message": message.number}
            if text.changed:
                origin["filled"] = [list(change) for change in text.changed]
            draft = Draft(text=text.text, extra={ORIGIN: origin})
            if message.parts:
                draft["parts"] = [part.plain() for part in message.parts]
            drafts.append(draft)
        return drafts

    def provenance(self) -> dict[str, Any]:
        return {
            "turns_of": self.memory.source,
            "digest": self.memory.digest,
            "conversations": len(self.memory.donors),
            "users": len({donor.user for donor in self.memory.donors}),
            "options": self.options.plain(),
        }


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
