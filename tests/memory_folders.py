"""Real store folders for tests: projects with the line files of OrchestKit, written as its hooks do."""

from __future__ import annotations

import json
from pathlib import Path


def decision(what: str, number: int = 1, **more: object) -> bytes:
    """Give one line of decisions.jsonl with its line break."""
    record = {
        "id": f"decision-mx3a2c3b-{number:04d}",
        "type": "decision",
        "content": {"what": what, "why": "measured"},
        "entities": ["redis"],
        "relations": [],
        "identity": {"user_id": "backend@acme.example", "anonymous_id": "0" * 32, "machine_id": "build-vm"},
        "metadata": {
            "session_id": "s-1",
            "timestamp": "2026-03-01T10:00:00.000Z",
            "confidence": 0.9,
            "source": "user_prompt",
            "project": "shop",
        },
        **more,
    }
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def make_project(folder: Path, name: str = "shop-api", decisions: int = 3) -> Path:
    """Make a project with a healthy store of so many decisions; give its memory folder."""
    memory = folder / name / ".claude" / "memory"
    memory.mkdir(parents=True)
    (memory / "decisions.jsonl").write_bytes(b"".join(decision(f"use cursors in part {number}", number) for number in range(decisions)))
    return memory
