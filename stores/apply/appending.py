"""Remembers a decision: one line for the log, and its operations for the queue, as OrchestKit's writer did (ruling 59)."""

from __future__ import annotations

import secrets
import string
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from stores.apply import steps
from stores.apply.identity import identity_of
from stores.apply.place import Place
from stores.apply.reading import size_of
from stores.apply.steps import Actor, Plan
from stores.apply.targets import Append, Target
from stores.errors import BadRequest, NotAllowed
from stores.files import LOCK_WAIT_S
from stores.formats.orchestkit import Remembered, Said, decisions, queue, remember
from stores.formats.secrets import find_secrets
from stores.mirror.discovering import project_of
from stores.models import Condition, Store

CHANCE_LETTERS = string.digits + string.ascii_lowercase


class LooksSecret(NotAllowed):
    """A text that looks like a secret is not put into a memory that agents read and projects commit."""

    title = "This looks like a secret"


@dataclass(frozen=True, slots=True)
class Appended:
    """What was remembered."""

    change: str
    remembered: Remembered
    queued: int
    """Operations that were appended to the queue."""
    why_not_queued: str
    """"" when they were."""


def remember_decision(
    store: Store, said: Said, actor: Actor, *, queue_too: bool = False, force: bool = False, wait_s: float = LOCK_WAIT_S
) -> Appended:
    """Append a decision, and its operations unless nobody drains the queue; `queue_too` asks for them in any case.

    Raises LooksSecret unless `force`, BadRequest for what OrchestKit could not have written, and what `steps.change` raises.
    """
    made = make_decision(store, said, force=force)
    undrained = "" if queue_too else nobody_drains(store)

    def plan(place: Place) -> Plan:
        targets: list[Target] = [Append(decisions.PATH, made.decision_line, size_of(place.root, decisions.PATH))]
        if not undrained and made.queue_lines:
            targets.append(Append(queue.PATH, b"".join(made.queue_lines), size_of(place.root, queue.PATH)))
        queued = 0 if undrained else len(made.queue_lines)
        detail = {"id": str(made.record["id"]), "type": said.type, "operations": queued, "forced": force}
        return Plan("remembered", tuple(targets), detail)

    change = steps.change(store, plan, actor, wait_s=wait_s)
    return Appended(change, made, 0 if undrained else len(made.queue_lines), undrained)


def nobody_drains(store: Store) -> str:
    """Say why operations would only pile up in the queue; "" where they would not, as far as the last measurement knows."""
    found = Condition.objects.filter(store=store, code="queue_undrained", status="failing").first()
    return found.message if found else ""


def make_decision(store: Store, said: Said, *, force: bool = False) -> Remembered:
    """Make the lines of a decision, without writing them. Raises LooksSecret unless `force`, BadRequest for what OrchestKit could not have written."""
    if not force:
        _refuse_secrets(said)
    project = project_of(store.path)
    try:
        return remember(
            said,
            identity_of(project),
            project=Path(project).name,
            session=f"memoryui-{uuid.uuid4()}",
            now_ms=time.time_ns() // 1_000_000,
            chance="".join(secrets.choice(CHANCE_LETTERS) for _ in range(6)),
        )
    except ValueError as err:
        raise BadRequest(f"{err}.") from err


def _refuse_secrets(said: Said) -> None:
    for name, texts in (
        ("what", (said.what,)),
        ("why", (said.why,)),
        ("entities", said.entities),
        ("alternatives", said.alternatives),
        ("constraints", said.constraints),
        ("tradeoffs", said.tradeoffs),
    ):
        found = [secret.kind for text in texts for secret in find_secrets(text)]
        if found:
            raise LooksSecret(
                f"--{name} holds what looks like a secret ({', '.join(sorted(set(found)))}), and memory is read by agents and committed "
                "with projects. Nothing was written; --force writes it all the same."
            )
