"""What the loopback endpoint says: plausible replies of 60 to 80 words, each a function of its request alone."""

import json
from functools import cache
from zlib import crc32

SENTENCES = (
    "The train leaves in the morning and the ride along the coast takes about three hours.",
    "A small guest house near the harbour has rooms with breakfast for a fair price.",
    "The museum opens late on Fridays, which leaves the whole afternoon for the old town.",
    "It would be good to book the ferry early, because the weekend crossings fill up quickly.",
    "For dinner there are two quiet places by the market that cook with local fish.",
    "The weather in that month is mild, though the evenings near the water can be windy.",
    "A day ticket covers buses and trams, and it pays off after the third journey.",
    "The path over the hill is easy to walk and the view from the top is worth it.",
    "There is a bakery close to the station where people stop before the long way home.",
    "With the given budget a rented car for two days is possible, but parking is costly.",
    "The botanical garden is calm on weekdays, and its tea house serves soup at noon.",
    "Most of the visitors come in summer, so a week in spring is cheaper and less crowded.",
)
"""None asks, says goodbye, begins a list or speaks for another: the cast's validators accept them in any order."""
STEPS = (1, 5, 7, 11)
USAGE = {"prompt_tokens": 400, "completion_tokens": 96, "total_tokens": 496}


def said(number: int) -> str:
    """The text for a request with this number: four sentences or five, and the number, so that no two are equal."""
    first, step = number % len(SENTENCES), STEPS[number // 7 % len(STEPS)]
    chosen = [SENTENCES[(first + step * place) % len(SENTENCES)] for place in range(4 + number // 3 % 2)]
    return " ".join([f"Note {number} says this.", *chosen])


def number_of(body: bytes) -> int:
    """The same for the same request."""
    return crc32(body)


@cache
def _around() -> tuple[bytes, bytes]:
    """A completion's JSON before and after its text."""
    message = {"role": "assistant", "content": "@", "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    made = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-served", "choices": [choice]}
    before, after = json.dumps(made | {"usage": USAGE}).encode().split(b"@")
    return before, after


def completion(number: int) -> bytes:
    """The body of the answer to a request with this number, as OpenAI words it."""
    before, after = _around()
    return before + said(number).encode() + after
