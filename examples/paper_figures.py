"""The figures of the papers: Figure 2 of SimQuAC, and bars of RecLLMSim's quality, satisfaction and behaviour.

pip install "duologue[stats]"
python examples/paper_figures.py figures quac_subset.json sim_quac.json RecLLMSim
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from pandas import DataFrame

from duologue import data
from duologue.analysis.recllmsim import recllmsim_tables
from duologue.analysis.simquac import figure_2


def main(folder: Path, people: Path, simulated: Path, tasks: Path) -> None:
    """Write an SVG for each figure into the folder, from files of QuAC, SimQuAC and RecLLMSim."""
    folder.mkdir(parents=True, exist_ok=True)
    figure_2({path.stem: data.load(path) for path in (people, simulated)}).savefig(folder / "figure_2.svg")
    tables = {name: table.frame() for name, table in recllmsim_tables(data.load(tasks)).by_name.items()}
    turns = tables["quality_by_turns"].set_index("turns")
    bars(turns[["preference alignment", "role playing completeness"]], folder / "quality_by_turns.svg")
    by_assistant = tables["satisfaction_by_assistant"].set_index("assistant")
    bars(by_assistant[[f"share {points}" for points in range(1, 6)]], folder / "satisfaction.svg", stacked=True)
    labels = tables["labels"]
    of_all = labels[labels["task"] == "all"]
    for label, own in of_all.groupby("label"):
        shares = own.pivot_table(index="side", columns="value", values="share", observed=True)
        bars(shares, folder / f"{str(label).replace(' ', '_')}.svg", stacked=True)


def bars(frame: DataFrame, file: Path, stacked: bool = False) -> None:
    """A bar for each row, or a group of bars for its columns; no file for ratings that these conversations do not have."""
    if frame.empty:
        return
    axes = frame.astype(float).plot.bar(stacked=stacked, figsize=(7, 4), rot=0)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    axes.figure.savefig(file, bbox_inches="tight")
    plt.close(axes.figure)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:5]))
