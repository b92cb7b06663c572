"""Footnotes of Markdown, as GitHub has them: `[^1]` in the text, and `[^1]: ...` where the note stands.

CommonMark has none. Neither is text: a mark goes with the space before it, and a note becomes a token `footnote`. A mark
without a note is text.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

_MARK = re.compile(r"\[\^([^\]\s]{1,100})\]")
_NOTE = re.compile(_MARK.pattern + ":")
_DEFINED = re.compile(r"\[[^\]\n]+\]:")
"""The begin of another note, or of a link's address."""
_CLOSES = re.compile(r"\Z|[\s.,;:!?)\]。，；：！？）]")


def with_footnotes(parser: "MarkdownIt") -> None:
    """Have the parser read footnotes."""
    parser.block.ruler.before("reference", "footnote", _note, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.before("link", "footnote", _mark)


def _note(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """A note: its first line, the lines of its paragraph, and indented ones behind blank lines."""
    match = _NOTE.match(state.src, state.bMarks[start] + state.tShift[start])
    if match is None or state.is_code_block(start):
        return False
    if silent:
        return True
    others = state.md.block.ruler.getRules("paragraph")
    line, last, wrapped = start + 1, start, True
    while line < end:
        if state.isEmpty(line):
            wrapped = False
        elif state.sCount[line] - state.blkIndent >= 4 or (
            wrapped
            and state.sCount[line] >= state.blkIndent
            and not _DEFINED.match(state.src, state.bMarks[line] + state.tShift[line])
            and not any(rule(state, line, end, True) for rule in others)
        ):
            last = line
        else:
            break
        line += 1
    state.env.setdefault("footnotes", set()).add(match[1].casefold())
    state.line = last + 1
    token = state.push("footnote", "", 0)
    token.content = state.src[match.end() : state.eMarks[last]].strip()
    return True


def _mark(state: "StateInline", silent: bool) -> bool:
    """The mark of a note that the text has."""
    match = _MARK.match(state.src, state.pos, state.posMax)
    if match is None or match[1].casefold() not in state.env.get("footnotes", ()):
        return False
    state.pos = match.end()
    if not silent and _CLOSES.match(state.src, state.pos):
        state.pending = state.pending.rstrip(" ")
    return True
