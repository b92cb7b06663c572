"""`duologue tune`: search a simulator's settings and pages for those nearest to people, and judge the best once."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import SettingError
from .options.cast_settings import setting
from .options.limits import LIMITS
from .options.model_fields import extended
from .options.run import RunOptions, options_of_run
from .options.sections import LIMITS as LIMITS_SECTION
from .options.sections import OUTPUT, SCENARIOS
from .options.shared import (
    SettingsOption,
    Yes,
    assistant_by,
    cast_argument,
    json_of,
    limit_to,
    option,
    out_to,
    people_from,
    resume_with,
    seed_of,
    user_by,
)
from .output.overwriting import check_apart
from .running.asking import begun
from .running.interrupts import ask_all
from .streams import print_json, put, say, stderr, stdout

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..data.tuning import TuningResult, TuningTrial
    from ..studies.tuning import TuningStudy

TEMPLATES = "Search for prompt templates"
"""Section of the help."""

OPTIONS: dict[str, tuple[Any, Any]] = {
    **{name: option for name, option in LIMITS.items() if name != "seed"},
    **options_of_run("record", "replay_calls", "keep_calls"),
}
"""Limits of each conversation, and options that say how to run: a field of `RunOptions` each."""


@extended(OPTIONS)
def tune_command(
    cast: Annotated[str, cast_argument(", as for simulate.")],
    people: Annotated[Path | None, people_from("a data set of any format")] = None,
    user: Annotated[str | None, user_by(section=None)] = None,
    assistant: Annotated[str | None, assistant_by()] = None,
    search: Annotated[
        Path | None,
        option(
            "Search over these names and values: JSON, TOML or YAML with names such as user.temperature, each with "
            "low and high, or with choices. Default: the shipped search for offline and for people:SRC.",
            metavar="FILE",
        ),
    ] = None,
    trials: Annotated[int, option("Try this number of settings, after the given ones.", min=0)] = 30,
    out: Annotated[Path | None, out_to("this folder: the trials, their runs and tune.json.")] = None,
    resume: Annotated[bool, resume_with("keep its trials, and add the missing ones")] = False,
    test: Annotated[
        bool,
        option(
            "Compare the first and the best settings on the test split, which counts as an access.", "--test/--no-test"
        ),
    ] = True,
    noise_runs: Annotated[
        int,
        option(
            "Simulate the given settings again with this number of other seeds, for the noise of repeats. 0: none.",
            section=SCENARIOS,
            min=0,
        ),
    ] = 4,
    scenarios: Annotated[
        str | None,
        option(
            "Take the scenarios of this source: a path, or the word own for the scenarios that the cast makes. Default: those of the "
            "people.",
            "--scenarios",
            section=SCENARIOS,
            metavar="SRC|own",
        ),
    ] = None,
    limit: Annotated[int | None, limit_to("scenarios of a trial", section=SCENARIOS)] = None,
    settings: SettingsOption = None,
    search_templates: Annotated[
        bool,
        option(
            "Search for prompt templates of the user too, written by --reflect.",
            "--search-templates",
            section=TEMPLATES,
        ),
    ] = False,
    template_name: Annotated[
        list[str] | None,
        option("Search for this template, such as user/system; may be repeated.", section=TEMPLATES, metavar="NAME"),
    ] = None,
    template_trials: Annotated[
        int,
        option("Set the maximum number of runs of the search for templates.", section=TEMPLATES, min=2),
    ] = 20,
    reflect: Annotated[
        str | None,
        option("Rewrite templates with this model: openai:NAME.", section=TEMPLATES, metavar="MODEL"),
    ] = None,
    seed: Annotated[int, seed_of("all runs and of the search", LIMITS_SECTION)] = 0,
    yes: Yes = False,
    as_json: Annotated[bool, json_of("the result", section=OUTPUT)] = False,
    **values: Any,
) -> int:
    """Search for a simulator's settings nearest to people.

    One split of the people is kept for the test. Of the others, a part may be used for training, and the rest for
    rating the trials. The best is compared once on the test split. Exit code 0: everything was done; 1: it ended early,
    and --resume continues.
    """
    from ..studies.tuning import TuningStudy

    if people is None or out is None:
        raise SettingError(f"--{'people' if people is None else 'out'}: is needed: see duologue tune --help")
    check_apart(out, people)
    if (search_templates or template_name) and reflect is None:
        raise SettingError("--search-templates: name the model that writes them with --reflect openai:NAME")
    if reflect is not None and not (search_templates or template_name):
        raise SettingError("--reflect: is for --search-templates: give it too, or leave this out")
    options = RunOptions(
        **{name: value for name, value in values.items() if name not in LIMITS}, yes=yes, as_json=as_json
    )
    with options.surroundings():
        study = TuningStudy(
            cast,
            people,
            search,
            _settings(cast, settings or [], user, assistant),
            out,
            trials,
            reflect,
            template_name or (),
            template_trials,
            scenarios=scenarios,
            limit=limit,
            limits={name: value for name in LIMITS if (value := values.get(name)) is not None},
            judge=test,
            noise_runs=noise_runs,
            seed=seed,
            resume=resume,
        )
        tuned = _tuned(study, options)
    return _report(tuned, out, as_json=as_json)


def _settings(cast: str, texts: list[str], user: str | None, assistant: str | None) -> dict[str, Any]:
    from ..graphs import casts

    model = casts.find(cast).settings
    sides = {name: spec for name, spec in (("user", user), ("assistant", assistant)) if spec is not None}
    return dict(setting(text, model) for text in texts) | sides


def _tuned(study: "TuningStudy", options: RunOptions) -> "TuningResult":
    """The search, under signals and bounds, with a line for each trial."""
    from ..nodes.models.specs import chat_model
    from ..runs.tuning.search import TRIALS

    writers = [chat_model(study.reflect)] if isinstance(study.reflect, str) else []
    control = begun(study.plan(), options, [study.start], writers)

    def work(show: Callable[[str], None]) -> "Coroutine[Any, Any, TuningResult]":
        def tell(trial: "TuningTrial") -> None:
            judgement = trial.judgement
            what = f"{judgement.value:.3f}" if judgement is not None else f"failed: {trial.failed}"
            show(f"trial {trial.number} of {study.trials}: {what}")
            if not stderr.is_terminal and not options.as_json:
                say(f"trial {trial.number} of {study.trials}: {what}")

        return study.atuned(concurrency=options.concurrency or "auto", conduct=options.conduct(control), watch=tell)

    left = f"the complete trials are in {Path(study.out) / TRIALS}; continue with --resume"
    # Why it ended early is a note of the result.
    return ask_all(work, control, "the settings as they are", max_time=options.max_time, left=left, early=False)


def _report(tuned: "TuningResult", out: Path, *, as_json: bool) -> int:
    from ..analysis.realism.objective import summary, table
    from ..analysis.tuning import noise_line
    from ..runs.tuning.search import RESULT

    if as_json:
        print_json(tuned.model_dump(mode="json"))
    else:
        stdout.print(table(tuned).rich())
        put(*summary(tuned), *filter(None, [noise_line(tuned)]))
        put(f"best: trial {tuned.best}")
        put(tuned.command)
        put(
            "Near to people is not the same as good for testing: duologue compare measures the one, duologue test "
            "the other."
        )
    say(f"written: {out / RESULT}")
    return 1 if any("ended early" in note for note in tuned.notes) else 0
