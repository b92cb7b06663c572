"""Names of failures by an annotator: votes on a conversation of each cause, as for any label."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from ...data.attempts import begin
from ...data.files.folders import make_folder
from ...data.identity import digest
from ...data.labels.definition import LabelDefinition
from ...data.labels.units import WHOLE
from ...data.records import Conversation
from ...errors import SettingError
from ...graphs.label_graph import annotation, beginning
from ...nodes.annotators.kinds import Annotator, ModelAnnotator, RuleAnnotator, annotator
from ...nodes.calls.prices import asked_model
from ...nodes.models.specs import names_model
from ...nodes.settings.import_path import imported
from ...prompts.label_pages import shipped_labels
from ..asking.questions import ask_missing
from ..asking.store import AnswerStore
from ..engine.conduct import Conduct
from ..engine.conversing import Concurrency
from ..journals.journal import Journal, making
from .annotating import LabelWatch, payments
from .vote_journal import CODEC, VOTES_FILE, LabelVotes
from .work import work_id

LABEL = "failure"
"""Name of the label, and of its definition."""
FOLDER = "failures"
"""The folder of the votes in that of a run."""
OPTION = "--name-groups"
LONGEST = 100
"""Characters of a name that are shown."""


class FailureNames(NamedTuple):
    """What an annotator calls failures."""

    names: Mapping[str, str]
    """By the cause."""
    problem: str = ""
    """Why some have no name, in one line; empty if all have."""


@dataclass(frozen=True)
class FailureNaming:
    """Who names failures."""

    annotator: Annotator
    by: str
    """Who that is, in words."""

    @classmethod
    def of(cls, source: object) -> Self:
        """The naming by a model identifier, a chat model or a function; SettingError for the offline rules."""
        of_path = isinstance(source, str) and ":" in source and not names_model(source)
        chosen = annotator(imported(source, OPTION) if of_path else source)  # type: ignore[arg-type]
        if isinstance(chosen, RuleAnnotator):
            raise SettingError(f"{OPTION}: the offline rules name nothing further: give openai:NAME, or MODULE:NAME")
        name = getattr(source, "__name__", type(source).__name__)
        return cls(chosen, source if isinstance(source, str) else name)

    @property
    def models(self) -> list[Any]:
        """The chat model that is asked, if one is."""
        return [self.annotator.model] if isinstance(self.annotator, ModelAnnotator) else []

    async def names(
        self,
        examples: Mapping[str, Conversation],
        *,
        folder: Path | None = None,
        conduct: Conduct,
        concurrency: Concurrency = "auto",
        watch: LabelWatch | None = None,
    ) -> FailureNames:
        """What the failures are called; `examples`: a conversation by the cause that it is an example of.

        `folder`: that of the run, which keeps votes, and while one is missing replies; what is there is not asked again.
        """
        label, control = _label(), conduct.controlled()
        graph = annotation(label, [self.annotator])
        query = next(map(asked_model, self.models), None)
        shown = {self._id(cause, one): (cause, _with_cause(one, cause)) for cause, one in examples.items()}
        with ExitStack() as opened:
            store = _opened(folder, opened)

            async def ask(item: tuple[str, tuple[str, Conversation]], keep: LabelWatch) -> None:
                name, (_, conversation) = item
                end = await graph.ainvoke(beginning(conversation, (WHOLE,), subject=name))
                votes = tuple(dict(vote) for vote in end["votes"])
                keep(LabelVotes(id=name, conversation=conversation.id, label=LABEL, units=(WHOLE,), votes=votes))

            stopped = await ask_missing(
                store,
                {name: (name, item) for name, item in shown.items()},
                ask,
                conduct=replace(conduct, control=control, keep_calls=conduct.keep_calls is True),
                control=control,
                concurrency=concurrency,
                payments=lambda record: payments(record, [query]),
                price_query=query,
                on_answer=watch,
            )
            votes = {cause: store.of(name) for name, (cause, _) in shown.items()}
        names = {cause: text for cause, vote in votes.items() if vote is not None and (text := _text(vote))}
        errors = [
            vote.error or "no reply could be read" for cause, vote in votes.items() if vote and cause not in names
        ]
        problem = next(filter(None, [*errors, stopped, control.ending, "it was not asked"]))
        return FailureNames(names, problem if len(names) < len(examples) else "")

    def _id(self, cause: str, conversation: Conversation) -> str:
        """Another annotator, definition or cause is another question."""
        return digest(work_id(conversation, LABEL, 0), self.annotator.provenance(), _label().definition, cause)[:16]


def _label() -> LabelDefinition:
    return shipped_labels()[LABEL]


def _with_cause(conversation: Conversation, cause: str) -> Conversation:
    return conversation.model_copy(update={"scenario": {**conversation.scenario, "cause": cause}})


def _text(record: LabelVotes) -> str:
    """The name in a vote, on one line; empty if there is none."""
    values: Iterable[object] = ((vote["values"].get(str(WHOLE)) or {}).get(LABEL) for vote in record.votes)
    return begin(str(next(filter(None, values), "")), LONGEST)


def _opened(folder: Path | None, opened: ExitStack) -> AnswerStore[LabelVotes]:
    if folder is None:
        return AnswerStore(CODEC)
    place = folder / FOLDER
    with making(place):
        make_folder(place)
    store = AnswerStore(CODEC, place, journal=opened.enter_context(Journal.open(place / VOTES_FILE, CODEC)))
    assert store.journal is not None
    store.take_up(store.journal)
    return store
