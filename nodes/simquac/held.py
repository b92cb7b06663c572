"""A SimQuAC teacher that cannot misquote: a grammar holds its reply to the section.

For endpoints that take llama.cpp's field `grammar` (GBNF): `local:` models, and llama.cpp's own server as `openai:`.
"""

import logging
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

from langchain_core.language_models import BaseChatModel
from langgraph.runtime import Runtime

from ...data.grounding import NO_ANSWER, ground, token_index
from ...data.identity import digest
from ...data.records import Role
from ...data.text.languages import says_something
from ...data.text.sentence_splitting import sentences
from ...errors import ModelError
from ..calls.service import current, drafted
from ..contract import describe
from ..limits import Limits
from ..messages import MessageBuilder
from ..models.openai import OpenAIModel
from ..models.specs import chat_model, model_provenance
from ..speakers.speaker import Speaker, speaker_call
from ..state import State, Update, attempt_number
from .roles import Hold

TAKES_NONE = "the endpoint takes no grammar, which hold= needs: llama.cpp's server does, and local:PATH.gguf"
_IGNORE_IT = set[str]()  # endpoints of which that was said


@dataclass(frozen=True)
class HeldTeacher(Speaker):
    """The teacher of the SimQuAC cast with `hold`."""

    model: str | BaseChatModel
    hold: Hold
    build: MessageBuilder | None = None
    role: Role = "assistant"
    read_only: ClassVar[bool] = True

    def placed(self, view: MessageBuilder) -> Self:
        """The same teacher with this view; ModelError for a model that is at no endpoint of OpenAI's form."""
        model = chat_model(self.model)
        if not isinstance(model, OpenAIModel):
            raise ModelError(f"hold: {self.model} is no openai: or local: model, whose requests may have a grammar")
        return replace(self, model=model, build=self.build or view)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        call, attempt = speaker_call(self.role, state, runtime.context), attempt_number(state, self.role)
        section = str(state["scenario"]["section"])
        model = cast(OpenAIModel, self.model)
        grammar, metadata = span_grammar(section), model.metadata or {}
        # A kept reply depends on the grammar, too.
        told = metadata | {"arguments": metadata.get("arguments", {}) | {"grammar": digest(grammar)[:16]}}
        model = model.model_copy(update={"arguments": model.arguments | {"grammar": grammar}, "metadata": told})
        draft = await drafted(model, self.sent(state), call, attempt)
        if "flaw" not in draft and not ground(draft["text"], section).valid and model.base_url not in _IGNORE_IT:
            _IGNORE_IT.add(model.base_url)
            (current().notify or logging.getLogger(__name__).warning)(f"{TAKES_NONE}: its replies are checked as ever")
        return {"drafts": [draft]}

    def provenance(self) -> dict[str, Any]:
        return {"model": model_provenance(chat_model(self.model)), "view": describe(self.build), "hold": self.hold}


def span_grammar(section: str) -> str:
    """The grammar of the spans of a section from any word to any later one of its sentence, and of the refusal.

    One rule a word. Words are the tokens of grounding, with the section's own white space between them. A small model
    that may end anywhere goes on to the section's end, so a span ends with its sentence at the latest.
    """
    index, ends, at = token_index(section), set[int](), 0
    for piece in sentences(section):
        at = section.index(piece, at) + len(piece)
        ends.add(at)
    rules, begins = [], [literal(NO_ANSWER)]
    for number, (start, end) in enumerate(zip(index.starts, index.ends, strict=True)):
        word = section[start:end]
        goes_on = number + 1 < len(index.starts) and end not in ends
        onward = f" ({literal(section[end : index.starts[number + 1]])} w{number + 1})?" if goes_on else ""
        rules.append(f"w{number} ::= {literal(word)}{onward}")
        if says_something(word):  # no span begins with a mark
            begins.append(f"w{number}")
    return "\n".join([f"root ::= {' | '.join(begins)}", *rules])


def literal(text: str) -> str:
    """A text as a terminal of GBNF."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return f'"{"".join(escapes.get(sign, sign) for sign in text)}"'
