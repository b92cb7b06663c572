"""Scorers of what was said: texts, refusals, and whether the user left with what it came for."""

import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..data import domains
from ..data.records import Message
from ..data.rules.refusals import refused as refused_in
from ..data.stop_reasons import in_words
from ..errors import SettingError
from .comparing import shown
from .scores import Score
from .state import State

Side: TypeAlias = Literal["user", "assistant", "both"]
"""Whose messages are read."""


@dataclass(frozen=True)
class TextContains:
    """Whether one side's messages contain texts. See `text_contains`."""

    texts: tuple[str, ...]
    match: Literal["all", "any"] = "all"
    side: Side = "assistant"
    regex: bool = False
    case: bool = False

    def __call__(self, state: State) -> Score:
        said = "\n".join(texts_of(state, self.side))
        found = [text for text in self.texts if self._is_in(text, said)]
        lacking = [text for text in self.texts if text not in found]
        if lacking and (self.match == "all" or not found):
            who = "nobody" if self.side == "both" else f"the {self.side} never"
            return Score(False, f"{who} says {shown(lacking[0])}")
        return Score(True, f"said: {shown(found[0])}")

    def _is_in(self, text: str, said: str) -> bool:
        if self.regex:
            return re.search(text, said, 0 if self.case else re.IGNORECASE) is not None
        text, said = " ".join(text.split()), " ".join(said.split())
        return text in said if self.case else text.casefold() in said.casefold()

    def provenance(self) -> dict[str, Any]:
        return {"texts": list(self.texts), "match": self.match, "side": self.side} | (
            {name: True for name in ("regex", "case") if getattr(self, name)}
        )


def text_contains(
    *texts: str,
    match: Literal["all", "any"] = "all",
    side: Side = "assistant",
    regex: bool = False,
    case: bool = False,
) -> TextContains:
    """Whether one side says these texts, all or any of them, somewhere in the conversation.

    `side`: `user`, `assistant` or `both`. `regex`: the texts are regular expressions of Python. `case`: upper and
    lower case differ; by default they do not. In plain texts, white space is all alike.
    """
    if not texts or not all(text.strip() for text in texts):
        raise SettingError("text_contains: give a text to look for")
    for text in texts if regex else ():
        try:
            re.compile(text)
        except re.error as error:
            raise SettingError(f"text_contains: {text!r} is no regular expression: {error}") from None
    return TextContains(texts, match, side, regex, case)


def texts_of(state: State, side: Side) -> list[str]:
    """What one side, or both, said, the goodbye included."""
    return [message["text"] for message in state.get("messages", []) if side in ("both", message["role"])]


@dataclass(frozen=True)
class Refused:
    """Whether the assistant refused. See `refused`."""

    last: bool = False

    def __call__(self, state: State) -> Score:
        replies = [message for message in state.get("messages", []) if message["role"] == "assistant"]
        domain = domains.of(state["scenario"])
        for message in replies[-1:] if self.last else replies:
            if domain.has_refusals:
                if domain.refuses(Message.model_validate(message)):
                    return Score(True, f"the assistant refused: {shown(message['text'])}")
            elif words := refused_in(message["text"]):
                return Score(True, f"the assistant refused: {shown(words)}")
        return Score(False, "the assistant refused nothing")

    def provenance(self) -> dict[str, Any]:
        return {"last": self.last}


def refused(*, last: bool = False) -> Refused:
    """Whether the assistant refused, by the refusals of the scenario's domain, else by the words of a refusal in English
    or Chinese, as the rule `refusal` reads them. `last`: in its last message; else in any. Words are a rough sign: where they
    decide a test, ask a judge (`judged`). `negated(refused())`: it never did.
    """
    return Refused(last)


@dataclass(frozen=True)
class Solved:
    """Whether the user ended the conversation as solved. See `solved`."""

    def __call__(self, state: State) -> Score:
        stop = state.get("stop")
        if stop != "user_ended":
            return Score(False, f"the user did not say that it is solved: {in_words(stop)}")
        said = texts_of(state, "user")[-1:]
        return Score(True, f"the user ended it: {shown(said[0])}" if said else "the user ended it")

    def provenance(self) -> dict[str, Any]:
        return {}


def solved() -> Solved:
    """Whether the user ended the conversation because it has what it came for: the stop reason is `user_ended`, neither
    a limit nor the phrase with which a user gives up.
    """
    return Solved()
