"""What scenarios are designed from: an agent's tools, a policy, a table of dimensions, a world with its examples."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...data.documents import Document, of_markdown, read
from ...data.scenarios import ScenarioReader
from ...data.test_design.dimensions import DimensionTable, read_dimensions
from ...data.test_design.examples import WorldExample, completed, examples_of, read_examples
from ...data.test_design.log_cases import LogCase, LogCases, LogSpace
from ...data.test_design.policy_rules import PolicyRule, rules_of
from ...data.test_design.sentences import language_of_tools
from ...data.test_design.tool_schemas import read_tools
from ...data.text.languages import Language
from ...errors import DataError, SettingError, at, kind
from ...nodes.oracle import AgentTools, tools_at
from ...nodes.settings.import_path import imported, is_import_path
from ...nodes.settings.redaction import error_line
from ...nodes.worlds import World, check_world

EXAMPLES = "examples"
"""The name of a world's function that gives its examples."""


@dataclass(frozen=True)
class DesignSources:
    """What was read."""

    tools: AgentTools | None = None
    rules: tuple[PolicyRule, ...] = ()
    dimensions: DimensionTable = field(default_factory=DimensionTable)
    examples: tuple[WorldExample, ...] = ()
    logs: tuple[LogCase, ...] = ()
    world: World | None = None
    notes: tuple[str, ...] = ()

    @property
    def language(self) -> Language:
        """The language of the tools' descriptions, else of the rules, else of the goals."""
        if self.logs:
            return LogSpace(self.logs).language
        schemas = self.tools.schemas if self.tools else ()
        return language_of_tools(schemas, [rule.text for rule in self.rules] + list(self.dimensions.goals))


def read_sources(
    agent: str | None = None,
    policy: Sequence[str] = (),
    dimensions: Path | None = None,
    values: Path | None = None,
    world: str | None = None,
    logs: Path | None = None,
) -> DesignSources:
    """Read what scenarios are designed from.

    `agent`: MODULE:NAME, or a JSON file of tools in OpenAI's form. `policy`: documents, folders, or MODULE:NAME of a
    text. `values`: a file of examples. `world`: MODULE:NAME. `logs`: stored conversations, without an agent.

    SettingError or DataError, in one line, for what cannot be read.
    """
    notes: list[str] = []
    tools = None if agent is None else _tools(agent)
    documents: list[Document] = []
    for source in policy:
        read_documents, remarks = _documents(source)
        documents += read_documents
        notes += remarks
    rules = rules_of(documents) if policy else ()
    table = DimensionTable() if dimensions is None else read_dimensions(dimensions)
    live = None if world is None else imported(world, "--world")
    if world is not None:
        check_world(live)
    schemas = tools.schemas if tools else ()
    examples: tuple[WorldExample, ...] = ()
    if values is not None:
        if tools is None:
            raise SettingError("--values: gives values to the arguments of tools: give the agent too")
        examples = read_examples(values, schemas)
    elif callable(own := getattr(live, EXAMPLES, None)):
        examples = examples_of(_own_examples(own, str(world)), schemas, f"{world}.{EXAMPLES}()")
    complete = completed(examples, schemas) if tools is not None else ()
    if invented := sorted({name for example in complete for name in example.invented}):
        notes.append(
            f"no value was given for {', '.join(invented)}, so invented ones stand in: give --values FILE, or the world {EXAMPLES}()"
        )
    cases: tuple[LogCase, ...] = ()
    if logs is not None:
        if tools is not None:
            raise SettingError("--logs: has goals of its own: leave the agent out, and write two files")
        cases, note = _log_cases(logs)
        notes.append(note)
    return DesignSources(tools, rules, table, complete, cases, live, tuple(notes))


def _log_cases(logs: Path) -> tuple[tuple[LogCase, ...], str]:
    """The cases of stored conversations, and a note of what was left out."""
    reader = ScenarioReader(logs)
    if not reader.stored:
        raise DataError(f"{at(logs)}: holds no conversations: give logs or a data set (scenarios go to --missing)")
    read = LogCases.of(reader)
    if not read.cases:
        raise DataError(f"{at(logs)}: holds no words of a user: give other conversations")
    left = read.conversations - len(read.cases) - read.near_equal
    note = f"{logs}: {len(read.cases)} goals of {read.conversations} conversations; near-equal and left out: {read.near_equal}"
    return read.cases, f"{note}; without words of a user: {left}" if left else note


def _tools(agent: str) -> AgentTools:
    if agent.endswith(".json"):
        return AgentTools(read_tools(Path(agent)))
    return tools_at(agent)


def _documents(source: str) -> tuple[list[Document], list[str]]:
    """The documents of a path, or of a text by import path."""
    if is_import_path(source) and not Path(source).exists():
        text = imported(source, "--policy")
        if not isinstance(text, str):
            raise SettingError(f"--policy: {source} is {kind(text)}, not a text: give a document or the name of a text")
        return [Document(source, tuple(of_markdown(text)[0]))], []
    return read(source)


def _own_examples(own: Any, world: str) -> list[Any]:
    try:
        return list(own())
    except (Exception, SystemExit) as error:
        raise DataError(f"{world}.{EXAMPLES}() failed: {error_line(error)}") from error
