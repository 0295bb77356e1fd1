"""The node that stands for others after a compaction, and the edges from it to each of them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from stores.formats.canonical import canonical
from stores.formats.phase_memory import records
from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.values import mapping
from stores.formats.phase_memory.vocabulary import RECORD_VERSIONS

_NAME_DIGITS: Final = 12
_KIND: Final = "episode"


class Summary(NamedTuple):
    """What a compaction makes."""

    node: Record
    edges: tuple[Record, ...]


def summary_id(source_ids: Sequence[str]) -> str:
    """Give the id of the node that sums up others: the same for the same ones, whatever their order."""
    return f"summary.{_digits(sorted(source_ids))}"


def summarise(sources: Sequence[Record], text: str, planned_at: str, event_id: str, path_id: str = "") -> Summary:
    """Make the summary of nodes, given unwrapped; without a text it lists their titles. Nobody's secret becomes everybody's."""
    read = sorted((records.node(source) for source in sources), key=lambda node: node.id)
    ids = [node.id for node in read]
    name = summary_id(ids)
    path_ids = {node.provenance.path_id for node in read}
    path_id = path_id or (path_ids.pop() if len(path_ids) == 1 else "")
    provenance: Record = {"source": "compaction", "source_event_ids": [event_id]}
    if path_id:
        provenance["path_id"] = path_id
    node: Record = {
        "schema_version": RECORD_VERSIONS["node"],
        "id": name,
        "kind": _KIND,
        "phase": "fluid",
        "lifecycle_state": "active",
        "text": text.strip() or "\n".join(f"- {node.title or node.id}" for node in read),
        "policy": _policy(sources, any(node.secret for node in read)),
        "provenance": provenance,
        "created_at": planned_at,
        "updated_at": planned_at,
        "version": 1,
        "metadata": {"title": f"Summary of {len(read)} nodes{f' of {path_id}' if path_id else ''}"},
    }
    _take_what_all_say(node, sources)
    return Summary(node, tuple(_edge(name, source, planned_at, event_id) for source in ids))


def _edge(summary: str, source: str, planned_at: str, event_id: str) -> Record:
    return {
        "schema_version": RECORD_VERSIONS["edge"],
        "id": f"edge.derived-from-{_digits([summary, source])}",
        "kind": "derived_from",
        "source": summary,
        "target": source,
        "lifecycle_state": "active",
        "provenance": {"source_event_ids": [event_id]},
        "created_at": planned_at,
        "updated_at": planned_at,
    }


def _policy(sources: Sequence[Record], secret: bool) -> Record:
    policies = [mapping(source.get("policy")) for source in sources]
    labels = {label for policy in policies for label in _texts(policy.get("labels"))}
    policy: Record = {"labels": sorted(labels)}
    zones = {zone for given in policies if isinstance(zone := given.get("trust_zone"), str)}
    if len(zones) == 1:
        policy["trust_zone"] = zones.pop()
    return {**policy, "secret": True} if secret else policy


def _take_what_all_say(node: Record, sources: Sequence[Record]) -> None:
    namespaces = [mapping(source.get("namespace")) for source in sources]
    graphs = {mapping(source.get("metadata")).get("graph_id") for source in sources if _has_graph(source)}
    shared = {key: value for key, value in namespaces[0].items() if all(one.get(key) == value for one in namespaces)}
    if shared:
        node["namespace"] = shared
    if len(graphs) == 1:
        node["metadata"] = {**mapping(node["metadata"]), "graph_id": graphs.pop()}


def _has_graph(source: Record) -> bool:
    return isinstance(mapping(source.get("metadata")).get("graph_id"), str)


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _digits(ids: Sequence[str]) -> str:
    return sha256(canonical(list(ids))).hexdigest()[:_NAME_DIGITS]
