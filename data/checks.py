"""The linter for conversations: every domain's rules by their ids, and what they find.

It stands above the domains; the rules of no domain, which they choose from, are in `data.rules`.
"""

from collections.abc import Collection, Iterable

from ..errors import DataError
from . import domains
from .records import Conversation
from .rules import Finding, Rule
from .rules.user_faults import USER_FAULT_RULES, has_user_brief


def known_rules() -> dict[str, Rule]:
    """Every rule by its id: domain by domain, those of no domain, then those for users with a goal or facts."""
    of_domains = (domain.rules for domain in (*domains.registered(), domains.PLAIN))
    return {name: rule for rules in (*of_domains, USER_FAULT_RULES) for name, rule in rules.items()}


def rules_of(conversation: Conversation) -> dict[str, Rule]:
    """The rules of a conversation's domain, and those for users' faults if its scenario has a goal or facts."""
    return {**domains.of(conversation).rules, **(USER_FAULT_RULES if has_user_brief(conversation.scenario) else {})}


def chosen(rules: Collection[str] | None) -> list[str]:
    """The named rules, or all, in the order of `known_rules`; DataError for a name that no rule has."""
    known = known_rules()
    if unknown := sorted(set(rules or ()) - known.keys()):
        raise DataError(f"there is no rule {unknown[0]!r}, only {', '.join(known)}")
    return [name for name in known if rules is None or name in rules]


def check(conversations: Conversation | Iterable[Conversation], rules: Collection[str] | None = None) -> list[Finding]:
    """What the rules, or the named ones of them, find in one or many conversations, each in order of its messages.

    Example::

        >>> import duologue
        >>> asked = duologue.data.Message(role="user", text="[System]: When do you open?")
        >>> talk = duologue.Conversation(id="1", scenario={}, messages=(asked,))
        >>> [finding.rule for finding in duologue.check(talk)]
        ['role-slip']
    """
    names = set(chosen(rules))
    several = [conversations] if isinstance(conversations, Conversation) else conversations
    return [finding for conversation in several for finding in _findings(conversation, names)]


def _findings(conversation: Conversation, names: Collection[str]) -> list[Finding]:
    findings = [
        Finding(
            rule=name,
            level=rule.level,
            conversation=conversation.id,
            path=str(conversation.extra.get("path", "")),
            message=number,
            role=conversation.messages[number].role,
            reason=" ".join(reason.split()),
        )
        for name, rule in rules_of(conversation).items()
        if name in names
        for number, reason in rule.find(conversation)
    ]
    return sorted(findings, key=lambda finding: finding.message)
