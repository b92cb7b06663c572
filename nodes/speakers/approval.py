"""Who answers an agent that stops for an approval: a policy, a function, or the simulated user.

The forms are those of LangChain's `HumanInTheLoopMiddleware` (`action_requests` and `review_configs`, or one
`tool_approval` for each call), which deepagents' `interrupt_on` uses too. Any other value that is not a text is one
too.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ...data.attempts import INTERRUPT
from ...data.records import Role
from ...data.rules.refusals import consent
from ...errors import DuologueError
from ..contract import ContractError, describe
from ..replies.conversion import plain_or_text
from ..settings.import_path import imported, is_import_path
from ..settings.redaction import error_line
from ..state import Draft
from .interrupts import asked_arguments

Approve: TypeAlias = str | Callable[[Any], Any]
"""`all`, `none`, `ask-user`, MODULE:NAME, or a function from the interrupt's value to the value that resumes it."""

ASK_USER = "ask-user"
POLICIES = ("all", "none", ASK_USER)
ROUNDS = 50
"""Most approvals in a row within one turn: an agent that asks again for ever must not."""
NOT_APPROVED = "Not approved."
_QUESTION = "Do you approve this? Please answer yes or no."
_AGAIN = " Your reply was neither."


class ApprovalError(DuologueError, RuntimeError):
    """The function of `approve`, which is the test's own code, raised."""

    drafts: Sequence[Draft] = ()
    """What the agent had done before."""

    @property
    def record_line(self) -> str:
        """The message, which has the cause already."""
        return str(self)


def checked_policy(role: Role, approve: Any) -> Approve | None:
    """The policy, with the function of an import path in its place; ContractError for anything else."""
    if is_import_path(approve):
        approve = imported(approve, f"{role}: approve")
    if approve is None or approve in POLICIES or callable(approve):
        return approve  # type: ignore[no-any-return]
    raise ContractError(f"{role}: approve: expected {', '.join(POLICIES)}, MODULE:NAME or a function, got {approve!r}")


def policy_name(approve: Approve) -> str:
    """The policy in a record."""
    return approve if isinstance(approve, str) else str(describe(approve).get("name", "function"))


def told_policy(approve: Approve | None) -> dict[str, str]:
    """The policy for the record; nothing without one."""
    return {} if approve is None else {"approve": policy_name(approve)}


def is_question(value: Any) -> bool:
    """Whether an interrupt's value is a question to the other side, which answers it in words."""
    return isinstance(value, str) and bool(value.strip())


def decides(approve: Approve | None, values: Sequence[Any], ids: Sequence[str]) -> bool:
    """Whether the policy answers these interrupts, without the user."""
    return approve not in (None, ASK_USER) and bool(ids) and not any(map(is_question, values))


def resumed(approve: Approve, values: Sequence[Any], ids: Sequence[str], reply: str | None = None) -> Any:
    """What resumes an agent that stands at these interrupts; several are answered by their ids.

    `reply`: the user's answer, under `ask-user`. ContractError where no possible decision fits the policy.
    """
    answers = [_answer(approve, value, reply) for value in values]
    return answers[0] if len(answers) == 1 else dict(zip(ids, answers, strict=True))


def _answer(approve: Approve, value: Any, reply: str | None) -> Any:
    if callable(approve):
        try:
            return approve(value)
        except Exception as error:
            raise ApprovalError(f"{policy_name(approve)} failed: {error_line(error, placed=True)}") from error
    approved = consent(reply) == "yes" if reply is not None else approve == "all"
    reason = reply if reply is not None else NOT_APPROVED
    if _is_request(value):
        allowed = {config.get("action_name"): config.get("allowed_decisions") for config in value["review_configs"]}
        actions = value["action_requests"]
        return {"decisions": [_decision(action, allowed.get(action["name"]), reason, approved) for action in actions]}
    if _is_call(value):
        return _decision(value, None, reason, approved)
    return approved


def _decision(action: Mapping[str, Any], allowed: Any, reason: str, approved: bool) -> dict[str, Any]:
    """A decision on one action, of a type that its tool allows; None allows all."""
    edit = {"name": action["name"], "args": action.get("args", {})}
    decisions: list[dict[str, Any]] = (
        [{"type": "approve"}, {"type": "edit", "edited_action": edit}]
        if approved
        else [{"type": "reject", "message": reason}]
    )
    for decision in [*decisions, {"type": "respond", "message": "Approved." if approved else reason}]:
        if allowed is None or decision["type"] in allowed:
            return decision
    raise ContractError(f"approve: {action['name']} allows only {', '.join(allowed)}: give a function that decides")


def is_unclear(reply: str) -> bool:
    """Whether a reply neither approves nor rejects: it is asked for once more, and the second one rejects."""
    return consent(reply) is None


def question_of(values: Sequence[Any], *, again: bool = False) -> str:
    """The pending actions in words, for the user; `again`: after an unclear reply."""
    lines = [line for value in values for line in _in_words(value)]
    return "\n".join([_QUESTION + (_AGAIN if again else ""), *(f"- {line}" for line in lines)])


def _in_words(value: Any) -> list[str]:
    if _is_request(value):
        return [_call_in_words(action) for action in value["action_requests"]]
    if _is_call(value):
        return [_call_in_words(value)]
    if isinstance(value, Mapping):
        return [", ".join(f"{name}: {_text(part)}" for name, part in value.items())]
    return [_text(value)]


def _call_in_words(action: Mapping[str, Any]) -> str:
    arguments = ", ".join(f"{name}: {_text(part)}" for name, part in dict(action.get("args") or {}).items())
    return f"{action['name']} ({arguments})" if arguments else str(action["name"])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(plain_or_text(value), ensure_ascii=False)


def approval_call(approve: Approve, values: Sequence[Any], answer: Any) -> dict[str, Any]:
    """The record of a decision: a tool call with the question, the policy and what it decided."""
    several = {"value": [plain_or_text(value) for value in values]}
    return {
        "name": INTERRUPT,
        "arguments": asked_arguments(values[0]) if len(values) == 1 else several,
        "result": {"approve": policy_name(approve), "answer": plain_or_text(answer)},
    }


def _is_request(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and all(isinstance(value.get(key), list) for key in ("action_requests", "review_configs"))
        and all(isinstance(action, Mapping) and "name" in action for action in value["action_requests"])
    )


def _is_call(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("type") == "tool_approval" and "name" in value
