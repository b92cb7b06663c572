"""A judge of satisfaction in three steps: reflect on a reply, refine the points, compare with replies that people rated.

    pip install "duologue[stats,zh]"
    python reflecting_judge.py openai:NAME RecLLMSim/human_exp_V2

It stands beside judges without a model, with users held out: what it compares with are replies to other users. The words are
ours. Each reply is three calls.
"""

import re
import sys
from collections.abc import Callable, Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, HumanMessage

from duologue import nodes
from duologue.analysis.recllmsim.judges import JudgedTurn
from duologue.nodes.messages import fenced
from duologue.studies.papers import judge_agreement

REFLECT = """A person asked an assistant for help with a plan, and got this reply:
<reply>{reply}</reply>
Reflect: what would please this person, and what is missing?"""
REFINE = "Refine: how satisfied is the person, from 1 (not at all) to 5 (fully)? Give the number and your doubts."
COMPARE = """Other people gave these replies the points before them:
{others}
Compare the reply with these, and answer with one number from 1 to 5."""
SHOWN = 3
"""Rated replies to compare with: those nearest in length."""


def points(model: BaseChatModel, train: Sequence[JudgedTurn], turn: JudgedTurn) -> int:
    """The points of a reply by the model; ValueError if its last words hold no number from 1 to 5."""
    nearest = sorted(train, key=lambda one: abs(len(one.reply) - len(turn.reply)))[:SHOWN]
    others = "\n".join(f"{one.satisfaction}: <reply>{fenced(one.reply, '/reply')}</reply>" for one in nearest)
    said: list[AnyMessage] = [HumanMessage(REFLECT.format(reply=fenced(turn.reply, "/reply")))]
    for request in (REFINE, COMPARE.format(others=others)):
        said += [model.invoke(said), HumanMessage(request)]
    found = re.findall(r"[1-5]", model.invoke(said).text)
    if not found:
        raise ValueError(f"no points from 1 to 5 for reply {turn.turn} of {turn.id}")
    return int(found[-1])


def reflecting(model: BaseChatModel) -> Callable[[Sequence[JudgedTurn], Sequence[JudgedTurn]], list[int]]:
    """The judge: from turns of other users, and turns to judge, to the points of the latter."""
    return lambda train, turns: [points(model, train, turn) for turn in turns]


if __name__ == "__main__":
    name, source = sys.argv[1:]
    for table in judge_agreement(source, {"reflecting": reflecting(nodes.chat_model(name))}).tables():
        print(table.to_markdown())
