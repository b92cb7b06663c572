"""Intents told from the words of a message, or of the talk up to it."""

from typing import Any

import pytest

pytest.importorskip("sklearn")

from duologue.analysis.recllmsim.identification import intent_turns, measure_intents
from duologue.data import Conversation, Message

USERS = 24


def test_intents_are_told_of_users_who_were_not_seen():
    talks = []
    for user in range(USERS):
        kind = ("plan", "search")[user % 2]
        intents: list[Any] = [kind, [kind], [kind, "other"]]
        word = {"plan": "itinerary", "search": "where"}[kind]
        messages = tuple(Message(role="user", text=f"Hello {word}", labels={"intent": intent}) for intent in intents)
        talks.append(
            Conversation(
                id=f"c{user}", scenario={"kind": "plain", "user": f"u{user}", "goal": str(user)}, messages=messages
            )
        )
    turns, several = intent_turns(talks, language=None)
    assert (len(turns), several) == (2 * USERS, USERS)
    report = measure_intents(turns, ("logistic",), several=several)
    scores = {(row.reads, row.model, row.score): row.value for row in report.scores.rows}
    assert scores["message", "logistic", "accuracy"] == scores["history", "logistic", "macro_f1"] == 1
    assert scores["message", "prior", "accuracy"] <= 0.6
    assert f"{USERS} messages have several intents" in report.scores.notes[1]
