"""Prediction of users' profiles from their conversations, `duologue recllmsim identify` as a function."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ...data.identity import digest
from ...data.loading import annotated_in
from ...data.text.languages import Language
from ...errors import DataError, SettingError
from ..model_answers import answers_of, unanswered
from ..sources import Notify, StudySource, conversations_of, logged, path_of

if TYPE_CHECKING:  # they need the extra `stats`, and the nodes bring LangGraph along
    from ...analysis.recllmsim.identification import IdentificationReport, Mixture, Model, ProfileTalk, Ranker
    from ...analysis.recllmsim.identification.mixture import Frequent, Setting
    from ...analysis.recllmsim.identification.parts import Options
    from ...analysis.recllmsim.identification.settings import AnySplit
    from ...data.records import Conversation
    from ...runs import Conduct
    from ...runs.asking.option_ranking import RankedConversation, RankedOptions
    from ...runs.asking.questions import Asking

SplitChoice: TypeAlias = Literal["users", "conversations", "published", "both", "all"]

OFFLINE = "offline"
SPLITS: "Mapping[SplitChoice, tuple[AnySplit, ...]]" = {
    "users": ("users",),
    "conversations": ("conversations",),
    "published": ("published",),
    "both": ("published", "users"),
    "all": ("published", "conversations", "users"),
}
TOP = 3
DEFAULT = ("forest", "logistic", OFFLINE)
NAMES = ("forest", "forest-alone", "forest-chain", "logistic", "logistic-chain", "xgboost", "xgboost-chain")


def is_trained(name: str) -> bool:
    """Whether the name is that of a model that is trained: the identifier of a chat model has a colon."""
    return name != OFFLINE and ":" not in name


def mixture_of(
    setting: "Setting" = "human",
    *,
    ratio: float | None = None,
    no_others: bool = False,
    frequency: "Frequent | None" = None,
    top: int | None = None,
    pairs: bool = False,
    fifth: bool = False,
) -> "Mixture":
    """The conversations to train on and to test; SettingError for settings that exclude each other."""
    from ...analysis.recllmsim.identification.mixture import Mixture

    if top is not None and frequency is None:
        raise SettingError("--top: is the number of hot or cold options: give --frequency hot, cold or both too")
    return Mixture(
        setting=setting, ratio=ratio, others=not no_others, labels=frequency, top=top or TOP, pairs=pairs, fifth=fifth
    )


def trained_models(names: Sequence[str], trees: int = 100) -> "list[Model]":
    """The models of these names that are trained; SettingError for an unknown one."""
    from ...analysis.recllmsim import identification

    return identification.models([name for name in names if is_trained(name)], trees)


@dataclass(frozen=True)
class AttributePrediction:
    """The conversations whose users' profiles are predicted, and the models to predict them."""

    talks: "Sequence[ProfileTalk]"
    models: Sequence[str]
    """Names of all models; of those that are trained, `trained` has the models."""
    trained: "Sequence[Model]"
    mixture: "Mixture"
    splits: "Sequence[AnySplit]"
    guesses: Sequence[Mapping[tuple[str, str], Any]] = ()
    """Of people, each with a ranking by conversation."""
    trust: str = ""
    """The reliability of the profiles' options."""
    seed: int = 0
    notify: Notify = field(default=logged, repr=False)

    @classmethod
    def of(
        cls,
        sources: "Sequence[Sequence[Conversation]]",
        models: Sequence[str],
        trained: "Sequence[Model]",
        mixture: "Mixture",
        *,
        split: SplitChoice = "users",
        language: Language = "zh",
        with_assistant: Sequence[str] = (),
        answers: Path | None = None,
        seed: int = 0,
        notify: Notify = logged,
    ) -> "AttributePrediction":
        """The prediction for these conversations; `notify` is called with a line on those that are left out.

        DataError if no conversation has a profile.
        """
        from ...analysis.labels.reliability import UNTOLD, Trusts
        from ...analysis.recllmsim import identification

        conversations = [conversation for source in sources for conversation in source]
        _note_repeated(conversations, notify)
        talks = identification.profile_talks(conversations, language)
        lines = identification.left_out(conversations, language)
        for line in lines:
            notify(line)
        if not talks:
            raise DataError(
                f"{(sources and path_of(sources[0])) or 'the source'}: no conversation has a profile of the vocabulary and "
                f"is in {language}{'' if lines else ': give RecLLMSim conversations, simulated or of people'}"
            )
        if with_assistant:
            talks, line = identification.with_assistants(talks, with_assistant)
            notify(line)
        guesses = [] if answers is None else identification.read_guesses(answers)
        for line in [] if answers is None else identification.guesses_left_out(answers, talks):
            notify(line)
        trusts = Trusts.of(conversations, annotated_in(*sources))
        trust = trusts.note("profile_mapped", of_messages=False) or UNTOLD
        return cls(talks, models, trained, mixture, SPLITS[split], guesses, trust, seed, notify)

    @cached_property
    def tested(self) -> "list[ProfileTalk]":
        """The conversations that are tested in any split."""
        from ...analysis.recllmsim.identification import places_tested

        return [self.talks[place] for place in places_tested(self.talks, self.mixture, self.splits, seed=self.seed)]

    @cached_property
    def requests(self) -> "dict[str, Asking[RankedConversation, RankedOptions]]":
        """The requests to each chat model for a ranking of the options of each tested conversation."""
        from ...analysis.recllmsim.identification import VOCABULARY
        from ...runs.asking.option_ranking import RankedConversation, ranking

        conversations = [RankedConversation(talk.id, talk.language, talk.messages) for talk in self.tested]
        names = [name for name in self.models if name != OFFLINE and not is_trained(name)]
        return {name: ranking(name, conversations, VOCABULARY) for name in names}

    def rankers(self, answers: "Mapping[str, Sequence[RankedOptions]]") -> "tuple[list[Ranker], int]":
        """The rankings of chat models and of the rules, and the number of conversations without an answer."""
        from ...analysis.recllmsim.identification import Ranker, by_words

        def ranker(name: str) -> Ranker:
            ranked = {talk.messages: answer.options for talk, answer in zip(self.tested, answers[name], strict=True)}
            return Ranker(name, lambda talk: ranked[talk.messages])

        failed = sum(
            unanswered(answers[name], name, "conversation", they="count as wrong", notify=self.notify)
            for name in self.requests
        )
        names = [name for name in self.models if not is_trained(name)]
        return [Ranker(OFFLINE, by_words) if name == OFFLINE else ranker(name) for name in names], failed

    def report(
        self,
        rankers: "Sequence[Ranker]" = (),
        *,
        seeds: int = 1,
        vocabulary: "Options" = "closed",
        watch: Callable[[str], None] = lambda _: None,
    ) -> "IdentificationReport":
        """Each model beside the label prior; `watch` is called with a line on progress."""
        from ...analysis.recllmsim.identification import identify

        return identify(
            self.talks,
            self.trained,
            rankers,
            mixture=self.mixture,
            splits=self.splits,
            seeds=seeds,
            vocabulary=vocabulary,
            guesses=self.guesses,
            seed=self.seed,
            watch=watch,
            trust=self.trust,
        )


def predict_attributes(
    *sources: StudySource,
    setting: "Setting" = "human",
    model: Sequence[str] = DEFAULT,
    split: SplitChoice = "users",
    answers: str | Path | None = None,
    journal: str | Path | None = None,
    with_assistant: Sequence[str] = (),
    language: Language = "zh",
    vocabulary: "Options" = "closed",
    seeds: int = 1,
    trees: int = 100,
    seed: int = 0,
    conduct: "Conduct | None" = None,
    notify: Notify = logged,
    **mixture: Any,
) -> "IdentificationReport":
    """Prediction of users' profiles from their conversations: a report, whose `table` a notebook shows.

    `sources`: paths that `load` reads, or conversations. `model`: names of models that are trained, `offline`, and
    identifiers of chat models. `answers`: people's guesses. `journal`: a file for the replies of chat models, from which the
    same call continues. `mixture`: as for `mixture_of`. `notify` is called with each line about what is left out. Needs the
    extra `stats`, for Chinese also `zh`.

    Example::

        >>> predict_attributes("human_exp_V2", model=["logistic"]).table.table()  # doctest: +SKIP
    """
    names, chosen = list(dict.fromkeys(model)), mixture_of(setting, **mixture)
    trained = trained_models(names, trees)
    prediction = AttributePrediction.of(
        [conversations_of(source, notify) for source in sources],
        names,
        trained,
        chosen,
        split=split,
        language=language,
        with_assistant=with_assistant,
        answers=None if answers is None else Path(answers),
        seed=seed,
        notify=notify,
    )
    rankers, _ = prediction.rankers(answers_of(prediction.requests, journal, conduct))
    return prediction.report(rankers, seeds=seeds, vocabulary=vocabulary)


def _note_repeated(conversations: "Sequence[Conversation]", notify: Notify) -> None:
    from ...analysis.recllmsim.judges.turns import path_of as place_of

    different = {(one.id, place_of(one), digest(one.scenario)) for one in conversations}
    if repeated := len(conversations) - len(different):
        notify(f"{repeated} conversations are there more than once, and count so: give each source once")
