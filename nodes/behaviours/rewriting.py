"""Messages of a user whom no prompt reaches, such as a retrieval-based one, as a user with behaviours writes them."""

from collections.abc import Mapping
from typing import Any

from ...data.behaviours import UserMoment, behaved, injected_word
from ...data.identity import digest
from ...data.text.languages import language_of
from ..goodbyes import Ending
from ..messages.behaviour_prompts import behaviours_of
from ..messages.building import WithMessageBuilder
from ..people.turns import ORIGIN, RETRIEVED, origin_of
from ..speakers.replay import ReplaySpeaker
from ..state import Draft, State, Update, history

PLAIN = "without_behaviours"
"""Key of a message's `extra` for its text before its behaviours changed it."""
_ENDING = Ending(may_give_up=True, any_goodbye=True)


def behaves_by_rule(node: object) -> bool:
    """Whether rules change the messages of a node that plays the user.

    The prompt asks it of one with a message builder, and the words of a replayed user are fixed.
    """
    return not isinstance(node, (WithMessageBuilder, ReplaySpeaker))


def behaving(update: Update, state: State) -> Update:
    """The update with the behaviours of the conversation's user; the node's own text stays in the draft's `extra`."""
    names = behaviours_of(state)
    written_drafts = update.get("drafts") if names and isinstance(update, dict) else None
    if not isinstance(written_drafts, list) or not all(_has_text(draft) for draft in written_drafts):
        return update  # of no use: the step says so
    messages, scenario = history(state), state["scenario"]
    turns = [(message["role"], message["text"]) for message in messages]
    goal = str(scenario.get("goal") or next((_original(one) for one in messages if one["role"] == "user"), ""))
    drafts: list[Draft] = []
    for draft in written_drafts:
        text = draft["text"]
        moment = UserMoment(
            tuple(turns),
            goal or text,
            language_of(text) or "en",
            int(digest("behaviour", scenario)[:8], 16),
            injected_word(scenario),
            ends=_ENDING.reason(text) is not None,
        )
        written = behaved(text, names, moment)
        turns.append(("user", written))
        drafts.append(draft if written == text else _rewritten(draft, written))
    return {**update, "drafts": drafts}


def _has_text(draft: object) -> bool:
    return isinstance(draft, dict) and isinstance(draft.get("text"), str)


def _original(message: Mapping[str, Any]) -> str:
    return str((message.get("extra") or {}).get(PLAIN) or message["text"])


def _rewritten(draft: Draft, text: str) -> Draft:
    extra = {**draft.get("extra", {}), PLAIN: draft["text"]}
    if origin := origin_of(draft):
        extra[ORIGIN] = {**origin, RETRIEVED: draft["text"]}
    return {**draft, "text": text, "extra": extra}
