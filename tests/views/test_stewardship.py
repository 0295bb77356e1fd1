"""What people change about stores: faults let be, conditions muted, names, and who sees them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from stores.models import AuditEvent, Condition, FaultAcknowledgement, Store, User
from tests.factories import make_condition, make_fault, make_group, make_store, make_user
from tests.views.parsing import text

pytestmark = pytest.mark.django_db


def signed_in(*groups: str) -> Client:
    client = Client()
    client.force_login(make_user(groups=groups))
    return client


def events() -> list[str]:
    return list(AuditEvent.objects.exclude(event="signed_in").order_by("number").values_list("event", flat=True))


def test_a_reviewer_acknowledges_a_fault_and_takes_it_back() -> None:
    fault = make_fault(make_store("shop-api"), "odd_id")
    client = signed_in("reviewer")
    page = f"/stores/shop-api/faults/{fault.pk}/"
    response = client.post(f"{page}acknowledge/", {"note": "the sample's own id"}, follow=True)
    assert "the sample's own id" in text(response)
    assert "acknowledged by" in text(client.get("/stores/shop-api/faults/"))
    client.post(f"{page}take-back/")
    assert not FaultAcknowledgement.objects.exists()
    assert events() == ["fault_acknowledged", "fault_acknowledged"]


@pytest.mark.parametrize("groups", [("viewer",), ("operator",)])
def test_nobody_else_acknowledges(groups: tuple[str, ...]) -> None:
    fault = make_fault(make_store("shop-api"))
    client = signed_in(*groups)
    assert client.post(f"/stores/shop-api/faults/{fault.pk}/acknowledge/").status_code == 403
    assert "Acknowledge this fault" not in text(client.get(f"/stores/shop-api/faults/{fault.pk}/"))
    assert not FaultAcknowledgement.objects.exists()


def test_an_operator_mutes_a_condition_until_a_day_with_a_reason_and_unmutes_it() -> None:
    condition = make_condition(make_store("shop-api", verdict="degraded", sentence="61 operations wait"))
    client = signed_in("operator")
    page = f"/stores/shop-api/health/{condition.pk}/mute/"
    assert client.get(page).status_code == 200
    until = timezone.now().date() + timedelta(days=3)
    response = client.post(page, {"until": until.isoformat(), "why": "drained after the release"}, follow=True)
    assert "drained after the release" in text(response)
    condition.refresh_from_db()
    assert condition.muted_until is not None
    assert condition.muted_until.date() == until + timedelta(days=1)
    assert "Muted 1" in text(client.get("/health/"))
    assert "All stores" not in text(client.get("/health/?show=muted"))
    client.post(f"/stores/shop-api/health/{condition.pk}/unmute/")
    client.post(f"/stores/shop-api/health/{condition.pk}/unmute/")
    condition.refresh_from_db()
    assert not any((condition.muted_until, condition.muted_by, condition.muted_why))
    assert events() == ["muted", "unmuted"]


@pytest.mark.parametrize(("days", "why"), [(-1, "x"), (400, "x"), (3, ""), (3, "  ")])
def test_a_mute_needs_a_day_to_come_and_a_reason(days: int, why: str) -> None:
    condition = make_condition(make_store("shop-api"))
    until = timezone.now().date() + timedelta(days=days)
    response = signed_in("operator").post(f"/stores/shop-api/health/{condition.pk}/mute/", {"until": until.isoformat(), "why": why})
    assert response.status_code == 422
    assert Condition.objects.get(pk=condition.pk).muted_until is None


def test_muting_is_for_operators_on_stores_that_they_see() -> None:
    condition = make_condition(make_store("shop-api"))
    hidden = make_condition(make_store("hidden", groups=["others"]))
    form = {"until": timezone.now().date().isoformat(), "why": "x"}
    assert signed_in("reviewer").post(f"/stores/shop-api/health/{condition.pk}/mute/", form).status_code == 403
    assert signed_in("operator").post(f"/stores/hidden/health/{hidden.pk}/mute/", form).status_code == 404
    assert signed_in("operator").post(f"/stores/shop-api/health/{hidden.pk}/mute/", form).status_code == 404
    assert not Condition.objects.filter(muted_until__isnull=False).exists()


def test_a_store_is_renamed_and_keeps_its_address() -> None:
    make_store("shop-api")
    client = signed_in("operator")
    assert "Renamed to Shop" in text(client.post("/stores/shop-api/settings/name/", {"name": "Shop"}, follow=True))
    client.post("/stores/shop-api/settings/name/", {"name": "Shop"})
    assert client.post("/stores/shop-api/settings/name/", {"name": ""}).status_code == 422
    assert Store.objects.get(slug="shop-api").name == "Shop"
    assert events() == ["store_renamed"]


def test_a_store_is_limited_to_groups_and_vanishes_for_the_others() -> None:
    store = make_store("shop-api")
    team = make_group("team")
    client, viewer = signed_in("operator", "team"), signed_in("viewer")
    client.post("/stores/shop-api/settings/groups/", {"groups": [team.pk]})
    assert list(store.groups.values_list("name", flat=True)) == ["team"]
    assert viewer.get("/stores/shop-api/").status_code == 404
    assert client.get("/stores/shop-api/").status_code == 200
    client.post("/stores/shop-api/settings/groups/", {"groups": [team.pk]})
    client.post("/stores/shop-api/settings/groups/", {})
    assert viewer.get("/stores/shop-api/").status_code == 200
    assert events() == ["store_groups_changed", "store_groups_changed"]


def test_an_operator_who_limits_a_store_to_others_is_told_that_it_is_out_of_sight() -> None:
    make_store("shop-api")
    response = signed_in("operator").post("/stores/shop-api/settings/groups/", {"groups": [make_group("others").pk]}, follow=True)
    assert "does not see the store any more" in text(response)
    assert response.redirect_chain[-1][0] == "/stores/"


SETTINGS = ("name", "groups", "folder", "reset", "remove")


@pytest.mark.parametrize("part", SETTINGS)
def test_settings_are_for_operators_and_a_hidden_store_has_none(part: str) -> None:
    make_store("shop-api")
    make_store("hidden", groups=["others"])
    form = {"name": "x", "path": "/x", "reset-slug": "hidden", "remove-slug": "hidden"}
    assert signed_in("viewer", "reviewer").post(f"/stores/shop-api/settings/{part}/", form).status_code == 403
    assert signed_in("operator").post(f"/stores/hidden/settings/{part}/", form).status_code == 404
    assert Store.objects.count() == 2
    assert events() == []


@pytest.mark.parametrize(
    "path",
    [
        "/stores/shop-api/import/",
        "/stores/add/look/",
        "/stores/add/found/",
        "/stores/add/path/",
        *(f"/stores/shop-api/settings/{part}/" for part in SETTINGS),
    ],
)
def test_what_changes_something_is_no_address_to_look_at(path: str) -> None:
    make_store("shop-api")
    assert signed_in("operator").get(path).status_code == 405


def test_forms_from_elsewhere_are_refused() -> None:
    store = make_store("shop-api")
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("root", password="x"))
    assert client.post("/stores/shop-api/settings/remove/", {"remove-slug": "shop-api"}).status_code == 403
    assert Store.objects.filter(pk=store.pk).exists()
