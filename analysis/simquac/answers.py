"""A teacher's answers against people's: F1 and HEQ as QuAC defines them (EMNLP 2018, section 5.1), and simple teachers."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ...data.grounding import NO_ANSWER, gives_no_answer
from ...data.identity import call_seed
from ...data.people import text_of
from ...data.records import Conversation, Message
from ...data.rules.guards import is_repeat
from ...data.simquac import references as people_answers
from ...data.summaries import coverage
from ...data.text.sentence_splitting import sentences
from ...errors import DataError

Item = TypeVar("Item")

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NOT_WORD = re.compile(r"[^\w\s]|_")
_SIGN = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])")
"""Han and kana, which are written without spaces."""

Answerer: TypeAlias = Callable[[Conversation, int], str]
"""A teacher without a model: the answer to a conversation's question of this number, from 0."""


@lru_cache(maxsize=65536)
def normalised(text: str) -> tuple[str, ...]:
    """Lower case, without punctuation and English articles, split at white space (as for SQuAD and QuAC).

    Where words are not divided by spaces each sign is a word, as for CMRC 2018 (EMNLP 2019) and MLQA (ACL 2020).
    """
    return tuple(_SIGN.sub(r" \1 ", _ARTICLE.sub(" ", _NOT_WORD.sub("", text.lower()))).split())


class Overlap(NamedTuple):
    """How many words an answer shares with a reference, each 0 to 1."""

    f1: float
    precision: float
    recall: float


def overlap(prediction: str, reference: str) -> Overlap:
    """The words that two texts share, as SQuAD counts them; two empty texts are equal."""
    predicted, expected = normalised(prediction), normalised(reference)
    if not predicted or not expected:
        return _all(predicted == expected)
    shared = sum((Counter(predicted) & Counter(expected)).values())
    return Overlap(2 * shared / (len(predicted) + len(expected)), shared / len(predicted), shared / len(expected))


class AnswerScore(NamedTuple):
    """An answer against every reference answer to its question."""

    f1: float
    """Word F1 with the best reference. Of several each is held out once, as for people's own: the mean of the best."""
    precision: float
    """Precision with the references that gave the F1."""
    recall: float
    exact: float
    """1 where it equals a reference after normalisation."""
    people_f1: float
    """People's own F1: each reference against the others, the mean of the best; 1 where there is only one."""
    references: int
    """The references that count."""


def score_answer(answer: str, references: Sequence[str], *, each_line: bool = False) -> AnswerScore:
    """Score an answer, `NO_ANSWER` for none, as QuAC does.

    Where at least half of the references refuse, a refusal is right and anything else wrong; else the refusals among
    them do not count. `each_line`: a reference of several lines is matched by the best of them, as programs do that read
    SQuAD's JSON; by default by all of them together.
    """
    expected = scored_references(references)
    values = [_alike(answer, reference, each_line) for reference in expected]
    bests = [max(rest) for rest in _each_left_out(values)] or values
    lines = [line for one in expected for line in (one.split("\n") if each_line else (one,))]
    exact = any(_alike(answer, line, False).f1 > 0 and normalised(answer) == normalised(line) for line in lines)
    people = [
        max(_alike(one, other, each_line).f1 for other in rest)
        for one, rest in zip(expected, _each_left_out(expected), strict=False)
    ]
    f1, precision, recall = (sum(column) / len(bests) for column in zip(*bests, strict=True))
    people_f1 = sum(people) / len(people) if people else 1.0
    return AnswerScore(f1, precision, recall, float(exact), people_f1, len(expected))


def scored_references(references: Sequence[str]) -> Sequence[str]:
    """The references that count: one refusal where at least half of them refuse, else those that do not refuse."""
    spans = [reference for reference in references if reference != NO_ANSWER]
    return spans if 2 * len(spans) > len(references) else [NO_ANSWER]


class ScoredQuestion(NamedTuple):
    """A question, as readers and teachers are scored."""

    conversation: Hashable
    score: AnswerScore
    refused: bool
    impossible: bool


def quac_score(scored: Sequence[ScoredQuestion]) -> dict[str, Any]:
    """The scores of all questions together, each with the same weight; DataError without one.

    - `f1`: the mean, 0 to 1; a refusal equals only a refusal;
    - `exact`: the share of questions whose answer equals a reference after normalisation;
    - `heq_q`, `heq_d`: the share of questions on which the F1 is at least people's own, which with one reference is 1, and
      that of conversations on all of whose questions it is;
    - `several_references`: questions with more than one reference: people's own F1 is known only for these;
    - `refused_right`, `refused_wrong`: refusals, the latter of questions that people answered;
    - `answered_wrong`: answers to questions that people could not answer.
    """
    if not scored:
        raise DataError("there is no question to score: give conversations with answers")
    as_people = [one.score.f1 >= one.score.people_f1 for one in scored]
    conversations = {one.conversation for one in scored}
    failing = {one.conversation for one, reached in zip(scored, as_people, strict=True) if not reached}
    refusals = Counter((one.refused, one.impossible) for one in scored)
    return {
        "questions": len(scored),
        "f1": sum(one.score.f1 for one in scored) / len(scored),
        "exact": sum(one.score.exact for one in scored) / len(scored),
        "heq_q": sum(as_people) / len(scored),
        "heq_d": len(conversations - failing) / len(conversations),
        "several_references": sum(one.score.references > 1 for one in scored),
        "refused_right": refusals[True, True],
        "refused_wrong": refusals[True, False],
        "answered_wrong": refusals[False, True],
    }


def score_teacher(answered: Iterable[Conversation], references: Iterable[Conversation]) -> dict[str, Any]:
    """The `quac_score` of a teacher's conversations by those whose questions it was asked, turn by turn.

    DataError if the questions are not the same.
    """
    scored: list[ScoredQuestion] = []
    for number, (conversation, people) in enumerate(zip(answered, references, strict=True)):
        exchanges = zip(conversation.exchanges, people.exchanges, people_answers(people), strict=True)
        for exchange, people_exchange, every_reference in exchanges:
            if text_of(exchange.user) != text_of(people_exchange.user):
                raise DataError(
                    f"conversation {conversation.id} has other questions than its reference: compare a replayed run"
                )
            answer, own = _answer(exchange.assistant), _answer(people_exchange.assistant)
            score = score_answer(answer, every_reference)
            scored.append(ScoredQuestion(number, score, answer == NO_ANSWER, own == NO_ANSWER))
    return quac_score(scored)


def answered_by(answerer: Answerer, conversations: Iterable[Conversation]) -> list[Conversation]:
    """The conversations with a simple teacher's answers in place of people's."""
    with_answers = []
    for conversation in conversations:
        messages: list[Message] = []
        for number, exchange in enumerate(conversation.exchanges):
            messages += exchange.user
            messages.append(Message(role="assistant", text=answerer(conversation, number)))
        with_answers.append(conversation.model_copy(update={"messages": tuple(messages)}))
    return with_answers


def first_sentence(conversation: Conversation, number: int) -> str:
    """A teacher that always gives the first sentence of the section."""
    return sentences(str(conversation.scenario["section"]))[0]


def random_sentence(conversation: Conversation, number: int) -> str:
    """A teacher that gives any sentence of the section, each as likely; the same one for the same question."""
    of_section = sentences(str(conversation.scenario["section"]))
    return of_section[call_seed(0, conversation.id, "random_sentence", number, 1) % len(of_section)]


def score_student(conversations: Sequence[Conversation]) -> dict[str, Any]:
    """A student's questions: how many are answered, how much of the section they bring up, how many repeat.

    `answered`: the share that got an answer, 0 to 1; `asked_again`: those that repeat an earlier one of their
    conversation, white space, punctuation and case aside; `coverage`: the mean over conversations of the section's share in
    the answers' spans. DataError without a question.
    """
    asked = [[one.text for one in talk.messages if one.role == "user"] for talk in conversations]
    replies = [one for talk in conversations for one in talk.messages if one.role == "assistant"]
    if not any(asked):
        raise DataError("there is no question to score: give conversations with questions")
    again = sum(is_repeat(text, texts[:number]) for texts in asked for number, text in enumerate(texts))
    return {
        "conversations": len(conversations),
        "questions": sum(map(len, asked)),
        "answered": sum(not gives_no_answer(reply) for reply in replies) / sum(map(len, asked)),
        "asked_again": again,
        "coverage": fmean(map(coverage, conversations)),
    }


def _answer(messages: Sequence[Message]) -> str:
    return NO_ANSWER if all(map(gives_no_answer, messages)) else text_of(messages)


def _all(alike: bool) -> Overlap:
    return Overlap(*(3 * [float(alike)]))


def _alike(answer: str, reference: str, each_line: bool) -> Overlap:
    """The overlap of two answers; a refusal has no word in common with an answer, though its words may."""
    if NO_ANSWER in (answer, reference):
        return _all(answer == reference)
    if each_line:
        return max(overlap(answer, line) for line in reference.split("\n"))
    return overlap(answer, reference)


def _each_left_out(items: Sequence[Item]) -> list[list[Item]]:
    """The items without each of them in turn; nothing of fewer than two."""
    return [[*items[:place], *items[place + 1 :]] for place in range(len(items))] if len(items) > 1 else []
