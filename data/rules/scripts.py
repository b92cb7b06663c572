"""Dialogues in a reply: one that was asked for, or the user's next message that the assistant wrote itself."""

import re

from .quotations import BLANK, own_words

OTHER_SIDE = re.compile(
    r"^[^\S\n]*[*_#]{0,4}[^\S\n]?(?:user|human|customer|用户|人类|顾客)[*_]{0,3}[^\S\n]?[:：][*_]{0,3}[^\S\n]*\S",
    re.I | re.M,
)
"""A line of the user's side."""
BOTH = re.compile(
    r"^[^\S\n]*[*_#>-]{0,4}\s?(?:assistant|agent|bot|ai|system|助手|客服)[*_]{0,3}[^\S\n]?[:：]", re.I | re.M
)
"""A label of the assistant's side."""
ASKED_FOR_DIALOGUE = re.compile(
    r"\b(?:dialogues?|dialogs?|conversations?|(?:screen ?|tele)?plays?|skits?|scripts?|transcripts?|chats?|role-?play|examples?|prompts?|interviews?|templates?"
    r"|few-?shot|stor(?:y|ies)|persona|scenarios?|user stor(?:y|ies)|use cases?|test cases?)\b|对话|剧本|示例|例子|脚本|提示词",
    re.I,
)
"""What a user asks for who may be answered with a dialogue."""
_ABOUT_TALK = re.compile(
    r"\b(?:talks?|talking|exchanges?|scenes?|sketch(?:es)?|jokes?|debates?|discussions?|comed(?:y|ies)|simulat\w+|pretend|acts? (?:as|like)|few-?shot"
    r"|prompt\w*|training data|fine-?tun\w*|language models?|llms?|gpts?|chatgpt|(?:chat ?|ro)?bots?|a\.?i\.?|assistants?|agents?|humans?|users?|roles?|logs?"
    r"|turns?|messages?|q ?& ?a|faqs?)\b|聊|笑话|用户|助手|助理|客服|机器人|角色|模拟|模型",
    re.I,
)
"""What else a user writes about who may be answered with a dialogue of a user and an assistant."""
_TURN = r"(?:^|(?<=[.!?。！？])[^\S\n]{{0,2}})[^\S\n]*[*_#-]{{0,4}}[^\S\n]?(?:{})[*_]{{0,3}}[^\S\n]?[:：][*_]{{0,3}}[^\S\n]*\S"
_USER_TURN = re.compile(_TURN.format("user|human|用户|人类"), re.I | re.M)
_ASSISTANT_TURN = re.compile(_TURN.format("assistant|chatbot|bot|ai|助手|助理|机器人"), re.I | re.M)
_DEFINED = re.compile(r"[:：][*_\s]{0,6}(?:an?|the|some(?:one|body)|any(?:one|body)|who|whoever|whose|is|are)\b")
"""A label before what defines it."""
_LABEL = re.compile(
    r"^[^\S\n]*(?P<marks>[*_#>-]{0,4})[^\S\n]?(?P<name>[^\W\d_][\w .'’-]{0,30}?)[*_]{0,3}[^\S\n]?[:：]", re.M
)
_INTRODUCES = re.compile(r"[:：]\W*\Z|\A\W*(?:scene|act \d|int\.|ext\.)|\A\s*(?:[(\[#]|([*_]{1,3}).+\1\s*\Z)", re.I)
"""A line before a dialogue: one with a colon, a heading, a stage direction."""
_ENDS = re.compile(r"[.!?。！？…]\W*\Z")
TITLE = 5
"""Most words of a line that may be the title of a dialogue."""


def next_user_message(text: str, request: str) -> re.Match[str] | None:
    """The label behind which a reply writes the user's next message; None without one.

    A dialogue is introduced, by a colon, a heading or stage directions, or its lines have other labels before. `request`: the
    user's last messages, which may ask for one.
    """
    own = own_words(text)
    match = OTHER_SIDE.search(own)
    if match is None or not own[: match.start()].strip() or ASKED_FOR_DIALOGUE.search(request) or BOTH.search(request):
        return None
    before = own[: match.start()].rstrip()
    last = before.rsplit("\n", 1)[-1]
    title = len(last.split()) <= TITLE and not _ENDS.search(last) and BLANK not in last
    if title or _INTRODUCES.search(last) or BOTH.search(before) or _is_definition(text, match):
        return None
    return None if _DEFINED.search(own, match.start(), match.end() + 10) else match


def transcript(text: str, request: str) -> re.Match[str] | None:
    """The label with which a reply begins a transcript of the user and itself; None without one.

    The labels stand at the beginning of a line or behind a sentence. `request`: the user's last messages; no transcript is
    a slip if one of them asks for a dialogue, or is about talks, chat models or their users.
    """
    own = own_words(text)
    match = _USER_TURN.search(own)
    if match is None or not _ASSISTANT_TURN.search(own, match.end()):
        return None
    if any(pattern.search(request) for pattern in (ASKED_FOR_DIALOGUE, BOTH, _ABOUT_TALK)):
        return None
    before = own[: match.start()].rstrip().rsplit("\n", 1)[-1]
    if (before and _INTRODUCES.search(before)) or _DEFINED.search(own, match.start(), match.end() + 10):
        return None
    return None if _is_definition(text, match) else match


def _is_definition(text: str, match: re.Match[str]) -> bool:
    """Whether the label is one of a list of things that have the same form."""
    labels = [
        label
        for label in _LABEL.finditer(text)
        if not BOTH.match(label.group()) and not OTHER_SIDE.match(label.group() + "x")
    ]
    marks = re.match(r"\s*([*_#>-]{0,4})", match.group())
    form = marks[1] if marks else ""
    return len([label for label in labels if label["marks"] == form and label["name"][:1].isupper()]) > 1
