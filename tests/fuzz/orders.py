"""From a number to a command line: every command and option of the application, with good and hostile values."""

import inspect
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from .corpus import CALLS, CONVERSATIONS, PROFILES, PROMPTS, RECORDED, SCENARIOS, TASKS, TOPICS, Corpus
from .draws import Draw
from .hostile import FILES, PATHS, furnish, hostile_folder
from .mutations import mutated

KINDS = {
    "topics": TOPICS,
    "papers recllmsim tasks": TASKS,
    "profiles": PROFILES,
    "scenarios": SCENARIOS,
    "prompts": PROMPTS,
    "pool": PROFILES,
    "sim": CONVERSATIONS,
    "human": CONVERSATIONS,
    "reference": CONVERSATIONS,
    "annotated": CONVERSATIONS,
    "replies": CALLS,
}
"""What a parameter reads, by its name."""
BY_COMMAND = {"papers recllmsim tasks": TASKS, "papers simquac baseline": TOPICS}
"""What the parameter `source` of a command reads, where it is no conversations."""
OF_DOMAIN = {
    "papers simquac stats": "simquac",
    "papers simquac teacher": "simquac",
    "papers recllmsim stats": "recllmsim",
    "judges": "recllmsim",
    "satisfaction": "recllmsim",
    "intents": "recllmsim",
    "predict": "recllmsim",
    "papers simquac repair": "as_simquac",
}
"""The names of files that a command of a domain reads."""
WRITTEN = ("out", "junit", "journal", "write_to", "target", "record", "page_out", "dst")
"""Parameters that say where to write."""
ALWAYS = {
    "simulate": ["--limit", "2", "--max-turns", "1"],
    "test": ["--max-turns", "1"],
    "serve-user": ["--max-time", "1s"],
}
NUMBERS = (
    "0",
    "-1",
    "1",
    "2",
    "7",
    "1.5",
    "1e3",
    "NaN",
    "inf",
    "-inf",
    "",
    " ",
    "ten",
    "0x10",
    "1_0",
    "٣",
    "9" * 30,
    "1" * 5_000,
)
TEXTS = (
    *("", " ", "x", "\x1b[31mred\x1b[0m", "[red]x[/red]", "[/]", "漢字🙂", "\udcff", "x" * 10_000, "a\nb", "a\tb", "\x9b2J", "\x07"),
    *("../../evil", "%s%n", "{x}", "{{x}}", "--help", "-", "a=b", "=", "a=", "=b", "no.such:thing", "json:nothing", ":", "x:"),
    *("json:dumps", "json:", ":dumps", "a:b:c", "offline", "offline?paraphrase=0.5", "offline?paraphrase=9", "offline?x=1"),
    *("offline?seed=NaN", "offline?", "offline?&&", "offline?seed=\x1b[2J", "openai:", "openai", "openai:m?api_key=sk-4711secret"),
    *("openai:m?timeout=no", "openai:m?temperature=[1", "replay:", "replay:missing.json", "replay:/dev/zero", "replay:fifo"),
    *("agent:", "agent:x", "agent:http://[::1/x", "agent:http://127.0.0.1:99999/x", "ollama:x", "nobody:x", "🙂:🙂", "\udcfe:x"),
    *("1", "0,3", "0,0,99999999999", "-1", ",", "en", "zh", "simquac", "recllmsim", "agent_test", "messages", "replay"),
)  # fmt: skip
URLS = (
    *("http://[::1/v1", "http://127.0.0.1:99999/v1", "http://127.0.0.1:x/v1", "http://", "https://", "://", "x", " ", "ftp://a/b"),
    *("http://\x1b[2J/", "http://a b/", "http://a\nb/", "http://🙂.example/v1", "http://user:S3cret-4711-pass@[::1/v1", "//a"),
    *("http://%00/", "http://a/\udcff", "http://" + "a" * 5_000, "http://a:b:c@d:e/f", "javascript:1", "file:///etc/passwd"),
    *("http://user:S3cret-4711-pass@127.0.0.1:{port}/v1", "http://S3cret-4711-pass@127.0.0.1:{port}/v1?key=S3cret-4711-pass"),
)  # fmt: skip
KEYS = ("S3cret-4711-pass", "", " ", "sk-\n4711", "🙂", "x" * 20_000, "\x1b[2J", "\udcff-key-4711")
ENV_FILES = (
    *(b"", b"\xff\xfe\x00", b"OPENAI_API_KEY", b"=x", b"OPENAI_API_KEY='", b'OPENAI_BASE_URL="http://[::1/v1', b"\x1b[2J=1\n"),
    *(b"A=${A}\nB=${C}\nC=${B}\n", b"OPENAI_BASE_URL=http://127.0.0.1:99999/v1\nOPENAI_API_KEY=x\n", b"A=" + b"x" * 2_000_000),
    *(b"export " * 1_000, b"\0" * 1_000, b"LANGSMITH_TRACING=true\n", b"OPENAI_API_KEY=S3cret-4711-pass\nOPENAI_BASE_URL=x\n"),
    *(b"A='" * 20_000, b"\n" * 100_000, b"K=V\n" * 50_000, "OPENAI_API_KEY=漢字🙂\n".encode()),
)  # fmt: skip


@dataclass
class Order:
    """A command line with its folder and environment."""

    arguments: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    what: str = ""


WAITING = {("show", "watch")}
"""Options with which a command goes on until Ctrl-C."""


def commands() -> Iterator[tuple[str, Any]]:
    """Every command of the application by its words, those of groups included."""
    from typer.main import get_command

    from duologue.cli import app

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if not hasattr(command, "list_commands"):
            yield " ".join(path), command
            return
        for name in command.list_commands(None):
            yield from walk(command.get_command(None, name), (*path, name))

    yield from walk(get_command(app), ())


def wanted(parameter: Any) -> Any:
    """The type of a parameter's values, without None and containers."""
    annotation = parameter.type_descriptor.annotation
    while get_origin(annotation) is not None and get_origin(annotation) is not Literal:
        annotation = next(option for option in get_args(annotation) if option is not type(None))
    return annotation


class Orders:
    """Makes the case of a number in a folder."""

    def __init__(self, corpus: Corpus, port: int) -> None:
        self.corpus, self.port = corpus, port
        self.commands = sorted(commands())

    def made(self, number: int, folder: Path) -> Order:
        """The case: the files are in the folder, from where the command runs."""
        draw = Draw("case", number)
        words, command = self.commands[number % len(self.commands)]
        turn = ("files", "arguments", "files", "hostile", "environment")[number // len(self.commands) % 5]
        furnish(folder)
        order = Order(words.split(), {}, f"{turn} of {words}")
        if words == "simulate simquac" and turn == "files" and draw.chance(0.8):
            return self._kept(order, folder, draw)
        if turn == "environment":
            self._surroundings(order, folder, draw)
        always = next((more for name, more in ALWAYS.items() if words.startswith(name)), [])
        names = {option for parameter in command.params for option in parameter.opts}
        order.arguments += [option for n, option in enumerate(always) if always[n - n % 2] in names][:]
        options = [
            option
            for option in command.params
            if option.param_type_name == "option" and (words, option.name) not in WAITING and option.name != "help"
        ]
        placed = [option for option in command.params if option.param_type_name == "argument"]
        wild = draw.of(placed or options) if turn != "environment" and (placed or options) else None
        if turn == "arguments" and options and draw.chance(0.7):
            wild = draw.of(options)
        reads = [option for option in options if wanted(option) is Path and option.name not in WRITTEN]
        if turn in ("files", "hostile") and reads and (not placed or draw.chance(0.4)):
            wild = draw.of(reads)
        usual = [option for option in options if wanted(option) is not str or option.name in ("user", "assistant")]
        usual = [option for option in usual if "bytes" not in str(option.name)]
        chosen = [
            option for option in options if option.required or option is wild or (option in usual and draw.chance(0.12))
        ]
        if turn == "environment" and (model := [option for option in options if option.name in ("user", "assistant")]):
            chosen = [option for option in chosen if option not in model]
            order.arguments += [draw.of(model).opts[0], "openai:m"]
        for parameter in chosen:
            self._option(order, parameter, words, turn if parameter is wild else "good", folder, draw)
        for parameter in placed:
            if parameter.required or parameter is wild or draw.chance(0.7):
                value = self._value(parameter, words, turn if parameter is wild else "good", folder, draw)
                order.arguments.append(value if not value.startswith("-") or draw.chance(0.3) else f"./{value}")
        return order

    def _kept(self, order: Order, folder: Path, draw: Draw) -> Order:
        """A run that goes on in a spoilt folder, or takes its replies from a spoilt file, with no endpoint."""
        order.arguments = list(RECORDED)
        if draw.chance(0.5):
            source = self.corpus.items[CALLS][0]
            (folder / source.name).write_bytes(mutated(source.read_bytes(), source.name, draw))
            order.arguments += ["--replies", source.name, "--frozen", "--out", "made"]
        else:
            shutil.copytree(self.corpus.folder / "kept_run", folder / "run")
            self._spoil(folder / "run", draw)
            order.arguments += ["--out", "run"]
        order.environment |= {
            "OPENAI_API_KEY": "S3cret-4711-pass",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{self.port}/v1",
        }
        return order

    def _option(self, order: Order, parameter: Any, words: str, turn: str, folder: Path, draw: Draw) -> None:
        name = draw.of([*parameter.opts, *parameter.secondary_opts])
        if wanted(parameter) is bool or parameter.is_flag:
            order.arguments.append(name)
        else:
            order.arguments += [name, self._value(parameter, words, turn, folder, draw)]

    def _value(self, parameter: Any, words: str, turn: str, folder: Path, draw: Draw) -> str:
        kind = wanted(parameter)
        if parameter.name in WRITTEN:
            return draw.of(PATHS) if turn != "good" else f"made{draw.of(['', '.json', '.jsonl', '.html', '_x'])}"
        if kind is Path or parameter.name in ("prompts", "source", "sources"):
            return self._path(parameter.name, words, turn, folder, draw)
        if kind in (int, float):
            return draw.of(NUMBERS) if turn != "good" else str(max(parameter_least(parameter), 1 if kind is int else 0))
        if get_origin(kind) is Literal:
            return draw.of(TEXTS) if turn != "good" else str(draw.of(get_args(kind)))
        if inspect.isclass(kind) and hasattr(kind, "__members__"):
            return draw.of(TEXTS) if turn != "good" else str(draw.of(list(kind)).value)
        if parameter.name == "name" and turn == "good":
            return draw.of(["simquac", "recllmsim", "agent_test"])
        if parameter.name == "to" and turn == "good":
            return draw.of(["simquac", "quac", "squad_v2", "recllmsim", "sharegpt", "messages", "replay"])
        return draw.of(TEXTS) if turn != "good" else draw.of(["offline", "x", "1", "en"])

    def _path(self, name: str, words: str, turn: str, folder: Path, draw: Draw) -> str:
        if turn == "arguments":
            return draw.of(PATHS)
        if turn == "hostile":
            if draw.chance(0.2):
                return hostile_folder(folder, draw).name
            file = draw.of(sorted(FILES))
            content = self._hostile(file)
            (folder / file).write_bytes(content)
            return file
        kind = KINDS.get(name) or BY_COMMAND.get(words, CONVERSATIONS)
        paths = self.corpus.items[kind] if draw.chance(0.9) else self.corpus.all
        domain = next((value for word, value in OF_DOMAIN.items() if words.endswith(word)), "")
        if domain and kind == CONVERSATIONS and draw.chance(0.85):
            paths = [path for path in paths if domain in path.name]
        source = draw.of(paths)
        target = folder / f"{draw.below(1_000)}_{source.name}"
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
            if turn == "files":
                self._spoil(target, draw)
        else:
            data = source.read_bytes()
            target.write_bytes(mutated(data, source.name, draw) if turn == "files" else data)
        return target.name

    def _hostile(self, name: str) -> bytes:
        path = self.corpus.folder / "hostile" / name  # some of them take long to make
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(FILES[name]())
        return path.read_bytes()

    def _spoil(self, folder: Path, draw: Draw) -> None:
        """Change a file of a folder, or what kind of thing it is."""
        file = draw.of(sorted(path for path in folder.rglob("*") if path.is_file()))
        turn = draw.below(12)
        data = file.read_bytes()
        if turn > 2:
            file.write_bytes(mutated(data, file.name, draw))
            return
        file.unlink()
        if turn == 1:
            file.mkdir()
        elif turn == 2:
            file.symlink_to(draw.of(["loop", "/dev/zero", "nowhere", file.name]))

    def _surroundings(self, order: Order, folder: Path, draw: Draw) -> None:
        url = draw.of(URLS).replace("{port}", str(self.port))
        if draw.chance(0.5):
            (folder / ".env").write_bytes(draw.of(ENV_FILES))
        if draw.chance(0.7):
            order.environment["OPENAI_API_KEY"] = draw.of(KEYS)
        if draw.chance(0.7):
            order.environment["OPENAI_BASE_URL"] = url
        if draw.chance(0.3):
            order.environment[draw.of(["LANGSMITH_TRACING", "NO_COLOR", "COLUMNS", "LANG", "TERM", "HTTP_PROXY"])] = (
                draw.of(["true", "0", "-1", "x", "\x1b[2J", "http://[::1", "9" * 50])
            )


def parameter_least(parameter: Any) -> int:
    """The least number that an option takes."""
    return int(parameter.min) if parameter.min is not None else 0
