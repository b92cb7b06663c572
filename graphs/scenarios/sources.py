"""The scenarios of a run: where they come from, and the initial states that are made of them.

A source is a pydantic model whose fields are options of the command. A scenario may hold the user's own messages: those
with which the conversation begins, and a script.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from ...data import domains
from ...data.behaviours import KEY as BEHAVIOURS
from ...data.behaviours import behaviours_in, chosen_users
from ...data.identity import digest, ordinals
from ...data.people import UserPart, of_part
from ...data.records import Conversation
from ...data.scenarios import LogScenario, ScenarioReader, check_plain
from ...errors import DataError, SettingError, at
from ...nodes.models.specs import replayed_path
from ...nodes.state import NodePlace, Planned, State, Update, said
from ...nodes.success import KEY as SUCCESS
from ...nodes.success import success_of, with_judge


@dataclass(frozen=True)
class Scenarios:
    """Initial states in order, and their source; iterates over the states."""

    states: Sequence[Planned]
    source: dict[str, Any]
    """For the manifest and the card: `source`, and if known `licence` and `licence_id`."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of the cast that follow from the scenarios unless they were set, such as the language."""
    notes: tuple[str, ...] = ()
    """Lines for the reader."""
    broken: bool = False
    """Whether a part of the source could not be read."""

    def __iter__(self) -> Iterator[Planned]:
        return iter(self.states)

    def __len__(self) -> int:
        return len(self.states)


def numbered(states: Sequence[Planned]) -> list[Planned]:
    """The states in order; equal scenarios get different numbers."""
    numbers = ordinals(state["scenario"] for state in states)
    return [{**state, "ordinal": number} for state, number in zip(states, numbers, strict=True)]


def repeated(scenarios: Iterable[Planned], repeats: int) -> list[Planned]:
    """Each scenario `repeats` times, its repeats numbered; SettingError for fewer than one."""
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise SettingError(f"repeats: expected a number of at least 1, not {repeats!r}")
    return [{**scenario, "repeat": repeat} for scenario in scenarios for repeat in range(repeats)]


def behaving(states: Sequence[Planned], users: Sequence[tuple[str, ...]]) -> list[Planned]:
    """Each state with each kind of user, whose behaviours stand in its `extra`."""
    planned: list[Planned] = []
    for state in states:
        for number, user in enumerate(users):
            ordinal = state.get("ordinal", 0) * len(users) + number
            planned.append({**state, "ordinal": ordinal, "extra": {**state.get("extra", {}), BEHAVIOURS: list(user)}})
    return planned


def chosen(
    scenarios: Sequence[Planned], *, limit: int | None = None, sample: int | None = None, seed: int = 0
) -> list[Planned]:
    """The first `limit` scenarios, or a random `sample` of them in their order, or all.

    Whether a scenario is drawn depends on a digest of seed and scenario: on its rank, not its position.
    """
    if limit is not None and sample is not None:
        raise SettingError("limit and sample exclude each other: take the first N, or N at random")
    if sample is None:
        return list(scenarios[:limit])
    if sample > len(scenarios):
        raise SettingError(f"a sample of {sample} cannot be drawn from {len(scenarios)} scenarios: ask for fewer")

    def draw(number: int) -> str:
        return digest("sample", seed, scenarios[number]["scenario"], scenarios[number].get("ordinal", 0))

    return [scenarios[number] for number in sorted(sorted(range(len(scenarios)), key=draw)[:sample])]


class ScenarioSource(BaseModel):
    """Options that every source of scenarios has.

    With `scenarios` any cast takes them from stored conversations or from JSON lines. A cast with scenarios of its own
    making says in `own` how it makes them, and in `fitting` what it takes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    subjects: ClassVar[tuple[str, ...]] = ()
    """Options of the cast that mean nothing beside `scenarios`."""
    scenarios: Path | None = Field(
        default=None,
        description="Take the scenarios of this source: stored conversations in their order (a run folder, a data set, logs), JSON of scenarios, or test cases of another tool. Each conversation is one scenario.",
    )
    part: UserPart = Field(
        default="all", description="Take only users of this split of --scenarios: tune (development), test, or all."
    )
    limit: int | None = Field(default=None, ge=1, description="Limit to the first N scenarios. Default: all.")
    repeats: int = Field(default=1, ge=1, description="Simulate N conversations about each scenario.")
    behaviour: tuple[str, ...] = Field(
        default=(),
        description="Give the users these behaviours, such as impatient,incomplete, or impatient=0.3 for a share of them. May be repeated: each scenario meets each kind of user; plain means no behaviour.",
    )
    judge: str | None = Field(
        default=None,
        description="Judge success with this model where a scenario asks for a judgement and names no model: openai:NAME.",
    )
    skip_broken: bool = Field(
        default=False,
        description="Leave out scenarios that cannot be read, and count them; else the source is refused.",
    )
    licence: str | None = Field(
        default=None,
        description="Name the licence and attribution of the scenarios' text; they are written into the data set's README.",
    )

    def read(self, settings: Any, seed: int) -> Scenarios:
        """The scenarios: those of `scenarios` if it is given, else the cast's own; chosen with the seed, and repeated.

        `settings`: the cast's. DataError for a source that cannot be used, SettingError for options without an effect.
        """
        users = chosen_users(self.behaviour)
        if users and replayed_path(getattr(settings, "user", None)) is not None:
            raise SettingError("--behaviour: the user is replayed, so its words are fixed: leave one of the two out")
        if self.repeats > 1 and len(replayed_paths(settings)) == 2:
            raise SettingError("--repeats: both sides are replayed, so every repeat would be the same: leave it out")
        if self.scenarios is not None:
            if beside := [f"--{name}" for name in self.subjects if getattr(self, name) is not None]:
                raise SettingError(f"{' and '.join(beside)}: --scenarios says what is talked about: leave it out")
            taken = self._taken(self.scenarios, seed)
        else:
            if idle := next((name for name in ("part", "judge") if getattr(self, name) not in ("all", None)), None):
                raise SettingError(f"--{idle}: is about the scenarios of --scenarios SRC: give it, or leave this out")
            taken = self.own(settings, seed)
        states = repeated(taken, self.repeats)
        return replace(
            taken,
            states=behaving(states, users) if users else states,
            source=taken.source | {"licence": self.licence or taken.source.get("licence")},
            settings=self.settings_for(taken.states),
            notes=(*taken.notes, *self.remarks(taken.states, settings)),
        )

    def own(self, settings: Any, seed: int) -> Scenarios:
        """The cast's own scenarios, each once, where no source of them is given; SettingError if it makes none."""
        raise SettingError("--scenarios: give a file of JSON lines, one scenario each, or stored conversations")

    def fitting(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """The scenario as this cast takes it, by default any; DataError if it is of another domain or lacks something."""
        return scenario

    def selected(self, states: Sequence[Planned], seed: int) -> Sequence[Planned]:
        """The states that the options of a cast choose, in order."""
        return states[: self.limit]

    def settings_for(self, states: Sequence[Planned]) -> dict[str, Any]:
        """Settings of the cast that follow from the scenarios unless they were set."""
        return {}

    def remarks(self, states: Sequence[Planned], settings: Any) -> list[str]:
        """Notes on the scenarios that were taken, a line each: by default on unknown kinds."""
        known_kinds = (None, *(domain.kind for domain in domains.registered()))
        kinds = Counter(str(kind) for state in states if (kind := state["scenario"].get("kind")) not in known_kinds)
        return [
            f"{count} of {len(states)} scenarios are of the kind {kind!r}, of which no domain is known: they are taken as they "
            "are (--domain MODULE:NAME names one)"
            for kind, count in kinds.items()
        ]

    def state(self, scenario: Any, *, stored: bool = False) -> Planned:
        """The initial state of a scenario as in a line of a file, or in a `stored` conversation; DataError or SettingError."""
        if not isinstance(scenario, dict) or not isinstance(scenario.get("kind", ""), str):
            raise DataError("is not an object with a text 'kind', 'goal' or 'first_message': give it one")
        scenario = self.fitting(scenario)
        plain = "kind" not in scenario
        if plain and not stored:
            scenario = checked_script(scenario)
            check_plain({key: scenario[key] for key in scenario.keys() - {SCRIPT, MESSAGES}})
        if isinstance(scenario.get(SUCCESS), dict) or (plain and SUCCESS in scenario):
            if self.judge is not None:
                scenario = scenario | {SUCCESS: with_judge(scenario[SUCCESS], self.judge)}
            success_of(scenario[SUCCESS])
        if BEHAVIOURS in scenario:
            behaviours_in(scenario)
        state: Planned = {"scenario": scenario}
        if plain and isinstance(first := scenario.get("first_message"), str):
            state["messages"] = [{"role": "user", "text": first}]
        if plain and MESSAGES in scenario and (begun := first_messages(scenario)):
            state["messages"] = begun
        return state

    def _taken(self, path: Path, seed: int) -> Scenarios:
        """The scenarios of a source, each with the number that it has among equal ones of the whole source."""
        reader = ScenarioReader(path, skip_broken=self.skip_broken)
        states: list[Planned] = []
        seen: Counter[str] = Counter()
        for entry in reader:
            with reader.broken_lines.reading(entry.where):
                state = self._state_of(entry, path)
                key = digest(state["scenario"])
                state["ordinal"] = seen[key]
                seen[key] += 1
                who = entry.conversation or Conversation(id="", scenario=state["scenario"])
                if of_part(who, self.part):
                    states.append(state)
        total = sum(seen.values())
        if not total:
            nothing = "conversation that states what its user wants" if reader.stored else "scenario"
            raise DataError(f"{at(path)}: holds no {nothing}: give one that does, or write one object a line")
        if not states:
            none = f"none of its {total:,} scenarios is of a user in the part {self.part!r}"
            raise DataError(f"{at(path)}: {none}: give --part all, or a source with more users")
        states = list(self.selected(states, seed))
        info: dict[str, Any] = {"source": path.absolute().name, "source_digest": reader.digest, "format": reader.format}
        further = {
            "part": self.part if self.part != "all" else None,
            "first_messages": sum("messages" in state for state in states) * self.repeats,
            "left_out": reader.left_out,
            "broken": list(reader.broken),
            **({} if self.licence else reader.licence),
        }
        info |= {name: value for name, value in further.items() if value}
        notes = [f"{reader.path}: {note}" for note in reader.notes]
        if reader.left_out:
            of = f"{reader.left_out} of {total + reader.left_out} conversations"
            notes.append(f"{reader.path}: {of} name no goal and have no words of a user: left out")
        return Scenarios(states, info, notes=tuple(notes), broken=bool(reader.broken))

    def _state_of(self, entry: LogScenario, path: Path) -> Planned:
        """The initial state of a scenario of a source; DataError says where one cannot be used."""
        try:
            state = self.state(entry.scenario, stored=entry.conversation is not None)
        except (DataError, SettingError) as error:
            raise DataError(f"{at(path, entry.where)}: {error}") from None
        if entry.opening is not None:
            state["messages"] = [entry.opening.plain()]
        if entry.extra:
            state["extra"] = dict(entry.extra)
        return state


def replayed_paths(settings: Any) -> list[Path]:
    """The data sets that the cast's sides replay, the user's first."""
    return list(filter(None, (replayed_path(getattr(settings, side, None)) for side in ("user", "assistant"))))


def of_another_kind(kind: object, taken: str, of_kind: str = "") -> str:
    """The error for a scenario of another kind: its kind, what the cast takes, and the correction."""
    what, named = "names no kind" if kind is None else f"is of kind {kind!r}", f" ({of_kind!r})" if of_kind else ""
    return f"the scenario {what}; the cast takes {taken}{named}: give a source of these, or choose another cast"


# Scripts: the messages of {"goal": "get a refund", "script": ["I want a refund.", "KX4411."]} are said one after the other,
# whatever the assistant answers, and no user model is asked; after the last answer the conversation ends. With `messages`
# it begins in the middle; where these end with the user's, the assistant answers first


SCRIPT, MESSAGES = "script", "messages"
_SHAPE = 'each {"role": "user" or "assistant", "text": ...}'


def checked_script(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario, with its first text of the user as the goal where it has none; DataError for another form."""
    script, begun = scenario.get(SCRIPT, []), first_messages(scenario)
    if not isinstance(script, list) or (SCRIPT in scenario and not script) or not all(map(_is_text, script)):
        raise DataError(f"{SCRIPT!r}: expected a list of the user's messages, each a text")
    said_by_user = [one["text"] for one in begun if one["role"] == "user"] + script
    named = {key for key in ("goal", "first_message", "kind") if key in scenario}
    if MESSAGES in scenario and "first_message" in scenario:
        raise DataError(f"'first_message': {MESSAGES!r} says how it begins: leave one of the two out")
    return dict(scenario) | ({"goal": said_by_user[0]} if said_by_user and not named else {})


def first_messages(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages with which a scenario begins; DataError for another form."""
    messages = scenario.get(MESSAGES, [])
    if not isinstance(messages, list) or (MESSAGES in scenario and not messages):
        raise DataError(f"{MESSAGES!r}: expected a list of messages, {_SHAPE}")
    found = []
    for number, one in enumerate(messages, start=1):
        text = one.get("text", one.get("content")) if isinstance(one, Mapping) else None
        if not _is_text(text) or one.get("role") not in ("user", "assistant"):
            raise DataError(f"{MESSAGES!r}: message {number}: expected a list of messages, {_SHAPE}")
        found.append({"role": one["role"], "text": text})
    return found


def scripted_update(place: NodePlace, state: State) -> Update | None:
    """The update of a place of the user's side by the scenario's script; None without one."""
    script: Sequence[str] = state["scenario"].get(SCRIPT) or ()
    if not script or not isinstance(script, list):
        return None
    if place == "user_prompt_selector":
        return {"prompt": None}
    if place == "question_validator":
        return {"verdicts": [{"accepted": True} for _ in state.get("drafts") or ()]}
    if place != "user_simulator":
        return None
    begun = sum(one["role"] == "user" for one in first_messages(state["scenario"]))
    number = sum(one["role"] == "user" and not one.get("name") for one in said(state)) - begun
    return {"drafts": [{"text": script[number]}]} if number < len(script) else {"drafts": [], "stop": "user_ended"}


def _is_text(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())
