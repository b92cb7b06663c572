"""The words around a conversation in its own language: roles, headings of the material, folded parts."""

from collections.abc import Mapping
from types import MappingProxyType

from ..data.records import Conversation
from ..data.text.languages import Language, language_of

_CHINESE = MappingProxyType(
    {
        "user": "用户",
        "assistant": "助手",
        "nothing said": "没有发言",
        "not in the published history": "不在已发布的历史中",
        "fixed words in place of rejected drafts": "草稿均被拒绝，改用固定回复",
        "What it is about": "背景资料",
        "Dialogue": "对话",
        "(empty)": "（空）",
        "(finds no answer)": "（未找到答案）",
        "Section": "段落",
        "Background": "背景",
        "task": "任务",
        "task context": "任务情境",
        "preference": "偏好",
        "profile": "用户画像",
        "goal": "目标",
        "title": "标题",
        "drafts that did not pass": "份草稿未通过",
        "draft and prompt": "草稿与提示",
        "as it was written": "原文",
        "memory": "记忆",
        "the maximum number of turns was reached": "已达到轮数上限",
        "the user ended it": "用户结束了对话",
        "the user gave up": "用户放弃了",
        "no message of the user was accepted": "用户的消息均未被接受",
        "no reply of the assistant was accepted": "助手的回复均未被接受",
        "a turn of the user's agent took too long": "扮演用户的代理超时",
        "a turn of the agent took too long": "助手超时",
        "a limit of the agent's own ended its turn": "助手自身的限制结束了它的回合",
        "the agent stopped for a person": "助手停下等待人工处理",
        "a model or a node failed": "模型或节点出错",
        "a bound of tokens, cost or time was reached": "已达到词元、费用或时间上限",
        "it was cancelled": "已取消",
        "why it ended is not recorded": "未记录结束原因",
    }
)
WORDS: Mapping[Language, Mapping[str, str]] = MappingProxyType({"zh": _CHINESE})
"""For each language except English, the page's English words with their translations."""


def language_on_page(conversation: Conversation) -> Language:
    """The language of the messages; else of its scenario's texts; else English."""
    dialogue = "\n".join(message.text for message in conversation.messages)
    texts = (value for value in conversation.scenario.values() if isinstance(value, str))
    return language_of(dialogue) or language_of("\n".join(texts)) or "en"


class Wording:
    """The page's words in a language; a word that it lacks stays English."""

    def __init__(self, language: Language) -> None:
        self.language: Language = language
        self._words = WORDS.get(language, {})

    def __call__(self, english: str) -> str:
        """The word in this language."""
        return self._words.get(english, english)

    def speaker(self, role: str) -> str:
        """The role's name above a message."""
        return self(role).capitalize()

    def rejected(self, count: int) -> str:
        """How many drafts of a turn did not pass."""
        if self.language == "zh":
            return f"{count} {self('drafts that did not pass')}"
        return f"{count} draft{'' if count == 1 else 's'} that did not pass"
