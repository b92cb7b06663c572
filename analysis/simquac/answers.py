"""A teacher's answers against people's: F1 and HEQ as QuAC defines them (EMNLP 2018, section 5.1)."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ...data.grounding import NO_ANSWER, gives_no_answer
from ...data.identity import call_seed
from ...data.records import Conversation, Exchange, Message, Record
from ...data.text.sentences import sentences
from ...errors import DataError

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NOT_WORD = re.compile(r"[^\w\s]|_")

Answerer = Callable[[Conversation, int], str]
"""A teacher without a model: the answer to a conversation's question of this number, from 0."""


class TeacherScore(Record):
    """A teacher's answers to people's questions, against people's answers."""

    teacher: str
    questions: int
    f1: float
    """Mean over questions of the word F1 with the best reference, 0 to 1; a refusal is like a refusal alone.

    Of several references each is held out once, as for people's own, and the mean of the best F1 is taken.
    """
    exact: float
    """Share of questions whose answer equals a reference after normalisation."""
    heq_q: float
    """Share of questions on which the F1 is at least people's own (HEQ-Q)."""
    heq_d: float
    """Share of conversations on all of whose questions it is (HEQ-D)."""
    several_references: int
    """Questions with more than one reference. People's F1 is known for these alone, elsewhere it is taken as 1."""
    refused_right: int
    """Refusals of questions that people could not answer either."""
    refused_wrong: int
    """Refusals of questions that people answered."""
    answered_wrong: int
    """Answers to questions that people could not answer."""


def normalised(text: str) -> list[str]:
    """Lower case, without punctuation and English articles, split at white space (as for SQuAD and QuAC)."""
    return _ARTICLE.sub(" ", _NOT_WORD.sub("", text.lower())).split()


def token_f1(prediction: str, reference: str) -> float:
    """Harmonic mean of the words' precision and recall, 0 to 1; two empty texts are equal."""
    one, other = normalised(prediction), normalised(reference)
    if not one or not other:
        return float(one == other)
    shared = sum((Counter(one) & Counter(other)).values())
    return 2 * shared / (len(one) + len(other))


def exact_match(prediction: str, reference: str) -> bool:
    """Whether two texts have the same words in the same order after normalisation."""
    return normalised(prediction) == normalised(reference)


def score_teacher(teacher: str, answered: Iterable[Conversation], references: Iterable[Conversation]) -> TeacherScore:
    """Compare a teacher's conversations with those whose questions it was asked, exchange by exchange.

    ValueError if the questions are not the same.
    """
    f1s: list[float] = []
    exact = equal = whole = dialogues = several = 0
    refusals: Counter[tuple[bool, bool]] = Counter()
    for own, people in zip(answered, references, strict=True):
        dialogues += 1
        human_in_all = True
        for mine, theirs in zip(own.exchanges, people.exchanges, strict=True):
            if _text(mine.user) != _text(theirs.user):
                raise DataError(f"conversation {own.id} has other questions than its reference: compare a replayed run")
            answer, given = _answer(mine.assistant), _references(theirs)
            f1 = _f1(answer, given)
            f1s.append(f1)
            exact += any(exact_match(answer, reference) for reference in given)
            several += len(given) > 1
            reached = f1 >= _human_f1(given)
            equal += reached
            human_in_all &= reached
            refusals[answer == NO_ANSWER, _answer(theirs.assistant) == NO_ANSWER] += 1
        whole += human_in_all
    if not f1s:
        raise DataError("there is no question to score: give conversations with answers")
    return TeacherScore(
        teacher=teacher,
        questions=len(f1s),
        f1=sum(f1s) / len(f1s),
        exact=exact / len(f1s),
        heq_q=equal / len(f1s),
        heq_d=whole / dialogues,
        several_references=several,
        refused_right=refusals[True, True],
        refused_wrong=refusals[True, False],
        answered_wrong=refusals[False, True],
    )


def answered_by(answerer: Answerer, conversations: Iterable[Conversation]) -> list[Conversation]:
    """The conversations with a simple teacher's answers in place of people's."""
    made = []
    for conversation in conversations:
        messages: list[Message] = []
        for number, exchange in enumerate(conversation.exchanges):
            messages += exchange.user
            messages.append(Message(role="assistant", text=answerer(conversation, number)))
        made.append(conversation.model_copy(update={"messages": tuple(messages)}))
    return made


def first_sentence(conversation: Conversation, number: int) -> str:
    """A teacher that always gives the first sentence of the section."""
    return sentences(str(conversation.scenario["section"]))[0]


def random_sentence(conversation: Conversation, number: int) -> str:
    """A teacher that gives any sentence of the section, each as likely; the same one for the same question."""
    found = sentences(str(conversation.scenario["section"]))
    return found[call_seed(0, conversation.id, "random_sentence", number, 1) % len(found)]


def _text(messages: Sequence[Message]) -> str:
    return "\n".join(message.text for message in messages)


def _answer(messages: Sequence[Message]) -> str:
    return NO_ANSWER if all(map(gives_no_answer, messages)) else _text(messages)


def _references(exchange: Exchange) -> list[str]:
    """The answer given in the talk, and further references where the source has them.

    They are one refusal where at least half of them refuse; else those that refuse do not count.
    """
    given: list[str] = []
    for message in exchange.assistant:
        patch = message.extra.get("qa")
        values = patch.get("values") if isinstance(patch, dict) else None
        further = values.get("answers") if isinstance(values, dict) else None
        for answer in further if isinstance(further, list) else []:
            if isinstance(answer, dict):
                text = str(answer.get("text", ""))
                given.append(NO_ANSWER if text == "CANNOTANSWER" else text)
    said = _answer(exchange.assistant)
    every = given if said in given else [said, *given]
    spans = [text for text in every if text != NO_ANSWER]
    return spans if 2 * len(spans) > len(every) else [NO_ANSWER]


def _alike(one: str, other: str) -> float:
    """Word F1 of two answers; a refusal has no word in common with an answer, though its words may."""
    return float(one == other) if NO_ANSWER in (one, other) else token_f1(one, other)


def _f1(answer: str, references: Sequence[str]) -> float:
    """The best F1 with a reference; of several the mean over leaving out each, which people's own is without, too."""
    values = [_alike(answer, reference) for reference in references]
    if len(values) < 2:
        return values[0]
    return sum(max(values[:place] + values[place + 1 :]) for place in range(len(values))) / len(values)


def _human_f1(references: Sequence[str]) -> float:
    """People's own F1: each reference against the others, the mean of the best; 1 where there is only one."""
    if len(references) < 2:
        return 1.0
    bests = [
        max(_alike(one, other) for place, other in enumerate(references) if place != number)
        for number, one in enumerate(references)
    ]
    return sum(bests) / len(bests)
