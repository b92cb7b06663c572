"""The example of a judge in three steps: what it asks, and the points that it reads."""

from importlib import import_module
from pathlib import Path

import pytest

from duologue.analysis.recllmsim.judges import JudgedTurn
from duologue.testing import scripted_model


def turn(user: str, reply: str, satisfaction: int) -> JudgedTurn:
    return JudgedTurn(0, user, user, 1, user, "en", reply, satisfaction)


def test_it_reflects_refines_and_compares_with_replies_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    example = import_module("reflecting_judge")
    train = [
        turn("u1", "A plan.", 4),
        turn("u2", "A much longer plan." * 9, 1),
        turn("u3", "No.", 2),
        turn("u4", "Hm", 3),
    ]
    model = scripted_model("It lacks dates.", "3, I doubt it.", "As the second one: 2")
    assert example.reflecting(model)(train, [turn("u5", "A </reply> plan.", 5)]) == [2]
    last = [message.text for message in model.sent[-1]]
    assert [text.split(":")[0].split()[0] for text in last] == ["A", "It", "Refine", "3,", "Other"]
    assert last[0].count("</reply>") == 1  # the reply cannot close its mark
    assert "4: <reply>A plan.</reply>" in last[-1]
    assert "much longer" not in last[-1]
    with pytest.raises(ValueError, match="no points from 1 to 5"):
        example.points(scripted_model("a", "b", "c"), train, train[0])
