"""A cast that is asked for one turn of its user: the graph of a run, ended when the user's turn has been judged.

Prompt selector, user simulator, validator and the loop between them are those of the cast; nothing is asked of its
assistant, of its closing node or of a world.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..data import domains
from ..data.formats.dialogues import further
from ..data.next_turns import Moment, NextTurn, text_of
from ..data.pairing import STORED
from ..data.records import Attempt, Conversation, Usage
from ..data.scenarios import of_log
from ..data.text.languages import Language
from ..data.users import user_of
from ..errors import SettingError
from ..nodes.contract import Stop, describe
from ..nodes.goals import goal_of
from ..nodes.limits import Limits
from ..nodes.post_questions import closing
from ..nodes.state import State
from ..nodes.success import KEY as SUCCESS
from . import agent_test, casts
from .cast import Cast, Speaker

MOST_TURNS = 10_000
"""Exchanges that a conversation may have before the moment: the cast's own number of turns would end it."""
_SAID = "max_turns"
"""Why the conversation ends after the one turn."""
_FAILED = ("model_failed", "cancelled", "budget", "agent_interrupted")


@dataclass(frozen=True)
class AfterOneTurn:
    """Stop as soon as the user's turn has been judged; the cast's own criterion is asked first."""

    own: Stop

    def __call__(self, state: State, limits: Limits) -> str | None:
        """Why the conversation ends now; None if it goes on."""
        if (reason := self.own(state, limits)) is not None:
            return reason
        judged = state.get("came_from") == "user_simulator" and not state.get("verdicts")
        return _SAID if judged else None

    def provenance(self) -> dict[str, Any]:
        """The cast's own criterion."""
        return {"own": describe(self.own)}


def asking(cast: Cast) -> Cast:
    """The cast, whose conversations end when its user's first turn has been judged."""
    changes: dict[str, Any] = {"stop": AfterOneTurn(cast.stop), "closing": closing}
    return cast.replace(**changes, **({} if cast.world is None else {"world": None}))


def limits_of(cast: Cast, *, seed: int = 0, attempts: int | None = None) -> Limits:
    """The limits of each question: the seed, and most calls for a turn (default: the cast's)."""
    return Limits(max_turns=MOST_TURNS, seed=seed, question_attempts=attempts or cast.limits.question_attempts)


def cast_name(moments: Sequence[Moment]) -> str:
    """The cast that speaks about what the conversations are about: the one named like their kind, else `agent_test`."""
    known = casts.registered()
    kinds = {str(moment.conversation.scenario.get("kind", "")) for moment in moments}
    named = sorted(kind for kind in kinds if kind in known)
    if named and len(kinds) > 1:
        raise SettingError(f"the conversations are of several kinds ({', '.join(sorted(kinds))}): name a cast (--cast)")
    return named[0] if named else agent_test.NAME


def cast_for(moments: Sequence[Moment], user: Speaker, cast: str | None = None, **settings: Any) -> Cast:
    """The cast in which a user is asked; pages are in the language of most of the conversations, if it has several.

    `cast`: its name, else that of `cast_name`. `settings`: the cast's own, such as `prompts`.
    """
    factory = casts.find(cast or cast_name(moments))
    if "language" in factory.settings.model_fields and "language" not in settings:
        spoken = Counter(language_of_moment(moment) for moment in moments)
        settings["language"] = max(spoken, key=lambda language: (spoken[language], language), default="en")
    return factory(user=user, **settings)


def language_of_moment(moment: Moment) -> Language:
    """The language of a moment's conversation."""
    return domains.of(moment.conversation).language(moment.conversation) or "en"


def state_of(moment: Moment, cast: str) -> State | None:
    """The state right before the moment; None if the user would know neither what it wants nor a word said.

    The user of `agent_test` has a goal. Where the source tells none, it is what the person's first message asks for:
    so the first turn cannot be asked for there, nor where the scenario itself holds the first message.
    """
    # `success` would have the end judged.
    scenario = {key: value for key, value in moment.conversation.scenario.items() if key != SUCCESS}
    if cast == agent_test.NAME:
        told = further(moment.conversation)
        of_line, _ = of_log(moment.conversation, told)
        scenario |= {
            key: of_line[key] for key in ("goal", "facts", "persona") if key in of_line and key not in scenario
        }
        scripted = "first_message" in scenario
        if not goal_of(scenario) and (context := scenario.get("task_context") or told.get("task_context")):
            scenario["goal"] = str(context)
        elif not goal_of(scenario):
            said = (message.text for message in moment.before if message.role == "user" and message.stored)
            scripted, scenario["first_message"] = True, next(said, "")
        if scripted and not moment.turn:
            return None
    messages = [message.plain() for message in moment.before]
    # A user that says what stored people said leaves out the person who is asked about.
    stored = {"id": moment.conversation.id, "user": user_of(moment.conversation)}
    return {
        "scenario": scenario,
        "ordinal": moment.ordinal,
        "repeat": 0,
        "messages": messages,
        "extra": {STORED: stored},
    }


def next_turn(moment: Moment, made: Conversation, *, leaves: bool = True) -> NextTurn:
    """What the user said, from the record of the conversation that was simulated from the moment on; `leaves`: whether
    the user can tell at a moment that it is over."""
    after = len(moment.before)
    new = [message for message in made.messages[after:] if message.role == "user"]
    unsaid = [turn for turn in made.unsaid if turn.role == "user" and turn.after >= after]
    tried: list[Attempt] = [attempt for message in new for attempt in message.attempts]
    tried += [attempt for turn in unsaid for attempt in turn.attempts]
    spent = sum((attempt.spent for attempt in tried), Usage.none())
    failure = f"{made.failure.node}: {made.failure.error}" if made.failure is not None else None
    if failure is None and made.stop in _FAILED:
        failure = f"ended as {made.stop}"
    return NextTurn(
        id=made.id,
        key=moment.key,
        text="" if failure else text_of(new),
        stopped=(failure is None and made.stop not in (None, _SAID, "user_rejected")) if leaves else None,
        stop=made.stop,
        rejected=len({attempt.number for attempt in tried if attempt.verdict == "rejected"}),
        model=next((attempt.model for attempt in tried if attempt.model), None),
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        calls=spent.calls,
        silent=failure is not None and bool(tried) and all(each.flaw and not each.text for each in tried),
        failure=failure,
    )
