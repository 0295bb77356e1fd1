"""Where the memory server keeps the graph, as the server itself resolves it."""

from __future__ import annotations

import json

import pytest

from stores.formats.orchestkit.graph_place import graph_place

PROJECT = "/home/dana/shop-api"
EXPECTED = f"{PROJECT}/.claude/memory/memory.json"
SCRIPT = (
    'DIR="$CLAUDE_PROJECT_DIR"; [ -n "$DIR" ] || DIR="$PWD"; export MEMORY_FILE_PATH="$DIR/.claude/memory/memory.json"; '
    'mkdir -p "$DIR/.claude/memory"; exec npx -y @modelcontextprotocol/server-memory'
)


def configured(**server: object) -> bytes:
    return json.dumps({"mcpServers": {"other": {"command": "x"}, "memory": {"command": "npx", **server}}}, indent=2).encode()


@pytest.mark.parametrize(
    ("environment", "state", "path"),
    [
        ({"MEMORY_FILE_PATH": EXPECTED}, "expected", EXPECTED),
        ({"MEMORY_FILE_PATH": f"{PROJECT}/x/../.claude//memory/memory.json"}, "expected", EXPECTED),
        ({"MEMORY_FILE_PATH": "/elsewhere/memory.jsonl"}, "elsewhere", "/elsewhere/memory.jsonl"),
        ({"MEMORY_FILE_PATH": ".claude/memory/memory.json"}, "package", ".claude/memory/memory.json"),
        ({"MEMORY_FILE_PATH": "${CLAUDE_PROJECT_DIR:-.}/.claude/memory/memory.json"}, "package", "./.claude/memory/memory.json"),
        ({"MEMORY_FILE_PATH": "${CLAUDE_PROJECT_DIR}/.claude/memory/memory.json"}, "unknown", ""),
        ({"MEMORY_FILE_PATH": "${HOME}/graph.json"}, "elsewhere", "/home/dana/graph.json"),
        ({"MEMORY_FILE_PATH": "${UNSET:-/var/graph.json}"}, "elsewhere", "/var/graph.json"),
        ({"MEMORY_FILE_PATH": "$HOME/graph.json"}, "unknown", ""),
        ({"MEMORY_FILE": EXPECTED}, "package", ""),
        ({"MEMORY_FILE_PATH": ""}, "package", ""),
        ({"MEMORY_FILE_PATH": 5}, "package", ""),
        ({}, "package", ""),
        (None, "package", ""),
    ],
)
def test_the_place_is_where_the_server_would_write(environment: object, state: str, path: str) -> None:
    found = graph_place(configured(env=environment), PROJECT, {"HOME": "/home/dana"})
    assert found is not None
    assert (found.state, found.path, found.server) == (state, path, "memory")
    assert found.below_project is (state == "expected")


def test_a_wrong_variable_is_named() -> None:
    found = graph_place(configured(env={"MEMORY_FILE": "x"}), PROJECT, {})
    assert found is not None
    assert "the server reads MEMORY_FILE_PATH" in found.reason


@pytest.mark.parametrize(
    ("script", "state", "path"),
    [
        (SCRIPT, "expected", EXPECTED),
        ("MEMORY_FILE_PATH=$PWD/graph.json npx x", "elsewhere", f"{PROJECT}/graph.json"),
        ("MEMORY_FILE_PATH='$PWD/graph.json' npx x", "unknown", ""),
        ("export MEMORY_FILE_PATH=${CLAUDE_PROJECT_DIR:-.}/.claude/memory/memory.json; npx x", "expected", EXPECTED),
        ("export MEMORY_FILE_PATH=$(pwd)/x; npx x", "unknown", ""),
        ("npx x", "package", ""),
    ],
)
def test_a_start_command_may_set_the_place(script: str, state: str, path: str) -> None:
    found = graph_place(configured(command="/bin/sh", args=["-c", script]), PROJECT, {})
    assert found is not None
    assert (found.state, found.path) == (state, path)


def test_a_server_is_known_by_its_package_too() -> None:
    data = json.dumps(
        {"mcpServers": {"graph": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory@2026.1.26"]}}}
    ).encode()
    found = graph_place(data, PROJECT, {"MEMORY_FILE_PATH": EXPECTED})
    assert found is not None
    assert (found.server, found.state, found.path) == ("graph", "expected", EXPECTED)


@pytest.mark.parametrize("data", [b"", b"{", b"null", b"[]", b'{"mcpServers":[]}', b'{"mcpServers":{"other":{"command":"x"}}}'])
def test_without_a_memory_server_there_is_no_place(data: bytes) -> None:
    assert graph_place(data, PROJECT, {}) is None


@pytest.mark.parametrize(
    "server",
    [
        None,
        [],
        "x",
        {"env": []},
        {"args": 5, "command": 7},
        {"command": "sh", "args": ["-c", 5]},
        {"env": {"MEMORY_FILE_PATH": "\ud83d\0"}},
    ],
)
def test_an_odd_configuration_raises_nothing(server: object) -> None:
    found = graph_place(json.dumps({"mcpServers": {"memory": server}}).encode(), PROJECT, {})
    assert found is not None
    assert found.state == "package"


def test_a_long_command_is_read_in_its_own_time() -> None:
    script = "A=" + "$" * 20_000 + " ${" * 20_000 + '="' * 20_000
    found = graph_place(configured(command="sh", args=["-c", script]), PROJECT, {})
    assert found is not None
