"""Two answers to the same questions side by side, as annotators see them: without names and labels."""

from ...data import domains
from ...data.grounding import ground
from ...data.labels.side_by_side import Quiz, ReplyPair
from ...data.records import Message, Span
from ..against import Stretch, stretches
from ..pages import in_notebook, render
from ..wording import Wording, language_on_page


def side_by_side_html(comparison: ReplyPair, *, switched: bool) -> str:
    """The questions with the answers of A and of B, with its style.

    The answers' spans are marked in the text that both are about.

    `switched`: whether the second side is A. Every text is escaped. A reply that gives no answer is told to be one in the
    same words on both sides: its own, such as QuAC's CANNOTANSWER, would tell whose it is.
    """
    domain = domains.of(comparison.first)
    material = domain.material(comparison.first.scenario)
    source = next((piece for piece in material if piece.source), None)
    rows = [
        (question, *((question.second, question.first) if switched else (question.first, question.second)))
        for question in comparison.questions
    ]
    pieces: tuple[Stretch, ...] = ()
    if source is not None:
        left = [_spanned(answer, source.text) for _, answer, _ in rows]
        right = [_spanned(answer, source.text) for *_, answer in rows]
        pieces = stretches(source.text, left, right)
    html = render(
        "side_by_side.html",
        wording=Wording(language_on_page(comparison.first)),
        source=source.label if source is not None else "",
        stretches=pieces,
        material=[piece for piece in material if piece is not source],
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
    spans: tuple[Span, ...] = ground(message.text, section).spans
    return message.model_copy(update={"spans": spans})
