"""A working folder with small files under every name that the docs give as an example."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

from tests.tree import ROOT

PEOPLE = 18
"""Users of each study."""
SIMULATED = 4
"""Conversations of simulated users of each task."""
SECTIONS = 9
"""Sections of QuAC and SimQuAC."""
STUDIES = ("human_exp_V2", "real_human_user", "LLM_agent_user")

AGENT = """
import re

from rules import graph


def agent(messages):
    texts = [message["content"] for message in messages if message["role"] == "user"]
    code = re.search(r"[A-Z]{2}\\d{4}", "\\n".join(texts))
    date = re.search(r"\\d{4}-\\d{2}-\\d{2}", "\\n".join(texts))
    if code is None:
        return "Which booking is it? Please tell me the booking code."
    if code[0] == "TR9310":
        return "I am sorry, a basic fare cannot be moved."
    return f"Done: booking {code[0]} is now on {date[0] if date else 'hold'}."


other = graph
"""
ARTICLE = "# The pier\n\nA pier.\n\n## Keepers\n\nThree keepers lived there. The last left in 1968. It is white.\n"


def furnish(folder: Path, open_data: Path) -> None:
    """Write the files; the published ones are a small part of the open data."""
    _published(folder / "all", open_data)
    for place in ("DATA", "RecLLMSim", "."):
        (folder / place).mkdir(exist_ok=True)
        for name in ("recllmsim", "recllmsim_human_vs_agent"):
            _link(folder / place / name, folder / "all" / name)
        for name in STUDIES:
            _link(folder / place / name, folder / "all" / "recllmsim" / name)
    _link(folder / "talks", folder / "human_exp_V2")
    _link(folder / "SRC", folder / "human_exp_V2")
    _link(folder / "SIM", folder / "LLM_agent_user")
    _link(folder / "HUMAN", folder / "human_exp_V2")
    for place in (".", "SimQUAC/datasets", "ours/dataset"):
        (folder / place).mkdir(parents=True, exist_ok=True)
        for name in ("quac_subset.json", "sim_quac.json", "teacher_sim_topics.txt"):
            shutil.copy(folder / "all" / "simquac" / name, folder / place / name)
    for name, source in (
        ("quac.json", "quac_subset.json"),
        ("ours/dataset/simquac.json", "sim_quac.json"),
    ):
        shutil.copy(folder / source, folder / name)
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copy(ROOT / "examples/agent/my_agent.py", folder / "rules.py")
    (folder / "my_agent.py").write_text(AGENT, encoding="utf-8")
    shutil.copy(ROOT / "examples/logs/bakery.jsonl", folder / "conversations.jsonl")
    testing = (ROOT / "docs/start/agent.md").read_text(encoding="utf-8")
    scenarios = testing.partition("```json\n")[2].partition("```")[0]
    for name in ("scenarios.jsonl", "mine.jsonl"):
        (folder / name).write_text(scenarios, encoding="utf-8")
    lines = [
        {
            "user": f"u{number}",
            "messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "Yes."}],
        }
        for number, text in enumerate(["Is it open?", "Which tea is mild?", "Why is it flat?", "When is jam done?"] * 3)
    ]
    (folder / "logs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (folder / "article.md").write_text(ARTICLE, encoding="utf-8")
    (folder / "handbook").mkdir()
    for number in range(3):
        (folder / "handbook" / f"{number}.md").write_text(ARTICLE.replace("1968", f"197{number}"), encoding="utf-8")
    topic = {"title": "The pier", "background": "", "header": "Keepers", "section": ARTICLE.splitlines()[-1]}
    (folder / "topics.jsonl").write_text("\n".join([json.dumps(topic)] * 2), encoding="utf-8")


def _link(path: Path, target: Path) -> None:
    path.symlink_to(target, target_is_directory=True)


def _published(folder: Path, open_data: Path) -> None:
    """A part of the open data."""
    for data in ("recllmsim", "recllmsim_human_vs_agent"):
        for study in STUDIES:
            taken: Counter[str] = Counter()
            for file in sorted((open_data / data / study).rglob("*.json")):
                group = file.relative_to(open_data / data / study).parts[0]
                most = SIMULATED if study == "LLM_agent_user" else 4
                if (group not in taken and len(taken) == PEOPLE) or taken[group] == most:
                    continue
                taken[group] += 1
                target = folder / file.relative_to(open_data)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, target)
    shutil.copy(open_data / "recllmsim/task_context_new.xlsx", folder / "recllmsim")
    (folder / "simquac").mkdir()
    ids = None
    for name in ("quac_subset.json", "sim_quac.json"):
        document: dict[str, Any] = json.loads((open_data / "simquac" / name).read_text(encoding="utf-8"))
        paragraphs = document["data"][0]["paragraphs"]
        ids = ids or {(each["title"], each["section_title"]) for each in paragraphs[:SECTIONS]}
        document["data"][0]["paragraphs"] = [
            each for each in paragraphs if (each["title"], each["section_title"]) in ids
        ]
        (folder / "simquac" / name).write_text(json.dumps(document), encoding="utf-8")
    topics = (open_data / "simquac/teacher_sim_topics.txt").read_text(encoding="utf-8").split("<Topic:")
    (folder / "simquac/teacher_sim_topics.txt").write_text("<Topic:".join(topics[: SECTIONS + 1]), encoding="utf-8")
