"""Slips put into ordinary conversations: what the rules of logs must find wherever they stand."""

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from duologue.data import Conversation, Message

LEAKS = (Path(__file__).parents[1] / "fixtures" / "planted_leaks.txt").read_text(encoding="utf-8").split("\n%%\n")
LEAK_RULES = ("role-slip", "prompt-shown", "assistant-like-user")
OFFERS = (
    "Is there anything else I can help you with?",
    "How can I assist you today?",
    "I hope this helps! Let me know if you have any questions.",
    "Feel free to ask if you need anything else.",
    "I'd be happy to help you with that.",
)
THANKS = (
    "Thank you so much, this was very helpful!",
    "You're welcome! Have a great day!",
    "Thanks again, and take care!",
    "You're welcome! I'm glad I could help. Goodbye!",
    "Goodbye, and thank you!",
    "Take care! Feel free to come back any time.",
)
ERRORS = (
    "Error code: 429 - {'error': {'message': 'Rate limit reached for requests'}}",
    "Internal Server Error",
    "API error: 500",
    "Request timed out.",
    "upstream connect error or disconnect/reset before headers. reset reason: connection failure",
    "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>",
)


def planted(conversation: Conversation, rng: random.Random) -> Iterator[tuple[tuple[str, ...], int, Conversation]]:
    """Copies of a conversation with one slip: the rules of which one must find it, its message, and the copy."""
    users = [number for number, message in enumerate(conversation.messages) if message.role == "user"]
    replies = [number for number, message in enumerate(conversation.messages) if message.role == "assistant"]
    if not users or not replies:
        return
    number = rng.choice(users)
    yield (
        LEAK_RULES,
        number,
        with_text(conversation, number, _beside(_text(conversation, number), rng.choice(LEAKS).strip(), rng)),
    )
    yield LEAK_RULES, number, with_text(conversation, number, rng.choice(LEAKS).strip())
    yield ("assistant-like-user",), number, with_text(conversation, number, rng.choice(OFFERS))
    number = rng.choice(replies)
    text, following = (
        _text(conversation, number),
        next((_text(conversation, user) for user in users if user > number), "Great, and then?"),
    )
    label = rng.choice(("User: ", "Human: ", "**User:** ", "### Human: "))
    yield ("role-slip",), number, with_text(conversation, number, f"{text}\n\n{label}{following}")
    yield ("role-slip",), number, with_text(conversation, number, rng.choice(("Assistant: ", "AI: ", "Bot: ")) + text)
    yield (
        ("prompt-shown",),
        number,
        with_text(conversation, number, text + rng.choice(("<|im_end|>", "[/INST]", "<|eot_id|>"))),
    )
    yield ("error-reply",), number, with_text(conversation, number, rng.choice(ERRORS))
    words = text.split(" ")
    stop = next(
        (
            place
            for place in range(len(words) // 2, len(words))
            if words[place] in ("the", "a", "and", "your", "because")
        ),
        0,
    )
    if stop and len(" ".join(words[: stop + 1])) >= 40:
        yield ("seems-cut-off",), number, with_text(conversation, number, " ".join(words[: stop + 1]))
    opening = _text(conversation, users[0])
    if (
        len(opening.split()) >= 13 and len(users) > 1 and "continue" not in opening[:30].lower()
    ):  # to go on is no repeat
        yield ("repeated", "request-repeated"), users[-1], with_text(conversation, users[-1], opening)
    if conversation.messages[-1].role == "assistant":
        closing = tuple(
            Message(role=("user", "assistant")[place % 2], text=line)
            for place, line in enumerate(THANKS[: rng.choice((4, 6))])
        )
        yield (
            ("thank-you-loop",),
            len(conversation.messages),
            conversation.model_copy(update={"messages": (*conversation.messages, *closing)}),
        )
    answers = [number for number in users if number and number + 1 < len(conversation.messages)]
    long = [number for number in answers if _is_structured(_text(conversation, number + 1))]
    if long:
        number = rng.choice(long)
        yield (
            ("user-answers", "assistant-like-user"),
            number,
            with_text(conversation, number, _text(conversation, number + 1)),
        )


def recall(
    conversations: Sequence[Conversation], found: Callable[[Conversation], Sequence[tuple[str, int]]], seed: int = 0
) -> dict[str, tuple[int, int]]:
    """For each kind of slip, named by its rules, how many are found at their message, of how many."""
    counts: dict[str, tuple[int, int]] = {}
    rng = random.Random(seed)
    for conversation in conversations:
        before = set(found(conversation))
        for rules, number, copy in planted(conversation, rng):
            if any((rule, number) in before for rule in rules):
                continue
            kind = "leak" if rules == LEAK_RULES else rules[0]
            hits, total = counts.get(kind, (0, 0))
            counts[kind] = hits + any((rule, number) in found(copy) for rule in rules), total + 1
    return counts


def with_text(conversation: Conversation, number: int, text: str) -> Conversation:
    messages = list(conversation.messages)
    messages[number] = Message(role=messages[number].role, text=text)
    return conversation.model_copy(update={"messages": tuple(messages)})


def _beside(text: str, leak: str, rng: random.Random) -> str:
    return rng.choice((f"{leak}\n{text}", f"{leak} {text}", f"{text}\n{leak}"))


def _text(conversation: Conversation, number: int) -> str:
    return conversation.messages[number].text


def _is_structured(text: str) -> bool:
    return (
        len(text.split()) >= 120
        and sum(line.lstrip()[:2] in ("1.", "2.", "3.", "- ", "* ", "**", "##") for line in text.split("\n")) >= 3
        and "?" not in text
    )
