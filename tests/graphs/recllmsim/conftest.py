"""A situation, and conversations about it whose speakers say given lines."""

import pytest

from duologue.data.recllmsim import Situation
from duologue.graphs import recllmsim
from tests.graphs.played import played

PROFILE = "1. Gender: Female\n2. Age: 34\n3. Personality: curious\n4. Occupation: Carpenter"
TASK = "You are looking for a present for your sister. It must not cost more than 40 euros."
ABOUT = Situation(task="gift preparation", task_context=TASK, preference=PROFILE, task_context_id=0, preference_id=3)


@pytest.fixture
def play(scripted):
    async def play(user, assistant=("Here you are.",), about=ABOUT, limits=None, build=recllmsim.cast, **settings):
        plain = build(**settings)
        user_speaker = scripted(list(user), plain.user_view)
        answered = scripted(list(assistant), plain.assistant_view)
        cast = plain.replace(user_simulator=user_speaker, assistant=answered)
        return await played(cast, recllmsim.scenario(about), limits), user_speaker, answered

    return play
