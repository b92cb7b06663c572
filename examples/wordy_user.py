"""A user that says too much: the offline user's messages, cut by chance, with greetings, thanks and more sentences.

    cd examples
    duologue simulate recllmsim --language zh --user wordy_user:user --assistant offline --out ../out/wordy

Its drafts are those from which `--like` accepts what is like people (docs/users/style_filter.md). Chance is a digest of the messages
that it is sent, so another attempt gives another draft.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import convert_to_messages

from duologue.data.identity import digest
from duologue.data.text.languages import HAN, Language
from duologue.nodes import chat_model
from duologue.nodes.goodbyes import Ending

_CLAUSE = re.compile(r"[^，,。.！!？?；;\n]+[，,。.！!？?；;\n]*")

MORE: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "greeting": "Hello there! ",
        "thanks": " Thank you so much for that, it is a great help!",
        "question": " What do you think?",
    },
    "zh": {
        "greeting": "你好！",
        "thanks": "非常感谢你的帮助，这对我来说太有用了！",
        "question": "你觉得怎么样？",
    },
}
SENTENCES: Mapping[Language, Sequence[str]] = {
    "en": (
        " I have been thinking about it for quite some time now.",
        " It would mean a lot to me if all of this worked out well.",
        " Please tell me everything that I should know about it.",
        " I am really looking forward to it.",
    ),
    "zh": (
        "这件事我已经想了很久了。",
        "如果一切顺利的话，对我来说意义重大。",
        "请把我应该知道的都告诉我。",
        "我真的非常期待。",
    ),
}
"""As many of these as chance has it, from the first on: none in half of the messages."""
RATES = {"greeting": 0.3, "thanks": 0.4, "question": 0.3}
"""How often each is said."""


def user(messages: Sequence[Mapping[str, Any]]) -> str:
    """The offline user's message, with more or less in it; its goodbye as it is."""
    text = str(
        chat_model("offline", side="task_user")
        .invoke(convert_to_messages([dict(message) for message in messages]))
        .text
    )
    return text if Ending().reason(text) else wordy(text, digest([message["content"] for message in messages]))


def wordy(text: str, chance: str) -> str:
    """A message with what `chance`, 64 hexadecimal digits, leaves of it and adds to it."""
    language: Language = "zh" if HAN.search(text) else "en"
    more, sentences = MORE[language], SENTENCES[language]
    brevity, added, greets, asks, thanks = (int(chance[place : place + 8], 16) / 2**32 for place in range(0, 40, 8))
    clauses = _CLAUSE.findall(text)
    reworded = "".join(clauses[: 2 + int(brevity**2 * len(clauses))])  # few clauses more often than many
    reworded += "".join(sentences[: max(0, int((2 * added - 1) * (len(sentences) + 1)))])
    reworded += more["question"] * (asks < RATES["question"]) + more["thanks"] * (thanks < RATES["thanks"])
    return more["greeting"] * (greets < RATES["greeting"]) + reworded
