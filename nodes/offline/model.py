"""The offline chat model: reads the messages it is sent and answers by rule, as student or as teacher.

It tells which side it is by the marks in the messages: whoever is sent a <section> is the teacher. It is a
baseline and not a language model, so that every graph, command and test runs without a key.
"""

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.outputs import ChatGeneration, ChatResult

from ...data.identity import digest
from . import student, teacher

_NOTE = re.compile(r"<note>(.*?)</note>", re.DOTALL)
_QUOTE = re.compile(r"<quote>.*?</quote>", re.DOTALL)
MISBEHAVIOURS = ("two_questions", "paraphrase", "background", "empty", "reasoning")


class OfflineChatModel(BaseChatModel):
    """A deterministic student and teacher; each rate of misbehaviour is a share of calls, 0 to 1."""

    seed: int | None = None
    """Drawn from in every call; a call's own `seed` argument comes first."""
    two_questions: float = 0.0
    """The student asks two numbered questions."""
    paraphrase: float = 0.0
    """The teacher says it in other words."""
    background: float = 0.0
    """The teacher answers from the background."""
    empty: float = 0.0
    """Either side says nothing."""
    reasoning: float = 0.0
    """Either side shows its reasoning first."""
    misbehave: float = 0.0
    """All of these together, in equal parts."""

    @classmethod
    def settings(cls) -> tuple[str, ...]:
        """Names of the arguments that a spec may give."""
        return ("seed", "misbehave", *MISBEHAVIOURS)

    @property
    def _llm_type(self) -> str:
        return "duologue-offline"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        draw = self._draw(messages, kwargs.get("seed"))
        text = _reply(messages, draw, self._misbehaviour(draw))
        for end in stop or []:
            text = text.split(end)[0]
        reply = AIMessage(text)
        spent = UsageMetadata(
            input_tokens=(given := count_tokens_approximately(messages)),
            output_tokens=(written := count_tokens_approximately([reply])),
            total_tokens=given + written,
        )
        reply.usage_metadata = spent
        reply.response_metadata = {"model_name": "offline"}
        return ChatResult(generations=[ChatGeneration(message=reply)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        # It waits for nothing: the base class's thread would cost more than the answer.
        return self._generate(messages, stop, None, **kwargs)

    def _draw(self, messages: Sequence[BaseMessage], seed: object) -> int:
        """A number that the call's seed and the messages' texts decide, and nothing else."""
        given = self.seed if seed is None else seed
        return int(digest("offline", given, [(m.type, str(m.text)) for m in messages])[:12], 16)

    def _misbehaviour(self, draw: int) -> str:
        share = (draw >> 8) % 10_000 / 10_000
        for name in MISBEHAVIOURS:
            rate = getattr(self, name) + self.misbehave / len(MISBEHAVIOURS)
            if share < rate:
                return name
            share -= rate
        return ""


def _reply(messages: Sequence[BaseMessage], draw: int, misbehaviour: str) -> str:
    heard = [str(message.text) for message in messages if message.type in ("human", "system")]
    material = "\n".join(heard)
    title, background, header, section = (
        _marked(material, tag) for tag in ("title", "background", "header", "section")
    )
    own = [str(message.text).strip() for message in messages if message.type == "ai"]
    if misbehaviour == "empty":
        return ""
    if section:
        text = _teach(messages, section, title, background, own, draw, misbehaviour)
    else:
        answers = [
            said for message in messages if message.type == "human" and (said := _words_of_other(str(message.text)))
        ]
        notes = " ".join(_NOTE.findall(heard[-1])) if heard else ""
        text = student.question(title, header, background, own, answers, notes, draw)
        if misbehaviour == "two_questions":
            text = f"1. {text}\n2. {student.question(title, header, background, [*own, text], answers, '', draw + 1)}"
    if misbehaviour == "reasoning":
        return f"<think>Let me see what to say about {title or 'this'}.</think>\n{text}"
    return text


def _teach(
    messages: Sequence[BaseMessage],
    section: str,
    title: str,
    background: str,
    own: list[str],
    draw: int,
    misbehaviour: str,
) -> str:
    spoken = [
        (number, said)
        for number, m in enumerate(messages)
        if m.type == "human" and (said := _words_of_other(str(m.text)))
    ]
    asked_at, question = spoken[-1] if spoken else (0, "")
    earlier = [str(m.text) for m in messages[:asked_at] if m.type == "ai"]
    text = teacher.answer(question, section, title, earlier, draw)
    if misbehaviour == "paraphrase":
        return "In other words, " + " ".join(reversed(text.split()[:12])) + "."
    if misbehaviour == "background" and background:
        return background.split(". ")[0]
    return text


def _marked(text: str, tag: str) -> str:
    """What stands between the marks of a tag, the first of its kind."""
    start = text.find(f"<{tag}>")
    end = text.find(f"</{tag}>", start)
    return text[start + len(tag) + 2 : end].strip() if 0 <= start < end else ""


def _words_of_other(text: str) -> str:
    """A message without our notes and material: what the other side said."""
    text = _QUOTE.sub("", _NOTE.sub("", text))
    last = max(text.rfind(f"</{tag}>") for tag in ("title", "background", "header", "section"))
    return text[text.find(">", last) + 1 :].strip() if last >= 0 else text.strip()
