"""The audit chain: what was written is found intact, whatever was tampered with is told, in its own words (promises E1-E3)."""

from __future__ import annotations

import io
import json
import threading
import uuid

import pytest
from django.core.management import call_command
from django.db import connections, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from stores import audit
from stores.models import AuditEvent, AuditHead
from tests.factories import make_store, make_user

pytestmark = pytest.mark.django_db


def write(count: int) -> list[AuditEvent]:
    user = make_user("ines", first_name="Ines", last_name="Moreau")
    return [audit.record("signed_in", actor=user, object_label=f"from 10.2.0.{n}", through="page", detail={"n": n}) for n in range(count)]


def found(newest: int | None = None) -> tuple[str, int, int | None]:
    verdict = audit.verify(newest)
    return verdict.status, verdict.checked, verdict.first_bad


def test_an_empty_chain_is_intact() -> None:
    assert found() == ("intact", 0, None)


def test_each_event_follows_the_one_before_it_and_the_head_names_the_last() -> None:
    events = write(3)
    assert [event.number for event in events] == [1, 2, 3]
    assert [event.previous_digest for event in events] == [audit.DIGEST_OF_NOTHING, events[0].digest, events[1].digest]
    head = AuditHead.objects.get()
    assert (head.count, head.digest) == (3, events[2].digest)
    assert audit.verify() == audit.ChainVerdict("intact", 3, None, 3, events[2].digest)


def test_an_event_keeps_who_what_and_through_what() -> None:
    user, store = make_user("ines", first_name="Ines", last_name="Moreau"), make_store("shop-api")
    event = audit.record("store_added", actor=user, object_label="shop-api", store=store, through="terminal", detail={"path": "/srv"})
    event.refresh_from_db()
    assert (event.actor, event.actor_label, event.store_uid, event.store_slug) == (user, "Ines Moreau", store.uid, "shop-api")
    assert event.detail == {"path": "/srv", "account": user.pk}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("event", "signed_out"),
        ("actor_label", "Tomasz"),
        ("object_label", "from 10.2.0.9"),
        ("store_uid", uuid.UUID(int=1)),
        ("store_slug", "other"),
        ("through", "API"),
        ("detail", {"n": 9}),
        ("previous_digest", "f" * 64),
        ("digest", "f" * 64),
    ],
)
def test_any_changed_field_is_told_as_altered(field: str, value: object) -> None:
    write(5)
    AuditEvent.objects.filter(number=3).update(**{field: value})
    verdict = audit.verify()
    assert (verdict.status, verdict.first_bad) == ("altered", 3)


def test_an_event_put_under_another_account_is_told_as_altered() -> None:
    write(3)
    AuditEvent.objects.filter(number=2).update(actor=make_user("tomasz"))
    assert found() == ("altered", 1, 2)


def test_two_events_that_changed_places_are_told_as_altered() -> None:
    write(4)
    AuditEvent.objects.filter(number=2).update(number=99)
    AuditEvent.objects.filter(number=3).update(number=2)
    AuditEvent.objects.filter(number=99).update(number=3)
    assert audit.verify().status == "altered"


def test_a_missing_event_in_the_middle_is_a_gap() -> None:
    write(5)
    AuditEvent.objects.filter(number=3).delete()
    assert found() == ("gap", 2, 3)


def test_a_cut_end_is_told_as_truncated() -> None:
    write(5)
    AuditEvent.objects.filter(number__gte=4).delete()
    assert found() == ("truncated", 3, 4)


def test_an_event_behind_the_head_is_told_as_altered() -> None:
    events = write(3)
    AuditHead.objects.update(count=2, digest=events[1].digest)
    assert found() == ("altered", 2, 3)


def test_a_head_with_another_digest_is_told_as_altered() -> None:
    write(3)
    AuditHead.objects.update(digest="f" * 64)
    assert audit.verify().status == "altered"


def test_nothing_is_added_to_a_chain_without_its_head() -> None:
    write(2)
    AuditHead.objects.all().delete()
    with pytest.raises(audit.AuditBroken):
        audit.record("signed_out", actor=None, object_label="x", through="page")


def test_the_chain_outlives_the_account() -> None:
    write(2)
    AuditEvent.objects.get(number=1).actor.delete()  # type: ignore[union-attr]
    assert AuditEvent.objects.get(number=1).actor is None
    assert audit.verify().status == "intact"


def test_the_newest_events_can_be_checked_alone() -> None:
    write(6)
    AuditEvent.objects.filter(number=2).update(object_label="x")
    assert found(3) == ("intact", 3, None)
    assert found() == ("altered", 1, 2)
    AuditEvent.objects.filter(number=5).update(object_label="x")
    assert found(3) == ("altered", 1, 5)


def test_an_event_goes_with_the_transaction_that_it_is_part_of() -> None:
    write(1)
    with pytest.raises(RuntimeError), transaction.atomic():
        audit.record("signed_out", actor=None, object_label="x", through="page")
        raise RuntimeError
    assert AuditEvent.objects.count() == 1
    assert audit.verify().status == "intact"


def test_a_float_in_the_detail_is_refused() -> None:
    with pytest.raises(TypeError):
        audit.record("muted", actor=None, object_label="x", through="page", detail={"limit": 0.1})


def test_an_event_takes_three_statements_and_the_transaction(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    write(1)
    with django_assert_num_queries(5):
        audit.record("signed_out", actor=None, object_label="x", through="page")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(label=st.text(max_size=60), detail=st.dictionaries(st.text(max_size=8), json_values, max_size=3))
def test_any_text_and_detail_comes_back_from_the_database_as_it_was_digested(label: str, detail: dict[str, object]) -> None:
    audit.record("muted", actor=None, object_label=label, through="worker", detail=detail)
    assert audit.verify().status == "intact"


@pytest.mark.django_db(transaction=True)
def test_events_of_many_threads_make_one_chain() -> None:
    together = threading.Barrier(4)

    def add() -> None:
        try:
            together.wait()
            for n in range(5):
                audit.record("signed_in", actor=None, object_label=str(n), through="API")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found() == ("intact", 20, None)


def run_command(*arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    try:
        call_command("verify_audit", *arguments, stdout=out, stderr=io.StringIO())
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_verify_audit_says_that_the_chain_is_intact() -> None:
    write(3)
    code, text = run_command()
    assert code == 0
    assert "3 events, chain intact" in text


def test_verify_audit_gives_one_json_document_and_exit_1_for_a_broken_chain() -> None:
    write(3)
    AuditEvent.objects.filter(number=2).update(object_label="x")
    code, text = run_command("--json")
    document = json.loads(text)
    assert code == 1
    assert (document["status"], document["first_bad"], document["checked"], document["events"]) == ("altered", 2, 1, 3)
