"""Stored conversations as sources of turns, and the turns of one role in them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from ...data import domains
from ...data.attempts import Part
from ...data.people.pairing import topic_key
from ...data.people.splits import user_of
from ...data.records import Conversation, Role
from ...data.scenarios import is_log, stated_in
from ...data.text.model_tokens import texts_in

ORIGIN = "people"
"""Key of a message's `extra` for where its words come from: `source`, `digest`, `conversation`, `message`."""

_WISH = ("goal", "task_context", "title", "header", "task", "first_message", "persona")
"""Keys of scenarios that say what the user wants, in the order in which they are read."""
# Personal details by rule, which no rule detects all of: a nickname, a small village or an odd story stays.
_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆"
    "汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)
_PLACEHOLDERS = {
    "[email]": r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+",
    "[link]": r"(?i:https?://|www\.)[^\s，。；）)\"”]*[^\s，。；）)\"”,.;:!?]",
    "[address]": r"[\u4e00-\u9fff]{1,8}(?:路|街|大道|巷|弄)\s?\d+\s?[号弄]"
    r"|\b\d{1,5}\s(?:[A-Z]\w+\s){1,3}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Boulevard|Blvd)\b",
    "[name]": r"(?<!\w)@\w{2,}",
    "[number]": r"\+?\d(?:[\s().-]?\d){6,}",
}
_INTRODUCED = re.compile(
    r"(?i:\b(?:my name is|my name's|i am called|call me|i'm|i am|this is|mr\.?|mrs\.?|ms\.?|miss|dr\.?|prof\.?)\s+)"
    r"(?P<en>[A-Z][a-z]+(?:\s[A-Z][a-z]+)?)"
    rf"|(?:我叫|名叫|名字叫|名字是|我是|我姓)(?P<zh>[{_SURNAMES}][\u4e00-\u9fff]{{0,2}})"
    rf"|(?P<titled>[{_SURNAMES}])(?=先生|女士|小姐|老师|医生|教授|经理|阿姨|叔叔)"
    r"|(?i:\b(?:dear|hi|hello|hey)\s+)(?P<addressed>[A-Z][a-z]+(?:\s[A-Z][a-z]+)?)(?=\s*(?:[,!.:;]|$))"
)


class SourceMessage(NamedTuple):
    """A message of a source conversation, and its number among all messages of it, from 0."""

    number: int
    role: Role
    text: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class SourceConversation:
    """A stored conversation whose turns are used again."""

    id: str
    user: str
    topic: str | None
    """Equal for conversations about the same context; None if it is unknown."""
    wish: str
    """The user's goal, in words; empty if the source does not contain it."""
    person: str
    """The source's facts about the user."""
    stated: str
    """Of a log, whose scenario has no facts: all that its user states, for values that another scenario replaces."""
    messages: tuple[SourceMessage, ...]

    @classmethod
    def of(cls, conversation: Conversation, *, mask: bool) -> "SourceConversation":
        """A conversation as a source; `mask`: without images, and with placeholders in the place of personal details."""
        return cls(
            id=conversation.id,
            user=user_of(conversation),
            topic=topic_key(conversation),
            wish=wish_in(conversation.scenario),
            person=person_in(conversation.scenario),
            stated="\n".join(stated_in(conversation)) if is_log(conversation) else "",
            messages=tuple(
                SourceMessage(number, said.role, masked(said.text) if mask else said.text, () if mask else said.parts)
                for number, said in enumerate(conversation.messages)
                if said.stored and (said.text.strip() or (said.parts and not mask))
            ),
        )


@dataclass(frozen=True, eq=False)
class PeopleTurn:
    """The messages of one role in one turn; `heard` are the other role's right before, `before` all earlier ones."""

    source: SourceConversation
    place: int
    """Its number among the turns of this role, from 0."""
    messages: tuple[SourceMessage, ...]
    heard: tuple[SourceMessage, ...]
    before: tuple[SourceMessage, ...]

    @property
    def text(self) -> str:
        """Its messages, a line break between them."""
        return "\n".join(message.text for message in self.messages)


def turns_of(source: SourceConversation, role: Role) -> list[PeopleTurn]:
    """The turns of one role, in their order."""
    turns: list[PeopleTurn] = []
    before: tuple[SourceMessage, ...] = ()
    heard: tuple[SourceMessage, ...] = ()
    for speaking, group in groupby(source.messages, key=lambda message: message.role):
        messages = tuple(group)
        if speaking == role:
            turns.append(PeopleTurn(source, len(turns), messages, heard, before))
        heard = messages
        before += messages
    return turns


def wish_in(scenario: Mapping[str, Any]) -> str:
    """The user's goal in the words of the scenario, without the parts that only the other role sees."""
    texts = [text for key in _WISH if isinstance(text := scenario.get(key), str) and text.strip()]
    return "\n".join(dict.fromkeys(texts)) or domains.of(scenario).title(scenario)


def person_in(scenario: Mapping[str, Any]) -> str:
    """The scenario's facts about the user, a line for each; empty if it has none."""
    facts = [value for _, value in domains.of(scenario).facts(scenario)]
    return "\n".join([*facts, *texts_in(scenario.get("facts", ""))])


def origin_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The recorded origin of a message's words (`ORIGIN`); empty without one."""
    origin = (message.get("extra") or {}).get(ORIGIN)
    return origin if isinstance(origin, Mapping) else {}


def masked(text: str) -> str:
    """The text with `[email]`, `[link]`, `[address]`, `[number]` and `[name]` in place of the rules' matches."""
    for placeholder, pattern in _PLACEHOLDERS.items():
        text = re.sub(pattern, placeholder, text)
    return _INTRODUCED.sub(lambda found: found.group().removesuffix(found[str(found.lastgroup)]) + "[name]", text)
