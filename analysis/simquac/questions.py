"""A student's questions: how many are answered, how much of the section they bring up, how many repeat."""

from collections.abc import Iterable

from ...data.grounding import gives_no_answer
from ...data.records import Conversation, Record
from ...data.rules import asked_before
from ...data.summaries import coverage
from ...errors import DataError


class StudentScore(Record):
    """The scores of a student's questions."""

    student: str
    conversations: int
    questions: int
    answered: float
    """Share of questions that got an answer, 0 to 1."""
    asked_again: int
    """Questions that repeat an earlier one of their conversation, white space, punctuation and case aside."""
    coverage: float
    """Mean over conversations of the section's share in the answers' spans, 0 to 1."""


def score_student(student: str, conversations: Iterable[Conversation]) -> StudentScore:
    """Count questions, answers and repeats; ValueError without a question."""
    count = questions = answered = again = 0
    shares: list[float] = []
    for conversation in conversations:
        count += 1
        shares.append(coverage(conversation))
        earlier: list[str] = []
        for message in conversation.messages:
            if message.role == "user":
                questions += 1
                again += asked_before(message.text, earlier)
                earlier.append(message.text)
            else:
                answered += not gives_no_answer(message)
    if not questions:
        raise DataError("there is no question to score: give conversations with questions")
    return StudentScore(
        student=student,
        conversations=count,
        questions=questions,
        answered=answered / questions,
        asked_again=again,
        coverage=sum(shares) / count,
    )
