"""Labelling conversations by models or functions: several votes on each label, in a table beside the data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from ..data.files.json import dumps, parsed, read_json, write_text
from ..data.files.paths import make_folder
from ..data.formats.source import MANIFEST
from ..data.identity import VERSION, digest
from ..data.labels.definition import LabelDefinition
from ..data.labels.table import Item, LabelRow, LabelTable, missing, units_of
from ..data.loading import Loaded, load
from ..data.records import Conversation, as_object
from ..errors import SettingError
from ..nodes.annotators import (
    Annotator,
    FunctionAnnotator,
    LabelQuestion,
    ModelAnnotator,
    annotator,
    pages,
    votes_on,
)
from ..prompts.label_pages import labels_named
from .ask import ask_all
from .engine import blocking
from .people_labels import reasons_in
from .plan import CallPlan
from .settings import RunSettings
from .store import RunError

VOTES = 3
"""Votes of a model, unless another number is asked for."""
IN_MEMORY = "in memory"
"""Kind of conversations that stand in no file."""

LabelSource: TypeAlias = str | Path | Loaded | Iterable[Conversation]
LabelledBy: TypeAlias = Any
"""Who labels: a spec, a chat model, a function `conversation, label -> value`, or an annotator; or several of these."""


@dataclass(frozen=True)
class Annotations:
    """The result of labelling."""

    labels: Mapping[str, LabelDefinition]
    rows: tuple[LabelRow, ...]
    """The labelled things, in the order of the conversations."""
    planned: int
    """Conversations to label, once for each label."""
    failed: int = 0
    """Of these, those at which an annotator failed, or that were not asked about; the same call asks again."""
    why: str = ""
    """Why some failed; empty if none did."""
    refused: tuple[str, ...] = ()
    """The last reply about each thing without a value: all replies about it were refused or could not be read."""
    calls: int = 0
    """Calls of models for the rows, with those of earlier calls that were kept."""
    tokens: int = 0
    conversations: tuple[Conversation, ...] = field(default=(), repr=False)
    """The conversations with their labels."""

    def summary(self) -> dict[str, Any]:
        """How much was labelled, and what it took."""
        return {name: getattr(self, name) for name in ("planned", "failed", "why", "calls", "tokens")}

    def counts(self) -> dict[str, dict[str, int]]:
        """For each label the number of labelled things, of ties in a part, of votes, and of votes without a value."""
        names = ("labelled", "ties", "votes", "refused_votes")
        counts: dict[str, dict[str, int]] = {}
        for row in self.rows:
            own = counts.setdefault(row.label, dict.fromkeys(names, 0))
            label, value = self.labels[row.label], as_object(row.value)
            tied = bool(value) and any(value[name] is None for name in label.parts if label.applies(name, value))
            own["labelled"] += bool(value) and not tied
            own["ties"] += tied
            own["votes"] += len(row.votes)
            own["refused_votes"] += sum(vote is None for vote in row.votes)
        return counts


@dataclass(frozen=True)
class _Piece:
    """A conversation to label with one label."""

    conversation: Conversation
    label: LabelDefinition
    units: tuple[int, ...]

    @property
    def name(self) -> str:
        """What the seeds of its calls are derived from: with another text it has another one."""
        texts = [(message.role, message.text) for message in self.conversation.messages]
        return digest("annotation", self.conversation.id, self.label.name, 0, texts)[:16]

    def items(self) -> Iterator[Item]:
        """Each thing in it."""
        return (Item.of(self.conversation, self.label, unit) for unit in self.units)

    def calls(self, votes: int) -> int:
        """The number of calls that a vote of a model on all of it takes."""
        return len(list(LabelQuestion(self.conversation, self.label, self.units, count=votes).calls()))


class AnnotationWork:
    """Conversations to label, with what and by whom, by the parameters of `annotate`; nothing is asked yet."""

    def __init__(
        self,
        source: LabelSource,
        labels: Sequence[str | LabelDefinition],
        model: LabelledBy,
        *,
        out: str | Path | None = None,
        votes: int | None = None,
        redo: bool = False,
        labels_dir: str | Path | None = None,
        seed: int = 0,
    ) -> None:
        own = None if labels_dir is None else Path(labels_dir)
        self.labels = [one if isinstance(one, LabelDefinition) else labels_named([one], own)[0] for one in labels]
        if not self.labels:
            raise SettingError("labels: name one or more, such as style,intent")
        _check_keys(self.labels)
        self.loaded = _loaded(source, self.labels)
        if out is not None and self.loaded.kind == IN_MEMORY:
            raise SettingError("out: labels stand beside a data set on disk: give its path in place of conversations")
        annotators = [annotator(one) for one in (model if isinstance(model, list | tuple) else [model])]
        self.panel = voters(annotators, votes)
        """An annotator for each vote."""
        self.out, self.seed, self.redo = None if out is None else Path(out), seed, redo

    @cached_property
    def pieces(self) -> dict[str, _Piece]:
        """What lacks a label, or with `redo` everything, by name; DataError where another label stands in its place."""
        every = (
            _Piece(one, label, tuple(units))
            for one in self.loaded
            for label in self.labels
            if (units := units_of(one, label) if self.redo else missing(one, label))
        )
        return {piece.name: piece for piece in every}

    @property
    def models(self) -> list[Any]:
        """The chat models that are asked."""
        return list({id(one): one.model for one in self.panel if isinstance(one, ModelAnnotator)}.values())

    def plan(self) -> CallPlan:
        """How many calls it takes at most."""
        asking = [one for one in self.panel if isinstance(one, ModelAnnotator)]
        usual = len(asking) * sum(piece.calls(len(self.panel)) for piece in self.pieces.values())
        attempts = max((one.attempts for one in asking), default=1)
        each = f"{len(self.panel)} vote{'' if len(self.panel) == 1 else 's'} each"
        return CallPlan(len(self.pieces), "labellings", usual, attempts * usual, each)

    async def annotations(self, settings: RunSettings | None = None) -> Annotations:
        """The votes, asked for and written into the folder; RunError if that is another labelling's."""
        settings = settings or RunSettings()
        pieces = self.pieces
        if self.out is not None:
            self._begin(self.out)

        async def ask(piece: _Piece) -> list[dict[str, Any]]:
            label, units = piece.label, piece.units
            return await votes_on(piece.conversation, label, units, self.panel, seed=self.seed, subject=piece.name)

        if self.out is not None:
            settings = settings.model_copy(update={"out": self.out})
        answers, why = await ask_all(pieces, ask, settings, failed=_error)
        errors = [error for votes in answers.values() if (error := _error(votes))]
        rows: list[LabelRow] = []
        refused: list[str] = []
        for name, piece in pieces.items():
            if name in answers and not _error(answers[name]):
                rows += self._rows(piece, answers[name], refused)
        table = self._table(rows)
        if self.out is not None:
            table.write(self.out)
        attempts = [attempt for votes in answers.values() for vote in votes for attempt in vote["attempts"]]
        usage = [as_object(attempt.get("usage")) for attempt in attempts]
        return Annotations(
            labels=table.labels,
            rows=tuple(rows),
            planned=len(pieces),
            failed=len(pieces) - len(answers) + len(errors),
            why=next(iter(errors), "") or why,
            refused=tuple(refused),
            calls=len(attempts),
            tokens=sum(int(one.get(side, 0)) for one in usage for side in ("input_tokens", "output_tokens")),
            conversations=tuple(table.put_into(self.loaded)),
        )

    def _rows(self, piece: _Piece, votes: Sequence[dict[str, Any]], refused: list[str]) -> Iterator[LabelRow]:
        names = [_name(one) for one in self.panel]
        by = [name if names.count(name) == 1 else f"{name} #{number}" for number, name in enumerate(names, start=1)]
        for unit, item in zip(piece.units, piece.items(), strict=True):
            row = LabelRow.voted(item, piece.label, [vote["values"].get(str(unit)) for vote in votes], by)
            if row.value is None and (attempts := [last for vote in votes for last in vote["attempts"][-1:]]):
                refused.append(str(attempts[0].get("text", "")))
            yield row

    def _table(self, rows: Sequence[LabelRow]) -> LabelTable:
        settings = {
            "annotators": [one.provenance() for one in self.panel],
            "seed": self.seed,
            "pages": digest(pages().digests)[:16],
            "version": VERSION,
        }
        labels = {label.name: label for label in self.labels}
        return LabelTable(self.loaded.path, labels, rows, settings=settings)

    def _begin(self, out: Path) -> None:
        """Write the manifest before the first call; RunError if the folder is another's."""
        path, manifest = out / MANIFEST, self._table(()).manifest(out)
        try:
            if path.exists():
                stored, now = as_object(read_json(path)), as_object(parsed(dumps(manifest), path))
                if differing := [name for name, value in now.items() if stored.get(name) != value]:
                    raise RunError(
                        f"{out}: holds labels of another work ({differing[0]}): give the same as then, or choose another folder"
                    )
            elif out.is_dir() and any(out.iterdir()):
                raise RunError(f"{out}: holds other files: choose another folder for the labels")
            make_folder(out)
            write_text(path, dumps(manifest, indent=1) + "\n")
        except OSError as error:
            raise RunError(f"{out}: cannot be written ({error.strerror}): choose another folder") from None


async def aannotate(
    source: LabelSource,
    labels: Sequence[str | LabelDefinition],
    model: LabelledBy,
    *,
    votes: int | None = None,
    redo: bool = False,
    labels_dir: str | Path | None = None,
    **settings: Any,
) -> Annotations:
    """As `annotate`, whose parameters, result and errors it has, to be awaited.

    Example::

        >>> import duologue
        >>> done = await duologue.aannotate("out/demo-1", ["style"], "openai:NAME")  # doctest: +SKIP
    """
    how = RunSettings.of(**settings)
    work = AnnotationWork(
        source, labels, model, out=how.out, votes=votes, redo=redo, labels_dir=labels_dir, seed=how.seed or 0
    )
    return await work.annotations(how)


def annotate(
    source: LabelSource,
    labels: Sequence[str | LabelDefinition],
    model: LabelledBy,
    *,
    votes: int | None = None,
    redo: bool = False,
    labels_dir: str | Path | None = None,
    **settings: Any,
) -> Annotations:
    """Label the conversations of a data set by one annotator, or by several with one vote each.

    Things that have a label in the source already are left out, unless `redo`. The source is never changed.

    Args:
        source: Conversations, or a path that `load` reads; for labels of reasons the folder of a study's answers.
        labels: Names of labels, or their definitions.
        model: The annotator or annotators: a model, or a function `conversation, label -> value`.
        votes: Number of votes of a single annotator; default: 3, of a function 1.
        redo: Label also what has the label in the source.
        labels_dir: A folder with label definitions of your own.
        settings: Pace, bounds and seed, as for `simulate`. `out`: a folder for the labels, which `load` reads as the
            labelled data; the same call goes on with what it holds.

    Returns:
        The labels, and the conversations with them. A thing for which an annotator failed has none.

    Raises:
        SettingError: A setting cannot be used, before the first call.
        DataError: A conversation cannot be used.
        RunError: `out` holds other files, or labels that were made otherwise.

    Example::

        >>> import duologue
        >>> done = duologue.annotate("out/demo-1", ["style"], "openai:NAME")  # doctest: +SKIP
        >>> done.conversations[0].labels["style"].value["politeness"]  # doctest: +SKIP
    """
    work = aannotate(source, labels, model, votes=votes, redo=redo, labels_dir=labels_dir, **settings)
    return blocking(work, settings.get("out"))


def voters(annotators: Sequence[Annotator], votes: int | None = None) -> list[Annotator]:
    """An annotator for each vote: several have one each; a single one has `votes`, by default 3, a function one.

    SettingError for a function with several votes, which would be the same one again.
    """
    if not annotators:
        raise SettingError("no annotator: give a model, such as openai:NAME, or a function")
    if len(annotators) > 1:
        if votes not in (None, len(annotators)):
            raise SettingError(f"{len(annotators)} annotators have one vote each, not {votes}: leave the votes out")
        return list(annotators)
    alone = annotators[0]
    if votes is not None and votes < 1:
        raise SettingError(f"votes must be at least 1, not {votes}")
    if isinstance(alone, FunctionAnnotator) and (votes or 1) > 1:
        raise SettingError(f"a function gives the same value each time: one vote, not {votes}")
    return [alone] * (votes or (VOTES if isinstance(alone, ModelAnnotator) else 1))


def _loaded(source: LabelSource, labels: Sequence[LabelDefinition]) -> Loaded:
    """The conversations of a data set, or the reasons in the answers to a study, as the labels need them."""
    if isinstance(source, Loaded):
        return source
    if not isinstance(source, str | Path):
        return Loaded(Path(), IN_MEMORY, list(source))
    of_reasons = {label.unit == "reason" for label in labels}
    if of_reasons == {True, False}:
        raise SettingError("labels: some are about conversations and some about a study's answers: ask for them apart")
    return load(source) if of_reasons == {False} else reasons_in(Path(source))


def _check_keys(labels: Sequence[LabelDefinition]) -> None:
    for number, label in enumerate(labels):
        for other in labels[number + 1 :]:
            shared = set(label.keys) & set(other.keys)
            if shared and label.of_messages == other.of_messages:
                raise SettingError(
                    f"the labels {label.name!r} and {other.name!r} have the same key, {min(shared)!r}: ask for them apart"
                )


def _error(votes: Sequence[dict[str, Any]]) -> str:
    return next((str(vote["error"]) for vote in votes if vote.get("error")), "")


def _name(one: Annotator) -> str:
    """A model's identifier, or the import path of a function."""
    made = one.provenance()
    model = as_object(made.get("model"))
    return str(model.get("spec") or model.get("model") or made.get("function") or type(one).__name__)
