"""Scorers of the messages' words: texts, refusals, and whether the user ended the conversation as solved."""

import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ...data import domains
from ...data.records import Message
from ...data.rules.refusals import refused as refused_in
from ...data.stop_reasons import in_words
from ...errors import SettingError
from ..state import State, said
from .differences import shown
from .scores import Score

SpeakingSide: TypeAlias = Literal["user", "assistant", "both"]
"""The role whose messages are read."""


@dataclass(frozen=True)
class TextContains:
    """Whether one role's messages contain texts: see `text_contains`."""

    texts: tuple[str, ...]
    match: Literal["all", "any"] = "all"
    side: SpeakingSide = "assistant"
    regex: bool = False
    case: bool = False

    def __call__(self, state: State) -> Score:
        role_text = "\n".join(texts_of(state, self.side))
        matches = [text for text in self.texts if self._is_in(text, role_text)]
        lacking = [text for text in self.texts if text not in matches]
        if lacking and (self.match == "all" or not matches):
            who = "nobody" if self.side == "both" else f"the {self.side} never"
            return Score(False, f"{who} says {shown(lacking[0])}")
        return Score(True, f"said: {shown(matches[0])}")

    def _is_in(self, text: str, role_text: str) -> bool:
        if self.regex:
            return re.search(text, role_text, 0 if self.case else re.IGNORECASE) is not None
        text, role_text = " ".join(text.split()), " ".join(role_text.split())
        return text in role_text if self.case else text.casefold() in role_text.casefold()

    def provenance(self) -> dict[str, Any]:
        return {"texts": list(self.texts), "match": self.match, "side": self.side} | (
            {name: True for name in ("regex", "case") if getattr(self, name)}
        )


def text_contains(
    *texts: str,
    match: Literal["all", "any"] = "all",
    side: SpeakingSide = "assistant",
    regex: bool = False,
    case: bool = False,
) -> TextContains:
    """Whether one role's messages contain these texts, all or any of them.

    Args:
        texts: The texts; in plain ones all white space is equal.
        match: `all` or `any` of them.
        side: `user`, `assistant` or `both`.
        regex: Whether the texts are regular expressions of Python.
        case: Whether upper and lower case differ.

    Returns:
        The scorer.

    Raises:
        SettingError: A text is missing or empty, or is not a regular expression.
    """
    if not texts or not all(text.strip() for text in texts):
        raise SettingError("text_contains: give a text to look for")
    for text in texts if regex else ():
        try:
            re.compile(text)
        except re.error as error:
            raise SettingError(f"text_contains: {text!r} is not a regular expression: {error}") from None
    return TextContains(texts, match, side, regex, case)


def texts_of(state: State, side: SpeakingSide) -> list[str]:
    """The messages of one role, or of both, the goodbye included; a third one's are of neither."""
    messages = [message for message in said(state) if not message.get("name")]
    return [message["text"] for message in messages if side in ("both", message["role"])]


@dataclass(frozen=True)
class Refused:
    """Whether the assistant refused: see `refused`."""

    last: bool = False

    def __call__(self, state: State) -> Score:
        replies = [message for message in said(state) if message["role"] == "assistant"]
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
    """Whether the assistant refused, by the refusals of the scenario's domain or by rule.

    The rule `refusal` reads the words of a refusal in English, Chinese or German, where the domain has no refusals. `last`: in
    its last message; else in any. Words are a rough sign: where they decide a test, ask a judge (`judged`).
    `negated(refused())`: it never refused.
    """
    return Refused(last)


@dataclass(frozen=True)
class Solved:
    """Whether the user ended the conversation as solved: see `solved`."""

    def __call__(self, state: State) -> Score:
        stop = state.get("stop")
        if stop != "user_ended":
            return Score(False, f"the user did not confirm that it is solved: {in_words(stop)}")
        last_message = texts_of(state, "user")[-1:]
        return Score(True, f"the user ended it: {shown(last_message[0])}" if last_message else "the user ended it")


def solved() -> Solved:
    """Whether the user ended the conversation as solved: its stop reason is `user_ended`.

    A limit, or the phrase with which a user gives up, is another stop reason.
    """
    return Solved()
