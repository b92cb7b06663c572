"""Speakers of people's turns: one that sends them, and a chat model that writes after them as few-shot examples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby, takewhile
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime

from ...data import domains
from ...data.identity import call_seed
from ...data.people import STORED
from ...data.records import Conversation, Role
from ...data.rules import plain_words
from ...data.text.languages import language_of
from ...errors import DataError, SettingError
from ...prompts import Library, Page, shipped
from ..calls.service import drafted
from ..contract import ContractError, describe
from ..limits import Limits
from ..messages import MARKS, MessageBuilder, fenced
from ..models.specs import chat_model, head_of, model_provenance, parse_spec, query_of
from ..speakers.speaker import speaker_call
from ..state import Draft, State, Update, attempt_number, history, id_of, rejected, without_rejected
from .retrieval import (
    ORIGIN,
    Memory,
    PeopleMoment,
    PeopleOptions,
    PeopleTurn,
    origin_of,
    person_in,
    remembered,
    wish_in,
)
from .slots import FilledText

SHOWN = "like"
"""Key of a message's `extra`, and of the settings in a record, for the turns that its writer was shown."""
MOST_SAID = 600
"""Maximum characters of a person's turn in an example."""
MOST_HEARD = 300
"""Maximum characters of the reply before it: half from its beginning, half from its end, where questions stand."""


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
        """The speaker of stored conversations, or of their path; DataError if these have no turn of this role.

        MissingExtraError without scikit-learn (extra `stats`), and for Chinese jieba (extra `zh`).
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

    def left(self, state: State, limits: Limits) -> str | None:
        """Stop after the answer to the last user turn of the source conversation, where that user ended."""
        messages = history(state)
        answered = bool(messages) and messages[-1]["role"] == "assistant"
        return "user_ended" if answered and self.ended(state) else None

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
        origin = origin_of(message)
        if origin.get("digest") != self.memory.digest:
            return None
        return self.memory.numbers.get((str(origin.get("conversation")), origin.get("message", -1)))

    def _allowed(self, state: State) -> list[int]:
        scenario, domain = state["scenario"], domains.of(state["scenario"])
        topic = domains.topic_of(scenario)
        sources = [turn.source for turn in self.memory.turns]
        allowed = [*range(len(sources))]
        if isinstance(stored := state.get("extra", {}).get(STORED), Mapping):  # nobody is played by their own words
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


@dataclass(frozen=True, kw_only=True)
class FewShotUser:
    """A chat model that writes the next turn after few-shot examples: turns of people at like places.

    They are drawn for each turn as `PeopleSpeaker` draws its turns, none by the person whose conversation is simulated,
    and sent after the system prompt, with a scripted acknowledgement. The record of a message names them in
    `extra["like"]`.
    """

    model: BaseChatModel
    people: PeopleSpeaker
    build: MessageBuilder | None = None
    """Builds the messages of a model from the state. None: the builder of its cast."""
    role: ClassVar[Role] = "user"
    read_only: ClassVar[bool] = True
    """The model's tool calls are not carried out."""

    @classmethod
    def of(
        cls,
        model: str | BaseChatModel,
        source: str | Path | Sequence[Conversation],
        *,
        options: PeopleOptions | None = None,
    ) -> Self:
        """The user of a chat model, and of people's conversations or their path; the rest as for `PeopleSpeaker.of`."""
        return cls(model=chat_model(model), people=PeopleSpeaker.of(source, "user", options=options))

    def placed(self, build: MessageBuilder) -> Self:
        """The same speaker in a cast whose pages `build` the messages of a model."""
        return replace(self, build=self.build or build)

    @cached_property
    def own_pages(self) -> Mapping[str, Page]:
        """The templates that it sends besides the cast's, by name, in the language of these, else in the people's."""
        pages = getattr(self.build, "pages", Library({})).pages
        of_cast = "\n".join(page.source for name, page in pages.items() if name.startswith("user/"))
        return shipped("people", language_of(of_cast) or self.people.memory.language or "en").pages

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        limits, memory = runtime.context, self.people.memory
        is_turn = state.get("speaking", "user") is not None  # and not a question after the conversation
        shown = self._shown(state, limits) if is_turn else []
        call, attempt = speaker_call(self.role, state, limits), attempt_number(state, self.role)
        draft = await drafted(self.model, self._with(shown, state), call, attempt)
        if is_turn:
            named = [{"conversation": turn.source.id, "message": turn.messages[0].number} for turn in shown]
            origin = {"source": memory.source, "digest": memory.digest, "shown": named}
            draft["extra"] = {**draft.get("extra", {}), SHOWN: origin}
        return {"drafts": [draft]}

    def sent(self, state: State, limits: Limits) -> list[BaseMessage]:
        """The messages of a call for the next turn; DataError where no turn may be shown."""
        return self._with(self._shown(state, limits), state)

    def _shown(self, state: State, limits: Limits) -> list[PeopleTurn]:
        """The turns that fit best here, no two in the same words; the same ones for every attempt at a turn.

        They are of different people where there are as many, else of different conversations.
        """
        memory, options = self.people.memory, self.people.options
        ranked = memory.ranked(*self.people.candidates(without_rejected(state), limits), options)
        picked, said = list[PeopleTurn](), set[str]()
        for whose in (attrgetter("source.user"), attrgetter("source.id")):
            for number in ranked:
                turn, words = memory.turns[number], memory.keys[number]
                is_new = words.isdisjoint(said) and whose(turn) not in map(whose, picked)
                if is_new and turn.text.strip() and len(picked) < options.examples:
                    picked.append(turn)
                    said |= words
        return picked

    def _with(self, shown: Sequence[PeopleTurn], state: State) -> list[BaseMessage]:
        if self.build is None:
            raise ContractError("user: FewShotUser takes part in no cast yet: give it as user=")
        messages = self.build(state)
        if not shown:
            return messages
        pages = self.own_pages
        examples = "\n".join(map(self._example, shown))
        added: list[BaseMessage] = [HumanMessage(pages["like/examples"].fill(examples=examples))]
        after = sum(isinstance(message, SystemMessage) for message in messages[:1])
        if not isinstance(messages[after] if after < len(messages) else None, AIMessage):
            added.append(AIMessage(pages["like/acknowledgement"].fill()))  # some endpoints want roles to take turns
        return [*messages[:after], *added, *messages[after:]]

    def _example(self, turn: PeopleTurn) -> str:
        """A turn between marks that its own text cannot hold, with the reply before it."""
        said, heard = turn.text.strip(), "\n".join(message.text for message in turn.heard).strip()
        if len(said) > MOST_SAID:
            said = said[:MOST_SAID].rstrip() + " […]"
        if len(heard) > MOST_HEARD:
            heard = heard[: MOST_HEARD // 2].rstrip() + " […] " + heard[-MOST_HEARD // 2 :].lstrip()
        page = self.own_pages["like/example" if heard else "like/example_opening"]
        values = {"said": said, "heard": heard}
        return page.fill_from({gap: fenced(text, *MARKS, *page.marks) for gap, text in values.items()})

    def provenance(self) -> dict[str, Any]:
        return {
            "model": model_provenance(self.model),
            "view": describe(self.build),
            "pages": {name: page.digest for name, page in self.own_pages.items()},
            SHOWN: self.people.provenance() | {"examples": self.people.options.examples},
        }


def use_of(spec: object) -> Literal["people", "like"] | None:
    """What a model identifier does with people's turns: they are sent as they are, or shown to a model as examples."""
    if not isinstance(spec, str):
        return None
    provider = spec.strip().partition(":")[0]
    if provider == "people":
        return "people"
    query = query_of(spec) if "?" in spec and provider not in ("replay", "agent") else {}
    return "like" if "like" in query else None


def speaker_of(spec: str, role: Role) -> PeopleSpeaker | FewShotUser | None:
    """The speaker of a model identifier that names people's conversations; None for any other, errors for a wrong one."""
    if (use := use_of(spec)) is None:
        return None
    head, (provider, name, query) = head_of(spec), parse_spec(spec)
    source = name if use == "people" else str(query.pop(use))
    if not source.strip():
        raise SettingError(f"{head!r}: {use} names no source: write people:SRC or {use}=SRC, a path of conversations")
    if provider == "offline":
        raise SettingError(f"{head!r} follows rules and reads no turns of people: give a language model, or people:SRC")
    own = query if use == "people" else PeopleOptions.model_fields
    options = PeopleOptions(**{option: query.pop(option) for option in [*query] if option in own})
    if use == "people":
        return PeopleSpeaker.of(Path(source), role, options=options)
    if role != "user":
        raise SettingError(f"{role}: like is for the user: give people:SRC for recorded replies")
    return FewShotUser.of(chat_model(f"{provider}:{name}" if name else provider, **query), source, options=options)
