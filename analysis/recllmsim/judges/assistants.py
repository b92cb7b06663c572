"""The order of assistants by people, by each judge and by the length of replies, which proves nothing."""

from collections.abc import Mapping, Sequence

from ...over_users.concordance import preference
from .rows import AssistantMean
from .turns import JudgedTurn

PEOPLE = "people"
LENGTH = "characters of the reply"


def orders(
    turns: Sequence[JudgedTurn], points: Mapping[str, Sequence[float | None]]
) -> tuple[list[AssistantMean], list[str]]:
    """The assistants by mean, highest first, for people, for the length of replies, and for each judge; and notes.

    `points`: points of each turn by judge. Empty with fewer than two assistants.
    """
    named = [number for number, turn in enumerate(turns) if turn.assistant]
    if len({turns[number].assistant for number in named}) < 2:
        return [], []
    by: dict[str, Sequence[float | None]] = {
        PEOPLE: [float(turn.satisfaction) for turn in turns],
        LENGTH: [float(len(turn.reply)) for turn in turns],
        **points,
    }
    rows: list[AssistantMean] = []
    place: dict[str, dict[str, int]] = {}
    for name, values in by.items():
        of_assistant: dict[str, list[float]] = {}
        for number in named:
            if (value := values[number]) is not None:
                of_assistant.setdefault(turns[number].assistant, []).append(value)
        means = {assistant: sum(own) / len(own) for assistant, own in of_assistant.items()}
        place[name] = {
            one: 1 + sum(preference(other, mean) == 1 for other in means.values()) for one, mean in means.items()
        }
        rows += [
            AssistantMean(by=name, place=at, assistant=one, mean=means[one], n=len(of_assistant[one]))
            for one, at in sorted(place[name].items(), key=lambda item: (item[1], item[0]))
        ]
    count = len(place[PEOPLE])
    ordered = len(set(place[PEOPLE].values())) == count
    as_people = [name for name in place if ordered and name != PEOPLE and place[name] == place[PEOPLE]]
    notes = [
        f"The order of {count} assistants proves nothing about a judge: there are few, and other differences between "
        "them, such as the length of their replies or their users, have an order too. "
        + (f"In people's order here: {', '.join(as_people)}." if as_people else "Nothing here has people's order.")
    ]
    return rows, notes
