"""Searching for prompt templates with GEPA (Agrawal et al. 2025).

A model reads how far a template's user is from people, and rewrites the template.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from ...data.domain_parts import TYPICAL
from ...data.files.folders import make_folder
from ...data.files.json_files import write_text
from ...data.identity import digest
from ...data.people.splits import UserPart
from ...data.text.model_tokens import OF_MESSAGE, tokens_about
from ...data.tuning import Judgement
from ...errors import SettingError, of_extra
from ...graphs import Cast
from ...nodes.calls.call_store import Call
from ...nodes.calls.prices import asked_model
from ...nodes.calls.service import answered
from ...nodes.models.specs import chat_model
from ...prompts import Page
from ..asking.store import codec_of
from ..journals.journal import Journal
from ..planning.plans import CallEstimate, CallPlan, CallTokens, ModelCalls
from .page_adapter import REFLECTION_PROMPT, Adapter, EvaluatedPages, tunable
from .search_space import EXTRA
from .trials import TrialRuns, texts_of

log = logging.getLogger(__name__)

RULE = "a template, the longest messages of the user beside it, and as much in reply, four characters a token"
SHOWN = 5
"""Maximum of messages of the user beside the feedback."""


@dataclass(frozen=True)
class PageSearch:
    """The settings of a search for prompt templates."""

    reflect: str | Callable[[str], str]
    """Who writes a page anew: a model's spec, or a function of the prompt."""
    names: tuple[str, ...] = ()
    """The pages, such as `user/system`; empty: those of the user that are sent in every conversation."""
    trials: int = 20
    """Maximum of runs, each of all conversations of a part."""


@dataclass(frozen=True)
class Pages:
    """The result of a search for prompt templates."""

    changed: dict[str, str] = field(default_factory=dict)
    """Name and digest of each page that is another one now."""
    judgements: tuple[Judgement, ...] = ()
    """Of the pages before and after."""
    notes: tuple[str, ...] = ()


def rewrites_planned(search: PageSearch, cast: Cast) -> CallPlan:
    """The plan of the calls that write the cast's templates anew: at most one before each run."""
    pages = [tokens_about(page.source) for page in tunable(cast.prompts, search.names).values()] or [0]
    model = asked_model(chat_model(search.reflect)) if isinstance(search.reflect, str) else None
    own = tokens_about(REFLECTION_PROMPT) + OF_MESSAGE
    about, most = (
        CallTokens(own + page + SHOWN * length, 0.0, page, 1.0).times(search.trials)
        for page, length in ((fmean(pages), TYPICAL.lengths["user"][1]), (max(pages), TYPICAL.lengths["user"][2]))
    )
    assumed = {"at least": "no template is written anew", "at most": "a template is written anew before each run"}
    estimate = CallEstimate((ModelCalls(model, (CallTokens(), about, most)),), RULE, assumed)
    count = search.trials if model is not None else 0
    return CallPlan(count, "rewrites", count, count, "one before each run", count > 0, lambda: estimate)


async def searched(search: PageSearch, runs: TrialRuns, values: dict[str, Any], start: Judgement) -> Pages:
    """The best prompt templates for these settings.

    They are written to `pages` in the folder of the runs if they are better than those before.
    """
    gepa = of_extra("gepa", EXTRA)
    cast = runs.simulator.build(values, "select", runs.seed)[0]
    pages = tunable(cast.prompts, search.names)
    if not pages:
        raise SettingError(
            f"--search-templates: the cast {runs.simulator.cast} sends its user no template of text: leave it out"
        )
    work = _Work(search, runs, values, start, pages, asyncio.get_running_loop())
    seed = {name: page.source for name, page in pages.items()}
    with Journal.open(runs.folder / "pages.jsonl", CODEC, busy=runs.folder) as journal:
        work.journal = journal

        def optimized() -> Any:
            return gepa.optimize(
                seed_candidate=seed,
                trainset=["learn"],
                valset=["select"],
                adapter=Adapter(pages, work.evaluated),
                reflection_lm=work.reply,
                reflection_prompt_template=REFLECTION_PROMPT,
                reflection_minibatch_size=1,
                perfect_score=0.0,
                max_metric_calls=search.trials,
                stop_callbacks=lambda state: work.over,
                logger=_Logger(),
                seed=runs.seed,
                raise_on_exception=True,
            )

        try:
            result = await asyncio.to_thread(optimized)
        except _EndedError:
            return Pages(notes=("the search for templates ended early: continue with --resume",))
        except asyncio.CancelledError:
            work.cancel()
            raise
        if work.over:
            return Pages(notes=("the search for templates ended early: continue with --resume",))
        best = dict(result.best_candidate)
        judgements = tuple(
            judgement for text in (seed, best) if (judgement := work.judgement_of(text, "select")) is not None
        )
    changed = {name: Page(name, text).digest for name, text in best.items() if text != seed[name]}
    if changed:
        work.write(best, runs.folder / "pages")
    return Pages(changed, judgements)


class _EndedError(Exception):
    """The search is over before its end: a bound was reached, or somebody interrupted it."""


class _Logger:
    def log(self, message: str) -> None:
        """Log lines of GEPA, at debug level."""
        log.debug("%s", message)


@dataclass
class _Work:
    """GEPA's requests, done in the event loop of the runs, and stored: nothing is paid for twice."""

    search: PageSearch
    runs: TrialRuns
    values: dict[str, Any]
    start: Judgement
    pages: Mapping[str, Page]
    loop: asyncio.AbstractEventLoop
    journal: Journal[EvaluatedPages] | None = None
    _future: Any = None
    _cancelled: bool = False
    _asked_times: dict[str, int] = field(default_factory=dict)
    """How often each prompt was asked before: the same prompt may get another answer."""

    @property
    def over(self) -> bool:
        """Whether nothing more is to begin."""
        return self._cancelled or self.runs.control.ending is not None

    def cancel(self) -> None:
        """End what is under way."""
        self._cancelled = True
        if self._future is not None:
            self._future.cancel()

    def evaluated(self, candidate: dict[str, str], part: UserPart) -> EvaluatedPages:
        """The result of usable prompt templates on the people of a part."""
        key = _key(self.values, candidate, part)
        return self._stored_result(key) or self._keep(self._wait(self._run(key, candidate, part)))

    def judgement_of(self, candidate: dict[str, str], part: UserPart) -> Judgement | None:
        """The stored judgement of prompt templates; None if they were not tried."""
        entry = self._stored_result(_key(self.values, candidate, part))
        return None if entry is None else entry.judgement

    def reply(self, prompt: Any) -> str:
        """The reply of the model that writes pages, or of the function."""
        text = prompt if isinstance(prompt, str) else "\n".join(str(message.get("content", "")) for message in prompt)
        times = self._asked_times[text] = self._asked_times.get(text, -1) + 1
        key = digest("reflect", text, times)[:16]
        if (entry := self._stored_result(key)) is not None:
            return entry.reply
        if callable(self.search.reflect):
            reply_text = str(self.search.reflect(text))
        else:
            reply_text = self._wait(self._reflection(self.search.reflect, text, key))
        return self._keep(EvaluatedPages(key=key, reply=reply_text)).reply

    async def _reflection(self, spec: str, text: str, key: str) -> str:
        with self.runs.conduct.calls() as file, self.runs.control.call_service(file).active():
            call = Call(seed=self.runs.seed, subject=key, role="reflection")
            return await answered(chat_model(spec), text, call)

    async def _run(self, key: str, candidate: dict[str, str], part: UserPart) -> EvaluatedPages:
        folder = self.write(candidate, self.runs.folder / "page_trials" / f"{key}-pages")
        conversations = await self.runs.conversations(self.values, part, f"page_trials/{key}", folder)
        if conversations is None:
            raise _EndedError
        if not conversations:
            return EvaluatedPages(key=key, refused="no conversation was finished")
        judgement = self.runs.objective(conversations, part, self.start if part == "select" else None)
        own = [message.text for one in conversations for message in one.messages if message.role == "user"]
        return EvaluatedPages(key=key, judgement=judgement, messages=tuple(own[:SHOWN]))

    def write(self, candidate: Mapping[str, str], folder: Path) -> Path:
        """The pages as files, as `--prompts` takes them, beside those of the settings' own folder."""
        own = self.runs.simulator.settings.get("prompts")
        files: dict[str, str] = {}
        if isinstance(own, (str, Path)):
            files = texts_of(Path(own))
        files |= {f"{name}.md": text for name, text in candidate.items()}
        for name, text in files.items():
            make_folder((folder / name).parent)
            write_text(folder / name, text)
        return folder

    def _wait(self, work: Any) -> Any:
        if self.over:
            work.close()
            raise _EndedError
        self._future = asyncio.run_coroutine_threadsafe(work, self.loop)
        return self._future.result()

    def _stored_result(self, key: str) -> EvaluatedPages | None:
        assert self.journal is not None
        is_stored = key in self.journal
        return self.journal[key] if is_stored else None

    def _keep(self, entry: EvaluatedPages) -> EvaluatedPages:
        assert self.journal is not None
        self.journal.append(entry)
        return entry


def _key(values: Mapping[str, Any], candidate: Mapping[str, str], part: UserPart) -> str:
    return digest("pages", dict(values), dict(candidate), part)[:16]


CODEC = codec_of(
    EvaluatedPages,
    lambda entry: entry.key,
    "is not a line of a search for templates: choose another folder",
    lambda entry: True,
)
