"""Coverage of the interval of the link's rank correlation, at the sizes of the study, as docs/users/validity.md gives it."""

import pytest

from duologue.analysis.validity.link_correlations import DomainScores, correlated, spearman
from duologue.analysis.validity.link_outcomes import pairs_of
from duologue.nodes.seeded_faults.graded import CHAINS
from duologue.studies.link.study import SHOWN_BY
from duologue.studies.reproduction.printed import table

numpy = pytest.importorskip("numpy")

SIZES = {("rules", "airline"): 19, ("rules", "town"): 19, ("rules", "tasks"): 23, ("retrieval", "tasks"): 11}
"""Users of each kind in each domain."""
SAMPLES, DRAWS = 400, 300
SHOWN = 0.46
"""A correlation of the study whose adjusted p is about .05: .45 has .08."""
LATENT = {"agreement": {0.0: 0.0, 0.3: 0.375, 0.6: 0.727}, "size": {0.0: 0.0, 0.3: 0.415, 0.6: 0.797}}
"""Correlation of realism with a user's skill, by the rank correlation with what the user finds about assistants."""
SKILL, QUALITY, NOISE = 0.6, 0.35, 0.7
"""How skill widens differences, how far assistants lie from their grade, and how skill narrows a user's errors."""


def known_pairs(domain):
    """The pairs of the study: nothing is missing in people's tasks, so no assistant is unsafe there."""
    chains = [chain for chain in CHAINS if domain != "tasks" or not chain[-1].startswith("unsafe")]
    return pairs_of(chains, [SHOWN_BY[chain[-1].rpartition("_")[0]] for chain in chains])


def grade(name):
    """The place of an assistant in the order."""
    return 0 if name == "good" else {"5": 1, "10": 2, "20": 3, "40": 4}[name.rpartition("_")[2]]


def assistants(draw, domain):
    """How bad each assistant is by each outcome: its grade, and what it differs by from it."""
    ends = {(name, pair.outcome) for pair in known_pairs(domain) for name in (pair.better, pair.worse)}
    return {end: grade(end[0]) / 2 + QUALITY * draw.normal() for end in sorted(ends)}


def found(draw, domain, badness, skills, users):
    """What users of different skill find out about assistants."""
    pairs = known_pairs(domain)
    seen = {
        end: value * numpy.exp(SKILL * skills) + numpy.exp(-NOISE * skills) * draw.normal(size=len(skills))
        for end, value in badness.items()
    }
    differences = numpy.stack([seen[one.worse, one.outcome] - seen[one.better, one.outcome] for one in pairs], axis=1)
    names = tuple(dict.fromkeys(name for pair in pairs for name in (pair.better, pair.worse)))
    orders = numpy.sign(differences) / 2 + 0.5
    return DomainScores(domain, tuple(users), names, pairs, orders, differences, numpy.ones(len(skills)))


def skilled(draw, latent, count):
    """Realism and skill of users."""
    realism = draw.normal(size=count)
    return realism, latent * realism + numpy.sqrt(1 - latent**2) * draw.normal(size=count)


def sample(draw, latent):
    """Realism by user, what they find in each domain, and their kinds. The kinds differ in both."""
    realism, kinds, of_kind = {}, {}, {}
    for kind, shift in (("rules", 0.0), ("retrieval", 1.0)):
        count = max(size for (of, _), size in SIZES.items() if of == kind)
        values, skills = skilled(draw, latent, count)
        names = [f"{kind} {number}" for number in range(count)]
        realism |= dict(zip(names, (values + 3 * shift).tolist(), strict=True))
        kinds |= dict.fromkeys(names, kind)
        of_kind[kind] = names, skills + shift
    domains = []
    for domain in ("airline", "town", "tasks"):
        here = [(*of_kind[kind], size) for (kind, at), size in SIZES.items() if at == domain]
        users = [name for names, _, size in here for name in names[:size]]
        skills = numpy.concatenate([skills[:size] for _, skills, size in here])
        domains.append(found(draw, domain, assistants(draw, domain), skills, users))
    return realism, domains, kinds


def true_correlation(latent, usefulness, worlds=40, users=300):
    """The correlation over very many users of each kind, a mean over draws of the assistants."""
    rhos = []
    for world in range(worlds):
        draw = numpy.random.default_rng([77, world])
        badness = {domain: assistants(draw, domain) for domain in ("airline", "town", "tasks")}
        for (kind, domain), size in SIZES.items():
            realism, skills = skilled(draw, latent, users)
            scores = found(draw, domain, badness[domain], skills + (kind == "retrieval"), map(str, range(users)))
            rhos.append((spearman(realism[None], scores.values(usefulness)[None])[0], size))
    return float(numpy.average([rho for rho, _ in rhos], weights=[size for _, size in rhos]))


@pytest.mark.heavy
@pytest.mark.long
@pytest.mark.untraced
@pytest.mark.parametrize(
    ("usefulness", "true"), [(usefulness, true) for usefulness, targets in LATENT.items() for true in targets]
)
def test_the_interval_of_the_link_holds_the_true_correlation_as_often_as_the_page_says(usefulness, true):
    latent = LATENT[usefulness][true]
    exact = true_correlation(latent, usefulness)
    assert exact == pytest.approx(true, abs=0.015)
    estimates = []
    for number in range(SAMPLES):
        realism, domains, kinds = sample(numpy.random.default_rng([number, int(10 * true)]), latent)
        estimates.append(correlated(realism, domains, usefulness, kinds=kinds, draws=DRAWS, seed=number))
    coverage = numpy.mean([one.low <= exact <= one.high for one in estimates])
    width = numpy.mean([one.high - one.low for one in estimates])
    control = numpy.mean([one.control for one in estimates])
    beyond = numpy.mean([abs(one.rho) > SHOWN for one in estimates])
    print(f"| {usefulness}, {true} | {coverage:.3f} | {width:.2f} | {control:.3f} | {beyond:.3f} |", exact)
    assert coverage >= 0.93
    assert abs(control) < 0.01
    shown = table(
        "docs/users/validity.md", "true correlation", "coverage", "mean width", "mean of the control", "shown"
    )
    ((covered,), (wide,), (mean,), (found_out,)) = shown[f"{usefulness}, {true}"]
    assert float(covered) == pytest.approx(coverage, abs=0.006)
    assert float(wide) == pytest.approx(width, abs=0.011)
    assert float(mean) == pytest.approx(control, abs=0.0011)
    assert float(found_out) == pytest.approx(beyond, abs=0.006)
