"""What OrchestKit itself would say of a store: its own check of version 6.0.2, to the letter."""

from __future__ import annotations

from typing import NamedTuple

from stores.health.orchestkit.facts import QUEUE_LIMIT, StoreFacts


class Classic(NamedTuple):
    """What OrchestKit's own health check of 2026 reports."""

    overall: str
    graph_status: str
    graph_message: str
    mem0_status: str
    mem0_message: str
    fabric_status: str
    fabric_message: str


def classic(facts: StoreFacts) -> Classic:
    """Apply the classic rules to the letter (docs/formats.md): one message only, and blind to all but two files."""
    corrupt = facts.decisions.corrupt if facts.decisions.readable else 0
    depth = facts.queue.lines if facts.queue.readable else 0
    if not facts.directory_exists:
        graph = "unavailable", "Memory directory .claude/memory/ does not exist"
    elif corrupt > 0:
        graph = "degraded", f"{corrupt} corrupt lines in decisions.jsonl"
    elif depth > QUEUE_LIMIT:
        graph = "degraded", f"Graph queue depth high: {depth} pending operations"
    else:
        graph = "healthy", "Graph memory operational"
    if not facts.mem0_key:
        mem0 = "unavailable", "MEM0_API_KEY not configured (optional)"
    elif facts.mem0_queue_depth > QUEUE_LIMIT:
        mem0 = "degraded", f"Mem0 queue depth high: {facts.mem0_queue_depth} pending operations"
    else:
        mem0 = "healthy", "Mem0 cloud available"
    if "unavailable" in (graph[0], mem0[0]):
        fabric = "unavailable", "Fabric requires both graph and mem0 tiers"
    else:
        fabric = "healthy", "Memory fabric active (graph + mem0)"
    worst = "degraded" if "degraded" in (graph[0], mem0[0]) else "healthy"
    overall = "unavailable" if graph[0] == "unavailable" else worst
    return Classic(overall, *graph, *mem0, *fabric)
