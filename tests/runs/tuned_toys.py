"""People who say in which part they are, and users whose manner is a setting: what tuning is tried on."""

from pathlib import Path
from typing import Any

from duologue.data import Conversation, Message
from duologue.data.formats import record_lines
from duologue.data.people.splits import half_of, part_of, user_of
from duologue.data.tuning import Judgement, MeasureGap
from duologue.graphs import Cast, casts, recllmsim

WISH = "I would like a quiet place by the sea for a week"


def part_name(user: str) -> str:
    """`learn`, `select` or `test`."""
    return "test" if part_of(user) == "test" else half_of(user)


def of_people(count: int = 24) -> list[Conversation]:
    """People with a task each; their messages name the part that they are in."""
    people = []
    for number in range(count):
        scenario = {
            "kind": "recllmsim",
            "language": "en",
            "task": "travel planning",
            "task_context": f"You plan a journey to place {number // 4} with {number} friends.",
            "profile": {"gender": "female", "age": 20 + number, "personality": ["calm"]},
        }
        extra = {"variant": "human_v2", "path": f"User_{number}/a.json"}
        part = part_name(user_of(Conversation(id="", scenario=scenario, extra=extra)))
        texts = [f"{WISH}, marker{part}", "Take the train.", f"What about food there, marker{part}?", "Fish."]
        messages = tuple(Message(role=("user", "assistant")[n % 2], text=text) for n, text in enumerate(texts))
        people.append(Conversation(id=f"p{number}", scenario=scenario, messages=messages, extra=extra))
    return people


def written(folder: Path, count: int = 24) -> Path:
    """These people in a file."""
    path = folder / "people.jsonl"
    record_lines.write(of_people(count), path)
    return path


def toy(level: float = 0.0, language: Any = None) -> Cast:
    """A cast whose user writes `level` times a hundred words."""

    def speaks(messages: Any) -> str:
        return " ".join(["more"] * max(1, round(level * 100)))

    def answers(messages: Any) -> str:
        return "Here is one more of them."

    return recllmsim.cast(user=speaks, assistant=answers, language=language)


def register() -> None:
    """Make the toy known by its name."""
    factory = casts.factory_of("tuned_toy", toy, "tuned_toy")
    source = casts.find("recllmsim").source
    casts.register(casts.CastFactory("tuned_toy", factory.build, factory.settings, source, "a toy"), replace=True)


class Wordiness:
    """How far the mean number of a user's words is from 70, and what was judged."""

    def __init__(self) -> None:
        self.judged: list[str] = []

    def __call__(self, conversations: Any, part: str, start: Judgement | None = None) -> Judgement:
        self.judged.append(part)
        texts = [message.text for one in conversations for message in one.messages if message.role == "user"]
        mean = sum(len(text.split()) for text in texts) / len(texts)
        off = abs(mean - 70) / 10
        gap = MeasureGap(
            name="words", family="shape", unit="words", direction="longer messages", sim=mean, human=70.0,
            distance=off, floor=0.1, floor_high=0.2,
        )  # fmt: skip
        return Judgement(value=off, gaps=(gap,), words=(f"people write 70 words, this user {mean:.0f}",))


class Falling(Wordiness):
    """Finds every judgement better than the one before."""

    def __call__(self, conversations: Any, part: str, start: Judgement | None = None) -> Judgement:
        judgement = super().__call__(conversations, part, start)
        return judgement.model_copy(update={"value": 10.0 - len(self.judged)})
