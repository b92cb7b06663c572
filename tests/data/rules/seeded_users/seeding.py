"""Conversations with one seeded fault of the user, and clean ones, in English and Chinese.

The faults come from their description alone: this file and the words `words_en.json` and `words_zh.json` were written before
any rule. The words `fresh` were written after the rules, and `held_out` after these were mended.
"""

import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from duologue.data import Attempt, Conversation, Message, ToolCall

FAULTS = (
    "leaves early",
    "claims success",
    "gives an unknown fact",
    "gives another fact",
    "gives all at once",
    "speaks as the assistant",
    "repeats itself",
    "asks for the excluded",
    "contradicts itself",
)
CLEAN = (
    "plain",
    "gives up",
    "agent hangs up",
    "turn limit",
    "asked again",
    "does not know",
    "chooses",
    "one by one",
    "keeps the limits",
    "declines",
    "corrects itself",
    "is glad of it",
    "empty reply",
    "reads back",
    "no facts",
    "quick yes",
)
CELLS = tuple((language, domain) for language in ("en", "zh") for domain in ("airline", "bank", "tasks"))
WORDS = {
    name: {
        language: json.loads((Path(__file__).parent / f"{name}_{language}.json").read_text("utf-8"))
        for language in ("en", "zh")
    }
    for name in ("words", "fresh", "held_out", "another_author")
}
"""Words of each part: `words` were written before the rules, `fresh` and `held_out` after them, `another_author` by a person who had not read them."""


class Seeded(NamedTuple):
    """A conversation, and the fault in it with its message; a clean one has none."""

    conversation: Conversation
    fault: str | None
    message: int | None


class Talk:
    """A conversation in the making."""

    def __init__(self, words: Mapping[str, Any], script: Mapping[str, Any], rng: random.Random) -> None:
        self.words, self.script, self.rng = words, script, rng
        self.messages: list[Message] = []
        self.scenario: dict[str, Any] = {
            "goal": script["goal"],
            "facts": [fact["fact"] for fact in script["facts"]],
        }
        self.stop = "user_ended"
        self.at: int | None = None

    def one(self, texts: list[str]) -> str:
        return self.rng.choice(texts)

    def user(self, text: str, *, fault: bool = False) -> None:
        self.at = len(self.messages) if fault else self.at
        self.messages.append(Message(role="user", text=text))

    def agent(self, text: str, calls: tuple[ToolCall, ...] = ()) -> None:
        drafts = (Attempt(text=text, verdict="accepted", tool_calls=calls),) if calls else ()
        self.messages.append(Message(role="assistant", text=text, attempts=drafts))

    def opening(self) -> None:
        self.user(self.one(self.script["opens"]))

    def question(self, number: int) -> None:
        self.agent(self.one(self.script["facts"][number]["asks"]))

    def answer(self, number: int, more: str = "") -> None:
        self.user(" ".join(filter(None, (self.one(self.script["facts"][number]["says"]), more))))

    def wrong(self) -> tuple[int, str]:
        numbers = [number for number in (0, 1, 2) if self.script["facts"][number]["wrong"]]
        number = self.rng.choice(numbers)
        return number, self.one(self.script["facts"][number]["wrong"])

    def waits(self) -> None:
        self.agent(self.one(self.words["asks_more"]))

    def done(self) -> None:
        tool = self.script["tool"]
        calls = (ToolCall(name=tool[0], arguments=tool[1], result=tool[2]),) if tool else ()
        if calls and self.rng.random() < 0.3:  # the call stands in a message of its own, without a text
            self.agent("", calls)
            calls = ()
        self.agent(self.one(self.script["done"]), calls)

    def end(self) -> None:
        self.done()
        self.user(self.one(self.words["thanks"]))

    def rest(self, *numbers: int) -> None:
        for number in numbers:
            self.question(number)
            self.answer(number)
        self.end()


def _faulty(talk: Talk, fault: str) -> None:
    words, script, rng = talk.words, talk.script, talk.rng
    if fault == "gives all at once":
        talk.scenario["persona"] = talk.one(words["told"])
        talk.user(script["all"], fault=True)
        talk.waits()
        talk.user(talk.one(words["yes"]))
        return talk.end()
    if fault == "asks for the excluded":
        talk.scenario["goal"] = script["exclude"]
    talk.opening()
    if fault == "leaves early":
        for number in range(rng.choice((0, 1, 2))):
            talk.question(number)
            talk.answer(number)
        talk.waits() if rng.random() < 0.3 else talk.question(2)
        return talk.user(talk.one(words["quits"]), fault=True)
    if fault == "claims success":
        talk.question(0)
        talk.answer(0)
        talk.waits()
        talk.user(talk.one(script["claims"]), fault=True)
        return talk.rest(1)
    if fault == "gives an unknown fact":
        talk.agent(script["lacks"][0])
        talk.user(talk.one(script["lacks"][1]), fault=True)
        return talk.rest(0, 1)
    if fault == "gives another fact":
        number, text = talk.wrong()
        talk.question(number)
        talk.user(text, fault=True)
        return talk.rest(*({0, 1, 2} - {number}))
    talk.question(0)
    if fault == "speaks as the assistant":
        talk.user(talk.one(words["assistant"]), fault=True)
        return talk.rest(0, 1)
    if fault == "asks for the excluded":
        talk.answer(0)
        talk.question(1)
        talk.answer(1)
        talk.done()
        talk.user(talk.one(script["asks_excluded"]), fault=True)
        talk.agent(talk.one(script["done"]))
        return talk.user(talk.one(words["thanks"]))
    if fault == "contradicts itself":
        first, second = rng.choice(script["contra"])
        talk.answer(0, first)
        talk.question(1)
        talk.user(f"{talk.one(script['facts'][1]['says'])} {second}", fault=True)
        return talk.rest(2)
    talk.answer(0)
    talk.question(1)
    said = talk.messages[rng.choice((0, 0, 2))].text
    if rng.random() < 0.25:
        said = talk.one([text for text in script["opens"] if text != talk.messages[0].text])
    talk.user(talk.one(words["again"]).format(x=said), fault=True)
    return talk.rest(1, 2)


def _clean(talk: Talk, variant: str) -> None:
    words, script = talk.words, talk.script
    if variant == "one by one":
        talk.scenario["persona"] = talk.one(words["told"])
    if variant in ("keeps the limits", "declines"):
        talk.scenario["goal"] = script["exclude"]
    if variant == "no facts":
        del talk.scenario["facts"]
        talk.user(talk.one(script["opens"]))
        return talk.end()
    if variant == "quick yes":
        talk.user(script["all"])
        talk.waits()
        talk.user(talk.one(words["yes"]))
        return talk.end()
    talk.opening()
    if variant == "turn limit":
        talk.stop = "max_turns"
        talk.question(0)
        talk.answer(0)
        return talk.question(1)
    if variant == "agent hangs up":
        talk.question(0)
        talk.answer(0)
        talk.agent(words["hangs_up"][0])
        return talk.user(talk.one(words["gives_up"]))
    if variant == "empty reply":
        talk.agent("")
        talk.user(talk.one(words["again"]).format(x=talk.messages[0].text))
        return talk.rest(0, 1)
    return _asked(talk, variant)


def _asked(talk: Talk, variant: str) -> None:
    """The rest of a clean conversation from the agent's first question on."""
    words, script = talk.words, talk.script
    talk.question(0)
    talk.answer(0)
    if variant == "gives up":
        talk.agent(talk.one(script["refuses"]))
        return talk.user(talk.one(words["gives_up"]))
    if variant == "asked again":
        talk.question(0)
        talk.user(talk.messages[2].text)
        return talk.rest(1)
    if variant == "does not know":
        talk.agent(script["lacks"][0])
        talk.user(talk.one(words["unknown"]))
        return talk.rest(1)
    if variant in ("chooses", "declines"):
        question, answer = script["choice" if variant == "chooses" else "offers"]
        talk.agent(question)
        talk.user(answer)
        return talk.rest(1)
    if variant == "keeps the limits":
        talk.question(1)
        talk.answer(1, talk.one(script["keeps"]))
        return talk.end()
    if variant == "corrects itself":
        number, text = talk.wrong()
        talk.question(number)
        right = talk.one(script["facts"][number]["says"])
        talk.user(words["corrects"][0].format(wrong=text, right=right))
        return talk.end()
    if variant == "reads back":
        talk.waits()
        talk.user(words["reads_back"][0].format(x=talk.messages[2].text))
        return talk.end()
    talk.question(1)
    talk.answer(1)
    if (
        variant == "is glad of it" and script["tool"] and script["tool"][0] not in ("bag_price", "find_payment")
    ):  # a price books nothing
        talk.done()
        talk.user(talk.one(script["claims"]))
        talk.agent(talk.one(words["hangs_up"]))
        return None
    return talk.rest(2)


def _as_task(scenario: dict[str, Any]) -> dict[str, Any]:
    """The scenario as RecLLMSim has it: goal and facts are one text."""
    mark, join = ("。", "") if scenario["goal"][-1] > "\u4e00" else (".", " ")
    goal = f"{scenario['goal'][0].upper()}{scenario['goal'][1:]}{mark}"
    context = join.join((goal, *scenario.get("facts", ()), scenario.get("persona", ""))).strip()
    return {"kind": "recllmsim", "task": "planning", "task_context": context}


def conversations(half: str, count: int = 200) -> Iterator[Seeded]:
    """`count` conversations with a seeded fault, and as many clean ones, in the words of a half."""
    for kinds, make in ((FAULTS, _faulty), (CLEAN, _clean)):
        for number in range(count):
            kind = kinds[number % len(kinds)]
            language, domain = CELLS[number // len(kinds) % len(CELLS)]
            scripts = [script for script in WORDS[half][language]["scenarios"] if script["domain"] == domain]
            name = f"{language} {domain} {kind} {number}"
            talk = Talk(WORDS[half][language], scripts[number // 7 % len(scripts)], random.Random(name))
            make(talk, kind)
            if domain == "tasks" and number % 2:
                talk.scenario = _as_task(talk.scenario)
            made = Conversation(id=name, scenario=talk.scenario, messages=tuple(talk.messages), stop=talk.stop)
            yield Seeded(made, kind if kinds is FAULTS else None, talk.at)
