"""Each harness of the Makefile has an extra, versions that name no index and no build, a module, tests and a page."""

import importlib
import re
import sys
import tomllib

import pytest

from duologue.errors import MissingExtraError
from tests.test_imports import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
HOSTS = re.search(r"^HOSTS := (.*)$", MAKEFILE, re.MULTILINE)[1].split()


@pytest.mark.parametrize("host", HOSTS)
def test_a_harness_has_all_its_parts(host):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras[host]
    assert (ROOT / f"hosts/{host}.py").is_file()
    assert (ROOT / f"tests/hosts/test_{host}.py").is_file()
    assert f"]({host}.md)" in (ROOT / "docs/hosts/harness.md").read_text()
    line = f'pip install -c constraints/hosts/{host}.txt ".[{host}]"'
    assert line in (ROOT / f"docs/hosts/{host}.md").read_text()


@pytest.mark.parametrize("host", HOSTS)
def test_its_versions_are_fixed_and_name_no_index_no_path_and_no_graphics_card(host):
    lines = (ROOT / f"constraints/hosts/{host}.txt").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    packages = {line.split("==")[0].lower() for line in lines}
    assert packages > {"langgraph", "pytest"}
    assert [name for name in packages if name.startswith(("torch", "nvidia", "duologue"))] == []


@pytest.mark.parametrize("host", [host for host in HOSTS if host != "openevals"])
def test_a_harness_that_is_not_installed_is_one_line_with_its_extra(host, monkeypatch):
    package = {"inspect": "inspect_ai"}.get(host, host)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"duologue.hosts.{host}", raising=False)
    with pytest.raises(MissingExtraError, match=rf'^{package} is not installed: pip install "duologue\[{host}\]"$'):
        importlib.import_module(f"duologue.hosts.{host}")
