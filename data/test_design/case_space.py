"""The cases of a design: tool, kind of argument and rule, with the example that each is made of."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..identity import digest
from .covering_arrays import ArrayRow, Design, Exclusion, LevelPair
from .examples import WorldExample, out_of_range
from .policy_rules import PolicyRule, leaves
from .tool_schemas import ToolArgument, ToolSchema

TOOL, KIND, RULE = "tool", "argument", "rule"
"""Names of the factors of a design from tools and rules."""
VALID, MISSING, AMBIGUOUS, OUT_OF_RANGE, FORBIDDEN = KINDS = (
    "valid",
    "missing",
    "ambiguous",
    "out of range",
    "forbidden",
)
"""Kinds of argument: all right; one that the user does not have; two that could be meant; a value that there is not; all
right, but a rule forbids the call."""
NO_RULE = "none"
"""The level of a design in which every rule depends on the case, for a case that no rule forbids."""


@dataclass(frozen=True)
class DesignedCase:
    """A row of a design with what it takes to make a scenario of it."""

    row: ArrayRow
    tool: ToolSchema
    kind: str
    example: WorldExample
    argument: ToolArgument | None
    """The argument that is not valid; None if all are."""
    rule: PolicyRule | None
    """The rule in play."""
    is_forbidden: bool
    """Whether the rule forbids the call."""
    value: Any = None
    """The value out of range, or the other one that could be meant."""

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the call that the user asks for."""
        own = {one.name: self.example.value(one.name) for one in self.tool.arguments if one.name in self.example.values}
        if self.argument is not None and self.kind == OUT_OF_RANGE:
            own[self.argument.name] = self.value
        return own


@dataclass(frozen=True)
class CaseSpace:
    """Tools, rules and examples, and which of them make a case together."""

    tools: tuple[ToolSchema, ...]
    rules: tuple[PolicyRule, ...]
    examples: tuple[WorldExample, ...]
    taken: Counter[str] = field(default_factory=Counter, compare=False)
    """How often each example and each argument was taken."""

    def factors(self) -> dict[str, tuple[str, ...]]:
        """The factors of its design."""
        names = tuple(rule.name for rule in self.rules)
        if names and all(map(self._depends, self.rules)):
            names = (NO_RULE, *names)
        rules = {RULE: names} if names else {}
        return {TOOL: tuple(tool.name for tool in self.tools), KIND: KINDS, **rules}

    def least(self) -> dict[LevelPair, int]:
        """How often a tool and a kind are needed together.

        Then each argument of the tool is once of that kind.
        """
        names = self.factors().get(RULE, (NO_RULE,))
        return {
            ((TOOL, tool.name), (KIND, kind)): len(
                {
                    argument.name
                    for name in names
                    for _, argument in self._choices(tool, kind, self._rule(name))[0]
                    if argument is not None
                }
            )
            for tool in self.tools
            for kind in (MISSING, AMBIGUOUS, OUT_OF_RANGE)
        }

    def exclusion(self) -> Exclusion:
        """The constraint on tool, kind and rule together."""
        fields = (TOOL, KIND, *((RULE,) if self.rules else ()))
        return Exclusion(fields, lambda row: self._why_not[tuple(row[name] for name in fields)])

    def case(self, row: ArrayRow, seed: int) -> DesignedCase:
        """The case of a row; of several examples and arguments the one that was taken least."""
        tool, rule = self._tool(row[TOOL]), self._rule(row.get(RULE, NO_RULE))
        choices, _ = self._choices(tool, row[KIND], rule)

        def draw(choice: tuple[int, ToolArgument | None]) -> tuple[int, int, str]:
            number, argument = choice
            name = argument.name if argument else ""
            return self.taken[f"{tool.name} {row[KIND]} {name}"], self.taken[f"#{number}"], digest(seed, number, name)

        number, argument = min(choices, key=draw)
        self.taken[f"{tool.name} {row[KIND]} {argument.name if argument else ''}"] += 1
        self.taken[f"#{number}"] += 1
        example = self.examples[number]
        value = None
        if argument is not None and row[KIND] == AMBIGUOUS:
            value = example.alternative(argument.name)
        elif argument is not None and row[KIND] == OUT_OF_RANGE:
            value = out_of_range(argument, example, self.examples)
        return DesignedCase(row, tool, row[KIND], example, argument, rule, self._forbids(rule, tool), value)

    @cached_property
    def terms(self) -> Mapping[int, frozenset[str]]:
        """By the rule's number, the words of the examples that it names."""
        words = {leaf for example in self.examples for leaf in leaves(example.scenario)}
        return {rule.number: rule.terms(words) for rule in self.rules}

    @cached_property
    def _why_not(self) -> Mapping[tuple[str, ...], str]:
        """By tool, kind and rule, why they make no case; empty if they do."""
        return {
            (tool.name, kind, *((name,) if self.rules else ())): self._choices(tool, kind, self._rule(name))[1]
            for tool in self.tools
            for kind in KINDS
            for name in self.factors().get(RULE, (NO_RULE,))
        }

    def _tool(self, name: str) -> ToolSchema:
        return next(tool for tool in self.tools if tool.name == name)

    def _rule(self, name: str) -> PolicyRule | None:
        return next((rule for rule in self.rules if rule.name == name), None)

    def _depends(self, rule: PolicyRule) -> bool:
        """Whether the rule is in play only with some examples."""
        declared = any(one.forbidden_by and one.is_under(rule, ()) for one in self.examples)
        forbids = any(rule.forbids(tool, self.tools) for tool in self.tools)
        return declared or (forbids and bool(self.terms[rule.number])) or self._is_absolute(rule)

    def _is_absolute(self, rule: PolicyRule) -> bool:
        """Whether it forbids a tool in every case: it names nothing but the tool's deed."""
        return not self.terms[rule.number] and any(
            rule.forbids(tool, self.tools) and rule.names_only(tool) for tool in self.tools
        )

    def _is_under(self, example: WorldExample, rule: PolicyRule) -> bool:
        return self._is_absolute(rule) or example.is_under(rule, self.terms[rule.number])

    def _forbids(self, rule: PolicyRule | None, tool: ToolSchema) -> bool:
        """Whether a rule that is in play forbids the tool."""
        return rule is not None and self._depends(rule) and rule.forbids(tool, self.tools)

    def _fitting(self, tool: ToolSchema, rule: PolicyRule | None) -> tuple[list[int], str]:
        """The examples that have all values of a tool, and in which the rule is in play.

        No other rule forbids the tool there. Without any, the reason.
        """
        complete = [
            number
            for number, example in enumerate(self.examples)
            if all(argument.name in example.values for argument in tool.required)
        ]
        if not complete:
            return [], f"no example has values of all required arguments of {tool.name}"
        others = [one for one in self.rules if one is not rule and self._forbids(one, tool)]
        allowed = [n for n in complete if not any(self._is_under(self.examples[n], one) for one in others)]
        if rule is None or not self._depends(rule):
            return (allowed, "") if allowed else ([], f"{others[0].short} forbids {tool.name} in every example")
        fitting = [n for n in complete if self._is_under(self.examples[n], rule)]
        return (fitting, "") if fitting else ([], f"no example is under {rule.short}")

    def _choices(
        self, tool: ToolSchema, kind: str, rule: PolicyRule | None
    ) -> tuple[list[tuple[int, ToolArgument | None]], str]:
        """The examples, by number, and arguments that make a case; else why there are none."""
        fitting, why = self._fitting(tool, rule)
        if not fitting:
            return [], why
        forbids = self._forbids(rule, tool)
        if kind == VALID:
            return ([], f"{rule.short} forbids it") if forbids and rule else ([(n, None) for n in fitting], "")
        if kind == FORBIDDEN:
            if not forbids:
                ever = rule is not None and any(one.forbids(tool, self.tools) for one in self.rules)
                if rule is not None and rule.forbids(tool, self.tools):
                    return [], f"no example is under {rule.short} (forbidden_by marks one)"
                named = rule is not None and ever
                return [], (
                    f"{rule.short} forbids no call of {tool.name}"
                    if named and rule
                    else f"no rule forbids a call of {tool.name}"
                )
            return [(n, None) for n in fitting], ""
        if forbids and rule:  # a second reason to refuse would hide whether the agent sees the first
            return [], f"{rule.short} forbids it with any argument"
        if not tool.required:
            return [], f"{tool.name} has no required argument"
        if kind == MISSING:
            return [(n, argument) for n in fitting for argument in tool.required], ""
        pairs: list[tuple[int, ToolArgument | None]] = []
        for number in fitting:
            example = self.examples[number]
            if kind == AMBIGUOUS:
                odd = [one for one in tool.required if example.alternative(one.name) is not None]
            else:
                odd = [one for one in tool.arguments if out_of_range(one, example, self.examples) is not None]
            pairs += [(number, argument) for argument in odd]
        lacking = f"no example has two values of an argument of {tool.name}"
        if kind == OUT_OF_RANGE:
            lacking = f"every value of an argument of {tool.name} is in its range"
        return pairs, "" if pairs else lacking


def design_of(space: CaseSpace, further: Mapping[str, Sequence[str]], exclusions: Sequence[Exclusion] = ()) -> Design:
    """The design of a space of cases, with further factors such as the behaviours of users."""
    return Design(
        {**space.factors(), **{name: tuple(levels) for name, levels in further.items()}},
        (space.exclusion(), *exclusions),
    )
