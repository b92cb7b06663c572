"""What an offline user finds in an assistant's reply: the options, and what goes against its facts."""

import re
from collections.abc import Sequence

from ....data.text.languages import Language
from .facts import Fact
from .voices import READ, phrases, short

_OPTION = re.compile(r"^[ \t]*(\d{1,2})[.)、．][ \t]*(\S.*)$", re.MULTILINE)
_TITLE_ENDS = re.compile(r"[:：;；.。(（—–]| - ")


def options_of(reply: str) -> list[tuple[int, str]]:
    """Number and title of each option of a reply."""
    found = []
    for number, line in _OPTION.findall(reply[:READ]):
        title = short(_TITLE_ENDS.split(line.replace("*", ""))[0], 10)
        if title:
            found.append((int(number), title))
    return found


def objection(reply: str, facts: Sequence[Fact], said: str, language: Language) -> tuple[str, Fact] | None:
    """What in a reply goes against a fact, and the fact; `said`: what the user wrote, to object once only."""
    words = phrases(language)
    reply = reply[:READ]
    seen: set[str] = set()
    for fact in facts:
        against = [rule["reply"] for rule in words["conflicts"] if re.search(rule["fact"], fact.told, re.IGNORECASE)]
        averse = re.search(words["aversion"], fact.told, re.IGNORECASE)
        if averse:
            against.append(re.escape(averse.group(1)))
        for pattern in [one for one in against if one not in seen]:
            seen.add(pattern)
            for hit in re.finditer(pattern, reply, re.IGNORECASE):
                if re.search(words["negation"], reply[max(0, hit.start() - 40) : hit.start()], re.IGNORECASE):
                    continue
                line = reply[reply.rfind("\n", 0, hit.start()) + 1 : (reply + "\n").find("\n", hit.end())]
                title = next((t for _, t in options_of(line) if re.search(pattern, t, re.IGNORECASE)), hit.group())
                if title.casefold() not in said:
                    return title, fact
    return None
