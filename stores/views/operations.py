"""For those who run memoryui: is the process up, is the database ready, and the numbers for Prometheus."""

from __future__ import annotations

from ipaddress import ip_address

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from stores import accounts
from stores.errors import NotAllowed
from stores.models import Store
from stores.selectors.metrics import StoreMetrics

FORWARDED = ("HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST", "HTTP_X_REAL_IP", "HTTP_VIA")


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer that the process is up; nothing else is asked."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when the database is reachable and migrated, else 503; a silent worker is no reason to take the web down (ruling 35)."""
    try:
        executor = MigrationExecutor(connection)
        missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError:
        return JsonResponse({"ready": False, "database": "not reachable", "migrations_missing": None}, status=503)
    return JsonResponse({"ready": not missing, "database": "reachable", "migrations_missing": missing}, status=503 if missing else 200)


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Give the numbers in Prometheus' text format, of the stores that the asker may see.

    A personal token, or a session, shows what its account sees. Without one only loopback is answered, and only of stores that no
    group limits: on a host with several users everybody can ask there.
    """
    registry = CollectorRegistry()
    registry.register(StoreMetrics(_stores(request), timezone.now()))
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def _stores(request: HttpRequest) -> QuerySet[Store]:
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        owner = accounts.token_owner(text.strip())
        if owner is None:
            raise NotAllowed("This token is unknown, has expired or was revoked.")
        return accounts.visible_stores(owner[0])
    if request.user.is_authenticated:
        return accounts.visible_stores(request.user)
    if not _from_this_host(request):
        raise NotAllowed("From another host /metrics needs a personal token: Authorization: Bearer mui_…")
    return accounts.stores_open_to_all()


def _from_this_host(request: HttpRequest) -> bool:
    # Behind a proxy on the same host every request comes from loopback.
    if settings.TRUSTED_PROXY or settings.HTTPS or any(name in request.META for name in FORWARDED):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
