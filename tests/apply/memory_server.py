"""Drives the real memory server of MCP over its standard input and output."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SERVER = Path(__file__).parents[2] / "node_modules" / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js"


def why_not() -> str:
    """Say why the server cannot be run here; "" when it can."""
    if shutil.which("node") is None:
        return "node is not installed"
    return "" if SERVER.exists() else "the memory server is not installed: make memory-server"


class Refused(Exception):
    """The server answered a call with an error."""


class MemoryServer:
    """The server on one graph file, until the block ends."""

    def __init__(self, graph: Path) -> None:
        environment = {**os.environ, "MEMORY_FILE_PATH": str(graph)}
        command = ["node", str(SERVER)]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._number = 0

    def __enter__(self) -> MemoryServer:
        about = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
        self._ask("initialize", about)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.terminate()
        self._process.wait(10)
        self._process.stdout.close()

    def call(self, tool: str, **arguments: object) -> Any:
        """Call a tool and give what it answers."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        text = result["content"][0]["text"]
        if result.get("isError"):
            raise Refused(text)
        return json.loads(text)

    def _send(self, message: dict[str, object]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _ask(self, method: str, parameters: Mapping[str, object]) -> Any:
        assert self._process.stdout
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters})
        while True:
            answer = json.loads(self._process.stdout.readline())
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise Refused(str(answer["error"]))
                return answer["result"]
