"""A SimQuAC teacher that cannot misquote: a grammar holds its reply to the section, or the likeliest sentence is its reply.

For endpoints that take llama.cpp's field `grammar` (GBNF): `local:` models, and llama.cpp's own server as `openai:`.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime

from ...data.grounding import NO_ANSWER, ground, token_index
from ...data.identity import digest
from ...data.records import Role, Usage
from ...data.text.languages import says_something
from ...data.text.sentence_splitting import sentences
from ...errors import ModelError
from ..calls.service import current, drafted
from ..calls.store import Call
from ..contract import describe
from ..limits import Limits
from ..messages import MessageBuilder
from ..models.faults import ReplyError, fault
from ..models.openai import OpenAIModel
from ..models.specs import chat_model, model_provenance
from ..speakers.speaker import Speaker, speaker_call
from ..state import Draft, State, Update, attempt_number, history

Hold: TypeAlias = Literal["grammar", "likelihood"]
"""`grammar`: the model writes, and can write nothing but a span of a sentence of the section, or the refusal. `likelihood`: it writes
nothing; the sentence of the section after which it would most likely ask the student's question is the reply."""
TAKES_NONE = "the endpoint takes no grammar, which hold= needs: llama.cpp's server does, and local:PATH.gguf"
_IGNORE_IT = set[str]()  # endpoints of which that was said
ASKS = "Ask the question that this text answers."


@dataclass(frozen=True)
class HeldTeacher(Speaker):
    """The teacher of the SimQuAC cast with `hold`."""

    model: str | BaseChatModel
    hold: Hold
    refuse_below: float | None = None
    """With `likelihood`: refuse where the question's mean log-likelihood a token is lower (`labels` of each message)."""
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
        if self.hold == "likelihood":
            return {"drafts": [await self._likeliest(state, section, call, attempt)]}
        model = cast(OpenAIModel, self.model)
        grammar = {"grammar": span_grammar(section)}
        model = model.model_copy(update={"arguments": model.arguments | grammar, "metadata": _told(model, grammar)})
        draft = await drafted(model, self.sent(state), call, attempt)
        if "flaw" not in draft and not ground(draft["text"], section).valid and model.base_url not in _IGNORE_IT:
            _IGNORE_IT.add(model.base_url)
            (current().notify or logging.getLogger(__name__).warning)(f"{TAKES_NONE}: its replies are checked as ever")
        return {"drafts": [draft]}

    def provenance(self) -> dict[str, Any]:
        told = {"hold": self.hold} | ({} if self.refuse_below is None else {"refuse_below": self.refuse_below})
        return {"model": model_provenance(chat_model(self.model)), "view": describe(self.build), **told}

    async def _likeliest(self, state: State, section: str, call: Call, attempt: int) -> Draft:
        """The sentence with the question's likelihood after it, as query likelihood ranks passages.

        Sachan et al., "Improving passage retrieval with zero-shot question generation" (EMNLP 2022), section 2.2.
        """
        pieces = [piece for piece in sentences(section) if says_something(piece)]
        question, title = history(state, "user")[-1]["text"].strip(), state["scenario"].get("title", "")
        if not pieces or not question:
            return Draft(text=NO_ANSWER)
        model = likelihood_of(cast(OpenAIModel, self.model))

        async def asked(number: int, piece: str) -> Draft:
            sent: list[BaseMessage] = [SystemMessage(ASKS), HumanMessage(f"{title}. {piece}"), AIMessage(question)]
            return await drafted(model, sent, replace(call, vote=number), attempt)

        drafts = await asyncio.gather(*(asked(number, piece) for number, piece in enumerate(pieces, 1)))
        scores = [float(draft["text"]) for draft in drafts]
        best = max(scores)
        refuses = self.refuse_below is not None and best < self.refuse_below
        text = NO_ANSWER if refuses else pieces[scores.index(best)]
        usage = sum((Usage(**draft["usage"]) for draft in drafts if "usage" in draft), Usage.none())
        return Draft(text=text, usage=usage.model_dump(exclude_defaults=True), labels={"likelihood": best})


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


class Likelihood(OpenAIModel):
    """Replies the mean log-likelihood a token of the last message after those before it, as a number."""

    served: OpenAIModel

    async def _posted(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        return await self.served._posted(body)

    async def _reply(self, messages: Any, **given: Any) -> AIMessage:
        *before, last = messages
        text = str(last.text)
        # The grammar leaves one text, and the bias one way to divide it into tokens: that in which it is written.
        held = {"grammar": f"root ::= {literal(text)}", "logit_bias": {text: 100}, "logprobs": True, "top_logprobs": 1}
        bounds = {"temperature": 0, "max_tokens": len(text.encode()) + 8}
        reply = await super()._reply(before, **given | held | bounds)
        tokens = reply.response_metadata.pop("logprobs", None)
        if reply.text != text or not tokens:
            raise ReplyError(fault("bad_request", TAKES_NONE))
        reply.content = repr(sum(token["logprob"] for token in tokens) / len(tokens))
        return reply


def likelihood_of(model: OpenAIModel) -> Likelihood:
    """The model of likelihoods at the endpoint of a model, whose calls are told from its own."""
    own = {name: getattr(model, name) for name in OpenAIModel.model_fields}
    return Likelihood(**own | {"served": model, "metadata": _told(model, {"likelihood": True})})


def _told(model: OpenAIModel, more: dict[str, Any]) -> dict[str, Any]:
    """The model's metadata with what a kept reply depends on besides its arguments."""
    metadata = model.metadata or {}
    held = {name: value if value is True else digest(value)[:16] for name, value in more.items()}
    return metadata | {"arguments": metadata.get("arguments", {}) | held}
