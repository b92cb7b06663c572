"""Marks at which a program stops, such as `###STOP###`: what a simulated user writes to end a conversation."""

import re

_CONVERSATION = r"(?:conversation|dialogue|dialog|chat|session)"
_OF_CONVERSATION = (
    rf"(?i:(?:end|stop)[ _-](?:of[ _-])?(?:the[ _-])?{_CONVERSATION}"
    rf"|{_CONVERSATION}[ _-](?:ends?|ended|over|completed?|finished)|(?:结束|终止)对话|对话(?:已|到此)?(?:结束|终止))"
)
_LAST = r"(?:DONE|EXIT|QUIT|FINISH(?:ED)?|COMPLETED?)"
_MARK = re.compile(
    # tau-bench: ###STOP###, ###OUT-OF-SCOPE###
    rf"#{{2,4}}\s?(?:(?i:stop|end|terminate|eos)|{_LAST}|TRANSFER|OUT[ _-]OF[ _-]SCOPE|{_OF_CONVERSATION}"
    r"|(?:停止|结束|终止|转接)(?:对话)?)\s?#{2,4}"
    r"|\bEND_(?:OF_)?(?:THE_)?(?:CONVERSATION|DIALOGUE|DIALOG|CHAT)\b"
    r"|\b(?:CONVERSATION|DIALOGUE|DIALOG|CHAT)_(?:END(?:ED)?|STOP|OVER|DONE|COMPLETED?|FINISHED|TERMINATED?)\b"
    # Bold capitals are a mark only on their own, or after the last words: people stress a word with them.
    r"|(?:^|[.!?。！？]|\b(?i:bye|thanks|thank you)[,.!]?|再见|谢谢)[^\S\n]{0,3}"
    rf"\*{{1,3}}[^\S\n]?(?:STOP|END|TERMINATE|EOS|{_LAST})[^\S\n]?\*{{1,3}}[^\w\n]{{0,6}}$",
    re.MULTILINE,
)
_IN_BRACKETS = re.compile(
    r"[\[【<]{1,2}\s?/?(?:STOP|END|TERMINATE|EOS|(?:对话|会话|聊天)?(?:停止|结束|终止))\s?[\]】>]{1,2}"
    rf"|[\[【<(（]{{1,2}}\s?{_OF_CONVERSATION}\s?[\]】>)）]{{1,2}}"
    rf"|[\[【<]{{1,2}}\s?{_LAST}\s?[\]】>]{{1,2}}(?=\W{{0,9}}\Z)"  # "[DONE] hotel" is a list of what is done
    r"|(?<![\w)\]])(?P<small>[\[【<]{1,2}\s?/?(?i:stop|end|terminate|eos)\s?[\]】>]{1,2})"
    r"|(?P<sentence></s>)"
)
_RANGE = re.compile(r"[\[<]\s?/?(?:start|begin)\b", re.IGNORECASE)
_KEY_BEFORE = re.compile(
    r"\b(?:press|hit|push|tap|click|hold)(?:e[sd]|s|p?ed|t?p?ing)?\b[^.!?\n]*$|\b(?:key|button)\b\W{0,3}$"
    r"|(?:按|点击|敲)[^。！？\n]*$",
    re.IGNORECASE,
)
_KEY_AFTER = re.compile(r"[^.!?\n]{0,12}\b(?:keys?|buttons?|keyboard)\b|\s?(?:键|按钮)", re.IGNORECASE)
_NEAR = 30
"""Characters on either side of a mark within which a word marks it as a key."""

_TERMINATE = re.compile(r"\bTERMINATE[^\w?？]{0,20}\Z")
"""AutoGen's word, which ends a message."""
_IN_A_SENTENCE = re.compile(
    r"(?:(?i:\b(?:or|and|to|not|the|is|are|says?|said|word|command|called|named|option|button|press|click|select|choose"
    r"|type|status|please|must|should|will|can|could|would|may|shall|send|use|write))"
    r"|\b(?!BYE|GOODBYE|THANKS|YOU)[A-Z]{3,}|[/|=])[\s\"“'‘(\[]{0,3}$"  # capitals before it: all is shouted
)


def stop_mark(text: str) -> re.Match[str] | None:
    """Where the text has a mark at which a program stops; None if it has none.

    No marks are keys (`press [END]`), two ends of a range (`<start> to <end>`), and tags with their closing ones.
    """
    if mark := _MARK.search(text):
        return mark
    pairs = _RANGE.search(text) is not None or ("<end>" in text and "</end>" in text)
    struck = "<s>" in text  # HTML's tag for struck text
    for match in _IN_BRACKETS.finditer(text):
        in_pair = (match["small"] and pairs) or (match["sentence"] and struck)
        if not in_pair and not _is_key(text, *match.span()):
            return match
    last = _TERMINATE.search(text)
    return last if last and not _IN_A_SENTENCE.search(text[max(0, last.start() - _NEAR) : last.start()]) else None


def _is_key(text: str, start: int, end: int) -> bool:
    """Whether what stands there is a key that somebody presses."""
    before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
    return bool(_KEY_BEFORE.search(before) or _KEY_AFTER.match(after))
