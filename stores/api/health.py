"""Health of the stores."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Query, Router, Schema

from stores.api.base import StorableText, asker
from stores.selectors import documents, verdicts
from stores.selectors.stores import find_store

router = Router(tags=["health"])


class WantedStores(Schema):
    """Slugs of stores; all where none is given."""

    store: list[StorableText] = Field([], max_length=100)


class HealthOut(Schema):
    """The worst verdict, and the health of each store: the same document as `store_health --json`."""

    overall: str
    stores: list[documents.HealthDocument]


@router.get("/health/", response=HealthOut, summary="Health of all stores, or of some")
def health(request: HttpRequest, wanted: Query[WantedStores]) -> dict[str, Any]:
    """Verdict, conditions and files of every store that the account sees, worst first; `store` may be repeated."""
    user, now = asker(request), timezone.now()
    if wanted.store:
        judged = verdicts.worst_first(verdicts.judge(find_store(user, slug), now) for slug in dict.fromkeys(wanted.store))
    else:
        judged = verdicts.judged_stores(user, now)
    return {"overall": verdicts.overall(one.verdict for one in judged), "stores": documents.health_documents(judged)}
