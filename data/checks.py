"""A linter for conversations: every domain's rules by their ids, and what they find.

It stands above the domains; the rules of no domain, which they choose from, are in `data.rules`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from ..errors import DataError
from . import domains
from .records import Conversation
from .rules import *  # noqa: F403 - the names of the rules are here too
from .rules import USER_FAULT_RULES, Finding, Rule
from .rules.user_faults import has_user_brief


class _RulesOfDomains(Mapping[str, Rule]):
    """The rules of all registered domains, those of conversations without a domain, and those for users' faults."""

    def __getitem__(self, name: str) -> Rule:
        for domain in (*domains.registered(), domains.PLAIN):
            if name in domain.rules:
                return domain.rules[name]
        return USER_FAULT_RULES[name]

    def __iter__(self) -> Iterator[str]:
        of_domains = (name for domain in (*domains.registered(), domains.PLAIN) for name in domain.rules)
        return iter(dict.fromkeys((*of_domains, *USER_FAULT_RULES)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


RULES: Mapping[str, Rule] = _RulesOfDomains()
"""Every rule by its id, domain by domain; then the rules for users with a scenario, of every domain."""


def check(conversation: Conversation, rules: Collection[str] | None = None) -> list[Finding]:
    """The findings of its domain's rules (all, or the named ones) in a conversation, in order of messages.

    If its scenario has a goal or facts of the user, the rules for users' faults apply too.
    """
    names, own = set(chosen(rules)), domains.of(conversation)
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
        for name, rule in {**own.rules, **(USER_FAULT_RULES if has_user_brief(conversation.scenario) else {})}.items()
        if name in names
        for number, reason in rule.find(conversation)
    ]
    return sorted(findings, key=lambda finding: finding.message)


def check_all(conversations: Iterable[Conversation], rules: Collection[str] | None = None) -> list[Finding]:
    """The findings in many conversations, in order."""
    return [finding for conversation in conversations for finding in check(conversation, rules)]


def chosen(rules: Collection[str] | None) -> list[str]:
    """The named rules in the registry's order; DataError for a name that no rule has."""
    unknown = sorted(set(rules or ()) - set(RULES))
    if unknown:
        raise DataError(f"there is no rule {unknown[0]!r}, only {', '.join(RULES)}")
    return [name for name in RULES if rules is None or name in rules]


def reading(conversations: Iterable[Conversation]) -> list[str]:
    """The rules that apply to at least one of the conversations, in the order of their domains."""
    several = list(conversations)
    of_users = USER_FAULT_RULES if any(has_user_brief(one.scenario) for one in several) else ()
    return list(dict.fromkeys((*(name for domain in domains.present(several) for name in domain.rules), *of_users)))
