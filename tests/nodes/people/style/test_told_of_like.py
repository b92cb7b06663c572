"""The figures of docs/users/style_filter.md are those of its lines."""

import importlib.util
import re
from pathlib import Path
from statistics import mean

import pytest

import duologue
from duologue import nodes
from duologue.data.people.splits import of_part
from duologue.graphs import recllmsim

ROOT = Path(__file__).parents[4]


def row(name):
    """The numbers of the row of the page's table that begins so."""
    page = (ROOT / "docs/users/style_filter.md").read_text(encoding="utf-8")
    (line,) = [line for line in page.splitlines() if line.startswith(f"| {name} |")]
    return [float(number) for number in re.findall(r"\d+\.\d+", line.split("|", 2)[2])]


def scenarios(conversations):
    return [{"scenario": one["scenario"], "ordinal": one["ordinal"]} for one in recllmsim.scenarios(conversations)]


@pytest.mark.heavy
def test_the_wordy_user_comes_as_near_to_people_as_the_page_says(open_data):
    spec = importlib.util.spec_from_file_location("wordy_user", ROOT / "examples/wordy_user.py")
    assert spec is not None
    assert spec.loader is not None
    wordy_user = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(wordy_user)
    people = duologue.load(open_data / "recllmsim/human_exp_V2").conversations
    tune, test = ([one for one in people if of_part(one, part)] for part in ("tune", "test"))
    judge = nodes.like(test, language="zh").manners
    assert row("people of the development split") == [round(value, 3) for value in judge.distance(tune).values()]
    cast = recllmsim.cast(user=wordy_user.user, language="zh")
    plain = duologue.simulate(cast, scenarios(test))
    figures = row("the wordy user")
    assert figures[:2] == [round(value, 3) for value in judge.distance(plain).values()]
    own = duologue.simulate(cast, scenarios(tune))
    guard = nodes.like(people, cast.question_validator, language="zh", part="tune", drafts=own)
    conversations = duologue.simulate(cast.replace(question_validator=guard), scenarios(test))
    drafts = [attempt.measured["like"] for one in conversations for attempt in one.attempts("user") if attempt.measured]
    turns = [
        message.attempts
        for one in conversations
        for message in one.messages
        if message.role == "user" and message.stored
    ]
    figures = row("the wordy user, `--like`, 4 calls")
    assert figures[:5] == [
        *(round(value, 3) for value in judge.distance(conversations).values()),
        round(mean(like["draw"] < like["accept"] for like in drafts), 3),
        round(mean(len(attempts) for attempts in turns), 2),
        round(mean("bound" in attempts[-1].measured.get("like", {}) for attempts in turns), 3),
    ]
