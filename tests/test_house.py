"""How the package is laid out: layers and subjects, which know each other one way, and names that stand for one thing.

A line of code has two coordinates: its layer, which is the folder at the root, and its subject, which has the same name
in every layer. Which layer may import which: `test_imports.py`.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.test_imports import BELOW, ROOT, among_files, circles, files, ours

SUBJECTS = {
    "conversation": """
        data/attachments data/attempts data/checks data/domain data/domain_parts data/domains data/input_forms data/grounding data/identity
        data/loading data/packages data/provenance data/records data/stop_reasons data/files data/formats data/logs data/rules data/summaries
        data/text prompts/pages
        nodes/conformance nodes/contract nodes/farewell_phrases nodes/goodbyes nodes/limits nodes/state nodes/stops
        nodes/messages nodes/replies nodes/validators
        graphs/conversations graphs/casts graphs/scenarios graphs/serving
        runs/inspection runs/genai_messages runs/genai_spans runs/telemetry runs/listing runs/mending runs/resuming runs/running runs/simulation
        runs/divided runs/engine runs/folder runs/journals runs/planning
        analysis/attempts analysis/figures analysis/growth analysis/measure_values analysis/logs analysis/table_escapes analysis/tables analysis/terminal_tables analysis/threads analysis/over_users
        views/against views/conversation views/figures views/listing views/live views/markdown views/marking views/notebook views/page views/pages
        views/parts views/run views/settings views/shown_conversation views/watching views/wording views/graph
        studies/forks studies/live studies/pages studies/replays studies/sources
        cli/check cli/commands cli/convert cli/demo cli/draw cli/former_words cli/registry cli/runs cli/show cli/simulate
        cli/stats cli/streams cli/options cli/output cli/running
    """,
    "models and calls": "data/settings nodes/context_values nodes/settings nodes/models nodes/calls nodes/asking runs/asking studies/model_answers cli/doctor",
    "testing": """
        data/scenarios data/test_cases data/test_design nodes/oracle nodes/worlds nodes/world_journal nodes/speakers nodes/scorers graphs/agent_test analysis/testing analysis/outcomes
        data/behaviours nodes/behaviours analysis/behaviours hosts/simulated_users hosts/given_scenarios hosts/scored_records hosts/openevals hosts/inspect hosts/verifiers hosts/mlflow hosts/deepeval hosts/scenario hosts/chat_completions hosts/endpoint cli/hosts
        hosts/folder_commands hosts/folder_tools hosts/shown_text hosts/mcp_server
        analysis/agent_faults analysis/replays analysis/user_faults views/success views/testing studies/testing studies/agent_tests studies/agent_trials hosts/trec cli/trec
        studies/ablation studies/paired_tests studies/scenario_design cli/testing
    """,
    "simquac": """
        data/simquac data/documents nodes/simquac graphs/simquac graphs/reading runs/reading analysis/simquac
        cli/simquac
    """,
    "recllmsim": """
        data/recllmsim nodes/recllmsim nodes/profiles graphs/recllmsim graphs/profiles runs/people/profiles runs/people/profile_files
        analysis/recllmsim studies/recllmsim cli/recllmsim
    """,
    "labels": """
        data/labels prompts/label_pages nodes/annotators graphs/label_graph runs/labels analysis/labels views/labels
        views/labelling studies/label_agreement studies/labelling studies/people_answers studies/side_by_side labelling cli/labels
    """,
    "people": """
        data/people nodes/people nodes/seeded_faults graphs/single_turn graphs/validity graphs/drawn_errands runs/people
        analysis/realism analysis/next_turn analysis/validity views/realism studies/comparison studies/link studies/prediction
        studies/reproduction studies/validation cli/people
    """,
    "tuning": "data/tuning runs/tuning analysis/tuning studies/tuning cli/tune",
    "the package": "errors former_names testing __init__ cli/__main__",
}
"""Each subject, with its modules and folders in every layer."""
EQUALS = ("formats", "logs", "rules", "measures")
"""Folders of one kind of thing with one contract, which may be long."""
WIDTH = 16
"""Modules that a folder may show at its top, `__init__.py` aside."""


def modules() -> Iterator[Path]:
    """The paths of the package's modules, below its root."""
    return (path.relative_to(ROOT) for path in files(ROOT))


def places_of(path: Path) -> list[tuple[str, str]]:
    """The subjects of a module with the places that name it, the longest first."""
    name = path.with_suffix("").as_posix()
    matches = [
        (subject, place)
        for subject, text in SUBJECTS.items()
        for place in text.split()
        if name == place or name.startswith(f"{place}/")
    ]
    return sorted(matches, key=lambda match: -len(match[1]))


def is_door_of_a_layer(path: Path) -> bool:
    return path.name == "__init__.py" and len(path.parts) == 2 and path.parts[0] in BELOW


def test_every_module_lies_in_one_subject():
    homeless = [path.as_posix() for path in modules() if not places_of(path) and not is_door_of_a_layer(path)]
    assert homeless == [], "name its subject in SUBJECTS, or move it to where its subject lives"


def test_no_place_of_a_subject_is_empty():
    used = {places_of(path)[0][1] for path in modules() if places_of(path)}
    assert {place for text in SUBJECTS.values() for place in text.split()} - used == set()


def test_a_folder_shows_at_most_sixteen_modules():
    counts = Counter(path.parent.as_posix() for path in modules() if path.name != "__init__.py")
    wide = {folder: count for folder, count in counts.items() if count > WIDTH and Path(folder).name not in EQUALS}
    assert wide == {}


def test_the_subjects_of_a_layer_import_each_other_one_way():
    among: dict[Path, dict[str, set[str]]] = {}
    for file, targets in among_files(ours()).items():
        for target in targets - {file}:
            one, other = Path(file).parts, Path(target).parts
            depth = next(n for n, (here, there) in enumerate(zip(one, other, strict=False)) if here != there)
            if depth and "__init__.py" not in (one[depth], other[depth]):
                among.setdefault(Path(*one[:depth]), {}).setdefault(one[depth], set()).add(other[depth])
    groups = {(folder.as_posix(), *sorted(group)) for folder, edges in among.items() for group in circles(edges)}
    assert groups == set()


def classes(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.expr):
            if isinstance(node, ast.ClassDef):
                yield node.name
            yield from classes(node)


def defined(tree: ast.Module) -> Iterator[str]:
    """The classes, also inside classes and functions, and the type aliases that a module defines."""
    yield from classes(tree)
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
            yield ast.unparse(node.target)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
            # `X = Callable[...]`, `X = A | B`: a constant is written in capitals.
            yield from (name for name in map(ast.unparse, node.targets) if name[0].isupper() and not name.isupper())


@cache
def top_levels() -> dict[str, tuple[list[str], list[str]]]:
    """Of each module the public classes and type aliases that it defines, and its functions."""
    result = {}
    for path in modules():
        tree = ast.parse((ROOT / path).read_text())
        functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        result[path.as_posix()] = (list(defined(tree)), functions)
    return result


def test_a_public_class_name_is_defined_once():
    homes: dict[str, list[str]] = {}
    for path, (names, _) in top_levels().items():
        for name in names:
            if not name.startswith("_"):
                homes.setdefault(name, []).append(path)
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_no_module_is_named_like_a_function_of_its_own():
    assert [path for path, (_, functions) in top_levels().items() if Path(path).stem in functions] == []
