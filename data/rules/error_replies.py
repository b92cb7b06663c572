"""Errors of an endpoint in place of a reply: the whole reply is one."""

import re

_LONG = 400
"""Most characters of an error in one line."""

_BEGINS = re.compile(
    r"^\W*(?:api|server|internal|network|request)\s*(?:错误|异常|error\b(?! [a-z]))|^\W*(?:请求|网络|服务器?)(?:错误|异常|超时)",
    re.I,
)
_NAMED = (
    r"(?:internal server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|too many requests|forbidden"
    r"|request timed? ?-?out|(?:connection|read) (?:error|timed? ?-?out|refused|reset(?: by peer)?|aborted)|rate limit (?:exceeded|reached)"
    r"|(?:api )?quota exceeded|(?:the )?(?:server|model|engine) is (?:currently )?overloaded|overloaded_error|insufficient_quota"
    r"|context[_ ]length[_ ]exceeded|something went wrong|an error occurred)"
)
_ERROR = re.compile(
    r"\W{0,3}(?:(?:http|status|error)\W{0,2}){1,3}(?:code)?\s?[:：]\s?[45]\d\d\b"  # Error code: 429 - {...}
    rf"|\W{{0,3}}(?:(?:error|http)\s?[:：]?\s?)?(?:[45]\d\d:?\s)?{_NAMED}\s*(?:\Z|[.:;!({{\n]|[-–—]\s)"
    r"|upstream (?:connect error|request timeout)\b"
    r"|[A-Za-z_][\w.]*[a-z](?:Error|Exception)(?:: |\()"
    r"|\{\s*[\"']error[\"']\s*:"
    r"|错误(?:代码|码)?\s?[:：]\s?[45]\d\d",
    re.IGNORECASE,
)
_TRACE = re.compile(r"\s*Traceback \(most recent call last\):")
_PAGE = re.compile(r"\s*(?:<!doctype html[^>]*>\s*)?<html\b", re.IGNORECASE)
_PAGE_OF_ERROR = re.compile(
    r"<(title|h1)>\s*(?:(?:error\W{0,2})?[45]\d\d\b|[^<]{0,40}\b(?:error|bad gateway|unavailable|time-?out|forbidden|not found))",
    re.IGNORECASE,
)
_ASKED_FOR = re.compile(
    r"\b(?:errors?|exceptions?|trace ?backs?|stack ?traces?|status|https?|html|json|time-?outs?|rate limits?|[45]\d\d|xml|codes?)\b"
    r"|报错|错误|异常|状态码",
    re.IGNORECASE,
)
"""What a user asks who may be answered with the text of an error."""


def is_error(text: str, question: str) -> bool:
    """Whether a reply is an error and nothing else.

    `question`: the user's message before, which may have asked for one.
    """
    if _BEGINS.search(text[:200]):
        return True
    if _ASKED_FOR.search(question):
        return False
    if _TRACE.match(text):
        return True
    if _PAGE.match(text):
        return _PAGE_OF_ERROR.search(text) is not None
    return len(text) <= _LONG and _ERROR.match(text) is not None
