"""`duologue simulate recllmsim`: a user with a profile and a task, and an assistant."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..data import Conversation, load
from ..data import recllmsim as format
from ..data.recllmsim import Situation
from ..data.text.languages import Language
from ..errors import SettingError
from .output import say
from .running import OUT, AsJson, Concurrency, MaxTokens, Prompts, Resume, Seed, replayed, simulated

SHOWN = 3
"""Odd conversations that are named on the screen, of each kind."""


def recllmsim(
    tasks: Annotated[
        list[str] | None, typer.Option("--task", help="Only this task; may be given several times.")
    ] = None,
    task_file: Annotated[
        Path | None, typer.Option("--tasks", help="Tasks: a workbook or YAML. Default: the shipped ones.")
    ] = None,
    contexts: Annotated[
        str | None, typer.Option(help="Only these contexts of each task, by number from 0: 0,3.")
    ] = None,
    profiles: Annotated[Path | None, typer.Option(help="Pool of profiles. Default: the shipped ones.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="N profiles drawn by the seed.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="N conversations in all, the first.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Conversations of each profile about each context.")] = 1,
    user: Annotated[str, typer.Option(help="The user: openai:NAME, offline, replay:FOLDER.")] = "offline",
    assistant: Annotated[str, typer.Option(help="The assistant: openai:NAME, offline, replay:FOLDER.")] = "offline",
    opens: Annotated[
        Literal["user", "assistant"] | None,
        typer.Option(
            help="Who speaks first; the assistant with a fixed greeting. Default: user; --as-published: assistant."
        ),
    ] = None,
    handshake: Annotated[
        bool | None,
        typer.Option(
            "--handshake/--no-handshake",
            help="Let the user acknowledge its pages one by one, in scripted words. Default: only --as-published.",
        ),
    ] = None,
    language: Annotated[
        Language | None,
        typer.Option(
            help="Language of prompts, shipped tasks and profiles. Default: that of the replayed conversations, or en."
        ),
    ] = None,
    post_questions: Annotated[
        bool, typer.Option("--post-questions", help="Ask both sides about the talk when it is over.")
    ] = False,
    proactive: Annotated[
        bool, typer.Option("--proactive", help="Tell the assistant what to bring up of its own accord.")
    ] = False,
    may_give_up: Annotated[bool, typer.Option("--may-give-up", help="Offer the user a phrase for giving up.")] = False,
    strict_ending: Annotated[
        bool, typer.Option("--strict-ending", help="Only the closing phrase at a message's end ends the talk.")
    ] = False,
    no_repeats: Annotated[bool, typer.Option("--no-repeats", help="Reject a message that was sent before.")] = False,
    no_plans: Annotated[
        bool, typer.Option("--no-plans", help="Reject plans that the user makes for the assistant.")
    ] = False,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="Every switch as in the published generator; nothing is rejected.")
    ] = False,
    prompts: Prompts = None,
    seed: Seed = 0,
    max_turns: Annotated[
        int | None,
        typer.Option(min=1, help="Most exchanges. Default: 10, or as many as a replayed conversation has."),
    ] = None,
    question_attempts: Annotated[int, typer.Option(min=1, help="Calls for a user's message, the first included.")] = 4,
    answer_attempts: Annotated[int, typer.Option(min=1, help="Calls for a reply, the first included.")] = 4,
    max_tokens: MaxTokens = None,
    concurrency: Concurrency = 8,
    out: Annotated[Path | None, typer.Option(help="Run folder. Default: the next free out/recllmsim-N.")] = None,
    resume: Resume = False,
    licence: Annotated[
        str | None, typer.Option(help="Licence and attribution of tasks and profiles, for the card.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """A user with a profile and a task plans something with an assistant (RecLLMSim, RecUserSim)."""
    from .. import graphs, runs
    from ..nodes.limits import Limits
    from ..nodes.replay import PREFIX

    replays = replayed(user, assistant, repeats=repeats, resume=resume, out=out)
    if replays and (profiles or task_file):
        raise SettingError("--profiles and --tasks: a replayed side has its own: leave them out")
    # Each choice with the replayed sides that leave it none.
    choices = (
        ("--opens", opens, replays),
        ("--handshake", handshake, user.startswith(PREFIX)),
        ("--strict-ending", strict_ending, user.startswith(PREFIX)),
        ("--may-give-up", may_give_up, user.startswith(PREFIX)),
        ("--proactive", proactive, assistant.startswith(PREFIX)),
        ("--post-questions", post_questions, len(replays) == 2),
    )
    if idle := [name for name, given, settled in choices if given and settled]:
        raise SettingError(f"{', '.join(idle)}: without effect, a replayed side says what it said: leave it out")
    about: Sequence[Situation | Conversation]
    if replays:
        about, source = _replayed(replays)
    else:
        language = language or "en"
        about, source = _shipped_or_given(task_file, profiles, language)
    about = format.chosen(about, tasks=tasks, contexts=_numbers(contexts), profiles=sample, seed=seed)
    language = language or _spoken(about, "en")
    if len(replays) == 1 and (others := sum(_spoken([one], language) != language for one in about)):
        say(f"{others} of {len(about)} conversations are in another language than the run, which is in {language}")
    source["licence"] = licence or source.get("licence")
    build = graphs.recllmsim.as_published if as_published else graphs.recllmsim.cast
    # What is not said is the cast's to choose: the two differ in who opens and in the handshake.
    settings: dict[str, Any] = {
        name: value for name, value in (("opens", opens), ("handshake", handshake)) if value is not None
    }
    cast = build(
        user,
        assistant,
        language=language,
        proactive=proactive,
        strict_ending=strict_ending,
        may_give_up=may_give_up,
        no_repeats=no_repeats,
        no_plans=no_plans,
        post_questions=post_questions,
        prompts=prompts,
        **settings,
    )
    limits = Limits(
        max_turns=max_turns,
        question_attempts=question_attempts,
        answer_attempts=answer_attempts,
        seed=seed,
        max_tokens=max_tokens,
    )
    scenarios = runs.repeated(graphs.recllmsim.scenarios(about), repeats)[:limit]
    folder = out or runs.new_folder(OUT, "recllmsim")
    code = simulated(cast, scenarios, folder, limits, source, concurrency=concurrency, resume=resume, as_json=as_json)
    return max(code, 1 if source.get("broken") else 0)


def _replayed(paths: list[Path]) -> tuple[list[Conversation], dict[str, Any]]:
    """The conversations that are played again, and what is known of their source; odd and broken files are named."""
    if len(set(paths)) == 2:
        say("user and assistant replay two folders: replies belong to the messages of their own folder")
    loaded = load(paths[0])
    odd = format.oddities(loaded)
    for line in loaded.notes:
        what = line.partition(":")[0]
        which = f" ({', '.join(odd[what][:SHOWN])}{', ...' if len(odd[what]) > SHOWN else ''})" if what in odd else ""
        say(f"{paths[0]}: {line}{which}")
    source: dict[str, Any] = {"source": paths[0].name}
    # What no cast could have said is played as it is; the manifest names every such conversation.
    return list(loaded), source | ({"odd": odd} if odd else {}) | (
        {"broken": list(loaded.broken)} if loaded.broken else {}
    )


def _spoken(about: Sequence[Situation | Conversation], otherwise: Language) -> Language:
    """The language that all of these are in."""
    there: set[Language] = {(Situation.of(one) if isinstance(one, Conversation) else one).language for one in about}
    return there.pop() if len(there) == 1 else otherwise


def _shipped_or_given(
    task_file: Path | None, profiles: Path | None, language: Language
) -> tuple[list[Situation], dict[str, Any]]:
    """Tasks x contexts x profiles, and what is known of their source."""
    tasks = format.read_tasks(task_file) if task_file else format.shipped_tasks(language)
    pool = format.read_pool(profiles) if profiles else format.shipped_profiles(language)
    if profiles and pool.duplicates:
        first = ", ".join(" = ".join(map(str, group)) for group in pool.duplicates[:SHOWN])
        more = ", ..." if len(pool.duplicates) > SHOWN else ""
        say(f"{profiles}: {pool.distinct} of {len(pool)} profiles differ (equal: {first}{more})")
    if pool.language != language:
        say(
            f"the profiles are in {pool.language}, the run is in {language}: give --language {pool.language}, or others"
        )
    source: dict[str, Any] = {
        "source": f"{_name(task_file, 'tasks', language)}, {_name(profiles, 'profiles', language)}"
    }
    if task_file is None and profiles is None:
        source |= {"licence": "MIT, written for duologue", "licence_id": "mit"}
    return format.combined(tasks, pool.texts, language), source


def _name(path: Path | None, what: str, language: Language) -> str:
    return path.name if path else f"samples/{what}/{language}"


def _numbers(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise SettingError(f"--contexts: {text!r} is no row of numbers: write 0,3") from None
