"""How a cast is put together of settings and nodes, and how long it is where speakers repeat stored words."""

from dataclasses import replace
from typing import Any, TypeGuard

from ...errors import SettingError
from ...nodes.contract import Node, Stop
from ...nodes.limits import Limits
from ...nodes.people import DonorEnded, PeopleSpeaker, RewritePeople
from ...nodes.settings.import_path import imported
from ...nodes.speakers.agents import AgentSpeaker
from ...nodes.speakers.replay import ReplayedOut, ReplaySpeaker
from ...nodes.stops import any_of, until_spent
from ...nodes.validators.composition import Observing
from .cast import Cast
from .settings import CastSettings


def assembled(settings: CastSettings, *, turns: int, **parts: Any) -> Cast:
    """A cast of its settings and nodes.

    The validator of a side that replays stored conversations only observes. If the settings have no criterion of their
    own, a conversation ends where a stored one ended. If they have no limits, it ends after `turns` turns.
    """
    if settings.approve is not None:
        parts["assistant"] = _approving(parts["assistant"], settings.approve)
    sides = {"question_validator": parts["user_simulator"], "answer_validator": parts["assistant"]}
    for place, speaker in sides.items():
        if isinstance(speaker, ReplaySpeaker) and not isinstance(parts[place], Observing):
            parts[place] = Observing(parts[place])
    ending = [speaker for speaker in sides.values() if _ends(speaker)]
    stop: Any = imported(settings.stop, "stop") if isinstance(settings.stop, str) else settings.stop
    longest = Limits(max_turns=max((speaker.longest for speaker in ending), default=turns))
    return Cast(
        stop=stop or any_of(*map(_own_end, ending), until_spent),
        when_rejected=settings.when_rejected,
        limits=(settings.limits or Limits()).or_else(longest),
        **parts,
    )


def _approving(assistant: Node, approve: Any) -> Node:
    if not isinstance(assistant, AgentSpeaker):
        raise SettingError("approve: the assistant is not a LangGraph agent, so nothing asks for an approval")
    return replace(assistant, approve=approve)


def replaying(*speakers: Node) -> list[ReplaySpeaker]:
    """Those of the speakers that play stored conversations again."""
    return [speaker for speaker in speakers if isinstance(speaker, ReplaySpeaker)]


def says_stored(speaker: Node) -> TypeGuard[ReplaySpeaker | PeopleSpeaker | RewritePeople]:
    """Whether a speaker repeats stored words, also where a model fits them.

    It ends by itself, and nothing can be asked of it.
    """
    return isinstance(speaker, (ReplaySpeaker, PeopleSpeaker, RewritePeople))


def _ends(speaker: Node) -> TypeGuard[ReplaySpeaker | PeopleSpeaker | RewritePeople]:
    """Replies that are drawn from people's conversations go on as long as the user does."""
    return says_stored(speaker) and (isinstance(speaker, ReplaySpeaker) or speaker.role == "user")


def _own_end(speaker: ReplaySpeaker | PeopleSpeaker | RewritePeople) -> Stop:
    if isinstance(speaker, ReplaySpeaker):
        return ReplayedOut(speaker)
    return DonorEnded(speaker.people if isinstance(speaker, RewritePeople) else speaker)
