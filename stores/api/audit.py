"""The product audit."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema

from stores.api.base import Page, asker, page_of
from stores.selectors import audit

router = Router(tags=["audit"])


class WantedEvents(Schema):
    """Which events; all where nothing is given."""

    event: str = Field("", max_length=40)
    actor: str = Field("", max_length=150, description="Sign-in name of an account.")
    store: str = Field("", max_length=80)
    since: date | None = Field(None, description="First day, in UTC.")


class AuditEventOut(Schema):
    """Who did what to which object; `digest` covers all the rest and `previous_digest`."""

    number: int
    at: str
    event: str
    actor: str
    object: str
    store: str
    through: str
    detail: dict[str, Any]
    previous_digest: str
    digest: str


@router.get("/audit/", response=Page[AuditEventOut], summary="Events of the audit, newest first")
def audit_list(request: HttpRequest, wanted: Query[WantedEvents], page: int = 1, per_page: int = 50) -> dict[str, Any]:
    """Sign-ins, changes of accounts and of stores. Events of a store are seen by those who see the store."""
    found = audit.events(asker(request), audit.AuditFilter(wanted.event, wanted.actor, wanted.store, wanted.since))
    return page_of(found, page, per_page, lambda rows: [audit.export_event(row)._asdict() for row in rows])
