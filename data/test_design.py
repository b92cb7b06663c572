"""Scenarios designed from tools, rules as data, and examples of a world: the cases, and each case in a customer's words.

A tool has a case with valid arguments, one for each required argument that the user does not have, one for each of which
two could be meant, one for each value out of its bounds, and one for each rule that forbids it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from ..errors import DataError, at, first_invalid
from .files.json import read_json
from .identity import digest
from .records import as_list, as_object, inside, is_object
from .text.languages import Language
from .text.values import in_words

Kind: TypeAlias = Literal["valid", "missing", "ambiguous", "out of bounds", "forbidden"]
"""All right; a value that the user does not have; two that could be meant; a value that there is not; all right, but a
rule forbids the call."""
SAMPLES: Mapping[str, str] = {
    "date": "2026-05-03",
    "date-time": "2026-05-03T10:00:00",
    "time": "10:00",
    "email": "ann@example.com",
    "name": "Ann Miller",
    "日期": "2026-05-03",
    "姓名": "李敏",
}
"""Values by the format of an argument, or by a word of its label, where no example has one."""
LACKING: Mapping[Kind, str] = {
    "missing": "no example",
    "ambiguous": "no example has two values",
    "out of bounds": "every value is within its bounds",
}
"""Why an argument has no case of a kind."""
_WORD = r"[A-Z]?[^\W_A-Z]+|[A-Z]+(?![^\W_A-Z])"
"""A word of a name such as `cancelOrder` or `move_booking`."""
UNKNOWN = "AB1234"
"""A text of which nothing is known, where there is no world to take one from."""
MOST_RECORDS = 8
"""Most examples that are made of a world, or in which a case is tried."""
NO_CHOICE = "purple"
"""A choice that no schema offers."""


@dataclass(frozen=True)
class ToolArgument:
    """An argument of a tool, with its JSON schema."""

    name: str
    schema: Mapping[str, Any]
    required: bool

    @property
    def label(self) -> str:
        """What a person calls it: its description or title if that is short, else its name in words."""
        for text in (self.schema.get("description"), self.schema.get("title")):
            if isinstance(text, str) and 0 < len(text.split()) <= 5 and len(text) <= 40:
                text = re.sub(r"^(?:the|an?) ", "", text.strip(" .。"), flags=re.IGNORECASE)
                return text[0].lower() + text[1:] if text[:2].istitle() else text
        return " ".join(re.findall(rf"{_WORD}|\d+", self.name)).lower() or self.name

    @property
    def choices(self) -> list[Any]:
        """The values that the schema lists; empty if it lists none."""
        return [True, False] if self.schema.get("type") == "boolean" else as_list(self.schema.get("enum"))

    @property
    def sample(self) -> Any:
        """A value that the schema names, else one of its type; None of a text of which nothing is known."""
        schema = self.schema
        named = [schema.get("const"), *as_list(schema.get("examples")), schema.get("default"), *self.choices]
        for value in named:
            if value is not None:
                return value
        kind = schema.get("type")
        if kind in ("integer", "number"):
            return schema.get("minimum", 1)
        if kind in ("array", "object"):
            return [] if kind == "array" else {}
        words = (str(schema.get("format")), *self.label.casefold().split())
        return next((SAMPLES[word] for word in words if word in SAMPLES), None)

    def values_in(self, state: Any) -> list[Any]:
        """The values that a world has for it: those of fields of its name, or the ids of records that have its name.

        A field `account`, a table or an object `accounts` whose keys or first fields are ids, for `account` and `account_id`.
        Beside a table, a field only refers to it, perhaps to what is there no more.
        """
        own, found = list[Any](), list[Any]()
        for key, value in (pair for one in inside(state) if isinstance(one, Mapping) for pair in one.items()):
            records = list(value.values()) if isinstance(value, Mapping) else value
            if _thing(str(key)) != _thing(self.name):
                continue
            if isinstance(records, list) and all(isinstance(one, Mapping) for one in records):
                own += value if isinstance(value, Mapping) else [next(iter(one.values()), None) for one in records]
            elif not isinstance(value, Mapping | list):
                found.append(value)
        of_type = {"string": str, "integer": int}.get(str(self.schema.get("type")), lambda one: one)
        found = own or found
        fits = [
            one for one in found if isinstance(one, str | int | float) and (of_type is not int or str(one).isdigit())
        ]
        return list(dict.fromkeys(map(of_type, fits)))

    def beyond(self, value: Any, present: Iterable[Any]) -> Any:
        """A value that the schema does not allow, or one of the same form that is not present; None without one.

        `value`: one that the argument may have, None if none is known.
        """
        if choices := as_list(self.schema.get("enum")):
            return NO_CHOICE if isinstance(choices[0], str) and NO_CHOICE not in choices else None
        for bound, step in (("maximum", 1), ("minimum", -1), ("exclusiveMaximum", 0), ("exclusiveMinimum", 0)):
            if isinstance(self.schema.get(bound), int | float):
                return self.schema[bound] + step
        taken = set(map(str, present))
        others = (_changed(value, turn) for turn in range(1, 10)) if isinstance(value, str) else ()
        return next((other for other in others if other != value and other not in taken), None)


@dataclass(frozen=True)
class ToolSchema:
    """A tool of an agent, as a model is shown it."""

    name: str
    description: str
    arguments: tuple[ToolArgument, ...]

    @property
    def required(self) -> tuple[ToolArgument, ...]:
        """The arguments without which it cannot be called."""
        return tuple(argument for argument in self.arguments if argument.required)


class Rule(BaseModel):
    """A rule that forbids calls: a line of a policy as data."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    forbids: tuple[str, ...] = Field(min_length=1)
    """Names of tools."""
    when: Mapping[str, Any] = {}
    """By the name of a field, the value that it has; always without one. A field is an argument of the call, or a field of
    a record of the world that an argument names; of a list of values one is enough."""
    because: str = Field(min_length=1)
    """Why: a sentence of the policy."""

    @field_validator("forbids", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    def forbids_call(self, name: str, arguments: Mapping[str, Any], state: Any) -> bool:
        """Whether it forbids a call in a state of the world, as plain JSON."""
        records = [arguments, *(record for value in arguments.values() for record in _named(state, value))]
        return name in self.forbids and all(
            any(record.get(field) in (value if isinstance(value, list) else [value]) for record in records)
            for field, value in self.when.items()
        )


class Example(BaseModel):
    """A state of the world to begin with, and the values that a user has in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    values: Mapping[str, Any]
    """By the argument's name: the value that is meant, or a list of it and others that it could be mistaken for."""
    scenario: Mapping[str, Any] = {}
    """Keys of the scenario, from which the world is made."""
    state: Any = None
    """The state of that world; None: what the scenario says."""

    @property
    def world(self) -> Any:
        """The state of its world as far as it is known."""
        return self.scenario if self.state is None else self.state

    def value(self, argument: str) -> Any:
        """The value that is meant; KeyError without one."""
        value = self.values[argument]
        return value[0] if isinstance(value, list) and value else value

    def other(self, argument: str) -> Any:
        """Another value that could be meant: one that is given, or a neighbour in the world of the same form."""
        own = self.values.get(argument)
        if isinstance(own, list) and len(own) > 1:
            return own[1]
        value = own[0] if isinstance(own, list) and own else own
        names = _keys_beside(self.world, value) if isinstance(value, str) else ()
        return next((one for one in names if one != value and _form(one) == _form(str(value))), None)


@dataclass(frozen=True)
class DesignedCase:
    """What a scenario is made of."""

    tool: ToolSchema
    kind: Kind
    example: Example
    argument: ToolArgument | None = None
    """The argument that is not valid; None if all are."""
    value: Any = None
    """The value out of bounds, or the other one that could be meant."""
    instead: tuple["DesignedCase", ...] = ()
    """The same case in other examples, if it is valid."""

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the call that the user asks for."""
        own = {one.name: self.example.value(one.name) for one in self.tool.arguments if one.name in self.example.values}
        if self.argument is not None and self.kind == "out of bounds":
            own[self.argument.name] = self.value
        return own

    @property
    def changing(self) -> Iterator["DesignedCase"]:
        """The case with another value of an argument that has what the record of another argument has already."""
        records = [one for value in self.arguments.values() for one in _named(self.example.world, value)]
        for argument in self.tool.arguments:
            own = self.arguments.get(argument.name)
            if own is None or all(record.get(argument.name) != own for record in records):
                continue
            others = [*argument.choices, *argument.values_in(self.example.world), _changed(str(own), 1)]
            for other in (one for one in others if one != own and type(one) is type(own)):
                values = {**self.example.values, argument.name: other}
                yield replace(self, example=self.example.model_copy(update={"values": values}))


def forbidding(rules: Iterable[Rule], name: str, arguments: Mapping[str, Any], state: Any) -> Rule | None:
    """The first rule that forbids a call in a state of the world; None if it is allowed."""
    return next((rule for rule in rules if rule.forbids_call(name, arguments, state)), None)


def cases_of(
    tools: Sequence[ToolSchema],
    rules: Sequence[Rule],
    examples: Sequence[Example],
    seed: int = 0,
    best: Mapping[str, Example] | None = None,
) -> tuple[list[DesignedCase], list[str]]:
    """The cases of each tool, and what has none, a line each with the reason.

    A case that is not about a rule begins where no rule forbids the call, so that it has one reason to be refused at
    most. Of several examples the one that was taken least is taken, by the seed; the others stand by (`instead`). `best`:
    an example to take before them, by the tool's name.
    """
    present = [value for one in examples for value in inside([one.world, one.values])]
    present += [key for value in present if isinstance(value, Mapping) for key in value]
    taken = Counter[int]()
    lacking: list[str] = []
    found: list[DesignedCase] = []

    def take(cases: Mapping[int, DesignedCase], why_none: str) -> None:
        if not cases:
            lacking.append(why_none)
            return
        order = sorted(cases, key=lambda number: (number >= 0, taken[number], digest(seed, len(found), number)))
        others = order[1:MOST_RECORDS] if cases[order[0]].kind == "valid" else []
        taken[order[0]] += 1
        found.append(replace(cases[order[0]], instead=tuple(cases[number] for number in others)))

    for tool in tools:
        first = {-1: best[tool.name]} if best and tool.name in best else {}
        others = {n: e for n, e in enumerate(examples) if all(one.name in e.values for one in tool.required)}
        whole = first | {number: one for number, one in others.items() if one not in first.values()}
        by = {
            n: forbidding(rules, tool.name, DesignedCase(tool, "valid", e).arguments, e.world) for n, e in whole.items()
        }
        allowed = {number: example for number, example in whole.items() if by[number] is None}
        if not whole:
            lacks = [one.name for one in tool.required if not any(one.name in example.values for example in examples)]
            names = ", ".join(lacks) or "all its required arguments"
            lacking.append(f"{tool.name}: no example and no world has a value of {names}")
            continue
        why = f"{tool.name}: the rules forbid it in every example"
        take({number: DesignedCase(tool, "valid", example) for number, example in allowed.items()}, why)
        for rule in (rule for rule in rules if tool.name in rule.forbids):
            under = {n: DesignedCase(tool, "forbidden", e) for n, e in whole.items() if by[n] is rule}
            take(under, f"{tool.name}: no example is under the rule {rule.because!r}")
        for argument in tool.arguments if allowed else ():
            kinds: tuple[Kind, ...] = ("missing", "ambiguous", "out of bounds")
            for kind in kinds if argument.required else kinds[-1:]:
                odd = {number: _odd_case(tool, kind, one, argument, present) for number, one in allowed.items()}
                why = f"{tool.name}: {argument.label}: {LACKING[kind]}"
                take({number: case for number, case in odd.items() if case is not None}, why)
    return found, lacking


def _odd_case(
    tool: ToolSchema, kind: Kind, example: Example, argument: ToolArgument, present: Iterable[Any]
) -> DesignedCase | None:
    value = None
    if kind == "ambiguous":
        value = example.other(argument.name)
    elif kind == "out of bounds":
        own = example.value(argument.name) if argument.name in example.values else None
        value = argument.beyond(own, present)
    return DesignedCase(tool, kind, example, argument, value) if value is not None or kind == "missing" else None


def rules_of(described: Any, tools: Sequence[ToolSchema], where: str) -> tuple[list[Rule], list[str]]:
    """The rules of a list, and the items that are prose, which forbid nothing; DataError names the place."""
    if not isinstance(described, list):
        raise DataError(f"{where}: expected a list of rules, each with forbids, when and because")
    prose = [item for item in described if isinstance(item, str)]
    rules = _checked(Rule, [item for item in described if not isinstance(item, str)], f"{where}: rule")
    names = [tool.name for tool in tools]
    for rule in rules:
        if unknown := [name for name in rule.forbids if name not in names]:
            raise DataError(f"{where}: no tool has the name {unknown[0]!r}: the tools are {', '.join(names)}")
    return rules, prose


def examples_of(described: Any, tools: Sequence[ToolSchema], where: str) -> list[Example]:
    """The examples of a list, or the one of an object of values; DataError for an argument that no tool has."""
    items = described if isinstance(described, list) else [{"values": described}]
    examples = _checked(Example, items, f"{where}: example")
    arguments = {argument.name for tool in tools for argument in tool.arguments}
    if unknown := sorted({name for example in examples for name in example.values} - arguments):
        raise DataError(f"{where}: no tool has the argument {unknown[0]!r}: there are {', '.join(sorted(arguments))}")
    return examples or [Example(values={})]


def completed(examples: Sequence[Example], tools: Sequence[ToolSchema]) -> tuple[list[Example], list[str]]:
    """Examples with a value of each required argument: of their world, else invented; and the names of the invented ones.

    An example without values becomes one for each record of its world, `MOST_RECORDS` at most. With a world no text is
    invented of which nothing is known: an id that it does not have.
    """
    required = {argument.name: argument for tool in tools for argument in tool.required}
    there = {name for example in examples for name in example.values}
    whole, invented = [], set[str]()
    for example in examples:
        known = {name: one.values_in(example.world) for name, one in required.items() if name not in there}
        known |= {name: [one.sample] for name, one in required.items() if name not in there and one.choices}
        for name in (name for name, values in known.items() if not values):
            sample = required[name].sample
            known[name] = [sample] if sample is not None else [] if example.state is not None else [UNKNOWN]
            invented |= {name} if known[name] else set()
        number = max(map(len, known.values()), default=1) if not example.values else 1
        for place in range(max(1, min(number, MOST_RECORDS))):
            values = {name: own[place % len(own)] for name, own in known.items() if own}
            whole.append(example.model_copy(update={"values": {**values, **example.values}}))
    return whole, sorted(invented)


def fields_of(tools: Sequence[ToolSchema], examples: Iterable[Example]) -> list[str]:
    """The fields that a rule may look at: the arguments of the tools, and the keys of the examples' worlds, by name."""
    fields = {argument.name for tool in tools for argument in tool.arguments}
    states = (map(str, one) for example in examples for one in inside(example.world) if isinstance(one, Mapping))
    return sorted(fields.union(*states))


def schemas_of(described: Iterable[Any], where: str) -> tuple[ToolSchema, ...]:
    """The tools of a list in OpenAI's form, `{"type": "function", "function": {...}}` or only the inner object.

    DataError, with the place, for a list without tools, a tool without a name, and two tools of one name.
    """
    tools = tuple(_schema(one, f"{where}: tool {number}") for number, one in enumerate(described, start=1))
    if not tools:
        raise DataError(f"{where}: has no tools: give an agent or a list with at least one tool")
    if doubled := [name for name, count in Counter(tool.name for tool in tools).items() if count > 1]:
        raise DataError(f"{where}: has two tools of the name {doubled[0]!r}: rename one of them, or leave it out")
    return tools


def read_tools(path: Path) -> tuple[ToolSchema, ...]:
    """The tools of a JSON file in OpenAI's form: a list, or a request with the key `tools`; DataError for another."""
    value = read_json(path)
    value = value.get("tools") if is_object(value) else value
    if not isinstance(value, list):
        raise DataError(f"{at(path)}: is not a list of tools in OpenAI's form: give one, or MODULE:NAME of an agent")
    return schemas_of(value, at(path))


def _schema(described: Any, where: str) -> ToolSchema:
    inner = described.get("function", described) if is_object(described) else None
    if not is_object(inner) or not isinstance(name := inner.get("name"), str) or not name:
        raise DataError(f"{where}: has no 'name': give tools in OpenAI's form")
    parameters = as_object(inner.get("parameters"))
    required, definitions = as_list(parameters.get("required")), as_object(parameters.get("$defs"))
    arguments = tuple(
        ToolArgument(argument, _resolved(as_object(schema), definitions), argument in required)
        for argument, schema in as_object(parameters.get("properties")).items()
    )
    return ToolSchema(name, str(inner.get("description") or "").strip(), arguments)


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema with what it refers to; of a type or null, that of the type."""
    several = as_list(schema.get("anyOf")) or as_list(schema.get("allOf"))
    first = next((as_object(one) for one in several if as_object(one).get("type") != "null"), {})
    schema = {**first, **schema}
    reference = as_object(definitions.get(str(schema.get("$ref", "")).rpartition("/")[2]))
    return {**reference, **schema}


def _checked(model: Any, items: Sequence[Any], where: str) -> list[Any]:
    try:
        return list(TypeAdapter(list[model]).validate_python(list(items)))
    except ValidationError as error:
        invalid = first_invalid(error)
        number, *place = invalid.where
        raise DataError(f"{where} {int(number) + 1}: {'.'.join(map(str, place)) or 'it'}: {invalid.reason}") from None


def _named(state: Any, name: Any) -> Iterator[Mapping[str, Any]]:
    """The records that a value names: objects under it as a key, and those in lists whose first field it is."""
    for one in inside(state):
        if isinstance(one, Mapping) and isinstance(name, str) and isinstance(one.get(name), Mapping):
            yield one[name]
        elif isinstance(one, list | tuple):
            yield from (row for row in one if isinstance(row, Mapping) and next(iter(row.values()), None) == name)


def _keys_beside(state: Any, name: str) -> Iterator[str]:
    for one in inside(state):
        if isinstance(one, Mapping):
            yield from (key for key in one if name in one and isinstance(key, str))
            one = list(one.values())
        if isinstance(one, list | tuple):
            firsts = [next(iter(row.values()), None) for row in one if isinstance(row, Mapping)]
            yield from (first for first in firsts if name in firsts and isinstance(first, str))


def _changed(value: str, turn: int) -> str:
    """A value of the same form: a date some years later, else with other digits.

    >>> _changed("QX4821", 5), _changed("2026-05-03", 5), _changed("window", 5)
    ('QX9376', '2031-05-03', 'window')
    """
    if match := re.match(r"(\d{4})(?=-\d\d-\d\d)", value):
        return f"{int(match[1]) + turn}{value[match.end() :]}"
    return re.sub(r"\d", lambda digit: str((int(digit[0]) + turn) % 10), value)


def _form(text: str) -> str:
    """Its digits and letters as signs of their kind, one for several."""
    return re.sub(r"(.)\1+", r"\1", re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "0", text)))


def _thing(name: str) -> str:
    """What a name is about: `account` of `accounts`, `account_id` and `AccountNumber`."""
    *first, last = [word.lower() for word in re.findall(_WORD, name)] or [name]
    words = first if first and last in ("id", "code", "number", "no", "key") else [*first, last]
    return "".join(words).removesuffix("s")


PHRASES: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "goal": "I want to {deed}.",
        "fact": "The {label} {is_} {value}.",
        "unknown": "the {label}",
        "either": " The {label} {is_} {other} or {value}.",
        "resolved": "The {label} {is_} {value}, not {other}.",
    },
    "zh": {
        "goal": "我想{deed}。",
        "fact": "{label}是{value}。",
        "unknown": "{label}",
        "either": "{label}是{other}或者{value}。",
        "resolved": "{label}是{value}，不是{other}。",
    },
}
_VERBS = frozenset(
    "add apply block book buy calculate cancel change check close compare compute confirm correct create delete deliver "
    "edit exchange extend file find get give hold list look make modify move open order pay place prolong rate read "
    "rebook refund register remove renew rent replace report request reschedule reserve return schedule search see send "
    "set share show sign start stop submit suspend switch tell track transfer unblock update upgrade verify view".split()
)
"""First words of a description that say what a customer wants done; "fetch", "query" and "returns" are a program's."""
_SEES = frozenset("describe fetch get list query retrieve show tell view".split())
"""Verbs of tools that tell something: a customer wants to see it."""
_GETS = frozenset("add apply book buy create hire open order place rent reserve".split())
"""Verbs after which nothing is the customer's own yet."""
_TAIL = {
    "en": re.compile(
        r",.*|\s*[(:;].*|\s(?:as|by|from|if|in|given|using|via|when|where|which|whose|with)\s.*|\s(?:to|for|of) (?:a|an|the) (?:given|specified|user|customer|reader|number)\b.*",
        re.DOTALL,
    ),
    "zh": re.compile(r"[，,：:；;（(].*", re.DOTALL),
}
"""From here on a description says how the tool is called."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|[。！？\n]")
_ARTICLE = re.compile(r"\b(?:an?|(?:an?|the) (?:user|customer|reader)'s) (?=([a-z]+))", re.IGNORECASE)


def deed_of(tool: ToolSchema, language: Language, values: Mapping[str, Any]) -> str:
    """What a customer has the tool do: the beginning of its description if that names a deed, else its name in words.

    A thing whose id is among the `values`, by argument, is the customer's own: "move my booking".
    """
    text = _SENTENCE_END.split(re.sub(r"`[^`]*`", "", tool.description).strip(), maxsplit=1)[0]
    labels = "|".join(re.escape(word) for one in tool.required for word in one.label.split())
    place = re.match(rf"[^,:;(]+? in an? (?:{labels})\b", text)  # which it is, is the customer's to say
    text = " ".join((place[0] if place else _TAIL[language].sub("", text)).split()).strip(" .!。")
    if language == "zh":
        return re.sub(r"(?:用户|顾客|读者|客户)的", "我的", text) or tool.name
    verb, *things = [word.lower() for word in re.findall(_WORD, tool.name)] or [tool.name]
    said, _, rest = text.partition(" ")
    things = things or [one.label for one in tool.required[:1]]
    if rest and (said := said.casefold().removesuffix("s" if said.casefold() == f"{verb}s" else "")) in {verb, *_VERBS}:
        verb = said
    else:
        rest = f"the {re.sub(' (?:by|for|from|in|with) .*', '', ' '.join(things))}" if things else ""
    ids = [one for one in tool.arguments if re.fullmatch(r"(?!\d{4}-)(?=.*\d)[\w#-]{4,}", str(values.get(one.name)))]
    named = {found[1] for found in _ARTICLE.finditer(rest)}
    own = named & {word for one in ids for word in one.label.split()} or named & {*things}
    if ids and not _GETS & {verb, *re.findall(r"\bto (\w+)", rest)}:
        rest = _ARTICLE.sub(lambda found: "my " if found[1] in own else found[0], rest)
    paid_back = verb in ("give", "pay") and "back" in rest.split()
    return f"{'get' if paid_back else 'see' if verb in _SEES else verb} {rest}".strip()


def line_of(case: DesignedCase, language: Language, number: int) -> dict[str, Any]:
    """The scenario of a case, without what the oracle adds; its number begins its title."""
    phrases = PHRASES[language]
    odd = case.argument.name if case.argument is not None else ""
    goal = phrases["goal"].format(deed=deed_of(case.tool, language, case.arguments))
    facts, unknown = [], []
    for argument in case.tool.arguments:
        if argument.name not in case.arguments:
            continue
        value = in_words(case.arguments[argument.name], language)
        words = {"label": argument.label, "value": value, "other": in_words(case.value, language)}
        words["is_"] = "are" if re.search(r"(?<![isu])s$", argument.label) else "is"
        if argument.name == odd and case.kind == "missing":
            unknown.append(phrases["unknown"].format(**words))
        elif argument.name == odd and case.kind == "ambiguous":
            goal += phrases["either"].format(**words)
            facts.append(phrases["resolved"].format(**words))
        else:
            facts.append(phrases["fact"].format(**words))
    about = f"{case.argument.label}: {case.kind}" if case.argument is not None else case.kind
    return {
        "title": f"{number}. {case.tool.name} ({about})",
        "goal": goal,
        "facts": facts,
        **({"unknown": unknown} if unknown else {}),
        **case.example.scenario,
        "case": {"tool": case.tool.name, "kind": case.kind, **({"argument": odd} if odd else {})},
    }
