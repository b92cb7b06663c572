"""Tune a user with Optuna: settings with which a reader of `duologue.compare` tells it least from people.

    pip install "duologue[stats]" optuna
    python tune.py

The user follows rules, without a model: it sends words of people, chosen by weights. The people are 22 conversations that
were written for an illustration. The words are those of one split of the users, and the comparison is with the other.
With people of your own, keep further users for one comparison at the end: the best of many trials is partly luck.
"""

from importlib.resources import files

import optuna

import duologue
from duologue.data.people.splits import of_part
from duologue.graphs import recllmsim

PATH = files("duologue.data") / "samples/illustration/written_users.jsonl"
PEOPLE = [one for one in duologue.load(str(PATH)) if of_part(one, "tune")]
OTHERS = f"people:{PATH}?part=test"


def distance(trial: optuna.Trial) -> float:
    """The AUC of the report: 0.5 if nothing tells simulated users from people, 1 if something always does."""
    weights = "".join(f"&{name}={trial.suggest_float(name, 0.0, 2.0)}" for name in ("stay", "spread", "reply"))
    limits = duologue.Limits(max_turns=trial.suggest_int("max_turns", 2, 6))
    cast = recllmsim.cast(user=OTHERS + weights, assistant=OTHERS, language="en")
    simulated = duologue.simulate(cast, recllmsim.scenarios(PEOPLE), limits=limits)
    report = duologue.compare(simulated, PEOPLE, baseline=False)
    auc = report.discriminator.auc.value if report.discriminator else None
    return 1.0 if auc is None else max(auc, 0.5)


def tuned(trials: int = 20) -> optuna.Study:
    """The search."""
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(distance, n_trials=trials)
    return study


if __name__ == "__main__":
    best = tuned()
    print(f"AUC {best.trials[0].value:.2f} at first, {best.best_value:.2f} with {best.best_params}")
