"""Tuning a simulator, as a function for notebooks and scripts."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..data.tuning import TuningResult


def tune(
    cast: str,
    people: str | Path,
    search: "Mapping[str, Any] | str | Path | None" = None,
    *,
    user: Any = "offline",
    assistant: Any = "offline",
    out: str | Path,
    trials: int = 30,
    reflect: "str | Callable[[str], str] | None" = None,
    pages: Sequence[str] = (),
    page_trials: int = 20,
    objective: Any = None,
    scenarios: str | Path | None = None,
    limit: int | None = None,
    limits: "Mapping[str, Any] | None" = None,
    judge: bool = True,
    noise_runs: int = 4,
    seed: int = 0,
    resume: bool = False,
    conduct: Any = None,
    watch: Any = None,
    **settings: Any,
) -> "TuningResult":
    """Search a simulator's settings for those nearest to people, and judge them once on other people.

    `cast`: a registered name or an import path, with its `user`, `assistant` and `settings`. `people`: a path that `load`
    reads. `search`: what is searched over, a mapping or a file (`runs.tuning.search_space.space_of`); None: the search that `offline`
    and `people:SRC` have, and with `reflect` none. `reflect`: a model's spec or a function that writes prompt pages anew, `pages`
    their names, `page_trials` most runs for them. `objective`: how far conversations are from people, by default
    `analysis.realism.objective.Against(people)`. `out`, `trials`, `judge`, `noise_runs`, `seed`, `resume`, `conduct`, `watch`: as for
    `runs.tuning.search.tune`; `scenarios`, `limit`, `limits`: as for `runs.tuning.search.Simulator`. Needs the extra `tune`.

    Example::

        >>> tuned = duologue.tune("recllmsim", "human_exp_V2", out="out/tune", trials=20)  # doctest: +SKIP
        >>> tuned.settings["user"]  # doctest: +SKIP
    """
    from ..analysis.realism.objective import Against
    from ..data import load
    from ..runs.tuning import search as tuning
    from ..runs.tuning.page_search import PageSearch
    from ..runs.tuning.search_space import default_space, space_of

    cast_settings = {
        name: value for name, value in (("user", user), ("assistant", assistant)) if value != "offline"
    } | settings
    space = space_of(search) if search is not None else {} if reflect is not None or not trials else default_space(user)
    return tuning.tune(
        tuning.Simulator(cast, Path(people), cast_settings, scenarios=scenarios, limit=limit, limits=limits or {}),
        objective or Against(list(load(people))),
        space,
        out=out,
        trials=trials,
        pages=None if reflect is None else PageSearch(reflect, tuple(pages), page_trials),
        judge=judge,
        noise_runs=noise_runs,
        seed=seed,
        resume=resume,
        conduct=conduct,
        watch=watch,
    )
