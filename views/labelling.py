"""What people see who label: one conversation, or two answers side by side; without names and without any label."""

from typing import Any, Literal, NamedTuple, TypeAlias

from ..data import domains
from ..data.grounding import ground
from ..data.labels.side_by_side import Quiz, ReplyPair
from ..data.records import Conversation, Message, Role
from ..data.text.languages import Language
from .conversation import ShownTurn, pieces, turns
from .pages import in_notebook, render, source
from .parts import parts_html
from .wording import Wording, language_on_page

Shown: TypeAlias = Literal["as stored", "en", "zh", "both"]
"""Which language of a message is shown, where the data has a translation."""


class ShownMessage(NamedTuple):
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
    """The conversation with its own style; every text is escaped.

    `message`: the one to label, which is marked. `role`: only this side's messages, the marked one aside. `background`:
    whether task and profile are shown.
    """
    shown = (turn for turn in turns(conversation) if turn.message is not None)
    messages = [
        ShownMessage(turn, _texts(turn, language), turn.number == message)
        for turn in shown
        if role in (None, turn.role) or turn.number == message
    ]
    material = domains.of(conversation).material(conversation.scenario) if background else ()
    wording = Wording(language_on_page(conversation))
    html = render("labelling.html", wording=wording, material=material, messages=messages, parts=parts_html)
    return in_notebook(html)


def labelling_page(item: str, question: int | None = None) -> str:
    """Style and script around what is labelled: the frame's height, keys, where the frame is scrolled to.

    `item`: its name, of letters and digits; `question`: the one of it that is asked about, which is marked. The frame is
    scrolled when one of them changes.
    """
    if not item.isalnum():
        raise ValueError(f"{item!r} is not of letters and digits")
    script = source("labelling.js").replace("{item}", item).replace("{question}", str(question or ""))
    return f"<style>{source('labelling.css')}</style><script>{script}</script>"


def _texts(turn: ShownTurn, language: Shown) -> tuple[str, ...]:
    assert turn.message is not None
    if language == "as stored":
        return (turn.message.text,)
    languages: tuple[Language, ...] = ("en", "zh") if language == "both" else (language,)
    texts = (domains.in_language(turn.message, shown) for shown in languages)
    return tuple(dict.fromkeys(text for text in texts if text is not None)) or (turn.message.text,)


def side_by_side_html(comparison: ReplyPair, *, switched: bool) -> str:
    """The questions with the answers of A and of B, whose spans are marked in the text that both are about.

    `switched`: whether the second side is A. A reply that gives no answer is told to be one in the same words on both sides:
    its own, such as QuAC's CANNOTANSWER, would tell whose it is.
    """
    domain = domains.of(comparison.first)
    material = domain.material(comparison.first.scenario)
    text = next((piece for piece in material if piece.source), None)
    rows = [
        (question, *((question.second, question.first) if switched else (question.first, question.second)))
        for question in comparison.questions
    ]
    stretches: list[dict[str, Any]] = []
    if text is not None:
        left = [_spanned(answer, text.text) for _, answer, _ in rows]
        right = [_spanned(answer, text.text) for *_, answer in rows]
        stretches = [
            {
                "text": piece.text,
                "first": any(number < len(left) for number in piece.messages),
                "second": any(number >= len(left) for number in piece.messages),
            }
            for piece in pieces(text.text, [*left, *right])
        ]
    html = render(
        "side_by_side.html",
        wording=Wording(language_on_page(comparison.first)),
        source=text.label if text is not None else "",
        stretches=stretches,
        material=[piece for piece in material if piece is not text],
        rows=rows,
        silent=domain.refuses,
    )
    return in_notebook(html)


def quiz_html(quiz: Quiz) -> str:
    """The sample annotations that stand beside the quiz."""
    return in_notebook(render("quiz.html", quiz=quiz))


def _spanned(message: Message, section: str) -> Message:
    """The message with its spans; those of an answer without any are looked for in the text."""
    if message.spans or not message.text.strip():
        return message
    return message.model_copy(update={"spans": ground(message.text, section).spans})
