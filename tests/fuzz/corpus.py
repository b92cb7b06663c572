"""Valid files of every format that a command reads, made by the commands themselves and by hand."""

import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import duologue

from ..forks.client import Forks

CONVERSATIONS, TOPICS, TASKS, PROFILES, SCENARIOS, PROMPTS, CALLS = (
    *("conversations", "topics", "tasks", "profiles", "scenarios", "prompts", "calls"),
)
SPEAKERS = ("--user", "openai:m", "--assistant", "openai:m")
RECORDED = ("simulate", "simquac", "--limit", "2", "--max-turns", "2", *SPEAKERS)
"""The run whose calls are kept."""
SAMPLES = Path(duologue.__file__).parent / "data" / "samples"
DOCUMENT = (
    "# The lighthouse\n\nA tower above the North Channel, *painted* white.\n\n## Keepers\n\nThree keepers lived on the "
    "rock. The last one, Ada Quill, left in 1968. Ships still pass at night.\n\n| year | keeper |\n|--|--|\n| 1901 | Holt |\n"
    "\n## The lamp\n\n- It was lit in 1823.\n- `code` and [a link](http://example.com).\n\n> The light is seen for miles.\n"
)
HTML = (
    "<!doctype html><html><head><title>The lighthouse</title></head><body><h1>The lighthouse</h1><p>A tower &amp; a lamp.</p>"
    "<h2>Keepers</h2><p>Three keepers lived on the rock. The last one left in 1968.</p><table><tr><td>1</td></tr></table>"
    "</body></html>"
)
SAID = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Can you book a room?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "book", "arguments": '{"room": 12}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "booked"},
    {"role": "assistant", "content": [{"type": "text", "text": "Room 12 is yours."}]},
]


def _word() -> bytes:
    main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    office = "http://schemas.openxmlformats.org"
    heading = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>The lighthouse</w:t></w:r></w:p>'
    text = "<w:p><w:r><w:t>Three keepers lived on the rock. The last one left in 1968.</w:t></w:r></w:p>"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(
            "[Content_Types].xml",
            f'<?xml version="1.0"?><Types xmlns="{office}/package/2006/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" '
            'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
        )
        file.writestr(
            "_rels/.rels",
            f'<?xml version="1.0"?><Relationships xmlns="{office}/package/2006/relationships"><Relationship Id="r1" '
            f'Type="{office}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        file.writestr(
            "word/document.xml",
            f'<?xml version="1.0"?><w:document xmlns:w="{main}"><w:body>{heading}{text}</w:body></w:document>',
        )
    return buffer.getvalue()


def _workbook() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    sheet: Any = book.active
    for row in (
        ["任务", "上下文"],
        ["旅行", "你想去旅行。"],
        ["travel", "You want to travel in {season}."],
        ["", "spring"],
    ):
        sheet.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _written() -> dict[str, tuple[str, bytes]]:
    """Files made by hand: kind and content by name."""
    message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hello?"]}, "create_time": 1.0}
    tree: dict[str, Any] = {"a": {"id": "a", "parent": None, "children": ["b"], "message": None}}
    tree |= {"b": {"id": "b", "parent": "a", "children": [], "message": message}}
    chatgpt = [{"title": "Talk", "create_time": 1.0, "mapping": tree, "current_node": "b", "conversation_id": "1"}]
    run: dict[str, Any] = {
        "id": "r",
        "trace_id": "r",
        "run_type": "llm",
        "name": "m",
        "start_time": "2024-01-01T00:00:00",
    }
    run |= {
        "inputs": {"messages": SAID[:2]},
        "outputs": {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]},
    }
    attributes = {
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Hello?"}]}])
    }
    span = {"trace_id": "t", "span_id": "s", "name": "chat", "start_time": 1, "attributes": attributes}
    completion = {"messages": SAID[:2], "choices": [{"message": {"role": "assistant", "content": "Yes."}}]}
    shares = [{"id": "1", "conversations": [{"from": "human", "value": "Hi?"}, {"from": "gpt", "value": "Yes."}]}]
    topic = {
        "title": "The lighthouse",
        "background": "A tower.",
        "header": "Keepers",
        "section": "Three keepers lived there.",
    }
    goals = [
        {"goal": "Book a room for two nights.", "facts": "The name is Quill.", "success": {"text_contains": "room"}},
        {"goal": "Move a flight.", "facts": ["code QX4821"], "persona": "in a hurry", "first_message": "Hello."},
    ]
    lines: dict[str, tuple[str, list[Any]]] = {
        "messages.jsonl": (CONVERSATIONS, [{"messages": SAID}, {"messages": SAID[1:2]}]),
        "langsmith.jsonl": (CONVERSATIONS, [run]),
        "spans.jsonl": (CONVERSATIONS, [span]),
        "completions.jsonl": (CONVERSATIONS, [completion]),
        "topics.jsonl": (TOPICS, [topic, {**topic, "header": "The lamp"}]),
        "scenarios.jsonl": (SCENARIOS, goals),
    }
    files = {
        name: (kind, "".join(json.dumps(value) + "\n" for value in values).encode())
        for name, (kind, values) in lines.items()
    }
    return files | {
        "chatgpt.json": (CONVERSATIONS, json.dumps(chatgpt).encode()),
        "shares.json": (CONVERSATIONS, json.dumps(shares).encode()),
        "document.md": (TOPICS, DOCUMENT.encode()),
        "document.html": (TOPICS, HTML.encode()),
        "document.txt": (TOPICS, DOCUMENT.replace("#", "").encode()),
        "document.docx": (TOPICS, _word()),
        "tasks.xlsx": (TASKS, _workbook()),
        "tasks.yaml": (TASKS, (SAMPLES / "tasks" / "en.yaml").read_bytes()[:6_000]),
        "tasks_zh.yaml": (TASKS, (SAMPLES / "tasks" / "zh.yaml").read_bytes()),
        "profiles.txt": (PROFILES, (SAMPLES / "profiles" / "en.txt").read_bytes()),
        "profiles_zh.txt": (PROFILES, (SAMPLES / "profiles" / "zh.txt").read_bytes()),
    }


class Corpus:
    """The valid files and folders by kind, in a folder."""

    def __init__(self, folder: Path, forks: Forks, endpoint: dict[str, str]) -> None:
        """`endpoint`: the environment in which a model answers."""
        self.folder, self.items = folder, dict[str, list[Path]]()
        folder.mkdir()
        for name, (kind, content) in _written().items():
            (folder / name).write_bytes(content)
            self._add(kind, folder / name)
        limits = "--limit 2 --max-turns 2"
        self._made(forks, f"simulate simquac {limits} --out simquac_run --user offline?misbehave=0.3")
        self._made(forks, f"simulate recllmsim {limits} --out recllmsim_run --set post_questions=true")
        self._made(
            forks, f"simulate agent_test {limits} --scenarios scenarios.jsonl --out agent_run --assistant offline"
        )
        for run in ("simquac_run", "recllmsim_run", "agent_run"):
            self._add(CONVERSATIONS, folder / run)
        for form in ("simquac", "quac", "replay", "sharegpt", "messages"):
            name = f"as_{form}.json{'l' * (form in ('quac', 'replay', 'messages'))}"
            self._made(forks, f"convert simquac_run {name} --to {form}")
            self._add(CONVERSATIONS, folder / name)
        self._made(forks, "convert recllmsim_run as_recllmsim --to recllmsim")
        self._add(CONVERSATIONS, folder / "as_recllmsim")
        prompts = Path(duologue.__file__).parent / "prompts"
        for cast in ("simquac", "recllmsim"):
            shutil.copytree(prompts / cast / "en", folder / f"{cast}_prompts")
            self._add(PROMPTS, folder / f"{cast}_prompts")

        self._made(forks, " ".join(RECORDED) + " --out kept_run", endpoint)
        self._add(CONVERSATIONS, folder / "kept_run")
        self._add(CALLS, folder / "kept_run" / "replies.sqlite")

    def _made(self, forks: Forks, command: str, environment: dict[str, str] | None = None) -> None:
        fork = forks(command.split(), self.folder, environment or {})
        assert fork.wait(900) == 0, (command, fork.stderr)

    def _add(self, kind: str, path: Path) -> None:
        self.items.setdefault(kind, []).append(path)

    @property
    def all(self) -> list[Path]:
        return [path for paths in self.items.values() for path in paths]
