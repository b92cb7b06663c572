"""Conversations that hold everything a record can hold, drawn from a seed: what every written format is tested with."""

from collections.abc import Iterator
from random import Random
from typing import Any

from duologue.data import Attempt, Conversation, Message, Part, Span, ToolCall, Usage
from duologue.data.records import Failure, PromptRecord, Provenance, Timing, Unsaid

TEXTS = (
    "Is it open?", "Où est l’hôtel ?", "营业吗？", "営業中ですか。", "영업하나요?", "Открыто?", "Ανοιχτό;", "هل هو مفتوح؟", "פתוח?",
    "क्या खुला है?", "เปิดไหม", "გახსნილია?", "Բաց է՞", "ክፍት ነው?", "திறந்ததா?", "খোলা আছে?", "ဖွင့်လား", "ខ្មែរ", "ᐃᓄᒃ", "𐤀𐤁", "𝒳²",
    "👩‍👩‍👧‍👦🏳️‍🌈", "e\u0301 \u202eabc\u202c \u200b", "a\u2028b\u2029c\x85d", "tab\t, \"quoted\"; 'and'\r\nlast\n", "<b>&amp;</b> {x} $y",
    "=1+1", "[1, 2]", "{\"a\": 1}", "null", "1.0", "  two  ", "\ufeffmark", "\x00\x1b", "half \ud83d", "<image> and <audio>", "",
)  # fmt: skip
"""Texts of every direction and length of code, with what a format's own marks and separators are made of."""

VALUES: tuple[Any, ...] = (
    "room 7",
    "",
    {"rooms": [1, None]},
    [],
    ["a", {"b": True}],
    {"text": "营业"},
    "=1+1",
    "null",
    5,
    2.5,
    True,
    None,
)
"""Results of tools: a text that is JSON is stored as its value."""

PARTS = (
    Part(type="image", mime_type="image/png", size=8),
    Part(type="image", url="https://example.org/a.png"),
    Part(type="audio", size=4, mime_type="audio/wav", text="Is it open?"),
    Part(type="file", size=4, mime_type="application/pdf", name="menu.pdf"),
    Part(type="file", name="file-1", text="words"),
    Part(type="video", url="clips/a.mp4", mime_type="video/mp4"),
)


def conversations(count: int, seed: int = 0) -> Iterator[Conversation]:
    """So many conversations, the same ones for each seed; the first 400 hold further content of one kind each."""
    for number in range(count):
        draw = Random(f"{seed}:{number}")
        yield (_with_one if number < 400 else _with_any)(draw, number)


class _Drawing:
    """Draws the pieces of one conversation; `has` says which kinds of content there are."""

    def __init__(self, draw: Random, kinds: set[str]) -> None:
        self.draw, self.kinds = draw, kinds

    def has(self, kind: str, share: float = 1.0) -> bool:
        return kind in self.kinds and self.draw.random() < share

    def text(self) -> str:
        return " ".join(self.draw.choice(TEXTS) for _ in range(self.draw.choice((1, 1, 1, 3))))

    def labels(self) -> dict[str, Any]:
        values: tuple[Any, ...] = (1, 2.5, True, None, "calm", ["a", "b"], {"detail": 3})
        names = self.draw.sample(("mood", "rating", "satisfaction", "intent", "意图"), self.draw.randint(1, 3))
        return {name: self.draw.choice(values) for name in names}

    def usage(self) -> Usage:
        return Usage(input_tokens=self.draw.randint(0, 99), output_tokens=self.draw.randint(0, 9), cached_tokens=1)

    def calls(self) -> tuple[ToolCall, ...]:
        """Up to three parallel calls."""
        return tuple(self.call() for _ in range(self.draw.randint(1, 3)))

    def call(self) -> ToolCall:
        name, value = self.draw.choice(("rooms", "book", "rooms")), self.draw.choice(VALUES)
        arguments = self.draw.choice(({}, {"nights": 2}, {"city": "北京", "deep": {"list": [1, None, "x"]}}))
        if self.has("failed tools", 0.4):
            return ToolCall(
                name=name, arguments=arguments, error="no room \u2028 left", parts=self.draw.choice(((), PARTS[:1]))
            )
        if self.has("results with parts", 0.4):
            return ToolCall(
                name=name,
                arguments=arguments,
                result=value if value != "" else None,
                parts=(self.draw.choice(PARTS[:2]),),
            )
        return ToolCall(name=name, arguments=arguments, result=value)

    def drafts(self, role: str, text: str) -> tuple[Attempt, ...]:
        """Rejected drafts, and the one that stands."""
        rejected = [
            Attempt(number=number, text=self.text(), verdict="rejected", reason="too_long", tool_calls=self.calls() if self.has("calls", 0.3) else ())
            for number in range(1, 1 + (self.draw.randint(1, 2) if self.has("rejected drafts", 0.6) else 0))
        ]  # fmt: skip
        own: dict[str, Any] = {}
        if self.has("calls" if role == "assistant" else "calls of users", 0.7):
            own["tool_calls"] = self.calls()
        if self.has("details", 0.6):
            own |= {"usage": self.usage(), "prompt": PromptRecord(name="user/ask"), "notes": ("long",), "model": "m"}
        if self.has("reasoning", 0.6):
            own["reasoning"] = "It asks " + self.text()
        if self.has("kept", 0.6):
            own["kept"] = {"plan": [1]}
        stands = [Attempt(text=text, verdict="accepted" if rejected else "unjudged", **own)] if own or rejected else []
        return (*rejected, *stands)

    def message(self, role: str) -> Message:
        text = "" if self.has("empty", 0.6) else self.text()
        fields: dict[str, Any] = {"attempts": self.drafts(role, text)}
        if self.has("parts", 0.6):
            fields["parts"] = tuple(self.draw.choice(PARTS) for _ in range(self.draw.randint(1, 2)))
        if self.has("labels", 0.6):
            fields["labels"] = self.labels()
        if self.has("spans", 0.6) and role == "assistant":
            fields["spans"] = (Span(text=text[:3], start=4), Span(text=text[:3], start=44))
        if self.has("translations", 0.6):
            fields["extra"] = {"content_zh": "开吗"}
        return Message(role=role, text=text, **fields)


_OF_CONVERSATIONS: dict[str, Any] = {
    "stop": lambda own: {"stop": own.draw.choice(("max_turns", "user_ended", "model_failed"))},
    "failure": lambda own: {"stop": "model_failed", "failure": Failure(node="assistant", error="TimeoutError: " + own.text())},
    "provenance": lambda own: {"provenance": Provenance(cast="tea", prompts={"user/ask": "0f"}, limits={"seed": 3})},
    "timing": lambda own: {"timing": Timing(started="2026-01-02T03:04:05+00:00", seconds=1.5)},
    "memory": lambda own: {"memory": {"user": {"mood": own.text()}}},
    "closing": lambda own: {"closing_usage": own.usage()},
    "repeat": lambda own: {"repeat": 2},
    "extra": lambda own: {"extra": {"path": own.text(), "odd": [1, {"b": None}]}},
    "unsaid": lambda own: {"unsaid": (Unsaid(role="user", after=1, attempts=(Attempt(text="x", verdict="rejected", reason="empty"),)),)},
    "unsaid calls": lambda own: {"unsaid": (Unsaid(role="assistant", after=1, attempts=(Attempt(text="", verdict="unjudged", tool_calls=own.calls()),)),)},
}  # fmt: skip
_OF_MESSAGES = (
    "calls", "calls of users", "failed tools", "results with parts", "rejected drafts", "details", "reasoning", "kept",
    "empty", "parts", "labels", "spans", "translations",
)  # fmt: skip
_SHAPES = (
    "scenario",
    "instructions",
    "goodbye",
    "labels of it",
    "no message",
    "two in a row",
    "begun by the assistant",
)
KINDS = (*_OF_MESSAGES, *_OF_CONVERSATIONS, *_SHAPES)
"""Every kind of content that a conversation may hold beside plain words in turns."""


def _with_one(draw: Random, number: int) -> Conversation:
    kind = KINDS[number % len(KINDS)]
    return _conversation(
        _Drawing(draw, {kind, "calls"} if kind in ("failed tools", "results with parts") else {kind}), number
    )


def _with_any(draw: Random, number: int) -> Conversation:
    share = draw.choice((0.1, 0.3, 0.6))
    return _conversation(_Drawing(draw, {kind for kind in KINDS if draw.random() < share} - {"no message"}), number)


def _conversation(own: _Drawing, number: int) -> Conversation:
    roles = ["user", "assistant"] * own.draw.randint(1, 3)
    if own.has("begun by the assistant"):
        roles.insert(0, "assistant")
    if own.has("two in a row"):
        place = own.draw.randrange(len(roles))
        roles.insert(place, roles[place])
    messages = [] if own.has("no message") else [own.message(role) for role in roles]
    if own.has("goodbye"):
        messages.append(Message(role="user", text="Bye!", stored=False))
    fields: dict[str, Any] = {}
    for kind, drawn in _OF_CONVERSATIONS.items():
        if own.has(kind):
            fields |= drawn(own)
    if own.has("instructions"):
        extra = fields.get("extra", {})
        at = own.draw.randint(0, 1) if roles[0] == "user" and messages else 0
        fields["extra"] = {**extra, "asides": [{"at": at, "system": own.draw.choice(TEXTS[:24])}]}
    if own.has("labels of it"):
        fields["labels"] = own.labels()
    scenario = {"kind": "support", "title": own.text(), "goal": "a room"} if own.has("scenario") else {}
    return Conversation(id=f"talk-{number}", scenario=scenario, messages=tuple(messages), **fields)
