"""How a command runs what asks models: its plan, its bounds, where calls go, and how it ends on a signal."""

import json
import signal
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, TypeVar, get_args, get_origin

import typer
from pydantic import BaseModel, ConfigDict

from ..errors import SettingError
from .options import RUN
from .printing import print_json, put, say, say_in_log, streams_restored

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..graphs.casts.registry import CastFactory
    from ..runs.ask import Carry, Runs
    from ..runs.plan import CallPlan
    from ..runs.settings import RunSettings
    from ..runs.store import RunInfo

R = TypeVar("R")

OUT = Path("out")
"""Folder of runs without --out."""
UNTOLD = 50
"""Most conversations, or other things, that are asked about without a word about their number."""
_ended_by = [signal.SIGINT]


class HowToRun(BaseModel):
    """The options of how to run, by their names; a command that lacks one has its default."""

    model_config = ConfigDict(frozen=True, extra="ignore", arbitrary_types_allowed=True)

    out: Path | None = None
    limit: int | None = None
    repeats: int = 1
    seed: int | None = None
    concurrency: int | Literal["auto"] = "auto"
    max_cost: float | None = None
    max_tokens: int | None = None
    max_time: float | None = None
    replies: Path | None = None
    frozen: bool = False
    shard: str | None = None
    ray: str | None = None
    plan: bool = False
    as_json: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Those among a command's options, in which None is the default."""
        how = cls(**{name: value for name, value in options.items() if name in cls.model_fields and value is not None})
        if how.frozen and how.replies is None:
            raise SettingError("--frozen: give --replies FILE, the kept replies that answer every call")
        return how

    def settings(self, out: Path | None = None, **changes: Any) -> "RunSettings":
        """The settings of a run in this folder; repeats and seed are those of its scenarios and limits."""
        from ..runs.settings import RunSettings

        own = {name: getattr(self, name) for name in RunSettings.model_fields if name in type(self).model_fields}
        return RunSettings.of(
            **{**own, "out": out, "repeats": 1, "seed": None, "progress": not self.as_json, **changes}
        )

    @contextmanager
    def keys(self) -> Iterator[None]:
        """Inside, casts and models are made; without a key where none will be called."""
        from ..nodes.settings.environment import without_calls

        with without_calls() if self.frozen or self.plan else nullcontext():
            yield


def how_to_run(*without: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """The options of how to run for a command, which gets them as its argument `how`; `without`: those that it lacks.

    One that the command has itself, such as an `out` that is a file, is not of `how`.
    """

    def decorated(function: Callable[..., int]) -> Callable[..., int]:
        own = [one for name, one in signature(function).parameters.items() if name != "how"]
        lacking = {*without, *(one.name for one in own)}
        of_run = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, (annotation, default) in RUN.items()
            if name not in lacking
        ]

        @wraps(function)
        def command(**given: Any) -> int:
            how = HowToRun.of({one.name: given.pop(one.name) for one in of_run})
            return function(**given, how=how)

        every = [*(one.replace(kind=Parameter.KEYWORD_ONLY) for one in own), *of_run]
        command.__signature__ = Signature(every)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in every} | {"return": int}
        return command

    return decorated


def carried_out(
    how: HowToRun,
    plan: "Callable[[RunSettings], CallPlan]",
    work: "Callable[[RunSettings], Coroutine[Any, Any, R]]",
    *,
    out: Path | None = None,
    casts: Iterable[Any] = (),
    models: Iterable[Any] = (),
    kept: str = "",
) -> R:
    """The result of work that asks casts and models; with `--plan` its plan is printed, and ends the command.

    `kept`: what a signal leaves, in words; by default the folder `out`.
    """
    from ..nodes.calls.spending import asked_model
    from ..nodes.models.offline.model import OfflineChatModel
    from ..runs.engine import blocking
    from ..runs.plan import models_of_cast

    settings = how.settings(out).shared(say_in_log)
    planned = plan(settings)
    if how.plan:
        if how.as_json:
            print_json(planned.plain())
        else:
            put(*planned.lines)
        raise typer.Exit
    casts = list(casts)
    asked = [*models, *(model for cast in casts for model in models_of_cast(cast))]
    calls = settings.calls()
    queries = dict.fromkeys(query for model in asked if (query := asked_model(model)) is not None)
    calls.spending.refuse_unknown(list(queries))
    say_where(how, asked, casts)
    if any(isinstance(model, OfflineChatModel) for model in asked):
        say("where no model is named, the words come from rules and not from a language model")
    if planned.count > UNTOLD:
        say(planned.line)
    with ending_in_order(kept or f"what is finished is kept; continue: {again_in(out)}"), streams_restored():
        result = blocking(work(settings))
    say(*calls.spending.notes)
    return result


def carrying(how: HowToRun, out: Path | None = None, kept: str = "") -> "Carry":
    """How several runs are carried out by a command; parameters as of `carried_out`."""

    def carry(runs: "Runs", what: str, length: str) -> Any:
        casts = [cast for cast, _, _ in runs.runs.values()]
        return carried_out(how, lambda _: runs.plan(what, length), runs.conversations, out=out, casts=casts, kept=kept)

    return carry


def say_where(how: HowToRun, models: Iterable[Any], casts: Sequence[Any] = ()) -> None:
    """Print the hosts at which models are asked, each once: a stray setting could send conversations elsewhere."""
    from ..nodes.models.specs import endpoint_host
    from ..runs.plan import own_callers

    if how.frozen:
        say(f"no endpoint is called: the replies are those of {how.replies}")
    else:
        hosts = {endpoint_host(model) for model in models}
        say(*(f"calls go to {host}" for host in sorted(filter(None, hosts))))
    own = dict.fromkeys(name for cast in casts for name in own_callers(cast))
    if own and (how.max_cost is not None or how.max_tokens is not None):
        say(f"calls that the {' and the '.join(own)} makes itself count in no bound of the run")


@contextmanager
def ending_in_order(kept: str) -> Iterator[None]:
    """Inside, Ctrl-C ends the work, which writes down what is under way, and then the command; so does SIGTERM (`main`)."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"interrupted: {kept}")
        raise typer.Exit(interrupted()) from None


def end_on_signals() -> None:
    """Let SIGTERM and SIGHUP end the command as Ctrl-C does; what is ignored from outside, as under nohup, stays so."""

    def end(number: int, _: object) -> NoReturn:
        _ended_by[0] = signal.Signals(number)
        raise KeyboardInterrupt

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


def interrupted() -> int:
    """The exit code of a command that a signal ended, as a shell has it."""
    return 128 + _ended_by[0]


def again_in(folder: Path | None) -> str:
    """The command that goes on with a run, in words."""
    return f"the same command with --out {quote(str(folder or 'DIR'))}"


def new_run(how: HowToRun, name: str) -> Path:
    """The run folder: that of `--out`, or a new one of this name."""
    from ..runs.store import new_folder

    return how.out or new_folder(OUT, name.rpartition(":")[2])


def incomplete(info: "RunInfo", ending: str, folder: Path) -> int:
    """Say in one line why a run is not complete, and how to go on; gives the exit code."""
    if info.complete:
        return 0
    parts = [
        f"{info.cut_by_run} {'was' if info.cut_by_run == 1 else 'were'} cut short" if info.cut_by_run else "",
        f"{info.missing} {'is' if info.missing == 1 else 'are'} missing" if info.missing else "",
        f"{info.unanswered} lack answers or scores after the end" if info.unanswered else "",
    ]
    end = f"ended early: {ending}; " if ending else ""
    wider = " and a wider bound" if info.cut_by_run and "--max-time" not in ending else ""
    say(f"{end}{' and '.join(filter(None, parts))}; continue: {again_in(folder)}{wider}")
    return 1


# --set NAME=VALUE


def chosen(factory: "CastFactory", texts: Iterable[str] | None, **given: Any) -> tuple[dict[str, Any], ...]:
    """Settings of the cast, options of its scenarios and limits: of `--set`, and of options, which win; None is not given.

    SettingError for a name that the cast does not have, which lists those that it has.
    """
    values = set_values(texts or (), factory.settings, factory.source)
    return factory.divided(values | {name: value for name, value in given.items() if value is not None})


def set_values(texts: Iterable[str], *models: Any) -> dict[str, Any]:
    """The values of `--set NAME=VALUE`, each as the first model that has a field of the name takes it."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise SettingError(f"--set {text}: write NAME=VALUE")
        name = name.replace("-", "_")
        field = next((model.model_fields[name] for model in models if model and name in model.model_fields), None)
        values[name] = _value(value, None if field is None else field.annotation)
    return values


def _value(text: str, annotation: Any) -> Any:
    """The value of a text: JSON where it is JSON, but for a setting that is a text; names with commas make a list."""
    members = get_args(annotation) or (annotation,)
    try:
        value = json.loads(text)
    except ValueError:
        value = text.split(",") if any(get_origin(one) in (list, tuple) for one in (annotation, *members)) else text
    return text if str in members and not isinstance(value, list | dict) else value


def checked_source(factory: "CastFactory", values: Mapping[str, Any]) -> Any:
    """The source of a cast's scenarios with these options; SettingError names the wrong one."""
    from pydantic import ValidationError

    from ..errors import first_invalid

    try:
        return factory.source(**values)
    except ValidationError as error:
        first = first_invalid(error)
        raise SettingError(f"--set {first.path}: {first.reason}, not {first.value!r}") from None
