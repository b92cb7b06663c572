"""A user whom a chat model writes after few-shot examples: turns of people at like places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Self

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime

from ...data.records import Conversation, Role
from ...data.text.languages import language_of
from ...errors import SettingError
from ...prompts import Library, Page, shipped
from ..calls.service import drafted
from ..contract import ContractError, describe
from ..limits import Limits
from ..messages.building import MessageBuilder, fenced, marks_of
from ..models.specs import chat_model, model_provenance
from ..speakers.speaker import speaker_call
from ..state import State, Update, attempt_number, without_rejected
from .speaker import PeopleSpeaker
from .spec import PeopleOptions, people_spec
from .turns import PeopleTurn

SHOWN = "like"
"""Key of a message's `extra`, and of the settings in a record, for the turns that its writer was shown."""
MOST_SAID = 600
"""Maximum characters of a person's turn in an example."""
MOST_HEARD = 300
"""Maximum characters of the reply before it: half from its beginning, half from its end, where questions stand."""


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
        """The messages of a model in this place, with these turns as examples."""
        if self.build is None:
            raise ContractError("user: FewShotUser takes part in no cast yet: give it as user=")
        messages = self.build(state)
        if not shown:
            return messages
        pages, marks = self.own_pages, marks_of(state["scenario"])
        examples = "\n".join(self._example(turn, marks) for turn in shown)
        added: list[BaseMessage] = [HumanMessage(pages["like/examples"].fill(examples=examples))]
        after = sum(isinstance(message, SystemMessage) for message in messages[:1])
        if not isinstance(messages[after] if after < len(messages) else None, AIMessage):
            added.append(AIMessage(pages["like/acknowledgement"].fill()))  # some endpoints want roles to take turns
        return [*messages[:after], *added, *messages[after:]]

    def _example(self, turn: PeopleTurn, marks: Sequence[str]) -> str:
        """A turn between marks that its own text cannot hold, with the reply before it."""
        said, heard = turn.text.strip(), "\n".join(message.text for message in turn.heard).strip()
        if len(said) > MOST_SAID:
            said = said[:MOST_SAID].rstrip() + " […]"
        if len(heard) > MOST_HEARD:
            heard = heard[: MOST_HEARD // 2].rstrip() + " […] " + heard[-MOST_HEARD // 2 :].lstrip()
        page = self.own_pages["like/example" if heard else "like/example_opening"]
        values = {"said": said, "heard": heard}
        return page.fill_from({gap: fenced(text, *marks, *page.marks) for gap, text in values.items()})

    def provenance(self) -> dict[str, Any]:
        return {
            "model": model_provenance(self.model),
            "view": describe(self.build),
            "pages": {name: page.digest for name, page in self.own_pages.items()},
            SHOWN: self.people.provenance() | {"examples": self.people.options.examples},
        }


def speaker_of(spec: str, role: Role) -> PeopleSpeaker | FewShotUser | None:
    """The speaker of a model identifier that names people's conversations; None for any other, errors for a wrong one."""
    parts = people_spec(spec)
    if parts is None:
        return None
    if parts.use == "people":
        return PeopleSpeaker.of(parts.path, role, options=parts.options)
    if role != "user":
        raise SettingError(f"{role}: like is for the user: give people:SRC for recorded replies")
    return FewShotUser.of(chat_model(parts.model, **parts.arguments), parts.path, options=parts.options)
