"""Says where the memory server that a project's `.mcp.json` starts really keeps the graph (docs/formats.md)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from stores.formats import storable
from stores.formats.orchestkit.values import items, mapping, parse_raw

EXPECTED: Final = ".claude/memory/memory.json"
"""Below the project: where OrchestKit and its store look for the graph."""
EXPECTED_STATE: Final = "expected"
ELSEWHERE: Final = "elsewhere"
PACKAGE: Final = "package"
UNKNOWN: Final = "unknown"
_SHARED: Final = ("HOME", "USER", "MEMORY_FILE_PATH")
_PACKAGE_NAME: Final = "server-memory"
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^${}]*))?\}")
_SHELL_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)(?::?-[^${}]*)?\}|([A-Za-z_][A-Za-z0-9_]*))")
_ASSIGNED: Final = re.compile(r"""(?:^|[\s;&])(?:export[ ]+)?([A-Za-z_][A-Za-z0-9_]*)=("[^"]*"|'[^']*'|[^\s;&"']*)""")
_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh"})
_PROJECT: Final = frozenset({"CLAUDE_PROJECT_DIR", "PWD"})
"""What a started server finds in its environment as the project's folder."""


class GraphPlace(NamedTuple):
    """Where the graph lands, as far as a configuration tells."""

    state: str
    """expected, elsewhere, package (the folder of the server's own package, which a cache may empty) or unknown."""
    path: str
    """Absolute where it is known, else as it was written, else ""."""
    written: str
    """What the configuration says, "" where it says nothing."""
    server: str
    """The configured server's name."""
    reason: str
    """Why it lands there, in one sentence; holds no value of the configuration."""

    @property
    def below_project(self) -> bool:
        """Whether agents find the graph where the store expects it."""
        return self.state == EXPECTED_STATE


def graph_place(mcp_json: bytes, project: str, environment: Mapping[str, str]) -> GraphPlace | None:
    """Resolve the place as agent and server do; None where no memory server is configured or the file cannot be read.

    `project` is the project's absolute path and `environment` what the agent program runs with, which does not know the project:
    `${NAME}` and `${NAME:-default}` are filled in from it, but only with what _SHARED names: an agent writes the file, and what it names
    is shown. A relative path the server joins to its own package's folder.
    """
    environment = {name: environment[name] for name in _SHARED if name in environment}
    servers = mapping(mapping(parse_raw(mcp_json).value).get("mcpServers"))
    for name, server in servers.items():
        told = mapping(server)
        arguments = [argument for argument in items(told.get("args")) if isinstance(argument, str)]
        if name == "memory" or any(_PACKAGE_NAME in argument for argument in arguments):
            return _place(storable.name(name), told, arguments, project.rstrip("/"), environment)
    return None


def _place(name: str, server: dict[str, object], arguments: list[str], project: str, environment: Mapping[str, str]) -> GraphPlace:
    told = mapping(server.get("env"))
    command = server.get("command")
    if isinstance(command, str) and posixpath.basename(command) in _SHELLS and len(arguments) > 1:
        written = _assigned_in_shell(arguments[-1], project)
        if written is not None:
            return _resolved(name, written, written, project, "The command that starts the server sets it")
    given = told.get("MEMORY_FILE_PATH")
    if not isinstance(given, str) or not given:
        if isinstance(told.get("MEMORY_FILE"), str):
            why = "MEMORY_FILE is set, but the server reads MEMORY_FILE_PATH: it takes the folder of its own package"
            return GraphPlace(PACKAGE, "", storable.text(told["MEMORY_FILE"]), name, why)
        inherited = environment.get("MEMORY_FILE_PATH")
        if inherited:
            return _resolved(name, inherited, inherited, project, "The environment sets MEMORY_FILE_PATH")
        return GraphPlace(PACKAGE, "", "", name, "MEMORY_FILE_PATH is not set: the server takes the folder of its own package")
    unknown: list[str] = []

    def fill(found: re.Match[str]) -> str:
        value = environment.get(found[1]) or found[2]
        if value is None:
            unknown.append(found[1])
            return found[0]
        return value

    filled = _VARIABLE.sub(fill, given)
    if unknown:
        why = "A variable in MEMORY_FILE_PATH has neither value nor default here: where the graph lands cannot be told"
        return GraphPlace(UNKNOWN, "", storable.text(given), name, why)
    return _resolved(name, given, filled, project, "MEMORY_FILE_PATH says so")


def _assigned_in_shell(script: str, project: str) -> str | None:
    """Give the path that a start command assigns, with the project's folder filled in; None where it assigns none."""
    known = dict.fromkeys(_PROJECT, project)

    def fill(found: re.Match[str]) -> str:
        return known.get(found[1] or found[2], found[0])

    written: str | None = None
    for variable, quoted in _ASSIGNED.findall(script):
        value = quoted[1:-1] if quoted[:1] == "'" else _SHELL_VARIABLE.sub(fill, quoted.strip('"'))
        known.setdefault(variable, value)
        if variable == "MEMORY_FILE_PATH":
            written = value
    return written


def _resolved(name: str, written: str, path: str, project: str, why: str) -> GraphPlace:
    shown = storable.text(written)
    if "$" in path:
        return GraphPlace(UNKNOWN, "", shown, name, "A variable in the path has no value here: where the graph lands cannot be told")
    if not path.startswith("/"):
        return GraphPlace(
            PACKAGE,
            storable.text(path),
            shown,
            name,
            "The path is relative: the server joins it to the folder of its own package, not to the project",
        )
    absolute = posixpath.normpath(path)
    if absolute == f"{project}/{EXPECTED}":
        return GraphPlace(EXPECTED_STATE, storable.text(absolute), shown, name, f"{why}: where the store expects it")
    return GraphPlace(ELSEWHERE, storable.text(absolute), shown, name, f"{why}: not where the store expects it")
