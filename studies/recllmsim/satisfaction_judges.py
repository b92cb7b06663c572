"""Judges of satisfaction against people, `duologue recllmsim judges` as a function."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...data import DataError
from ...data.text.terminal import names_in
from ...errors import DuologueError, SettingError, at
from ..model_answers import answers_of, unanswered
from ..sources import Notify, StudySource, conversations_of, logged, path_of

if TYPE_CHECKING:  # they need the extra `stats`, and the nodes bring LangGraph along
    from ...analysis.recllmsim.judges import Judge, JudgedTurn, JudgesReport
    from ...data.records import Conversation
    from ...runs import Conduct
    from ...runs.asking.questions import Asking
    from ...runs.asking.reply_satisfaction import JudgedReply, SatisfactionReply

LABEL = "satisfaction"


def unrated(source: object, label: str) -> DataError:
    """The error of a source without people's satisfaction."""
    return DataError(
        f"{path_of(source) or 'the source'}: no reply has a label {label!r} of 1 to 5: give conversations whose users rate how satisfied "
        "they are, such as people's second study of RecLLMSim, or name the label (--label)"
    )


@dataclass(frozen=True)
class JudgeComparison:
    """People's satisfaction with replies, and the judges to measure against it."""

    source: "Sequence[Conversation]"
    turns: "tuple[JudgedTurn, ...]"
    """The replies whose satisfaction people gave."""
    label: str = LABEL
    split: Literal["users", "published"] = "users"
    labels_dir: Path | None = None
    notify: Notify = field(default=logged, repr=False)

    @classmethod
    def of(
        cls,
        source: "Sequence[Conversation]",
        label: str = LABEL,
        split: Literal["users", "published"] = "users",
        labels_dir: Path | None = None,
        notify: Notify = logged,
    ) -> "JudgeComparison":
        """The comparison with these people; `notify` is called with a line on labels that are left out.

        DataError if people rated no reply.
        """
        from ...analysis.recllmsim.judges import judged_turns
        from ...analysis.recllmsim.judges.turns import source_notes
        from ...runs.labels.origins import annotated_replies

        turns = judged_turns(source, label)
        for note in source_notes(source, label):
            notify(note)
        path = path_of(source)
        if path is not None and (written := annotated_replies(path, source, label)):
            of_people = [turn for turn in turns if (turn.id, turn.turn) not in written]
            if len(of_people) < len(turns):
                notify(
                    f"{len(turns) - len(of_people)} of {len(turns)} {label!r} were written by duologue annotate, not by a person: left out"
                )
            if turns and not of_people:
                raise DataError(
                    f"{at(path)}: duologue annotate wrote every {label!r} there: no person wrote it, so it cannot "
                    "measure judges: give the conversations with people's own, and this as --annotated"
                )
            turns = tuple(of_people)
        if not turns:
            raise unrated(source, label)
        return cls(source, turns, label, split, labels_dir, notify)

    @cached_property
    def tested(self) -> "Sequence[JudgedTurn]":
        """The turns that the split tests."""
        from ...analysis.recllmsim.judges.folds import published

        return (
            [self.turns[place] for place in published(self.turns).tested] if self.split == "published" else self.turns
        )

    def by_labels(
        self, labels: Sequence[str], annotated: "Sequence[Conversation] | None" = None
    ) -> "tuple[list[Judge], dict[str, dict[tuple[str, int], str]]]":
        """The judges whose points are labels, and the reasons in an annotated copy.

        `annotated`: the copy with the labels; None: the source. DataError for a label without points.
        """
        from ...analysis.recllmsim.judges import judge_of_points, labelled
        from ...analysis.recllmsim.judges.reasons import labelled_reasons

        if annotated is None and self.label in labels:
            raise SettingError(f"--labels {self.label}: is people's own label: name another label, or give --annotated")
        rated = self.source if annotated is None else annotated
        path = path_of(annotated)
        copy = "annotated" if path is None else path.name
        judges = []
        for name in dict.fromkeys(labels or ([] if annotated is None else [self.label])):
            if not (points := labelled(rated, name)):
                raise DataError(
                    f"{path_of(rated) or 'the source'}: no reply has a label {name!r} of 1 to 5: give its name as it stands there"
                )
            judges.append(judge_of_points(name if annotated is None else f"{copy}: {name}", points))
        reasons = {} if annotated is None else labelled_reasons(rated)
        return judges, {f"{copy}: reason": reasons} if reasons else {}

    def functions(self, models: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the models that are functions, imported where they are an import path.

        SettingError for the offline model, and for an import path of something else.
        """
        from ...nodes.models.specs import names_model
        from ...nodes.settings.import_path import imported, is_import_path

        functions: dict[str, Any] = {}
        for name, model in models.items():
            if isinstance(model, str) and model.partition("?")[0] == "offline":
                raise SettingError(f"--model {name}: the offline model cannot judge: give openai:NAME, or MODULE:NAME")
            if is_import_path(model) and not names_model(model):
                functions[name] = imported(model, "--model")
                if not callable(functions[name]):
                    raise SettingError(
                        f"--model {name}: is not a function: give one that takes a conversation, or an annotator"
                    )
            elif callable(model) and not hasattr(model, "invoke"):
                functions[name] = model
        return functions

    def requests(
        self, models: Mapping[str, Any], template: Path | None = None
    ) -> "dict[str, Asking[JudgedReply, SatisfactionReply]]":
        """The requests to each chat model for its rating of each tested turn."""
        from ...runs.asking.reply_satisfaction import JudgedReply, judging

        replies = [JudgedReply(self.source[turn.conversation], turn.turn) for turn in self.tested]
        return {name: judging(model, replies, template) for name, model in models.items()}

    def by_models(
        self, models: Sequence[str], functions: Mapping[str, Any], answers: "Mapping[str, Sequence[SatisfactionReply]]"
    ) -> "tuple[list[Judge], int]":
        """The judges that are functions, or chat models with these answers, and the number of turns without one."""
        from ...analysis.recllmsim.judges import judge_of_points

        judges, failed = [], 0
        for name in models:
            if name in functions:
                judges.append(self._by_function(name, functions[name]))
                continue
            failed += unanswered(answers[name], name, "turn", they="are left out of its row", notify=self.notify)
            replies = zip(self.tested, answers[name], strict=True)
            points = {(turn.path, turn.turn): float(reply.points) for turn, reply in replies if reply.points}
            judges.append(judge_of_points(name, points))
        return judges, failed

    def report(self, judges: "Sequence[Judge]", reasons: Mapping[str, Mapping[tuple[str, int], str]]) -> "JudgesReport":
        """The baselines and the judges beside people."""
        from ...analysis.labels.reliability import Trusts
        from ...analysis.recllmsim.judges import measure_judges
        from ...analysis.recllmsim.judges.reasons import given_reasons

        trust = Trusts.of(self.source).note(self.label, of_messages=True)
        stored = {name: given_reasons(of_judge) for name, of_judge in reasons.items()}
        return measure_judges(self.turns, judges, split=self.split, reasons_said=stored, trust=trust)

    def _by_function(self, name: str, function: Any) -> "Judge":
        """The judge that is a function of a conversation, or an annotator as `duologue annotate` takes it."""
        from ...analysis.recllmsim.judges import judge_of_function, judge_of_points, labelled
        from ...analysis.recllmsim.judges.turns import without_labels
        from ...nodes.annotators import Annotator
        from ...nodes.contract import required_arguments
        from ...nodes.settings.redaction import error_line
        from ...prompts.label_pages import labels_named
        from ...runs.labels.copies import annotate

        judged = [self.source[place] for place in dict.fromkeys(turn.conversation for turn in self.tested)]
        if isinstance(function, Annotator) or required_arguments(function) == 2:
            (definition,) = labels_named([self.label], self.labels_dir)
            unlabelled = [without_labels(conversation) for conversation in judged]
            points = labelled(annotate(unlabelled, [definition], function, votes=1), self.label)
            if not points:
                raise DataError(f"--model {name}: gives no reply a {self.label!r} of 1 to 5")
            return judge_of_points(name, points)
        try:
            return judge_of_function(name, function, judged)
        except DuologueError:
            raise
        except Exception as error:
            raise DataError(f"--model {name}: failed: {error_line(error)}") from error


def judge_agreement(
    source: StudySource,
    model: "Mapping[str, Any] | Sequence[str]" = (),
    *,
    labels: Sequence[str] = (),
    annotated: StudySource | None = None,
    label: str = LABEL,
    split: Literal["users", "published"] = "users",
    template: str | Path | None = None,
    journal: str | Path | None = None,
    labels_dir: str | Path | None = None,
    conduct: "Conduct | None" = None,
    notify: Notify = logged,
) -> "JudgesReport":
    """Agreement of judges of satisfaction with people: a report, whose tables a notebook shows.

    `source`: conversations whose users rate their satisfaction, or their path; `annotated`: a copy with the labels of a
    judge, `labels` by name. `model`: identifiers of chat models and import paths; or chat models, annotators and
    functions of a conversation by name. `template`: a prompt template for chat models. `journal`: a file for the
    replies, from which the same call continues. Needs the extra `stats`, for Chinese also `zh`.

    Example::

        >>> judge_agreement("human_exp_V2", {"long": lambda talk: [3] * len(talk.messages)})  # doctest: +SKIP
    """
    comparison = JudgeComparison.of(
        conversations_of(source, notify), label, split, None if labels_dir is None else Path(labels_dir), notify
    )
    copy = None if annotated is None else conversations_of(annotated, notify)
    judges, reasons = comparison.by_labels(names_in(labels), copy)
    models = model if isinstance(model, Mapping) else {name: name for name in model}
    functions = comparison.functions(models)
    asked_models = {name: one for name, one in models.items() if name not in functions}
    requests = comparison.requests(asked_models, None if template is None else Path(template))
    further, _ = comparison.by_models(list(models), functions, answers_of(requests, journal, conduct))
    return comparison.report([*judges, *further], reasons)
