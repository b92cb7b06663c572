"""One thing that a task context asks for."""

import re
from dataclasses import dataclass

ASSISTANT = re.compile(
    r"\b(?:an? |the |some )?(?:AI |virtual |chat |language )?(?:LLM|assistant|chatbot|language model|AI)s?\b(?:['’]s)?"
    r"|(?:智能|AI|人工智能)?(?:LLM|大语言模型|大模型|语言模型|聊天机器人|助手|助理)"
)
"""How a task context calls the one who is to help."""


@dataclass(frozen=True)
class Wish:
    """One requirement: `thing`, `act`, `doing`, `matter`, `sure` or `whole` says how it is asked for."""

    kind: str
    text: str
    """In the first person."""
