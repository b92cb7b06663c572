"""Users and assistants made from people's conversations, and the choice of the turn that comes next.

`people:SRC` sends stored messages of people, or of an assistant that answered one, without a model. `MODEL?like=SRC` is a
user whom a chat model writes, with people's turns as few-shot examples. A turn's score is a sum of likenesses, each 0 to 1:
the cosine of TF-IDF weights of words. Several texts together, such as all messages before a turn, are one text.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import groupby, takewhile
from math import log
from operator import attrgetter
from pathlib import Path
from sys import intern
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ..data import domains
from ..data.identity import call_seed, digest
from ..data.people import STORED, UserPart, of_part, topic_key, user_of
from ..data.recllmsim import facts_of
from ..data.records import Conversation, Message, Role
from ..data.rules.guards import plain_words
from ..data.text.languages import Language, language_of
from ..data.text.values import values_in
from ..data.text.words import texts_in, words_of
from ..errors import DataError, SettingError, first_invalid, of_extra
from ..prompts import Library, Page, shipped
from .calls.service import drafted
from .contract import describe
from .limits import Limits
from .messages import MARKS, MessageBuilder, fenced
from .models.specs import chat_model, head_of, model_provenance, parse_spec, use_of
from .settings.redaction import redacted
from .speakers.replay import replayed, version_of
from .speakers.speaker import Speaker, speaker_call
from .state import Draft, State, Update, attempt_number, history, id_of, rejected, without_rejected

ORIGIN = "people"
"""Key of a message's `extra` for where its words come from: `source`, `digest`, `conversation`, `message`."""

_WISH = ("goal", "task_context", "title", "header", "task", "first_message", "persona")
"""Keys of scenarios that say what the user wants, in the order in which they are read."""


class Donor(NamedTuple):
    """A stored conversation whose turns are used again."""

    id: str
    user: str
    topic: str | None
    """Equal for conversations about the same context; None if it is unknown."""
    wish: str
    """The user's goal, in words; empty if the source does not contain it."""
    person: str
    """The source's facts about the user."""


@dataclass(frozen=True, eq=False)
class PeopleTurn:
    """The messages of one role in one turn; `heard` are the other role's right before."""

    donor: Donor
    place: int
    """Its number among the turns of this role, from 0."""
    messages: Mapping[int, Message]
    """By their numbers among all messages of the conversation, from 0."""
    heard: Sequence[str]

    @cached_property
    def text(self) -> str:
        """Its messages, a line break between them."""
        return "\n".join(message.text for message in self.messages.values())


def turns_of(conversation: Conversation, role: Role) -> list[PeopleTurn]:
    """The turns of one role, in their order."""
    wish, person = wish_in(conversation.scenario), person_in(conversation.scenario)
    donor = Donor(conversation.id, user_of(conversation), topic_key(conversation), wish, person)
    said = [(n, one) for n, one in enumerate(conversation.messages) if one.stored and (one.text.strip() or one.parts)]
    turns: list[PeopleTurn] = []
    heard = list[str]()
    for speaking, group in groupby(said, key=lambda numbered: numbered[1].role):
        messages = dict(group)
        if speaking == role:
            turns.append(PeopleTurn(donor, len(turns), messages, heard))
        heard = [message.text for message in messages.values()]
    return turns


def wish_in(scenario: Mapping[str, Any]) -> str:
    """The user's goal in the words of the scenario, without the parts that only the other role sees."""
    texts = [text for key in _WISH if isinstance(text := scenario.get(key), str) and text.strip()]
    return "\n".join(dict.fromkeys(texts)) or domains.of(scenario).title(scenario)


def person_in(scenario: Mapping[str, Any]) -> str:
    """The scenario's facts about the user, a line for each; empty if it has none."""
    facts = [value for _, value in facts_of(scenario)]
    return "\n".join([*facts, *texts_in(scenario.get("facts", ""))])


def origin_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The recorded origin of a message's words (`ORIGIN`); empty without one."""
    origin = (message.get("extra") or {}).get(ORIGIN)
    return origin if isinstance(origin, Mapping) else {}


WEIGHTS: Mapping[Role, Mapping[str, float]] = {
    "user": {"scenario": 1.0, "heard": 0.5, "words": 0.4, "stay": 0.5, "spread": 0.1},
    "assistant": {"scenario": 0.0, "heard": 1.0, "words": 1.0, "stay": 0.1, "spread": 0.0},
}
"""How much each likeness counts: of what the user wants and is (`scenario`, which an assistant does not know), of the
other role's last words (`heard`), and of the turn's own words with all that is known here (`words`). `stay`: for the next
turn of the last turn's source, and as much for a place as late in the conversation. `spread`: temperature of the draw."""
DRAWN = 64
"""Of how many turns, the best ones, one is drawn."""

_Factor: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class PeopleOptions(BaseModel):
    """Which stored turns may be used again, and what counts in the choice among them; SettingError for a wrong value.

    The last three are factors of what `WEIGHTS` has: 1 leaves it as it is, 0 takes it out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    unseen: bool = False
    """Leave out the conversations about the same context as the one that is simulated (`Domain.topic_key`)."""
    part: UserPart = "all"
    """Only the conversations of this part of the users: the split of `compare --part`."""
    licence: Annotated[str, BeforeValidator(str)] = ""
    """The licence of the source, for the card of the data set; empty: not stated."""
    examples: int = Field(3, ge=1, le=20)
    """Maximum of few-shot examples at a turn; only with `like`."""
    words: _Factor = 1.0
    stay: _Factor = 1.0
    spread: _Factor = 1.0

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            first, names = first_invalid(error), ", ".join(PeopleOptions.model_fields)
            what = redacted(f"{first.path}={first.value}")
            raise SettingError(f"people: {what}: {first.message}; the options are {names}") from None

    def plain(self) -> dict[str, Any]:
        """The options that differ from their defaults, without the number of examples."""
        return self.model_dump(exclude_defaults=True, exclude={"examples"})


class PeopleMoment(NamedTuple):
    """A conversation as the role sees it whose turn it is; the assistant knows neither `wish` nor `person`.

    `place`: number of turns that the role has had; `used` and `before`: numbers of those, and of the last of those, that
    are of this memory; `draw`: a random integer.
    """

    wish: str
    person: str
    messages: Sequence[str]
    heard: Sequence[str]
    """The other role's messages since this role's last turn."""
    tried: frozenset[str]
    """The words of each message of this role, and of each rejected draft of this turn."""
    used: frozenset[int]
    place: int
    before: int | None
    draw: int

    @property
    def known(self) -> list[str]:
        """All texts that the role knows."""
        return [*self.messages, self.wish, self.person]


@lru_cache(maxsize=50_000)  # a text is in the groups of all later turns; its words are shared, which saves memory
def _words_of(text: str) -> list[str]:
    """The words of a text; one empty word for a text without any, so that such texts are alike."""
    return [*map(intern, words_of(text, language_of(text) or "en"))] or [""]


def _words(texts: Sequence[str]) -> list[str]:
    return [word for text in texts if text for word in _words_of(text)]


def _alike(rows: Any, row: Any) -> Any:
    return (rows @ row.T).toarray().ravel().clip(0.0, 1.0)


class Memory:
    """The turns of one role in stored conversations, ready to be compared.

    DataError if none of these conversations, or of their turns, is left with the options.
    """

    def __init__(self, conversations: Sequence[Conversation], role: Role, part: UserPart, source: str) -> None:
        self.role, self.source = role, source
        if not (chosen := [one for one in conversations if of_part(one, part)]):
            raise DataError(f"{source}: holds no conversation of part={part} of its users")
        self.turns = [turn for one in chosen for turn in turns_of(one, role)]
        if not self.turns:
            raise DataError(f"{source}: none of its conversations has a message of the {role}")
        groups = [self._texts_of(turn) for turn in self.turns]
        each = {text: (text,) for of_turn in groups for group in of_turn.values() for text in group if text}
        extraction = of_extra("sklearn.feature_extraction.text", "stats")
        self._vectors = extraction.TfidfVectorizer(analyzer=_words, sublinear_tf=True).fit(each.values())
        self._rows = {name: self._vectors.transform([of_turn[name] for of_turn in groups]) for name in groups[0]}
        told = [(one.id, [(said.role, said.text) for said in one.messages]) for one in chosen]
        self.digest = digest(told)[:16]
        self.keys = [frozenset(plain_words(one.text) for one in turn.messages.values()) for turn in self.turns]
        """The words of the messages of each turn, without case and punctuation."""
        self.numbers = {(turn.donor.id, n): number for number, turn in enumerate(self.turns) for n in turn.messages}
        """The number of the turn by conversation and message."""

    def _texts_of(self, turn: PeopleTurn) -> dict[str, Sequence[str]]:
        # What the user wants and is, the assistant does not know.
        scenario = [turn.donor.wish, turn.donor.person] if self.role == "user" else []
        own = [message.text for message in turn.messages.values()]
        return {"scenario": scenario, "heard": turn.heard, "own": own}

    @property
    def language(self) -> Language | None:
        """The commonest language of the turns; None if it cannot be detected."""
        return language_of("\n".join(turn.text for turn in self.turns[:200]))

    def after(self, number: int) -> range:
        """The numbers of the turns that follow in the same conversation."""
        end = number + 1
        while end < len(self.turns) and self.turns[end].donor is self.turns[number].donor:
            end += 1
        return range(number + 1, end)

    def _is_new(self, number: int, moment: PeopleMoment) -> bool:
        return number not in moment.used and moment.tried.isdisjoint(self.keys[number])

    def _following(self, moment: PeopleMoment) -> int | None:
        after = () if moment.before is None else self.after(moment.before)
        return next((number for number in after if self._is_new(number, moment)), None)

    def _scores(self, moment: PeopleMoment, options: PeopleOptions) -> Any:
        numpy = of_extra("numpy", "stats")
        weights = {name: getattr(options, name, 1.0) * weight for name, weight in WEIGHTS[self.role].items()}
        texts = [[moment.wish, moment.person], moment.heard, moment.known]
        wanted, heard, known = self._vectors.transform(texts)
        scores = weights["scenario"] * _alike(self._rows["scenario"], wanted)
        scores += weights["heard"] * _alike(self._rows["heard"], heard)
        scores += weights["words"] * (_alike(self._rows["own"], heard) + _alike(self._rows["own"], known))
        distance = abs(numpy.array([turn.place for turn in self.turns]) - moment.place)
        scores += weights["stay"] / (1.0 + distance)
        if (following := self._following(moment)) is not None:
            scores[following] += weights["stay"]
        return scores

    def ranked(self, moment: PeopleMoment, allowed: Iterable[int], options: PeopleOptions) -> list[int]:
        """The numbers of the allowed and new turns in the order in which to try them, drawn so that a better fit is early.

        The next one of the source conversation is first where it fits about as well as the best.
        """
        scores, spread = self._scores(moment, options), options.spread * WEIGHTS[self.role]["spread"]
        numbers = [number for number in allowed if self._is_new(number, moment)]
        best = sorted(numbers, key=lambda number: (-float(scores[number]), number))
        drawn = {number: float(scores[number]) + spread * _gumbel(moment.draw, number) for number in best[:DRAWN]}
        order = [*sorted(drawn, key=lambda number: (-drawn[number], number)), *best[DRAWN:]]
        following = self._following(moment)
        if following in best and scores[following] >= scores[best[0]] - spread:
            order = [following, *(number for number in order if number != following)]
        return order

    def chosen(self, moment: PeopleMoment, allowed: Iterable[int], options: PeopleOptions) -> PeopleTurn | None:
        """The turn that comes next; None if none of the allowed ones fits.

        A user names no value that is not known here: nobody says another person's code, or the date of another task.
        """
        turns = (self.turns[number] for number in self.ranked(moment, allowed, options))
        if self.role == "user":
            known = values_in("\n".join(moment.known))
            turns = (turn for turn in turns if values_in(turn.text) <= known)
        return next(turns, None)


def _gumbel(draw: int, number: int) -> float:
    """A draw from Gumbel's distribution: the maximum of scores by a temperature plus these is one from their softmax."""
    uniform = (int(digest("turn", draw, number)[:12], 16) + 0.5) / 16**12
    return -log(-log(uniform))


@lru_cache(maxsize=4)
def _remembered(path: Path, version: str, role: Role, part: UserPart) -> Memory:
    return Memory(replayed(path).conversations, role, part, path.resolve().name)


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

        A path is read once in a process, and again if its files change. MissingExtraError without scikit-learn (extra
        `stats`), and for Chinese jieba (extra `zh`).
        """
        options = options or PeopleOptions()
        if isinstance(source, (str, Path)):
            return cls(role, _remembered(Path(source), version_of(source), role, options.part), options)
        return cls(role, Memory(source, role, options.part, "conversations"), options)

    @property
    def longest(self) -> int:
        """Turns of the conversation with the most."""
        return max(turn.place for turn in self.memory.turns) + 1

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        over, choice = self.role == "user" and self.ended(state), None
        if not over:
            choice = self.memory.chosen(*self.candidates(state, runtime.context), self.options)
        if choice is not None:
            return {"drafts": self._drafts(choice)}
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
            messages=[message["text"] for message in messages],
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
        donors = [turn.donor for turn in self.memory.turns]
        allowed = [*range(len(donors))]
        if isinstance(stored := state.get("extra", {}).get(STORED), Mapping):  # nobody is played by their own words
            own_id, user = stored.get("id"), stored.get("user")
            allowed = [n for n in allowed if donors[n].id != own_id and not (user and donors[n].user == user)]
        if self.options.unseen:
            allowed = [n for n in allowed if donors[n].topic is None or donors[n].topic != topic]
        if self.role == "user":
            return allowed
        used = {self._number(message) for message in history(state, self.role)}
        # Replies of a conversation whose user speaks here would make it that conversation over again.
        speaking = {origin_of(message).get("conversation") for message in history(state, "user")}
        allowed = [n for n in allowed if n not in used]
        if domain.source_text(scenario) is not None and topic is not None:  # an answer has to come from the text
            allowed = [n for n in allowed if donors[n].topic == topic] or allowed
        return [n for n in allowed if donors[n].id not in speaking] or allowed

    def _drafts(self, turn: PeopleTurn) -> list[Draft]:
        drafts = []
        for number, message in turn.messages.items():
            origin = {"source": self.memory.source, "digest": self.memory.digest}
            draft = Draft(
                text=message.text, extra={ORIGIN: {**origin, "conversation": turn.donor.id, "message": number}}
            )
            if message.parts:
                draft["parts"] = [part.plain() for part in message.parts]
            drafts.append(draft)
        return drafts

    def provenance(self) -> dict[str, Any]:
        donors = {id(turn.donor): turn.donor for turn in self.memory.turns}.values()
        return {
            "turns_of": self.memory.source,
            "digest": self.memory.digest,
            "conversations": len(donors),
            "users": len({donor.user for donor in donors}),
            "options": self.options.plain(),
        }


@dataclass(frozen=True, kw_only=True)
class FewShotUser(Speaker):
    """A chat model that writes the next turn after few-shot examples: turns of people at like places.

    They are drawn for each turn as `PeopleSpeaker` draws its turns, none by the person whose conversation is simulated,
    and sent after the system prompt, with a scripted acknowledgement. The record of a message names them in
    `extra["like"]`.
    """

    model: BaseChatModel
    people: PeopleSpeaker
    build: MessageBuilder | None = None
    """Builds the messages of a model from the state. None: the builder of its cast."""
    role: Role = "user"
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
            named = [{"conversation": turn.donor.id, "message": next(iter(turn.messages))} for turn in shown]
            origin = {"source": memory.source, "digest": memory.digest, "shown": named}
            draft["extra"] = {**draft.get("extra", {}), SHOWN: origin}
        return {"drafts": [draft]}

    def _shown(self, state: State, limits: Limits) -> list[PeopleTurn]:
        """The turns that fit best here, no two in the same words; the same ones for every attempt at a turn.

        They are of different people where there are as many, else of different conversations.
        """
        memory, options = self.people.memory, self.people.options
        ranked = memory.ranked(*self.people.candidates(without_rejected(state), limits), options)
        picked, said = list[PeopleTurn](), set[str]()
        for whose in (attrgetter("donor.user"), attrgetter("donor.id")):
            for number in ranked:
                turn, words = memory.turns[number], memory.keys[number]
                is_new = words.isdisjoint(said) and whose(turn) not in map(whose, picked)
                if is_new and turn.text.strip() and len(picked) < options.examples:
                    picked.append(turn)
                    said |= words
        return picked

    def _with(self, shown: Sequence[PeopleTurn], state: State) -> list[BaseMessage]:
        messages = self.sent(state)
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
        said, heard = turn.text.strip(), "\n".join(turn.heard).strip()
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


def speaker_of(spec: str, role: Role) -> PeopleSpeaker | FewShotUser:
    """The speaker of a model identifier that names people's conversations (`use_of`); errors for a wrong one."""
    use, head, (provider, name, query) = use_of(spec), head_of(spec), parse_spec(spec)
    source = name if use == "people" else str(query.pop("like"))
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
