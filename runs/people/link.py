"""The runs of the link between realism and usefulness: users of many kinds meet assistants of known order.

A run is one speaker with one assistant in one domain; the kinds of behaviour of that speaker share it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ...data.behaviours import BEHAVIOURS
from ...data.behaviours.choice import UserKind, chosen_users
from ...data.people.splits import of_part
from ...data.records import Conversation
from ...data.text.languages import Language
from ...graphs.drawn_errands import DRAWN_DOMAINS, drawn_states
from ...graphs.scenarios.planned_states import behaving, numbered, repeated
from ...graphs.validity import contexts_of, language_in, met_by
from ...nodes.people.options import people_path
from ...nodes.seeded_faults.graded import GRADED
from ...nodes.state import State
from .next_turn import folder_name
from .validity import ValidityRun, of_file

PEOPLE = "people's tasks"
"""The domain of the contexts of stored conversations."""
REALISM = "realism"
"""Folder of the runs whose conversations are compared with people's."""
SET_SIZE = 20
"""Scenarios of each of the two sets of a domain."""
COMPARED = 40
"""Maximum number of people in whose contexts the users' conversations are compared with people's."""
COMBINED = ("impatient,incomplete", "incomplete,terse", "doubts,pushes", "vague,wordy")
"""Kinds of users with two behaviours each, beside those with one."""
RETRIEVAL = (
    "part=tune",
    "part=tune&stay=0",
    "part=tune&spread=0.4",
    "part=tune&spread=1",
    "part=tune&wish=0&task=0&person=0",
    "part=tune&heard=0&reply=0&asked=0",
    "part=tune&wish=0&task=0&person=0&heard=0&asked=0&own=0&talk=0&reply=0&theme=0&refers=0&place=0&stay=0"
    "&same_person=0&spread=1",
)
"""Retrieval-based users by their options; the last draws turns at random."""
LIKE = "like"
"""Behind a user's `+`, among its behaviours: the style filter by the people of the development split."""
FILTERED_KINDS = ("", "vague,", "wordy,", "vague,wordy,")
FILTERED_RETRIEVAL = tuple(RETRIEVAL[number] for number in (0, 1, 3, 6))
"""Rule-based and retrieval-based users that are there with a style filter too."""
MARK = "link"
"""Key of a conversation's `extra`: the name of its user, and the number of its set of scenarios."""


@dataclass(frozen=True)
class LinkUser:
    """A user of the link: a speaker, and its behaviours."""

    name: str
    speaker: Any
    kind: UserKind
    like: bool = False
    """Whether it has the style filter."""

    @property
    def engine(self) -> str:
        """The name of its speaker, with that of its style filter."""
        return f"{self.speaker}+{LIKE}" if self.like else str(self.speaker)

    @property
    def played_by(self) -> str:
        """What plays it: `rules`, `retrieval`, or the model or agent."""
        if people_path(self.speaker) is not None:
            return "retrieval"
        return "rules" if str(self.speaker).partition("?")[0] == "offline" else "other"

    @classmethod
    def of(cls, text: str) -> "LinkUser":
        """The user of `SPEC` or `SPEC+BEHAVIOUR,...`, where `like` among the behaviours is the style filter."""
        spec, plus, after = text.rpartition("+")
        names = [name.strip() for name in after.split(",")]
        behaves = plus and all(name.partition("=")[0] in (*BEHAVIOURS, LIKE) for name in names)
        path = people_path(spec if behaves else text)
        name = text if path is None else text.replace(str(path), path.name, 1)
        if not behaves:
            return cls(name, text, UserKind({}))
        behaviours = ",".join(name for name in names if name != LIKE)
        return cls(name, spec, chosen_users([behaviours])[0] if behaviours else UserKind({}), LIKE in names)


def default_users(source: str | None) -> list[str]:
    """The users of the link: rule-based ones, and with people's conversations retrieval-based ones."""
    kinds = ["", *(f"+{name}" for name in (*BEHAVIOURS, *COMBINED))]
    return [
        *(f"offline{kind}" for kind in kinds),
        *(f"people:{source}?{options}" for options in RETRIEVAL if source is not None),
        *(f"offline+{kind}{LIKE}" for kind in FILTERED_KINDS if source is not None),
        *(f"people:{source}?{options}+{LIKE}" for options in FILTERED_RETRIEVAL if source is not None),
    ]


@dataclass(frozen=True)
class LinkDomain:
    """Scenarios of one subject, in two sets; the second is twice as much, and new draws."""

    name: str
    sets: tuple[tuple[State, ...], tuple[State, ...]]
    own_success: bool
    """Whether its scenarios have a `success`."""

    @property
    def language(self) -> Language:
        """The language of its first scenario."""
        return language_in(self.sets[0][0])


def _halves(states: Sequence[State]) -> tuple[tuple[State, ...], tuple[State, ...]]:
    """Every second state, so that both sets are about the same tasks."""
    return tuple(states[::2]), tuple(states[1::2])


@dataclass(frozen=True)
class LinkPlan:
    """Users, assistants of known order, and domains; the runs that these are."""

    users: Sequence[LinkUser]
    assistants: Mapping[str, Any]
    """Speakers by name. Of one's own: the best first."""
    people: Sequence[Conversation] = ()
    """Conversations of people: those of the test split are a domain, and realism is measured against them."""
    source: str | None = None
    """Their path; with it replies for the measurement of realism are people's assistants'."""
    scenarios: Path | None = None
    """Scenarios of one's own: the only domain beside people's."""
    size: int = SET_SIZE
    compared: int = COMPARED
    seed: int = 0

    @property
    def graded(self) -> bool:
        """Whether the assistants are the shipped ones."""
        return all(self.assistants.get(name) == spec for name, spec in GRADED.items())

    @cached_property
    def domains(self) -> tuple[LinkDomain, ...]:
        """The domains."""
        domains: list[LinkDomain] = []
        if self.scenarios is not None:
            states = of_file(self.scenarios, None, self.seed)[: 2 * self.size]
            domains.append(LinkDomain(self.scenarios.stem, _halves(states), own_success=True))
        else:
            for name in DRAWN_DOMAINS:
                first, second = (drawn_states(name, self.size, self.seed + number) for number in range(2))
                domains.append(LinkDomain(name, (tuple(first), tuple(second)), own_success=True))
        if self.contexts:
            domains.append(LinkDomain(PEOPLE, _halves(self.contexts[: 2 * self.size]), own_success=False))
        return tuple(domains)

    @cached_property
    def compared_people(self) -> list[Conversation]:
        """The people's conversations that realism is measured against: of the test split."""
        return [one for one in self.people if of_part(one, "test")]

    @cached_property
    def contexts(self) -> list[State]:
        """A scenario for each conversation of people of the test split, in their order."""
        states: list[State] = []
        for one in self.compared_people:
            for state in contexts_of([one], 1):
                person = state.get("extra", {}).get("stored", {}).get("user")
                states.append({**state, "extra": {**state.get("extra", {}), "user": person}})
        return numbered(states)

    def users_in(self, domain: LinkDomain) -> list[LinkUser]:
        """The users that have words for a domain: one made from people, or like them, only for people's tasks."""
        return [
            user
            for user in self.users
            if domain.name == PEOPLE or (people_path(user.speaker) is None and not user.like)
        ]

    def filter_of(self, user: LinkUser) -> dict[str, str]:
        """The setting of a user's style filter, by its name; empty without one."""
        return {LIKE: f"{self.source}?part=tune"} if user.like else {}

    @cached_property
    def _one_of_each_person(self) -> list[State]:
        firsts: dict[str, State] = {}
        for state in self.contexts:
            firsts.setdefault(str(state.get("extra", {}).get("user")), state)
        return list(firsts.values())[: self.compared]

    def assistants_in(self, domain: LinkDomain) -> Mapping[str, Any]:
        """The assistants that are met in a domain.

        In a free conversation no value is missing, so an unsafe assistant has nothing to invent.
        """
        if domain.own_success or not self.graded:
            return self.assistants
        return {name: spec for name, spec in self.assistants.items() if not name.startswith("unsafe")}

    @cached_property
    def runs(self) -> list[ValidityRun]:
        """The runs with the assistants, and the runs whose conversations are compared with people's."""
        runs = [
            self._run(domain, kinds, name, spec)
            for domain in self.domains
            for kinds in _by_engine(self.users_in(domain))
            for name, spec in self.assistants_in(domain).items()
        ]
        if self.contexts and self.source is not None:
            runs += [self._realism_run(kinds) for kinds in _by_engine(self.users)]
        return runs

    def _run(self, domain: LinkDomain, users: list[LinkUser], name: str, spec: Any) -> ValidityRun:
        states = [state for number in range(2) for state in self._played(domain.sets[number], users, number)]
        planted = self.graded and not domain.own_success
        return ValidityRun(
            user=users[0].engine,
            assistant=name,
            cast=met_by(users[0].speaker, spec, domain.language, planted=planted, settings=self.filter_of(users[0])),
            states=tuple(states),
            place=Path(folder_name(domain.name), folder_name(users[0].engine), folder_name(name)),
            scenarios=domain.name,
        )

    def _played(self, states: Sequence[State], users: Sequence[LinkUser], number: int) -> list[State]:
        """Each scenario with each user, marked by its name and the set."""
        played = behaving(repeated(states, 1), [user.kind for user in users], self.seed)
        return [
            {
                **state,
                "ordinal": 2 * state.get("ordinal", 0) + number,
                "extra": {**state.get("extra", {}), MARK: {"user": users[place % len(users)].name, "set": number}},
            }
            for place, state in enumerate(played)
        ]

    def _realism_run(self, users: list[LinkUser]) -> ValidityRun:
        language, replies = language_in(self.contexts[0]), f"people:{self.source}?part=tune"
        return ValidityRun(
            user=users[0].engine,
            assistant="",
            cast=met_by(users[0].speaker, replies, language, planted=False, settings=self.filter_of(users[0])),
            states=tuple(self._played(self._one_of_each_person, users, 0)),
            place=Path(REALISM, folder_name(users[0].engine)),
            scenarios=REALISM,
        )


def _by_engine(users: Sequence[LinkUser]) -> list[list[LinkUser]]:
    """The users that one speaker plays with the same filter: they share their runs."""
    engines: dict[str, list[LinkUser]] = {}
    for user in users:
        engines.setdefault(user.engine, []).append(user)
    return list(engines.values())
