"""A conversation as annotators see it: its messages and background, without any label."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ...analysis.labels.reliability import Trusts, together
from ...data import domains
from ...data.labels.definition import LabelDefinition
from ...data.labels.reading import side_of
from ...data.records import Conversation, Role
from ...data.text.languages import Language
from ..conversation import ShownTurn, turns
from ..pages import in_notebook, render, source
from ..parts import Gallery
from ..wording import Wording, language_on_page

Shown: TypeAlias = Literal["as stored", "en", "zh", "both"]
"""Which language of a message is shown, where the data has a translation."""


def data_trust(label: LabelDefinition, conversation: Conversation, trusts: Trusts, *, of_message: bool) -> str:
    """The reliability marks of the data's own values under a label; its parts are named where they differ."""
    side = side_of(conversation)
    marks = {}
    for name in label.parts:
        key, of_key = (label.shape.within, name) if label.shape.within else (name, "")
        if (reliability := trusts.of_label(side, key, of_key, of_messages=of_message)) is not None:
            marks[name] = reliability.mark
    return together(marks)


@dataclass(frozen=True)
class ShownMessage:
    """A message as it is shown."""

    turn: ShownTurn
    texts: tuple[str, ...]
    """Its text in each language asked for; its own text if there is no other."""
    marked: bool
    """Whether it is the one to label."""


def labelling_html(
    conversation: Conversation,
    *,
    message: int | None = None,
    role: Role | None = None,
    language: Shown = "as stored",
    background: bool = True,
) -> str:
    """The conversation with its own style.

    Every text is escaped.

    `message`: the one to label, which is marked. `role`: only this side's messages, the marked one aside. `background`:
    whether task and profile are shown.
    """
    bare = conversation.model_copy(update={"unsaid": ()})
    messages = [
        ShownMessage(turn, _texts(conversation, turn, language), turn.number == message)
        for turn in turns(bare)
        if turn.message is not None and (role in (None, turn.role) or turn.number == message)
    ]
    material = domains.of(conversation).material(conversation.scenario) if background else ()
    wording = Wording(language_on_page(conversation))
    html = render("labelling.html", wording=wording, material=material, messages=messages, parts=Gallery().html)
    return in_notebook(html)


def labelling_page(item: str, question: int | None = None) -> str:
    """Style and script around a conversation that is labelled: the frame's height, keys, where the frame is scrolled to.

    `item`: a name of what is labelled, of letters and digits; `question`: the one of it that is asked about, which is marked.
    The frame is scrolled when one of them changes.
    """
    if not item.isalnum():
        raise ValueError(f"{item!r} is not of letters and digits")
    script = source("labelling.js").replace("{item}", item).replace("{question}", str(question or ""))
    return f"<style>{source('labelling.css')}</style><script>{script}</script>"


def _texts(conversation: Conversation, turn: ShownTurn, language: Shown) -> tuple[str, ...]:
    assert turn.message is not None
    if language == "as stored":
        return (turn.message.text,)
    languages: tuple[Language, ...] = ("en", "zh") if language == "both" else (language,)
    texts = (domains.in_language(turn.message, shown) for shown in languages)
    return tuple(dict.fromkeys(text for text in texts if text is not None)) or (turn.message.text,)
