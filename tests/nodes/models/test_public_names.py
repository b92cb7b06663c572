"""Nodes use public names of other packages only: a private one may be gone with any new version."""

import ast
from pathlib import Path

from langchain_core.language_models import BaseChatModel

import duologue

NODES = Path(duologue.__file__).parent / "nodes"
EXTENSION = {"_generate", "_agenerate"}
"""Private by their spelling only: LangChain documents them as what a chat model defines."""


ASYNCIO = {"_set_running_loop", "_enter_task", "_leave_task"}
"""What asyncio gives to whoever runs tasks by code of their own (`__all__` of its modules, "Extending asyncio")."""
DOCUMENTED = EXTENSION | ASYNCIO | {"_fields"}
"""These, and those of named tuples."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def foreign_names(tree: ast.Module) -> set[str]:
    """Private names that a module takes from an object or a package, and defines nowhere itself."""
    nodes = list(ast.walk(tree))
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    own |= {node.target.id for node in nodes if isinstance(node, ast.AnnAssign) if isinstance(node.target, ast.Name)}  # fmt: skip
    own |= {node.attr for node in nodes if isinstance(node, ast.Attribute) if isinstance(node.ctx, ast.Store)}
    own |= {name.id for name in nodes if isinstance(name, ast.Name) if isinstance(name.ctx, ast.Store)}
    own |= {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    inherited = {
        node.func.attr
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if isinstance(node.func.value, ast.Call) and getattr(node.func.value.func, "id", "") == "super"
    }
    imported = {
        alias.name for node in nodes if isinstance(node, ast.ImportFrom) and not node.level for alias in node.names
    }
    return {name for name in (read - own) | inherited | imported if is_private(name)}


def test_no_private_name_of_another_package_is_used():
    names = {str(path.relative_to(NODES)): foreign_names(ast.parse(path.read_text())) for path in NODES.rglob("*.py")}
    assert {path: foreign - DOCUMENTED for path, foreign in names.items() if foreign - DOCUMENTED} == {}


def test_what_is_overridden_of_the_stock_model_is_what_langchain_documents():
    from duologue.nodes.models.endpoint import EndpointModel

    ours = {name for name in vars(EndpointModel) if is_private(name)}
    stock = {name for base in EndpointModel.__mro__[1:] for name in vars(base) if is_private(name)}
    overridden = {name for name in ours & stock if not name.startswith("_abc_")}
    assert overridden == EXTENSION
    assert all(name in vars(BaseChatModel) for name in EXTENSION)
