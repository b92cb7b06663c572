"""A sound planner, which keeps the numbers of what was asked for, and ten with one seeded fault each."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from duologue.nodes.seeded_faults import wrong

Messages: TypeAlias = Sequence[Mapping[str, Any]]


def _user(messages: Messages) -> list[str]:
    """The user's messages without what they quote."""
    return [re.sub("“.*?”", "", str(message["content"])) for message in messages if message["role"] == "user"]


def sound(messages: Messages) -> str:
    """A plan with each number of the user; without any, a question."""
    values = re.findall(
        r"\d+(?:[.,:/-]\d+)*|[二三四五六七八九十](?:个月|个人|天|周|日|人|道|年|小时)", " ".join(_user(messages))
    )
    return f"已经按您的要求安排好了：{'、'.join(dict.fromkeys(values))}。" if values else "好的，请问您具体有什么要求？"


def refuses(messages: Messages) -> str:
    """Refuses to help."""
    return "很抱歉，我无法为您提供帮助。"


def leaves_numbers_out(messages: Messages) -> str:
    """Plans without any number."""
    return re.sub(r"[\d二三四五六七八九十]+", "几", sound(messages))


def counts_wrong(messages: Messages) -> str:
    """Plans with each figure one higher."""
    return re.sub(
        r"[二三四五六七八九十]", "百", re.sub(r"\d", lambda one: str((int(one[0]) + 1) % 10), sound(messages))
    )


def plans_for_others(messages: Messages) -> str:
    """Gives everybody the same plan."""
    return "已经为您安排好了：先去图书馆，再去公园，晚上回家。"


def only_asks(messages: Messages) -> str:
    """Asks for more at each message."""
    return "好的，还有什么要求吗？"


def puts_off(messages: Messages) -> str:
    """Promises a plan for later."""
    return "好的，请稍等，我正在为您准备。"


def says_goodbye(messages: Messages) -> str:
    """Takes leave at once."""
    return "感谢您的来信，再见。"


def hands_over(messages: Messages) -> str:
    """Sends everybody to a colleague."""
    return "请联系我们的人工客服，他们会为您处理。"


def repeats_itself(messages: Messages) -> str:
    """Says hello again and again."""
    return "您好，很高兴为您服务。"


FAULTY: tuple[Callable[[Messages], str], ...] = (
    refuses,
    leaves_numbers_out,
    counts_wrong,
    plans_for_others,
    only_asks,
    puts_off,
    says_goodbye,
    hands_over,
    repeats_itself,
    wrong,
)
