"""The offline chat model: reads the messages it is sent and answers by rule, as one of five speakers.

It tells which one by the marks in the messages: whoever is sent a <section> is the teacher, a title or header
the student, a <task> or <profile> the user with a task, what is <lacking> in a pool the inventor of people;
without any it is the assistant of the user with a task. It is a
baseline and not a language model, so that every graph, command and test runs without a key.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.outputs import ChatGeneration, ChatResult

from ....data.identity import digest
from . import people, student, teacher
from .hearing import Side, marked, notes_of, side_of, talk_of, words_of_other
from .tasks import task_oriented
from .voices import spoken

MISBEHAVIOURS: Mapping[str, tuple[str, ...]] = {
    "student": ("two_questions", "paraphrase", "background", "empty", "reasoning"),
    "teacher": ("two_questions", "paraphrase", "background", "empty", "reasoning"),
    "task_user": ("role_leak", "prompt_leak", "repeat", "empty", "reasoning"),
    "task_assistant": ("repeat", "empty", "reasoning"),
    "inventor": ("incomplete", "repeat", "empty", "reasoning"),
}
"""Per side what `misbehave` is divided among. Student and teacher share a list: what is the other's has no effect."""


class OfflineChatModel(BaseChatModel):
    """A deterministic student, teacher, user, assistant and inventor of people; each rate of misbehaviour is a share of calls, 0 to 1."""

    seed: int | None = None
    """Drawn from in every call; a call's own `seed` argument comes first."""
    two_questions: float = 0.0
    """The student asks two numbered questions."""
    paraphrase: float = 0.0
    """The teacher says it in other words."""
    background: float = 0.0
    """The teacher answers from the background."""
    empty: float = 0.0
    """Any side says nothing."""
    reasoning: float = 0.0
    """Any side shows its reasoning first."""
    role_leak: float = 0.0
    """The user with a task writes words of another role."""
    prompt_leak: float = 0.0
    """The user with a task speaks of its instructions or profile."""
    repeat: float = 0.0
    """The user with a task, or its assistant, says again what it said before; the inventor has one person only."""
    incomplete: float = 0.0
    """The inventor of people leaves attributes out."""
    misbehave: float = 0.0
    """All of the side's own together, in equal parts."""

    @classmethod
    def settings(cls) -> tuple[str, ...]:
        """Names of the arguments that a spec may give."""
        return ("seed", "misbehave", *dict.fromkeys(name for names in MISBEHAVIOURS.values() for name in names))

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
        side = side_of(messages)
        if side == "inventor":
            text = _invented(messages, draw, self._misbehaviour(side, draw))
        elif side in ("task_user", "task_assistant"):
            talk = talk_of(messages)
            misbehaviour = self._misbehaviour(side, draw, () if talk.own else ("repeat",))
            text = task_oriented(side, talk, draw, misbehaviour)
        else:
            text = _reply(messages, draw, self._misbehaviour(side, draw))
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

    def _misbehaviour(self, side: Side, draw: int, impossible: Sequence[str] = ()) -> str:
        share = (draw >> 8) % 10_000 / 10_000
        names = [name for name in MISBEHAVIOURS[side] if name not in impossible]
        for name in names:
            rate = getattr(self, name) + self.misbehave / len(names)
            if share < rate:
                return name
            share -= rate
        return ""


def _reply(messages: Sequence[BaseMessage], draw: int, misbehaviour: str) -> str:
    heard = [str(message.text) for message in messages if message.type in ("human", "system")]
    material = "\n".join(heard)
    title, background, header, section = (marked(material, tag) for tag in ("title", "background", "header", "section"))
    own = [str(message.text).strip() for message in messages if message.type == "ai"]
    if misbehaviour == "empty":
        return ""
    if section:
        text = _teach(messages, section, title, background, own, draw, misbehaviour)
    else:
        answers = [
            said for message in messages if message.type == "human" and (said := words_of_other(str(message.text)))
        ]
        notes = " ".join(notes_of(heard[-1])) if heard else ""
        text = student.question(title, header, background, own, answers, notes, draw)
        if misbehaviour == "two_questions":
            text = f"1. {text}\n2. {student.question(title, header, background, [*own, text], answers, '', draw + 1)}"
    if misbehaviour == "reasoning":
        return f"<think>Let me see what to say about {title or 'this'}.</think>\n{text}"
    return text


def _invented(messages: Sequence[BaseMessage], draw: int, misbehaviour: str) -> str:
    """A profile of the kinds that the first request names, in its language."""
    asked = "\n".join(str(message.text) for message in messages if message.type == "human")
    lacking = marked(asked, "lacking")
    return "" if misbehaviour == "empty" else people.profile(lacking, spoken(lacking), draw, misbehaviour)


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
        if m.type == "human" and (said := words_of_other(str(m.text)))
    ]
    asked_at, question = spoken[-1] if spoken else (0, "")
    earlier = [str(m.text) for m in messages[:asked_at] if m.type == "ai"]
    text = teacher.answer(question, section, title, earlier, draw)
    if misbehaviour == "paraphrase":
        return "In other words, " + " ".join(reversed(text.split()[:12])) + "."
    if misbehaviour == "background" and background:
        return background.split(". ")[0]
    return text
