"""Who may ask what: every named route × role × method, against one table (promises D4)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from django.db import transaction
from django.test import Client

from stores import accounts
from stores.lists.phase_memory import PHASE_MEMORY
from stores.lists.specs import FURTHER
from stores.models import User
from tests.factories import make_superuser, make_user
from tests.routes import addresses, routes
from tests.scenes import make_scene

pytestmark = pytest.mark.django_db

ANYBODY, ACCOUNT, VIEWER, REVIEWER, OPERATOR, SUPERUSER = range(6)
NEVER = 9
"""The method is not offered."""


class Rule(NamedTuple):
    """The least that is needed to read and to post."""

    get: int
    post: int = NEVER


READ = Rule(VIEWER)
RULES = {
    "sign_in": Rule(ANYBODY, ANYBODY),
    "sign_out": Rule(NEVER, ACCOUNT),
    "account": Rule(ACCOUNT),
    "account_name": Rule(NEVER, ACCOUNT),
    "account_password": Rule(NEVER, ACCOUNT),
    "set_theme": Rule(NEVER, ACCOUNT),
    "set_keys": Rule(NEVER, ACCOUNT),
    "token_make": Rule(NEVER, VIEWER),
    "token_revoke": Rule(NEVER, VIEWER),
    "status_strip": READ,
    "audit": READ,
    "audit_export": READ,
    "audit_event": READ,
    "audit_leads": Rule(REVIEWER),
    "default_policy": Rule(REVIEWER, SUPERUSER),
    "store_policy": Rule(REVIEWER, SUPERUSER),
    "store_policy_drop": Rule(SUPERUSER, SUPERUSER),
    "review_switch": Rule(VIEWER, OPERATOR),
    "review_list": READ,
    "review_newer": READ,
    "review_export": READ,
    # Of a decision on nothing the form is told first; tests/views/test_review_bulk.py and test_review_deciding.py decide on something.
    "review_bulk": Rule(VIEWER, VIEWER),
    "review_batch": READ,
    "review_batch_withdraw": Rule(NEVER, VIEWER),
    "action_detail": READ,
    "action_now": READ,
    "action_decide": Rule(NEVER, VIEWER),
    "action_edit": Rule(REVIEWER, REVIEWER),
    "action_comment": Rule(NEVER, VIEWER),
    "action_assign": Rule(NEVER, REVIEWER),
    "action_snooze": Rule(NEVER, VIEWER),
    "action_look": Rule(NEVER, REVIEWER),
    "propose_on_record": Rule(VIEWER, VIEWER),
    "propose_path": Rule(VIEWER, VIEWER),
    "propose_queue": Rule(VIEWER, VIEWER),
    "propose_repair": Rule(NEVER, VIEWER),
    "propose_safe_repairs": Rule(NEVER, VIEWER),
    "store_plan": Rule(VIEWER, VIEWER),
    "healthz": Rule(ANYBODY),
    "readyz": Rule(ANYBODY),
    "metrics": Rule(ANYBODY),
    "overview": READ,
    "store_list": READ,
    "store_add": Rule(OPERATOR),
    "store_add_path": Rule(NEVER, OPERATOR),
    "store_add_found": Rule(NEVER, OPERATOR),
    "store_discover": Rule(NEVER, OPERATOR),
    "store_detail": READ,
    "store_faults": READ,
    "fault_detail": READ,
    "fault_acknowledge": Rule(NEVER, REVIEWER),
    "fault_take_back": Rule(NEVER, REVIEWER),
    "store_backlog": READ,
    "store_health_tab": READ,
    "condition_mute": Rule(OPERATOR, OPERATOR),
    "condition_unmute": Rule(NEVER, OPERATOR),
    "store_changes": READ,
    "store_files": READ,
    "store_raw": READ,
    "store_raw_read": Rule(NEVER, VIEWER),
    "store_import": Rule(NEVER, OPERATOR),
    "store_settings": Rule(OPERATOR),
    "store_rename": Rule(NEVER, OPERATOR),
    "store_limit": Rule(NEVER, OPERATOR),
    "store_relocate": Rule(NEVER, OPERATOR),
    "store_reset": Rule(NEVER, OPERATOR),
    "store_remove": Rule(NEVER, OPERATOR),
    "health": READ,
    "task_detail": READ,
    "decision_list": READ,
    "decision_detail": READ,
    "decision_export": READ,
    "note_decision": Rule(NEVER, REVIEWER),
    "decision_successor": Rule(REVIEWER, REVIEWER),
    "problem_list": READ,
    "problem_detail": READ,
    "problem_export": READ,
    "note_problem": Rule(NEVER, REVIEWER),
    "queue_list": READ,
    "queue_detail": READ,
    "queue_export": READ,
    **{f"{spec.name}_{part}": READ for spec in FURTHER for part in ("list", "detail", "export")},
    **{f"{spec.name}_{part}": READ for spec in PHASE_MEMORY for part in ("list", "detail", "export")},
    "node_data": READ,
    "store_phases": READ,
    "store_paths": READ,
    "store_path_level": READ,
    "store_lanes": READ,
    "path_compare": READ,
    "store_told": READ,
    "store_drain": READ,
    "store_graph": READ,
    "store_graph_data": READ,
    "entity_detail": READ,
    "entity_data": READ,
    "relation_detail": READ,
    "event_versions": Rule(OPERATOR),
    "event_version_add": Rule(NEVER, OPERATOR),
    "event_version_drop": Rule(NEVER, OPERATOR),
    "session_list": READ,
    "session_timeline": READ,
    "search": READ,
    "saved_view_list": READ,
    "saved_view_save": Rule(NEVER, VIEWER),
    "saved_view_delete": Rule(NEVER, VIEWER),
    "record_unmask": Rule(NEVER, REVIEWER),
}
"""Routes of Django's admin (superusers only) and of the API (VIEWER, GET only, but for API_RULES) follow one rule each, see `rule_of`."""
API_RULES = {
    "api:openapi-json": Rule(ACCOUNT),
    "api:openapi-view": Rule(ACCOUNT),
    "api:api-root": Rule(NEVER),
    "api:key_list": Rule(ANYBODY),
    # Two names of one address.
    **{f"api:action_{word}": Rule(VIEWER, VIEWER) for word in ("list", "submit")},
    **{f"api:action_{word}": Rule(NEVER, VIEWER) for word in ("approve", "reject", "withdraw", "renew")},
}
"""What may be posted here needs a body: tests/test_role_matrix.py asks with one, role by role and token by token."""


def rule_of(name: str) -> Rule:
    if name.startswith("admin:"):
        return Rule(SUPERUSER, SUPERUSER)
    if name.startswith("api:"):
        return API_RULES.get(name, Rule(VIEWER))
    return RULES[name]


def holds(role: int, needed: int) -> bool:
    """Reviewers are no operators nor the other way round; superusers are both."""
    if {role, needed} == {REVIEWER, OPERATOR} and role != needed:
        return False
    return role >= needed


def client_of(user: User | None, *, token: bool = False) -> Client:
    if user is None:
        return Client(raise_request_exception=False, REMOTE_ADDR="127.0.0.1")
    if token:
        text = accounts.make_token(user, "walk", "read", 1)[1]
        return Client(raise_request_exception=False, headers={"Authorization": f"Bearer {text}"})
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def test_every_named_route_has_a_rule_and_every_rule_a_route() -> None:
    names = {route.name for route in routes()}
    own = {name for name in names if ":" not in name}
    assert own == set(RULES)
    assert {name for name in names if name.startswith("api:")} >= set(API_RULES)


@pytest.mark.parametrize("role", ["anonymous", "no role", "viewer", "reviewer", "operator", "superuser"])
@pytest.mark.parametrize("by_token", [False, True], ids=["session", "token"])
def test_every_route_answers_each_role_by_its_rule(role: str, by_token: bool, tmp_path: Path) -> None:
    scene = make_scene(tmp_path, "zebrafish")
    number = ["anonymous", "no role", "viewer", "reviewer", "operator", "superuser"].index(role)
    user = (
        None
        if number == ANYBODY
        else make_superuser("root")
        if number == SUPERUSER
        else make_user("walker", groups=[role] if number > ACCOUNT else [])
    )
    client = client_of(user, token=by_token)
    wrong = []
    for route, address in addresses(scene.values()):
        is_api = route.name.startswith("api:")
        for method, needed in zip(("get", "post"), rule_of(route.name), strict=True):
            if by_token and (user is None or not is_api):
                continue
            if is_api and method == "post" and needed != NEVER:
                continue
            with transaction.atomic():
                answer = getattr(client, method)(address)
                if answer.streaming:
                    b"".join(answer)
                transaction.set_rollback(True)
            if route.name.startswith("admin:") and number == SUPERUSER:
                assert answer.status_code < 500, address
            elif not fits(number, needed, answer.status_code, answer.headers.get("Location", ""), is_api):
                wrong.append(f"{method.upper()} {address} ({route.name}): {answer.status_code} {answer.headers.get('Location', '')}")
            if user is not None and not by_token:
                client.force_login(user)
    assert not wrong, "\n".join(wrong)


def fits(role: int, needed: int, status: int, location: str, is_api: bool) -> bool:
    if needed == NEVER and (status == 405 or (is_api and status == 404)):
        return True
    if holds(role, needed):
        return status in (200, 204, 302, 400, 404, 409, 422) and not location.startswith("/sign-in/?")
    if role == ANYBODY and not is_api:
        return status == 302 and location.startswith("/sign-in/")
    if is_api:
        return status == (401 if role == ANYBODY else 403)
    return status == 403 or location.startswith("/admin/")


def test_a_token_opens_no_page_but_metrics(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, "zebrafish")
    client = client_of(make_superuser("root"), token=True)
    for route, address in addresses(scene.values()):
        if route.name.startswith("api:") or rule_of(route.name).get == ANYBODY:
            continue
        for method in ("get", "post"):
            answer = getattr(client, method)(address)
            assert answer.status_code == 302, (route.name, answer.status_code)
            assert answer.headers["Location"].startswith("/sign-in/")


def test_posting_without_the_form_s_token_is_refused_everywhere(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, "zebrafish")
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(make_superuser("root"))
    for route, address in addresses(scene.values()):
        if rule_of(route.name).post != NEVER:
            assert client.post(address).status_code == 403, route.name
