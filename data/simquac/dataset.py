"""The SimQuAC and QuAC data sets: SQuAD-style JSON with a section, questions and exact spans; and their repair.

As published with "Let the LLMs Talk" (WSDM 2024) and QuAC (EMNLP 2018). In SimQuAC's files a paragraph holds title,
section title and background. In QuAC's own layout the article holds them, and a question has one `orig_answer`
besides the references in `answers`. Without it `answers` are the spans of one answer, whether or not they overlap; a
CANNOTANSWER beside spans is not a span.

The published script's overlap test loses the first word of every exact copy. If an answer begins at the second word of a
sentence, the repair adds the sentence's first word; other answers are not changed. People write such answers now and
then (measured in `docs/papers/deviations.md`), so the repair is meant for a model's answers.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ...errors import DataError, at
from ..files.json import difference, member, patched, read_json, write_json
from ..formats.source import Source
from ..grounding import MARKER, NO_ANSWER, gives_no_answer, token_index
from ..identity import named
from ..records import Conversation, Exchange, Message, Record, Span, as_object
from ..text.sentence_splitting import sentences
from .topics import ENDING, Topic

_WHOLE = "this is not a SimQuAC or QuAC file, or a broken one"
_NAMES = {"title": "title", "header": "section_title", "background": "background"}


def read(path: str | Path) -> list[Conversation]:
    """The conversations of a SimQuAC or QuAC file, in order.

    Unusual values and unknown keys are kept: `write` gives an equal JSON object, except for articles without
    paragraphs, which hold no conversation.
    """
    return from_object(read_json(path), path)


def is_dataset(source: Source) -> bool:
    """Whether a file is an object whose `data` lists articles with paragraphs, or nothing."""
    articles = source.value.get("data") if isinstance(source.value, dict) else None
    return isinstance(articles, list) and (
        not articles or any("paragraphs" in as_object(article) for article in articles)
    )


def from_object(value: Any, path: str | Path = "data set") -> list[Conversation]:
    """The conversations of a parsed file; DataError names the place of an error."""
    articles = member(_object(value, path), "data", list, path, advice=_WHOLE)
    file_patch = difference(value | {"data": None}, {"data": None})
    conversations: list[Conversation] = []
    first = 1
    for number, article in enumerate(articles):
        where = f"data[{number}]"
        paragraphs = member(_object(article, path, where), "paragraphs", list, path, where, advice=_WHOLE)
        article_patch = difference(article | {"paragraphs": None}, {"paragraphs": None})
        extra: dict[str, Any] = {}
        if len(articles) > 1 or article_patch:
            extra["article"] = {"index": number} | article_patch
        if file_patch:
            extra["file"] = file_patch
        for position, paragraph in enumerate(paragraphs):
            location = f"{where}.paragraphs[{position}]"
            conversation = _conversation(_object(paragraph, path, location), article, extra, first, path, location)
            first += len(paragraph["qas"])
            conversations.append(conversation)
    return named(conversations)


def _conversation(
    paragraph: dict[str, Any],
    article: dict[str, Any],
    extra: dict[str, Any],
    first: int,
    path: str | Path,
    location: str,
) -> Conversation:
    topic = {"section": member(paragraph, "context", str, path, location).removesuffix(ENDING)}
    for field, name in _NAMES.items():
        holder = paragraph if name in paragraph else article
        topic[field] = member(holder, name, str, path, location) if name in holder else ""
    scenario = Topic.model_validate(topic).scenario()
    messages: list[Message] = []
    for number, qa in enumerate(member(paragraph, "qas", list, path, location, advice=_WHOLE)):
        where = f"{location}.qas[{number}]"
        messages.extend(_pair(_object(qa, path, where), first + number, path, where, topic["section"]))
    conversation = Conversation(id="", scenario=scenario, messages=tuple(messages))
    derived = _paragraph(conversation, first, [])
    patch = difference(dict(paragraph) | {"qas": None}, derived | {"qas": None})
    return conversation.model_copy(update={"extra": extra | ({"paragraph": patch} if patch else {})})


def _pair(qa: Mapping[str, Any], number: int, path: str | Path, location: str, section: str) -> tuple[Message, Message]:
    """Question and answer, each with a patch of the source's differences from what we would write."""
    question = Message(role="user", text=member(qa, "question", str, path, location))
    answers = [qa["orig_answer"]] if "orig_answer" in qa else member(qa, "answers", list, path, location, advice=_WHOLE)
    spans = []
    for answer in answers:
        start = _object(answer, path, location).get("answer_start")
        if not isinstance(start, int) or isinstance(start, bool):
            raise DataError(f"{at(path, location)}: 'answer_start' must be a whole number: mend the answer")
        span = Span(text=member(answer, "text", str, path, location), start=start)
        spans += [span] if span.text != MARKER else []
    text = NO_ANSWER if answers and not spans else "\n".join(span.text for span in spans)
    answer = Message(role="assistant", text=text, spans=tuple(spans))
    patch = difference(qa, _qa(Exchange(user=(question,), assistant=(answer,)), number, section) or {})
    values = patch.get("values", {})
    of_question = {key: value for key, value in values.items() if key in ("question", "id")}
    of_answer = {key: value for key, value in values.items() if key not in of_question}
    rest = {key: value for key, value in (patch | {"values": of_answer}).items() if value}
    return (
        question.model_copy(update={"extra": {"qa": {"values": of_question}} if of_question else {}}),
        answer.model_copy(update={"extra": {"qa": rest} if rest else {}}),
    )


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write the data set in the layout of the published files (one space of indent, no final newline).

    Returns one line for each thing that the format cannot hold and that was therefore left out.
    """
    value, left_out = to_object(conversations)
    write_json(path, value)
    return left_out


def to_object(conversations: Iterable[Conversation]) -> tuple[dict[str, Any], list[str]]:
    """The data set as a JSON object, and one line for each thing that it cannot hold."""
    left_out: list[str] = []
    articles: list[dict[str, Any]] = []
    file_patch: Mapping[str, Any] = {}
    first = 1
    for _, group in groupby(conversations, lambda conversation: _article(conversation).get("index")):
        paragraphs: list[dict[str, Any]] = []
        article_patch: Mapping[str, Any] | None = None
        for conversation in group:
            article_patch = _article(conversation) if article_patch is None else article_patch
            file_patch = file_patch or as_object(conversation.extra.get("file"))
            paragraphs.append(paragraph_of(conversation, first, left_out))
            first += len(paragraphs[-1].get("qas", ()))
        articles.append(patched({"paragraphs": []}, article_patch or {}) | {"paragraphs": paragraphs})
    return patched({"data": []}, file_patch) | {"data": articles or [{"paragraphs": []}]}, left_out


def paragraph_of(conversation: Conversation, first: int, left_out: list[str]) -> dict[str, Any]:
    """The conversation as a paragraph of its file; `first` is the number of its first question there.

    What the format cannot hold gets a line in `left_out`.
    """
    derived = _paragraph(conversation, first, left_out)
    return patched(derived, as_object(conversation.extra.get("paragraph")))


def _article(conversation: Conversation) -> Mapping[str, Any]:
    return as_object(conversation.extra.get("article"))


def _paragraph(conversation: Conversation, first: int, left_out: list[str]) -> dict[str, Any]:
    topic = Topic.of(conversation)
    qas: list[dict[str, Any]] = []
    for number, exchange in enumerate(conversation.exchanges):
        if not spoken((*exchange.user, *exchange.assistant)):
            continue
        qa = _qa(exchange, first + len(qas), topic.section)
        if qa is not None:
            qas.append(qa)
        else:
            problem = (
                "a turn without a question"
                if not exchange.user
                else ("a question without an answer" if not exchange.assistant else "an answer that is not a span")
            )
            left_out.append(f"conversation {conversation.id}, turn {number}: {problem}")
    if thirds := sum(message.name is not None for message in conversation.messages):
        left_out.append(f"conversation {conversation.id}: messages of a third role ({thirds})")
    if not qas and not conversation.exchanges:
        left_out.append(f"conversation {conversation.id}: it has no message, its paragraph no question")
    return {
        "context": topic.section + ENDING,
        "title": topic.title,
        "section_title": topic.header,
        "background": topic.background,
        "qas": qas,
    }


def _qa(exchange: Exchange, number: int, section: str) -> dict[str, Any] | None:
    """The exchange as a question with answers; None if the format cannot hold it."""
    question, answer = spoken(exchange.user), spoken(exchange.assistant)
    spans = [span for message in answer for span in message.spans]
    refused = not spans and all(map(gives_no_answer, answer))
    if not question or not answer or not (spans or refused):
        return None
    answers = [{"text": span.text, "answer_start": span.start} for span in spans]
    qa = {
        "question": "\n".join(message.text for message in question),
        "id": str(number),
        "answers": answers or [{"text": MARKER, "answer_start": len(section) + 1}],
        "is_impossible": refused,
    }
    for message in (*question, *answer):
        patch = as_object(message.extra.get("qa"))
        if order := patch.get("order"):
            # If question and answer come from two sources, the answer's source determines the keys.
            patch = {**patch, "order": [key for key in order if key in qa or key in patch.get("values", {})]}
        qa = patched(qa, patch)
    return qa


def spoken(messages: Sequence[Message]) -> list[Message]:
    """The messages that belong to the published history."""
    return [message for message in messages if message.stored]


def _object(value: Any, path: str | Path, *where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{at(path, *where)}: is not an object: a data set is an object with 'data'")
    return value


RepairKind: TypeAlias = Literal["offset", "case", "first_word"]


class Change(Record):
    """One change of a span."""

    conversation: str
    message: int
    span: int
    kind: RepairKind
    before: Span
    after: Span


def repair(conversations: Iterable[Conversation]) -> tuple[list[Conversation], list[Change]]:
    """The conversations with repaired spans, and every change.

    A span without a sign of damage is not changed. An undamaged span that begins at the second word of a sentence is
    changed too: do not repair files of which `by_people` is true.
    """
    repaired: list[Conversation] = []
    changes: list[Change] = []
    for conversation in conversations:
        section = Topic.of(conversation).section
        messages = list(conversation.messages)
        for number, message in enumerate(messages):
            spans = list(message.spans)
            for position, span in enumerate(message.spans):
                where = {"conversation": conversation.id, "message": number, "span": position}
                for kind, after in _steps(span, section):
                    change = {**where, "kind": kind, "before": spans[position], "after": after}
                    changes.append(Change.model_validate(change))
                    spans[position] = after
            if tuple(spans) != message.spans:
                text = "\n".join(span.text for span in spans)
                messages[number] = message.model_copy(update={"spans": tuple(spans), "text": text})
        repaired.append(conversation.model_copy(update={"messages": tuple(messages)}))
    return repaired, changes


def _steps(span: Span, section: str) -> Iterable[tuple[RepairKind, Span]]:
    text_at_offset = section[span.start : span.end]
    if text_at_offset.casefold() != span.text.casefold():
        section_index = token_index(section)
        match = section_index.find(span.text)
        if match is None or section_index.find(span.text, match.end) != match:  # nowhere, or in several places
            return
        yield "offset", match
        span = match
    elif text_at_offset != span.text:
        span = Span(text=text_at_offset, start=span.start)
        yield "case", span
    start = before_first_word(section, span.start)
    if start is not None:
        yield "first_word", Span(text=section[start : span.end], start=start)


def before_first_word(section: str, start: int) -> int | None:
    """The start of the sentence whose second word begins at the offset; None if no second word begins there."""
    earlier_starts = [offset for offset in _sentence_starts(section) if offset < start]
    if not earlier_starts:
        return None
    before = section[earlier_starts[-1] : start]
    return earlier_starts[-1] if len(before.split()) == 1 and before[-1].isspace() else None


@lru_cache(maxsize=64)
def _sentence_starts(section: str) -> tuple[int, ...]:
    starts, search_from = [], 0
    for sentence in sentences(section):
        start = section.find(sentence, search_from)
        if start >= 0:
            starts.append(start)
            search_from = start + len(sentence)
    return tuple(starts)
