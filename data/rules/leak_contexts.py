"""Contexts in which words of a leak are none: a developer's question, another's prompt, a request to the assistant.

The speaker decides. A role that a person asks the assistant to take is an instruction to it. A statement about others
is not a statement about the speaker.
"""

import re

from .mentions import is_spoken_about, is_technical

_NEAR = 60
"""Characters around a place that are looked at for what it is about."""
_SOFTWARE = re.compile(
    r"\b(?:log(?:ged|ging|s)?[ -]?(?:in|on|out|off)|sign(?:s|ed)?[ -](?:in|up)|clicks?|buttons?|(?:web)?pages?|web ?sites?|apps?"
    r"|forms?|fields?|passwords?|accounts?|databases?|api|screens?|menus?|uploads?|downloads?|code|functions?|inputs?|browsers?"
    r"|tokens?|files?|servers?|permissions?|errors?|interfaces?|bugs?|tickets? system)\b"
    r"|登[录陆]|注册|按钮|页面|网站|密码|[账帐][号户]|数据库|接口|界面|上传|下载|代码|函数|文件|服务器|权限|报错|功能",
    re.IGNORECASE,
)
"""What developers speak of, who have users."""
_TERMINAL = re.compile(
    r"\b(?:terminal|command|console|shell|cmd|powershell|bash|ssh|sudo|root|admin(?:istrator)?|passwords?|passphrase|pin|user ?name|"
    r"credentials|log ?in|install\w*|pop-?up|screen|overwrite|confirm|y/n|yes or no|access denied|permission|press|enter|dos)\b"
    r"|密码|终端|命令",
    re.IGNORECASE,
)
"""What stands beside the prompt of a computer."""
_ASKED_ABOUT = re.compile(
    r"(?:^|[.!?。！？\n,;:])\W{0,3}(?:(?:and|so|but|hi|hello) )?(?:what|how|why|which|where|who|when|is|are|can|could|do|does|did|should"
    r"|would|explain|tell me)\b[^.!?。！？\n]*$|(?:什么是|如何|怎么|为什么)[^。！？\n]*$|\b(?:an?|good|better) $",
    re.IGNORECASE,
)
"""Words before a thing that is asked about, or that is any of its kind (`a system prompt`)."""
_ASKED_OF_YOU = re.compile(r"\b(?:you|please)\b[^.!?\n]*$", re.IGNORECASE)
_OF_MYSELF = re.compile(
    r"(?:\b(?:i|i['’](?:ll|m|d)|let me|told to|asked to)\b[^.!?\n]*|(?:^|[.!?\n])\W*)$", re.IGNORECASE
)

_I_DO = re.compile(r"\b(?:i(?:['’]m| am| was| will be)|you(?:['’]re| are))(?: just| only)?(?: an?)? $", re.IGNORECASE)
_SAYS = re.compile(r"\s+(?:says?|states?|tells?|told|requires?|asks?)\b(?! what| how| which)|(?:里|中)?(?:说|写|要求)")
_OF_OTHERS = re.compile(r"\b(?:its|their|our|his|her)\s+$|(?:它|他|她|其|我们|机器人|模型|对方)们?的$", re.IGNORECASE)
_OF_OUR_PROGRAM = re.compile(r"\s+(?:of|for|in) (?:our|its|their|his|her|an?)\b", re.IGNORECASE)
"""Words beside `system prompt` that mark it as another program's."""
_ACCORDING = re.compile(r"(?:\b(?:according to|per|as in|based on) (?:my |the )?|根据|按照)(?:我的)?$", re.IGNORECASE)
_OF_ME = re.compile(r"\W{1,3}(?:that )?(?:i|me|my|not to)\b", re.IGNORECASE)
_TELLS_WHAT = re.compile(r"\s+(?:what|how|where|which|when|who)\b")
"""After `the prompt says`: the answer to a question, not an instruction."""

_CLAUSE_BEGIN = re.compile(
    r"(?:\A|[.!?。！？,，;；:：(（\n\"'“‘…–—-]|\b(?:but|and|because|['’]?cause|since|so|that|well|yes|no|sorry|however|though|although))[\s*_]*\Z",
    re.IGNORECASE,
)
_ITSELF = re.compile(
    r"(?: (?:large )?(?:language )?(?:model|assistant|chatbot|system|program|bot))?"
    r"(?:[,.;:!?)\"'”’…–—-]|\s*\Z|\n| (?:and )?(?:i|it|my|we|who|without|with no|created|trained|designed|made|programmed|developed"
    r"|simulating|playing|acting|pretending|posing|tasked|instructed|asked|told)\b)",
    re.IGNORECASE,
)
"""What follows a model that speaks of itself; a noun makes it a thing (`as AI systems become`)."""
_SELF = re.compile(r"\b(?:i|i['’]\w+|me|my|myself)\b", re.IGNORECASE)
_YOU = re.compile(r"\b(?:you|your|yours|yourself|u)\b", re.IGNORECASE)
_BEFORE_WORDS = re.compile(
    r"(?:\byou,? |\b(?:says?|said|saying|writes?|wrote|thinks?|thought|reads?|line|sentence|title|called|named)\s?[:：,]?\s*)\Z",
    re.IGNORECASE,
)
"""What stands before an address (`you, as an AI`) or before another person's words."""
_ROLE_FOR_YOU = re.compile(
    r"\b(?:you are|you['’]re|you(?:['’]ll| will| should| must)|your (?:task|job|role|goal)|i want you|i['’]d like you|i need you|act(?:ing)? as|pretend"
    r"|behave|forget (?:all|any|every|your|the)|ignore (?:all|any|every|your|the)|from now on)\b",
    re.IGNORECASE,
)
"""What gives the assistant a role."""
_ASKS_OF_ME = re.compile(
    r" (?:that |me |us )*to (?:ask|not|never|act|say|mention|reveal|pretend|behave|insist|refuse|negotiate|wait)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^[^\S\n]*#{1,6}[^\S\n]*[^\W_]", re.MULTILINE)
_RULE = re.compile(r"^[^\S\n]*#{3,}[^\S\n]*$", re.MULTILINE)
_TAG_LINE = re.compile(r"^[^\S\n]*</?[a-z][\w-]*>[^\S\n]*$", re.IGNORECASE | re.MULTILINE)


def meant_otherwise(match: re.Match[str], text: str) -> bool:
    """Whether the context of the match shows a developer's question, any prompt, or a user's wish."""
    before, after = text[max(0, match.start() - 2 * _NEAR) : match.start()], text[match.end() : match.end() + 2 * _NEAR]
    kind = match.lastgroup
    if kind in ("model", "simulated", "played", "assigned", "shared"):
        return _said_of_others(kind, match, text, before, after)
    if kind == "tag":
        return is_spoken_about(text, *match.span()) or len(_TAG_LINE.findall(text)) > 1
    if kind == "heading":  # of several sections: a prompt or document that somebody wrote
        return (
            len(_RULE.findall(text)) > 1 if _RULE.fullmatch(match.group().strip()) else len(_HEADING.findall(text)) > 1
        )
    if kind == "context":
        return _ASKED_ABOUT.search(before) is not None or not re.match(r"\s?[:：]", after)
    if kind == "instructed":
        developer = _ASKED_ABOUT.search(before) is not None
        return developer or not (_OF_ME.match(after) or _ASKS_OF_ME.match(after))
    if kind == "planned":
        own = match.group().lower().startswith("the user") and "me to" not in after[:9]
        written = own and _SELF.search(after) is None and re.search(r"[.!?。！？\n]\s*\S", after) is not None
        return _SOFTWARE.search(after) is not None or (own and is_technical(text)) or written
    if kind in ("general", "general_zh"):
        if _OF_OTHERS.search(before) or _OF_OUR_PROGRAM.match(after) or _ASKED_ABOUT.search(before):
            return True
        return not _SAYS.match(after) and not _ACCORDING.search(before)
    if kind == "asking":
        return (
            _TELLS_WHAT.match(after) is not None
            or not (_OF_ME.match(after) or _ASKS_OF_ME.match(after))
            or _ASKED_ABOUT.search(before) is not None
            or _TERMINAL.search(before[-_NEAR:] + after[:_NEAR]) is not None
        )
    if kind == "acted":
        if is_technical(text) and _ASKED_ABOUT.search(before):
            return True
        wished = _ASKED_OF_YOU.search(before) or re.match(r"\W{0,3}please\b", after, re.IGNORECASE)
        return wished is not None or (match.group().lower().endswith("human") and not _OF_MYSELF.search(before))
    return False


def _said_of_others(kind: str, match: re.Match[str], text: str, before: str, after: str) -> bool:
    """Whether the model, the role or the scenario is not the speaker's own."""
    if kind == "simulated":
        return not _I_DO.search(before) and before.strip() != ""
    if kind == "played":
        return not _I_DO.search(before)
    if kind == "assigned":
        return _ROLE_FOR_YOU.search(text[: match.start()]) is not None
    if kind == "shared":
        return not re.match(r"\W{1,3}(?:i|my|me)\b", after, re.IGNORECASE)
    if _BEFORE_WORDS.search(before) or re.match(r"[/&-]\w", after):
        return True
    if before.rstrip()[-1:] in tuple('"“') and before.rstrip(
        '"“ \n'
    ):  # a quotation that is longer than one is taken for
        return True
    sentence = re.split(r"[.!?。！？\n]", after, maxsplit=1)[0]
    if _SELF.match(match.group()[:2].strip("'’m")):  # I am an AI
        return _ROLE_FOR_YOU.search(before) is not None
    if not _CLAUSE_BEGIN.search(before) or not _ITSELF.match(after):
        return True
    you, self = _YOU.search(sentence), _SELF.search(sentence)
    return you is not None and (self is None or you.start() < self.start())
