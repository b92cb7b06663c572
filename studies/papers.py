"""The papers' studies that ask models, as functions: `duologue papers simquac baseline`, `recllmsim predict`, `judges`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..data import Conversation, load, simquac
from ..data.text.languages import Language
from ..errors import DataError, SettingError, at
from .sources import StudySource, conversations_of, logged, path_of

if TYPE_CHECKING:  # they need the extra `stats`, and the nodes bring LangGraph along
    from ..analysis.recllmsim.judges import Judge, JudgedTurn, Stored
    from ..analysis.recllmsim.prediction import Mixture, OptionScores, ProfileTalk
    from ..analysis.tables import TablesReport
    from ..graphs import Cast
    from ..runs.ask import ModelAnswer

GUESS = "profile"
"""Name of the label of people's guesses of all aspects at once; of one aspect it is `profile_ASPECT`."""

Ask: TypeAlias = Callable[[Mapping[str, Any], str], Mapping[str, Sequence[Any]]]
"""From the requests to each chat model, and the name of what they are about, to the answers of each."""


def asked(requests: Mapping[str, Any], what: str) -> Mapping[str, Sequence[Any]]:
    """The answers of each chat model, one model after the other, without bounds and without kept replies."""
    from ..runs import RunSettings, blocking

    how = RunSettings().shared()
    return {name: blocking(asking.answers(how)) for name, asking in requests.items()}


def unanswered(answers: "Sequence[ModelAnswer]", model: str, one: str, *, they: str) -> int:
    """The number of things about which a model gave no answer, which is logged.

    `one`: a thing, such as `turn`; `they`: the effect of those without an answer. DataError if no thing has one.
    """
    failed = [answer for answer in answers if answer.error]
    if failed and len(failed) == len(answers):
        raise DataError(f"--model {model}: gave no answer about any {one}: {failed[0].error}")
    if failed:
        logged(f"{model}: gave no answer about {len(failed)} of {len(answers)} {one}s, which {they}: {failed[0].error}")
    return len(failed)


def predict_profiles(
    source: StudySource,
    train: StudySource | None = None,
    model: Sequence[str] = (),
    *,
    language: Language = "zh",
    mixture: "Mixture | None" = None,
    ask: Ask = asked,
    watch: Callable[[str], None] = lambda _: None,
) -> "TablesReport":
    """Users' profiles, predicted from their conversations by models, beside the label prior; people held out and as published.

    Needs the extra `stats`, for Chinese also `zh`.

    Args:
        source: The conversations that are tested, or their path.
        train: Conversations of the other group, such as simulated users where people are tested: they are learnt from
            alone, and mixed in. "Others" then counts as no option, as in the published settings of both groups.
        model: `forest`, `logistic` (default: both); chat models, which rank options; or a folder of people's guesses.
        language: In which the messages are read.
        mixture: Whose conversations are learnt from, and which options count.
        ask: How chat models are asked.
        watch: Called with a line on progress.

    Raises:
        DataError: No conversation has a profile.

    Example::

        >>> predict_profiles("human_exp_V2", model=["logistic"]).tables()[0]  # doctest: +SKIP
    """
    from ..analysis.recllmsim import learning, prediction
    from ..runs.asks import RankedConversation, ranking

    model = model or learning.MODELS
    groups: list[list[ProfileTalk]] = []
    for one in (source, train) if train is not None else (source,):
        talks, left_out = prediction.profile_talks(conversations_of(one), language)
        for line in left_out:
            logged(line)
        groups.append(talks)
    tested = groups[0]
    if not tested:
        raise DataError(
            f"{path_of(source) or 'the source'}: no conversation has a profile of the vocabulary and is in {language}: "
            "give RecLLMSim conversations, simulated or of people"
        )
    folders = [name for name in model if Path(name).is_dir()]
    chats = [name for name in model if ":" in name and name not in folders]
    learnt = learning.models_of([name for name in model if name not in (*folders, *chats)], options=True)
    scores = {f"people: {name}": _guesses(Path(name), tested) for name in folders}
    held = [RankedConversation(talk.id, talk.language, talk.messages) for talk in tested]
    replies = (
        ask({name: ranking(name, held, prediction.VOCABULARY) for name in chats}, "conversations") if chats else {}
    )
    missing = 0
    for name, answers in replies.items():
        missing += unanswered(answers, name, "conversation", they="count as wrong")
        ranked = zip(tested, answers, strict=True)
        scores[name] = {talk.id: prediction.ranked_scores(answer.options) for talk, answer in ranked}
    mixture = mixture or prediction.Mixture(others=train is None)
    other = groups[1] if train is not None else []
    report = prediction.predict_profiles(tested, other, learnt, scores, mixture=mixture, watch=watch)
    return report.model_copy(update={"about": {**report.about, "unanswered": missing}})


def judge_agreement(
    source: StudySource,
    model: Mapping[str, Any] | Sequence[str] = (),
    *,
    label: str = "satisfaction",
    ask: Ask = asked,
) -> "TablesReport":
    """How near judges of satisfaction come to people, beside baselines.

    Needs the extra `stats`, for Chinese also `zh`.

    Args:
        source: Conversations whose users rate their satisfaction with each reply, or their path.
        model: Chat models, or paths of copies with a judge's labels, as `duologue annotate` writes them. As a mapping also
            chat models themselves, and functions from turns to learn from and turns to judge to points (`judges.Judge`).
        label: The label with people's points, in a copy that with the judge's.
        ask: How chat models are asked.

    Raises:
        DataError: Nobody rated a reply, or a judge rates none.

    Example::

        >>> judge_agreement("human_exp_V2", {"threes": lambda train, turns: [3] * len(turns)})  # doctest: +SKIP
    """
    from ..analysis.recllmsim import judges
    from ..runs.asks import JudgedReply, judging

    held = conversations_of(source)
    turns = _peoples_turns(held, label)
    points: dict[str, Judge | Stored] = {}
    chats: dict[str, Any] = {}
    for name, one in (model if isinstance(model, Mapping) else {name: name for name in model}).items():
        if isinstance(one, str) and Path(one).exists():
            points[name] = judges.labelled_points(conversations_of(one), label)
        elif isinstance(one, str) and one.partition("?")[0] == "offline":
            raise SettingError(f"--model {name}: the offline model cannot judge: give openai:NAME or PROVIDER:NAME")
        elif callable(one) and not hasattr(one, "invoke"):
            points[name] = one
        else:
            chats[name] = one
    if silent := [name for name, own in points.items() if not own]:
        raise DataError(f"--model {silent[0]}: gives no reply a {label!r} of 1 to 5")
    replies = [JudgedReply(held[turn.conversation], turn.turn) for turn in turns]
    answers = ask({name: judging(one, replies) for name, one in chats.items()}, "turns") if chats else {}
    missing = 0
    for name, own in answers.items():
        missing += unanswered(own, name, "turn", they="are left out of its row")
        judged = zip(turns, own, strict=True)
        points[name] = {(turn.path, turn.turn): float(reply.points) for turn, reply in judged if reply.points}
    report = judges.measure_judges(turns, points)
    return report.model_copy(update={"about": {**report.about, "unanswered": missing}})


def _guesses(folder: Path, talks: "Sequence[ProfileTalk]") -> "dict[str, OptionScores]":
    """People's guesses, the answers of `duologue label --labels profile_ASPECT`: the mean of the people's scores."""
    from ..analysis.recllmsim.prediction import ASPECTS, options_in, ranked_scores
    from ..runs.people_labels import answers_of as answers_in

    labels = {GUESS, *(f"{GUESS}_{aspect}" for aspect in ASPECTS)}
    ids = {talk.id for talk in talks}
    given: dict[str, dict[str, list[Mapping[str, float]]]] = {}
    lost = 0
    for answers in answers_in(folder).values():
        for answer in answers:
            if answer.label in labels:
                talk = answer.conversation
                lost += talk not in ids
                for aspect, points in ranked_scores(options_in(answer.value)).items() if talk in ids else ():
                    given.setdefault(talk, {}).setdefault(aspect, []).append(points)
    if not given:
        raise DataError(
            f"{at(folder)}: has no guess about these conversations: give the folder of the answers of "
            "`duologue label --labels profile_personality`"
        )
    if lost:
        logged(f"{lost} guesses are of no conversation here, and are left out")
    return {
        talk: {
            aspect: {name: sum(one.get(name, 0.0) for one in own) / len(own) for name in set().union(*own)}
            for aspect, own in by_aspect.items()
        }
        for talk, by_aspect in given.items()
    }


def _peoples_turns(held: Sequence[Conversation], label: str) -> "tuple[JudgedTurn, ...]":
    """The rated replies, without those whose label `duologue annotate` wrote; DataError if there are none."""
    from ..analysis.recllmsim.judges import judged_turns
    from ..data.people import named_user

    path, turns = path_of(held), judged_turns(held, label)
    of_people = tuple(turn for turn in turns if turn.by in ((), ("people",)))
    if not of_people:
        whose = "duologue annotate wrote every one" if turns else "no reply has one"
        raise DataError(
            f"{path or 'the source'}: {whose} of the labels {label!r} of 1 to 5: give conversations whose users rate how "
            "satisfied they are, such as people's second study of RecLLMSim, or name the label"
        )
    if nameless := sum(not named_user(held[place]) for place in {turn.conversation for turn in of_people}):
        logged(f"{nameless} conversations name no user: those about an equal scenario count as one user's")
    if len(of_people) < len(turns):
        logged(f"{len(turns) - len(of_people)} of {len(turns)} {label!r} were written by duologue annotate: left out")
    return of_people


def baseline(source: str | Path, seed: int = 0) -> "TablesReport":
    """The rule-based teacher on people's questions, beside its simplest like, and the rule-based student.

    Needs the extra `stats`. `source`: a file of QuAC; `seed`: of the simulations. DataError for a file without a
    conversation.
    """
    from .. import graphs, runs
    from ..analysis.simquac import answers as scored
    from ..analysis.tables import Table, TablesReport
    from ..nodes.limits import Limits
    from ..nodes.prompt_selectors import selector

    references = load(source)
    if not references:
        raise DataError(f"{source}: holds no conversation: give a QuAC file")
    scenarios = graphs.simquac.scenarios(simquac.read_topics(source))

    def simulated(cast: "Cast") -> list[Any]:
        return list(runs.simulate(cast, scenarios, limits=Limits(seed=seed)))

    plain = graphs.simquac.cast()
    teachers = {
        "offline": simulated(graphs.simquac.cast(user=f"replay:{source}")),
        "first sentence": scored.answered_by(scored.first_sentence, references),
        "random sentence": scored.answered_by(scored.random_sentence, references),
    }
    unselected = plain.replace(user_prompt_selector=selector(lambda state: "user/next", plain.prompts))
    students = {"offline": simulated(plain), "offline, no prompt selector": simulated(unselected)}

    def table(title: str, talks: Mapping[str, Any], score: Callable[[Any], Any]) -> Table:
        return Table.across(title, {name: score(own) for name, own in talks.items()})

    return TablesReport(
        by_name={
            "teachers": table(
                "Teachers on people's questions", teachers, lambda own: scored.score_teacher(own, references)
            ),
            "students": table("Students", students, scored.score_student),
        }
    )
