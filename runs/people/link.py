"""The runs of the link between realism and usefulness: users of many kinds meet assistants of known order.

A run is one speaker with one assistant in one domain; the kinds of behaviour of that speaker share it.
"""

from collections.abc import Iterator, Mapping, Sequence
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
MARK = "link"
"""Key of a conversation's `extra`: the name of its user, and the number of its set of scenarios."""


@dataclass(frozen=True)
class LinkUser:
    """A user of the link: a speaker, and its behaviours."""

    name: str
    speaker: Any
    kind: UserKind

    @property
    def played_by(self) -> str:
        """What plays it: `rules`, `retrieval`, or the model or agent."""
        if people_path(self.speaker) is not None:
            return "retrieval"
        return "rules" if str(self.speaker).partition("?")[0] == "offline" else "other"

    @classmethod
    def of(cls, text: str) -> "LinkUser":
        """The user of `SPEC` or `SPEC+BEHAVIOUR,...`; SettingError for an unknown behaviour."""
        spec, plus, names = text.rpartition("+")
        behaves = plus and all(name.partition("=")[0].strip() in BEHAVIOURS for name in names.split(","))
        path = people_path(spec if behaves else text)
        name = text if path is None else text.replace(str(path), path.name, 1)
        return cls(name, spec, chosen_users([names])[0]) if behaves else cls(name, text, UserKind({}))


def default_users(source: str | None) -> list[str]:
    """The users of the link: rule-based ones, and with people's conversations retrieval-based ones."""
    kinds = ["", *(f"+{name}" for name in (*BEHAVIOURS, *COMBINED))]
    return [
        *(f"offline{kind}" for kind in kinds),
        *(f"people:{source}?{options}" for options in RETRIEVAL if source is not None),
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
        """The users that have words for a domain: one made from people only for people's tasks."""
        return [user for user in self.users if domain.name == PEOPLE or people_path(user.speaker) is None]

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
            self._run(domain, speaker, kinds, name, spec)
            for domain in self.domains
            for speaker, kinds in self._speakers(self.users_in(domain))
            for name, spec in self.assistants_in(domain).items()
        ]
        if self.contexts and self.source is not None:
            runs += [self._realism_run(speaker, kinds) for speaker, kinds in self._speakers(self.users)]
        return runs

    def _speakers(self, users: Sequence[LinkUser]) -> Iterator[tuple[Any, list[LinkUser]]]:
        """Each speaker with the users that it plays."""
        by_speaker: dict[str, list[LinkUser]] = {}
        for user in users:
            by_speaker.setdefault(str(user.speaker), []).append(user)
        for played in by_speaker.values():
            yield played[0].speaker, played

    def _run(self, domain: LinkDomain, speaker: Any, users: list[LinkUser], name: str, spec: Any) -> ValidityRun:
        states = [state for number in range(2) for state in self._played(domain.sets[number], users, number)]
        planted = self.graded and not domain.own_success
        return ValidityRun(
            user=str(speaker),
            assistant=name,
            cast=met_by(speaker, spec, domain.language, planted=planted),
            states=tuple(states),
            place=Path(folder_name(domain.name), folder_name(str(speaker)), folder_name(name)),
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

    def _realism_run(self, speaker: Any, users: list[LinkUser]) -> ValidityRun:
        language = language_in(self.contexts[0])
        return ValidityRun(
            user=str(speaker),
            assistant="",
            cast=met_by(speaker, f"people:{self.source}?part=tune", language, planted=False),
            states=tuple(self._played(self._one_of_each_person, users, 0)),
            place=Path(REALISM, folder_name(str(speaker))),
            scenarios=REALISM,
        )
