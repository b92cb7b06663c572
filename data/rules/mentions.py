"""Marks that a text mentions.

A tag, a token or a label in a question about it is not a slip of a speaker. A mark is spoken about if the text is about
technical things and the mark stands inside a sentence. What begins a line or a message, follows a full stop, or is
glued to the end of the text, is said.
"""

import re
from functools import lru_cache

_TECHNICAL = re.compile(
    r"(?<![a-z])(?:(?:mark-?up|html5?|xml|xpath|xsd|xslt|yaml|json|jsonl|toml|ini|csv|markdown|latex|mediawiki|css|svg|dom"
    r"|schema|namespace|tag|element|attribute|syntax|parser?|regexp?|regular expression|tokeni[sz]er|token|vocabulary"
    r"|template|placeholder|config|api|sdk|cli|endpoint|http|https|webhook|curl|docker|dockerfile|docker-compose|container"
    r"|cmake|makefile|gcc|npm|pip|ubuntu|debian|fedora|kubernetes|kubectl|helm|ansible|terraform|nginx|linux|macos|systemd|journalctl|bash|zsh|shell|grep|awk|sed|jq|vim"
    r"|git|github|gitlab|ci|python|java|javascript|typescript|kotlin|rust|golang|swift|ruby|perl|php|sql|postgres"
    r"|postgresql|sqlite|pandas|django|flask|react|vue|angular|spring|maven|mvn|jaxb|gradle|lxml|llm|gpt|llama|gemma"
    r"|mistral|vicuna|alpaca|chatml|vllm|ollama|openai|anthropic|langchain|langgraph|autogen|tau-bench|deepseek|qwen"
    r"|modelfile|chat ?bot|models?|context window|benchmark|dataset|training data|stop (?:sequence|string)"
    r"|function|method|struct|variable|closure|compiler|debugger|stack ?trace|log|server|database|query|script|library"
    r"|framework|evaluation|load test|unit test|playwright|selenium|locust|cypress|musicxml|docbook|jats|bpmn|webpack"
    r"|jinja|liquid|mustache|handlebars|jekyll|celery|ecs|aws|azure|kafka|redis|node(?:\.js)?|unity|cobol|ffmpeg|msbuild|puppeteer"
    r"|mixtral|claude|whisper|rasa|react query|gitconfig|make install|discord|slack|slack bot|web socket|middleware|dependency|package|repository|enum|array|string|hex|unicode|ascii"
    r"|code|coding|programming|command|terminal|input field|form field|smb|pylintrc|file)(?:e?s)?"
    r"|pars(?:e[sd]?|ing)|configur\w+|fine-?tun\w+|prompt engineering|few-shot|escap(?:e[sd]?|ing)|serializ\w+|render(?:s|ed|ing)?"
    r"|compil(?:e[sd]?|ing)|debug(?:ging)?|deploy(?:s|ed|ing|ment)?)(?![a-z])"
    r"|c\+\+|c#|\.(?:conf|ya?ml|json|xml|ini|html?|py|js|ts)\b"
    r"|标签|元素|代码|正则|配置|日志|接口|解析|模板|变量|模型|脚本|数据库|微调|编程|报错|字段|函数|转义",
    re.IGNORECASE,
)
_ENDS_SENTENCE = ".!?。！？:：;；"
_NAMES_NEXT = re.compile(
    r"(?:\b(?:the|an?|is|are|was|with|by|of|to|as|and|or|than|from|between|before|after|like|about|token|string|word|tag|mark"
    r"|marker|label|element|called|named|mean|means|use|uses|using|add|remove|strip|escape|print|prints|match|matches|see|every"
    r"|each|all|both|my|no|not|only|in|for|on|versus|vs\.?|if|whether|which|put|writes?|wrote|sends?|emits?|outputs?|returns?)"
    r"|[,/(]|什么是|用|的|和|与|是|有|个|把|将|从)\W*$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\s+(?:[a-z]{2,}\b|[a-z]\b(?! ?[.)]))|\s*[,)]|[\w-]*\s*[?？]|\s?[\u4e00-\u9fff]")
_NAMED = re.compile(r"\s+[a-z]{2,}\b|\s?[,)?？]")
_ASKS_FOR_WORK = re.compile(
    r"(?:(?:^|[.!?:\n])\W{0,3}(?:please |now )?|\b(?:you|to|please) )(?:write|continue|complete|finish|extend|label|classify|annotate"
    r"|translate|summari[sz]e|judge|rate|score|rank|compare|fix|correct|rewrite|rephrase|edit|proofread|analy[sz]e|evaluate|grade"
    r"|split|format|convert|extract|here (?:is|are)|below is)\b[^\n]{0,80}?\b(?:dialogues?|dialogs?|conversations?|transcripts?|talks?"
    r"|chats?|sentiments?|lines?|repl(?:y|ies)|turns?|messages?|prompts?|few-shot|exchange|interview|script|examples?)\b"
    r"|(?:续写|翻译|改写|总结|标注|分类|评价|润色|写|补全|继续)[^。！？\n]{0,12}(?:对话|聊天|回复|示例|情感|文本)",
    re.IGNORECASE,
)
"""A request for work on a dialogue, on any subject."""
LISTED = 3
"""Least other names at the begin of lines that make a list of terms."""
_LABEL = re.compile(r"^[^\S\n]*[*_>#-]{0,4}[^\S\n]*(\w+(?: \w+)?)[*_]{0,3}[^\S\n]?[:：]", re.MULTILINE)


@lru_cache(maxsize=64)  # the rules ask for the same message at each mark
def is_technical(text: str) -> bool:
    """Whether the text mentions markup, code, configuration, models or other technical things."""
    return _TECHNICAL.search(text) is not None


def is_spoken_about(text: str, start: int, end: int) -> bool:
    """Whether the mark at these places is a thing that the text is about."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    before, after = line.rstrip(), text[end:]
    if not is_technical(text):
        return line != before and _NAMES_NEXT.search(before) is not None and _NAMED.match(after) is not None
    mark = text[start:end]
    if mark.startswith("<") and (line[-1:].isalnum() or (mark.startswith("</") and "<" + mark[2:] in line)):
        return True  # List<User>; <think>...</think>
    if not before or before[-1] in _ENDS_SENTENCE:
        goes_on = _GOES_ON.match(after) is not None and not mark.startswith("</")
        return goes_on and (not before or line != before)
    if not after.strip(" \t\n.!?。！？)"):  # the last word of all: thanks, ###STOP###
        return line != before and _NAMES_NEXT.search(before) is not None
    return line != before or before[-1].isalnum() or before[-1] in "(,/\"'“[>"


def is_in_transcript(text: str, end: int) -> bool:
    """Whether the label that ends at this place belongs to a transcript or template in the text.

    At least two lines begin with different labels. Before them a technical text introduces them, or any text asks for
    work on a dialogue.
    """
    return end in _transcript(text)


@lru_cache(maxsize=64)
def _listed(text: str) -> frozenset[int]:
    labels = list(_LABEL.finditer(text))
    others = {match[1].casefold() for match in labels} - _SIDES
    return frozenset(match.end() for match in labels) if len(others) >= LISTED else frozenset()


def is_listed(text: str, end: int) -> bool:
    """Whether the label that ends at this place is one of a list of terms, each with what it means."""
    return end in _listed(text)


@lru_cache(maxsize=64)
def _transcript(text: str) -> frozenset[int]:
    """The ends of all labels of the transcript that the text shows; empty if it shows none."""
    labels = [match for match in _LABEL.finditer(text) if _is_speaker(match[1])]
    if len({match[1].casefold() for match in labels}) < 2:
        return frozenset()
    introduction, rest = text[: labels[0].start()], text[labels[-1].end() :]
    lines = introduction.rstrip().splitlines()
    introduced = bool(lines) and (lines[-1].rstrip().endswith((":", "：", "`", '"')) or introduction.endswith("\n\n"))
    below = _PARAGRAPH.split(rest, maxsplit=1)[1:]  # what is asked of the transcript behind it
    request = _ASKS_FOR_WORK.search(introduction) or (below and _ASKED_BELOW.search(below[0]))
    return frozenset(match.end() for match in labels) if introduced or request else frozenset()


def _is_speaker(label: str) -> bool:
    """Whether a label names a side, or anybody by a name with a capital letter."""
    return label.casefold() in _SIDES or (label.istitle() and len(label) <= 24) or (label.isupper() and len(label) > 1)


_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_ASKED_BELOW = re.compile(
    r"[?？]|\b(?:above|this|these|the|please|dialogue|conversation|transcript|continue|write|summari[sz]e|translate|what|how)\b|上面|以上|这段",
    re.IGNORECASE,
)
_SIDES = frozenset({"user", "human", "assistant", "system", "bot", "ai", "model", "chatbot", "用户", "助手", "系统"})
