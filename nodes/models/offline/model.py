"""The offline chat model: a rule-based baseline without a language model, key or network."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import ConfigDict, Field

from ....data.behaviours import BEHAVIOURS, UserMoment, behaved
from ....data.identity import digest
from ....data.text.languages import language_of
from ....errors import ModelError
from ...goodbyes import Ending
from ...messages import unfenced
from .goals import goal_user
from .reading import GOAL_MARKS, QUOTED, READ, ParsedPrompt, prompt_of, short, vocabulary
from .recllmsim import assistant_reply, user_reply
from .simquac import student, teacher

OfflineSide: TypeAlias = Literal["student", "teacher", "task_user", "task_assistant", "goal_user"]
SIDES: tuple[OfflineSide, ...] = get_args(OfflineSide)

_REPLIES: Mapping[OfflineSide, Callable[[ParsedPrompt, int, str], str]] = {
    "student": student,
    "teacher": teacher,
    "task_user": user_reply,
    "task_assistant": assistant_reply,
    "goal_user": goal_user,
}
Rate: TypeAlias = Annotated[float, Field(ge=0, le=1, strict=True)]
MISBEHAVIOURS: Mapping[OfflineSide, Sequence[str]] = vocabulary("misbehaviours")
"""The misbehaviours of each role. Student and teacher share a list; those of the other role have no effect."""


class OfflineChatModel(BaseChatModel):
    """A deterministic speaker of one role; each rate of misbehaviour is a share of the calls, 0 to 1."""

    model_config = ConfigDict(extra="forbid")
    side: OfflineSide | None = None
    """The role that it plays. None: a cast sets it."""
    seed: Annotated[int | None, Field(strict=True)] = None
    """Seed of every call without its own `seed` argument."""
    two_questions: Rate = 0.0
    paraphrase: Rate = 0.0
    background: Rate = 0.0
    empty: Rate = 0.0
    reasoning: Rate = 0.0
    role_leak: Rate = 0.0
    prompt_leak: Rate = 0.0
    repeat: Rate = 0.0
    misbehave: Rate = 0.0
    """Total rate of all misbehaviours of the role, in equal parts."""

    @property
    def _llm_type(self) -> str:
        return "duologue-offline"

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        text = self._reply(messages, kwargs.get("seed"))
        for end in stop or []:
            text = text.split(end)[0]
        message = AIMessage(text, response_metadata={"model_name": "offline"})
        sent, written = count_tokens_approximately(messages), count_tokens_approximately([message])
        message.usage_metadata = UsageMetadata(input_tokens=sent, output_tokens=written, total_tokens=sent + written)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        # It never waits, and the base class's thread would take longer than the reply.
        return self._generate(messages, *args, **kwargs)

    def _reply(self, messages: Sequence[BaseMessage], seed: object) -> str:
        if self.side is None:
            give = "chat_model('offline', side=...), or give 'offline' to a cast"
            raise ModelError(f"model 'offline' needs its side, one of {', '.join(SIDES)}: make it with {give}")
        # The draw depends only on the call's seed and the texts of the messages.
        texts = [(message.type, str(message.text)) for message in messages]
        draw = int(digest("offline", self.seed if seed is None else seed, texts)[:12], 16)
        prompt = prompt_of(messages)
        names = [
            name for name in MISBEHAVIOURS[self.side] if name != "repeat" or prompt.own
        ]  # the first repeats nothing
        misbehaviour = self._misbehaviour(names, (draw >> 8) % 10_000 / 10_000)
        if misbehaviour == "empty":
            return ""
        if misbehaviour == "repeat":
            return prompt.own[draw % len(prompt.own)]
        text = _as_prompted(_REPLIES[self.side](prompt, draw, misbehaviour), prompt, draw)
        if misbehaviour == "reasoning":
            return f"<think>Let me see what to say about {prompt.marked('title') or 'this'}.</think>\n{text}"
        return text

    def _misbehaviour(self, names: Sequence[str], share: float) -> str:
        for name in names:
            share -= getattr(self, name) + self.misbehave / len(names)
            if share < 0:
                return name
        return ""


_LINE = re.compile(r"^- (\w+):", re.MULTILINE)
_WORD = re.compile(r"\bkestrel-[0-9a-f]{4}\b")


def _as_prompted(text: str, prompt: ParsedPrompt, draw: int) -> str:
    names = [name for name in _LINE.findall(prompt.behaviour) if name in BEHAVIOURS]
    if not names:
        return text
    marked = "".join((prompt.marked_any(GOAL_MARKS) or [prompt.marked("title")])[:1])
    goal = short(" ".join(unfenced(marked[:READ]).split()), 60)
    turns = [("user" if is_own else "assistant", line) for is_own, line in prompt.turns]
    word = _WORD.search(prompt.behaviour)
    leaves = text in QUOTED.findall(prompt.note) or Ending(may_give_up=True).reason(text) is not None
    moment = UserMoment(turns, goal, language_of(goal or text) or "en", draw, word.group() if word else "", ends=leaves)
    return behaved(text, names, moment)
