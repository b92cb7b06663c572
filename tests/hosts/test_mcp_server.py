"""`duologue mcp`, started and asked by the client of the SDK over standard input and output."""

import asyncio
import json
import os
import shutil
import subprocess
import sys

import pytest

import duologue
from tests.test_imports import ROOT

mcp = pytest.importorskip("mcp")
pytestmark = pytest.mark.heavy  # the SDK is among what `make test-all` installs

COMMAND = [sys.executable, "-P", "-m", "duologue.cli", "mcp", "agent"]
SECRET = "sk-test-4711-abcdefgh"


@pytest.fixture
def folder(tmp_path):
    """A folder with an agent, scenarios and a run."""
    (tmp_path / "agent").mkdir()
    for name in ("my_agent.py", "scenarios.jsonl"):
        shutil.copy(ROOT / "examples/agent" / name, tmp_path / "agent")
    duologue.test(lambda messages: "No.", tmp_path / "agent/scenarios.jsonl", out=tmp_path / "agent/out/earlier")
    return tmp_path / "agent"


async def session(use, *options):
    """Start the server, and give what `use` makes of a client."""
    environment = {**os.environ, "OPENAI_API_KEY": SECRET}
    server = mcp.StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *options], env=environment)
    async with mcp.Client(server) as client:
        return await use(client)


def texts(result):
    return "\n".join(part.text for part in result.content if part.type == "text")


def test_a_server_that_reads_has_tools_and_resources_that_change_nothing(folder):
    async def use(client):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["test", "show", "check", "compare"]
        assert all(tool.annotations.read_only_hint for tool in tools.values())
        assert all(tool.description for tool in tools.values())
        assert all("description" in value for value in tools["show"].input_schema["properties"].values())
        [run] = (await client.list_resources()).resources
        assert (str(run.uri), run.title) == ("duologue://runs/out/earlier", "agent_test, 4 conversations")
        report = await client.call_tool("test", {"run": "out/earlier"})
        assert "1 of 4 scored conversations succeeded" in texts(report)
        assert [str(part.uri) for part in report.content if part.type == "resource_link"] == [str(run.uri)]
        assert report.structured_content == {"exit_code": 0}
        [content] = (await client.read_resource(run.uri)).contents
        assert content.text == texts(report)
        for wrong in ("duologue://runs/nothing", "duologue://runs/..%2F..%2Fetc", "duologue://runs//etc"):
            with pytest.raises(mcp.MCPError):
                await client.read_resource(wrong)
        refused = await client.call_tool("test", {"assistant": "my_agent:graph", "scenarios": "scenarios.jsonl"})
        assert refused.is_error
        assert "this server is read-only, as it was started without --allow-simulate" in texts(refused)
        outside = await client.call_tool("show", {"source": "../agent/../.."})
        assert outside.is_error
        assert "is not in the folder of this server" in texts(outside)
        of_a_key = await client.call_tool("show", {"source": SECRET})
        assert of_a_key.is_error
        assert SECRET not in texts(of_a_key)
        with pytest.raises(mcp.MCPError) as of_a_run:
            await client.read_resource(f"duologue://runs/{SECRET}")
        assert SECRET not in str(of_a_run.value)
        return client.instructions

    assert "--allow-simulate" in asyncio.run(session(use))
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["earlier"]


def test_a_server_that_may_simulate_tests_the_agent_whose_prints_and_key_stay_out_of_the_protocol(folder):
    code = (folder / "my_agent.py").read_text()
    (folder / "my_agent.py").write_text(f"print('imported {SECRET}')\n{code}")

    async def use(client):
        hints = {tool.name: tool.annotations.read_only_hint for tool in (await client.list_tools()).tools}
        assert hints == {"test": False, "show": True, "check": True, "compare": True}
        result = await client.call_tool("test", {"assistant": "my_agent:graph", "scenarios": "scenarios.jsonl"})
        assert "3 of 4 scored conversations succeeded" in texts(result)
        assert SECRET not in texts(result)
        listed = await client.call_tool("show", {"source": "out/test-1"})
        assert len(texts(listed).splitlines()) == 5
        assert len((await client.list_resources()).resources) == 2
        wrong = await client.call_tool("test", {"assistant": "nothing:graph", "scenarios": "scenarios.jsonl"})
        assert (wrong.is_error, wrong.structured_content) == (True, {"exit_code": 2})
        assert "there is no module" in texts(wrong)

    asyncio.run(session(use, "--allow-simulate"))


def test_its_standard_output_is_the_protocol_alone_and_it_ends_with_its_input(folder):
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}},
    }  # fmt: skip
    done = subprocess.run(COMMAND, input=json.dumps(hello) + "\n", capture_output=True, text=True, check=True)
    [line] = done.stdout.splitlines()
    assert json.loads(line)["result"]["serverInfo"]["name"] == "duologue"


def test_a_folder_that_is_none_is_one_line(folder):
    done = subprocess.run([*COMMAND[:-1], "nothing"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr == "duologue: nothing: is not a folder: give the one with the agent's code and its conversations\n"
    )
