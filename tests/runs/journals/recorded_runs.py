"""Runs whose calls are kept, with models that count what is paid."""

import duologue
from duologue.graphs import simquac
from duologue.nodes import Limits
from tests.fake_models import PaidModel


def cast(till, most=10**9, words=""):
    user, assistant = (PaidModel(side=side, till=till, most=most, words=words) for side in ("student", "teacher"))
    return simquac.cast(user=user, assistant=assistant)


LIMITS = Limits(max_turns=3, seed=4)


def simulated(cast, topics, out, **more):
    scenarios = simquac.scenarios(topics(4))
    return duologue.simulate(cast, scenarios, limits=LIMITS, out=out, **more)


def plain(conversations):
    return [conversation.without_timing().plain() for conversation in conversations]
