"""The offline annotator against the published labels: the figures that docs/labels/measured.md has."""

from collections import Counter
from pathlib import Path

import pytest

import duologue
from duologue.data import load
from duologue.data.labels.units import labels_at, units_of
from duologue.prompts.label_pages import shipped_labels

ROOT = Path(__file__).parents[3]
SEED = ROOT.parent / "shared" / "seed-data"
SIDES = {"simulated": "LLM_agent_user", "people": "human_exp_V2"}


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def measured(study, side, name):
    """For each part: number, accuracy, base rate and kappa, as they are shown."""
    metrics = pytest.importorskip("sklearn.metrics")
    label = shipped_labels()[name]
    published = load(SEED / study / SIDES[side]).conversations
    annotated = duologue.annotate(published, [name], redo=[name])
    pairs: dict[str, list[tuple[str, str]]] = {}
    for was, now in zip(published, annotated, strict=True):
        for unit in units_of(was, label):
            people_value, predicted = (
                label.value_in(labels_at(conversation, label, unit)) or {} for conversation in (was, now)
            )
            for part in label.parts:
                if people_value.get(part) is not None and predicted.get(part) is not None:
                    pairs.setdefault(part, []).append((str(people_value[part]), str(predicted[part])))
    rows = {}
    for part, of_part in pairs.items():
        true, estimated = zip(*of_part, strict=True)
        accuracy = sum(one == other for one, other in of_part) / len(of_part)
        base = Counter(true).most_common(1)[0][1] / len(true)
        kappa = metrics.cohen_kappa_score(true, estimated) if len({*true, *estimated}) > 1 else float("nan")
        rows[part] = [str(len(true)), *(f"{value:.2f}" for value in (accuracy, base, kappa))]
    return rows


MEASURED = [
    ("recllmsim", "simulated", "intent"),
    ("recllmsim", "people", "satisfaction"),
    ("recllmsim_human_vs_agent", "simulated", "behaviour"),
    ("recllmsim_human_vs_agent", "people", "behaviour"),
]


@pytest.mark.heavy
@pytest.mark.skipif(not SEED.is_dir(), reason="the open published data is not in ../shared/seed-data")
def test_the_offline_annotator_agrees_with_the_published_labels_as_the_docs_say():
    lines = (ROOT / "docs" / "labels" / "measured.md").read_text(encoding="utf-8").splitlines()
    documented = {row[0]: row[1:] for row in map(cells, lines) if len(row) == 5}
    for study, side, name in MEASURED:
        for part, row in measured(study, side, name).items():
            if part != "reason":
                assert documented[f"`{name}`.{part}, {side}" if part != name else f"`{name}`, {side}"] == row
