"""What is wrong with a phase-memory store: facts, kept up to date file by file, and the rules over them."""

from __future__ import annotations

from stores.health.phase_memory.checks import Findings, check_all, check_changed, is_acknowledged
from stores.health.phase_memory.codes import CODES
from stores.health.phase_memory.event_log import EventLog
from stores.health.phase_memory.findings import Finding
from stores.health.phase_memory.record_facts import RecordFacts, record_facts, unreadable
from stores.health.phase_memory.store_facts import StoreFacts, Unit

__all__ = [
    "CODES",
    "EventLog",
    "Finding",
    "Findings",
    "RecordFacts",
    "StoreFacts",
    "Unit",
    "check_all",
    "check_changed",
    "is_acknowledged",
    "record_facts",
    "unreadable",
]
