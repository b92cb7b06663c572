"""The weights of user types are fitted on the development split: a known best weight is found."""

from pathlib import Path

import pytest

from duologue.data import Conversation, Message
from duologue.data.formats import record_lines
from duologue.data.people.splits import half_of, part_of
from duologue.data.tuning import Judgement
from duologue.errors import SettingError
from duologue.runs.tuning.search import tune
from duologue.runs.tuning.search_space import SearchWeights, default_space, proposed, space_of
from duologue.runs.tuning.simulators import Simulator

for module in ("optuna", "sklearn"):
    pytest.importorskip(module)

BRIEF, LONG = (
    "Tea please, number {}",
    "I would like to know all about tea, and most of all about the kind that has number {}",
)
SHARE = 0.75
"""Of brief people among those that are simulated; among those whose words are repeated it is a half."""


def of_people(count: int = 200) -> list[Conversation]:
    people, seen = [], {"learn": 0, "select": 0, "test": 0}
    for number in range(count):
        scenario = {"kind": "agent_test", "goal": "tea"}
        extra = {"user": f"u{number}"}
        part = "test" if part_of(extra["user"]) == "test" else half_of(extra["user"])
        seen[part] += 1
        brief = seen[part] % 2 == 0 if part == "learn" else seen[part] % 4 != 0
        texts = ((BRIEF if brief else LONG).format(number), "Yes.")
        messages = tuple(Message(role=("user", "assistant")[place], text=text) for place, text in enumerate(texts))
        people.append(Conversation(id=f"p{number}", scenario=scenario, messages=messages, extra=extra))
    return people


class BriefShare:
    """How far the share of brief users is from that of the people who are simulated."""

    def __call__(self, conversations, part: str, start: Judgement | None = None) -> Judgement:
        firsts = [one.messages[0].text for one in conversations]
        share = sum(len(text) < 30 for text in firsts) / len(firsts)
        return Judgement(value=abs(share - SHARE))


@pytest.mark.heavy
def test_the_weights_of_two_types_are_those_of_the_people_who_are_simulated(tmp_path: Path) -> None:
    path = tmp_path / "people.jsonl"
    record_lines.write(of_people(), path)
    user = f"people:{path}?mix=2"
    simulator = Simulator("agent_test", path, {"user": user, "assistant": "offline"}, limits={"max_turns": 1}, limit=32)
    space = {"user.mix": default_space(user)["user.mix"]}
    tuned = tune(simulator, BriefShare(), space, out=tmp_path / "out", trials=8)
    assert tuned.start is not None
    assert tuned.chosen is not None
    assert tuned.judged is not None
    assert tuned.chosen.value < 0.07 < 0.15 < tuned.start.value
    assert tuned.judged.best.value < tuned.judged.start.value
    assert tuned.judged.untouched
    brief, long = map(float, str(tuned.trials[tuned.best].values["user.mix"]).split(","))
    assert brief == pytest.approx(SHARE, abs=0.15)
    assert f"mix={brief:g},{long:g}" in tuned.command


def test_proposed_weights_come_near_a_known_best() -> None:
    space = space_of({"user.mix": {"types": 3, "start": "1,1,1"}})
    tried = [({"user.mix": "1,1,1"}, 1.0)]
    for number in range(40):
        values = proposed(space, tried, number)
        weights = [float(weight) for weight in values["user.mix"].split(",")]
        assert sum(weights) == pytest.approx(1.0, abs=0.001)
        tried.append((values, sum(abs(one - two) for one, two in zip(weights, (0.6, 0.3, 0.1), strict=True))))
    best = min(tried, key=lambda trial: trial[1])
    assert best[1] < 0.1


def test_a_user_with_types_has_their_weights_in_its_search() -> None:
    assert default_space("people:talks?mix=3")["user.mix"] == SearchWeights(types=3)
    assert default_space("people:talks?mix=1,3")["user.mix"] == SearchWeights(types=2, start="1,3")
    assert "user.mix" not in default_space("people:talks")


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        ({"types": 1}, "types"),
        ({"types": 3, "start": "1,2"}, "start must have a weight for each type"),
        ({"types": 3, "start": "3"}, "start must have a weight for each type"),
        ({"types": 3, "start": "many"}, "mix must be"),
    ],
)
def test_weights_that_fit_no_types_are_one_line(entry, error: str) -> None:
    with pytest.raises(SettingError, match=error):
        space_of({"user.mix": entry})
