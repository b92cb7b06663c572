"""Tune a user with Optuna: settings with which the model of `duologue.compare` tells it from people the least.

    pip install "duologue[stats]" optuna
    python tune.py

The user follows rules, without a model: it sends words of people, chosen by weights. The people are 22 conversations that
were written for an illustration. The words are those of one split of the users, and the comparison is with the other.
With people of your own, keep further users for one comparison at the end: the best of many trials is partly luck.
"""

from importlib.resources import files
from statistics import fmean

import optuna

import duologue
from duologue.data.people import of_part
from duologue.graphs import recllmsim

PATH = files("duologue.data") / "samples/illustration/written_users.jsonl"
PEOPLE = [one for one in duologue.load(str(PATH)) if of_part(one, "tune")]
OTHERS = f"people:{PATH}?part=test"


def auc(trial: optuna.Trial) -> float:
    """How often the model puts the right one of a simulated and a person's conversation first; .5 is chance.

    The words of so few people link all conversations, and no model can be held apart from them: then the mean of the
    AUCs of single measures.
    """
    weights = "".join(f"&{name}={trial.suggest_float(name, 0.0, 3.0)}" for name in ("stay", "spread", "words"))
    limits = duologue.Limits(max_turns=trial.suggest_int("max_turns", 2, 6))
    cast = recllmsim.cast(user=OTHERS + weights, assistant=OTHERS, language="en")
    simulated = duologue.simulate(cast, recllmsim.scenarios(PEOPLE), limits=limits)
    report = duologue.compare(simulated, PEOPLE)
    if report.auc.value is not None:
        return max(report.auc.value, 0.5)
    return fmean((1 + abs(row.effect.value or 0)) / 2 for row in report.rows)


def tuned(trials: int = 20) -> optuna.Study:
    """The search."""
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(auc, n_trials=trials)
    return study


if __name__ == "__main__":
    best = tuned()
    print(f"AUC {best.trials[0].value:.2f} at first, {best.best_value:.2f} with {best.best_params}")
