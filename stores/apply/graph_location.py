"""Finds the graph file that the agents of a project really use (ruling 53)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from stores.errors import MemoryUIError, OutsideRoots, StoreUnreadable
from stores.files import CannotRead, StoreRoot
from stores.formats.orchestkit import GraphFile
from stores.formats.orchestkit import graph_place as formats
from stores.mirror.discovering import project_of
from stores.mirror.server_configuration import CONFIGURATION, server_configuration
from stores.models import Store

GRAPH_FILE = "memory.json"
PACKAGE_FOLDER = "node_modules/@modelcontextprotocol/server-memory/dist"
"""Where a project's own copy of the server lies, which joins relative paths to this folder."""


class UnknownGraph(MemoryUIError):
    """Nobody can tell where the graph lies that the agents use."""

    status = 409
    title = "The graph's place is not known"


class GraphLocation(NamedTuple):
    """Where the graph lies, and why there."""

    folder: str
    """Real path; "" for the store's own folder."""
    name: str
    path: str
    """Absolute."""
    reason: str


def graph_location(store: Store, given: str = "") -> GraphLocation:
    """Give the place of the graph: `given`, else what `.mcp.json` and MEMORY_FILE_PATH say, else the store's `memory.json`.

    Raises UnknownGraph, OutsideRoots for a place that memoryui may not write to, and StoreUnreadable.
    """
    own = GraphLocation("", GRAPH_FILE, f"{store.path}/{GRAPH_FILE}", "Nothing says otherwise: where OrchestKit expects it")
    if given:
        return _at(store, os.path.abspath(given), "Named on the command line")
    project = project_of(store.path)
    inherited = os.environ.get("MEMORY_FILE_PATH", "")
    place = formats.graph_place(_configuration(project), project, os.environ)
    if place is None:
        return _at(store, inherited, "The environment sets MEMORY_FILE_PATH") if inherited.startswith("/") else own
    if place.state == formats.PACKAGE and not place.path:
        return own._replace(reason=f"{place.reason}, whose place is not known; so it is written where OrchestKit expects it")
    if place.state == formats.PACKAGE:
        package = Path(project, PACKAGE_FOLDER)
        if package.is_dir():
            return _at(store, os.path.normpath(package / place.path), place.reason, within=project)
    if place.state in (formats.PACKAGE, formats.UNKNOWN):
        raise UnknownGraph(f"{CONFIGURATION} of {project}: {place.reason}. Write an absolute path there, or name the file with --graph.")
    return _at(store, place.path, place.reason, within="" if place.path == inherited else project)


def require_a_graph(location: GraphLocation, found: GraphFile) -> None:
    """Raise UnknownGraph where the file that is there holds something else: it would be displaced for a graph."""
    if found.is_something_else:
        raise UnknownGraph(
            f"{location.path} is there, but no line of it belongs to a graph, so it was left as it is ({location.reason}). Name the right "
            "file with --graph, or move this one away."
        )


def _at(store: Store, path: str, reason: str, within: str = "") -> GraphLocation:
    """Give a place. `within` bounds what a file of the project says: agents write there, and may name any file of the account."""
    folder, name = os.path.split(path)
    real = os.path.realpath(folder)
    if real == store.path:
        return GraphLocation("", name, f"{store.path}/{name}", reason)
    if within and not Path(real).is_relative_to(os.path.realpath(within)):
        raise UnknownGraph(f"{reason}, but {path} lies outside the project {within}. If that is right, name it with --graph.")
    if not any(Path(real) == root or root in Path(real).parents for root in settings.STORE_ROOTS):
        raise OutsideRoots(f"The graph {path} lies outside MEMORYUI_STORE_ROOTS, so nothing is written there.")
    if not Path(real).is_dir():
        raise StoreUnreadable(f"The folder of the graph {path} does not exist.")
    return GraphLocation(real, name, f"{real}/{name}", reason)


def _configuration(project: str) -> bytes:
    """Read what configures the project's servers; nothing when there is nothing to read."""
    try:
        with StoreRoot(project) as root:
            return server_configuration(root)
    except StoreUnreadable:
        return b""
    except CannotRead as err:
        raise UnknownGraph(f"{project}/{CONFIGURATION} cannot be read, so nobody can tell where the graph lies: {err}") from err
