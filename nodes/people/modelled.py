"""Users whom a chat model writes from people's turns: with few-shot examples, or by retrieve and edit."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime

from ...data.records import Conversation, Role
from ...data.text.languages import language_of
from ...errors import DataError, SettingError
from ...prompts import Library, shipped
from ..calls.service import drafted
from ..contract import ContractError, describe
from ..limits import Limits
from ..messages.building import MessageBuilder, fenced, marks_of, unfenced
from ..models.specs import chat_model, model_provenance
from ..speakers.speaker import given_by, speaker_call
from ..state import Draft, Prompt, State, Update, attempt_number, merged, rejected, without_rejected
from .choice import Choice, ChoiceWeights
from .examples import examples_page, nearest
from .options import PeopleOptions, people_path
from .speaker import PeopleSpeaker
from .specs import EXAMPLES, check_examples, model_spec
from .turns import ORIGIN, RETRIEVED

SHOWN = "like"
"""Key of a message's `extra` for the turns that its writer was shown."""

ANEW = 2
"""Rejected rewritings of a turn after which another turn is taken."""


@dataclass(frozen=True, kw_only=True)
class WithPeople:
    """A chat model in the place of the user, and the people whose turns it is given."""

    model: BaseChatModel
    people: PeopleSpeaker
    build: MessageBuilder | None = None
    """Builds the messages of a model from the state. None: the builder of its cast."""
    pages: Library | None = field(default=None, repr=False)
    """The pages `like/...` and `rewrite/...`. None: the shipped ones in the language of the cast's own."""
    path: str | None = None
    """The import path in the cast's settings, if it was given by one."""
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
        weights: ChoiceWeights | None = None,
        pages: Library | None = None,
        **more: Any,
    ) -> Self:
        """The user of a chat model, or its spec, and of people's conversations, or their path.

        `options`, `weights`: as for `PeopleSpeaker.of`, whose errors it has too. `pages`: pages of your
        own in place of the shipped ones. `more`: `examples` of `FewShotUser`.
        """
        people = PeopleSpeaker.of(source, "user", options=options, weights=weights)
        return cls(model=chat_model(model), people=people, pages=pages, **more)

    def placed(self, build: MessageBuilder) -> Self:
        """The same speaker in a cast whose pages `build` the messages of a model."""
        build = self.build or build
        return replace(self, build=build, pages=self.pages or shipped("people", self._language(build)))

    @property
    def own_pages(self) -> dict[str, Any]:
        """The prompt templates that it sends besides the cast's, by name."""
        pages = {} if self.pages is None else self.pages.pages
        return {name: page for name, page in pages.items() if name.startswith(f"{self._folder}/")}

    _folder: ClassVar[str]

    def _language(self, build: MessageBuilder) -> str:
        """The language of the cast's prompt templates for the user, else that of the people's turns."""
        pages = getattr(build, "pages", None)
        sources = [page.source for name, page in pages.pages.items() if name.startswith("user/")] if pages else []
        turns = (turn.text for turn in self.people.memory.turns[:100])
        return language_of("\n".join(sources)) or language_of("\n".join(turns)) or "en"

    def _of_cast(self, state: State) -> list[BaseMessage]:
        """The messages of a model in this place, without people's turns."""
        if self.build is None:
            raise ContractError(
                f"user: {type(self).__name__} takes part in no cast yet: give it as user=, or with build="
            )
        return self.build(state)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if _asked_afterwards(state):
            return {"drafts": [await self._drafted(self._of_cast(state), state, runtime.context)]}
        return await self._written(state, runtime.context)

    async def _written(self, state: State, limits: Limits) -> Update:
        """The next turn."""
        raise NotImplementedError

    async def sent(self, state: State, limits: Limits) -> list[BaseMessage]:
        """The messages of a call to the model; without people's turns where none may be used."""
        raise NotImplementedError

    async def _drafted(self, sent: Sequence[BaseMessage], state: State, limits: Limits) -> Draft:
        return await drafted(self.model, sent, speaker_call(self.role, state, limits), attempt_number(state, self.role))

    def _page(self) -> Library:
        return self.pages or shipped("people", "en")

    def _provenance(self) -> dict[str, Any]:
        pages = {name: page.digest for name, page in self.own_pages.items()}
        described = {"model": model_provenance(self.model), "view": describe(self.build), **given_by(self.path)}
        return described | ({"pages": pages} if pages else {})


@dataclass(frozen=True, kw_only=True)
class FewShotUser(WithPeople):
    """A chat model that writes the next turn after few-shot examples: turns of people at like places.

    The examples are drawn for each turn as `PeopleSpeaker` draws its turns. It compares task and profile, the
    conversation so far, and the other role's last message. They are sent in a message of their own, the first one after
    the system prompt, with a scripted acknowledgement. No example is by the person whose conversation is simulated. The
    record of a message names them in `extra["like"]`.

    Example::

        >>> import duologue
        >>> from duologue.nodes.people import FewShotUser
        >>> from duologue.testing import scripted_model
        >>> talk = duologue.data.Conversation(
        ...     id="1", scenario={"goal": "tea"}, messages=[{"role": "user", "text": "Which tea is mild?"}]
        ... )
        >>> user = FewShotUser.of(scripted_model("I would like a tea."), [talk], examples=1)
        >>> duologue.graphs.agent_test.cast(user=user)
        Cast(agent_test: user=ScriptedModel?like=conversations, assistant=offline)
    """

    examples: int = EXAMPLES
    """Maximum number of examples."""
    _folder: ClassVar[str] = "like"

    def __post_init__(self) -> None:
        check_examples(self.examples)

    async def _written(self, state: State, limits: Limits) -> Update:
        shown = self._shown(state, limits)
        draft = await self._drafted(self._with(shown, state), state, limits)
        memory = self.people.memory
        turns = [(memory.turns[number], memory.donors[memory.turns[number].donor]) for number in shown]
        draft["extra"] = {
            **draft.get("extra", {}),
            SHOWN: {
                "source": memory.source,
                "digest": memory.digest,
                "shown": [{"conversation": donor.id, "message": turn.messages[0].number} for turn, donor in turns],
            },
        }
        return {"drafts": [draft]}

    async def sent(self, state: State, limits: Limits) -> list[BaseMessage]:
        """The messages of a call to the model; without examples where none may be shown."""
        shown: list[int] = []
        with suppress(DataError):
            shown = self._shown(state, limits)
        return self._with(shown, state)

    def _shown(self, state: State, limits: Limits) -> list[int]:
        """The numbers of the turns to show: the same ones for every attempt at a turn."""
        people = self.people
        moment, allowed = people.candidates(without_rejected(state), limits)
        return nearest(people.memory, moment, allowed, people.weights, self.examples)

    def _with(self, shown: Sequence[int], state: State) -> list[BaseMessage]:
        messages = self._of_cast(state)
        if not shown:
            return messages
        memory, pages = self.people.memory, self._page()
        turns = [memory.turns[number] for number in shown]
        private = self.people.options.min_users > 1
        page = examples_page(pages, turns, marks_of(state.get("scenario", {})), private=private)
        example_messages: list[BaseMessage] = [HumanMessage(page)]
        after = sum(isinstance(message, SystemMessage) for message in messages[:1])
        if not isinstance(
            next(iter(messages[after:]), None), AIMessage
        ):  # roles alternate: some endpoints insist on it
            example_messages.append(AIMessage(pages["like/acknowledgement"].fill()))
        return [*messages[:after], *example_messages, *messages[after:]]

    def provenance(self) -> dict[str, Any]:
        return self._provenance() | {SHOWN: self.people.provenance() | {"examples": self.examples}}


@dataclass(frozen=True, kw_only=True)
class RewritePeople(WithPeople):
    """A chat model that fits turns of people to the conversation.

    `PeopleSpeaker` chooses the turn and decides where the user ends. The turn is sent as a quote after the
    conversation, with the request to keep style and length. The model retries a rejected rewriting, with the reason of
    the rejection; after two of them another turn is taken. The record of a message has the words of the turn in
    `extra["people"]["retrieved"]`.
    """

    _folder: ClassVar[str] = "rewrite"

    def prompted(self, state: State) -> bool:
        """Whether the selector's prompt is sent: a repair, or a question after the conversation."""
        return bool(rejected(state, "user")) or _asked_afterwards(state)

    @property
    def longest(self) -> int:
        """Turns of the conversation with the most."""
        return self.people.longest

    async def _written(self, state: State, limits: Limits) -> Update:
        choice = None if self.people.ended(state) else self._turn(state, limits)
        if choice is None:
            return {"drafts": [], "stop": "user_ended"}
        retrieved = self.people.drafts(choice)
        text = "\n".join(draft["text"] for draft in retrieved).strip()
        if not text:  # an image alone: there is nothing to write again
            return {"drafts": retrieved}
        draft = await self._drafted(self._asking(text, state), state, limits)
        draft["text"] = unfenced(draft["text"])
        origin = retrieved[0].get("extra", {})[ORIGIN] | {RETRIEVED: text}
        draft["extra"] = {**draft.get("extra", {}), ORIGIN: origin}
        if parts := [part for source_draft in retrieved for part in source_draft.get("parts", [])]:
            draft["parts"] = [*draft.get("parts", []), *parts]
        return {"drafts": [draft]}

    async def sent(self, state: State, limits: Limits) -> list[BaseMessage]:
        """The messages of a call to the model; with an empty quote where no turn may be used."""
        choice = None
        with suppress(DataError):
            choice = self._turn(state, limits)
        text = "" if choice is None else "\n".join(filled.text for filled in choice.texts)
        return self._asking(text, state)

    def _turn(self, state: State, limits: Limits) -> Choice | None:
        """The turn to fit: the same one until the validator has rejected too many rewritings."""
        choice = self.people.choice(without_rejected(state), limits)
        if choice is None or attempt_number(state) <= ANEW:
            return choice
        tried = [{"text": filled.text, "number": 1} for filled in choice.texts]
        return self.people.choice(without_rejected(state, tried), limits) or choice

    def _asking(self, text: str, state: State) -> list[BaseMessage]:
        page, marks = self._page()["rewrite/fit"], marks_of(state.get("scenario", {}))
        request, mending = page.fill(), state.get("prompt") if rejected(state, "user") else None
        if mending and mending["text"]:
            request = f"{mending['text']}\n{request}"
        line = Prompt(name=page.name, digest=page.digest, text=request, quote=fenced(text, *marks))
        return self._of_cast(merged(state, {"prompt": line}))

    def provenance(self) -> dict[str, Any]:
        return self._provenance() | {"rewrite": self.people.provenance()}


def _asked_afterwards(state: State) -> bool:
    """Whether the request is a question about the conversation, not a turn of it."""
    return state.get("speaking", "user") is None


def of_spec(spec: str, role: Role) -> PeopleSpeaker | WithPeople:
    """The speaker of a spec with a source of people's words: `people:SRC`, or a model's with `like` or `rewrite`.

    SettingError for a wrong spec; ModelError for a wrong model.
    """
    if people_path(spec) is not None:
        return PeopleSpeaker.of_spec(spec, role)
    if role != "user":
        raise SettingError(f"{role}: like and rewrite are for the user: give people:SRC for recorded replies")
    parts = model_spec(spec)
    model = chat_model(parts.model, **parts.arguments)
    if parts.use == "like":
        return FewShotUser.of(model, parts.path, options=parts.options, examples=parts.examples)
    return RewritePeople.of(model, parts.path, options=parts.options)
