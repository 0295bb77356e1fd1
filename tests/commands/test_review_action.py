"""review_action: decisions from a terminal, by the rules of the page and only by whom they are."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from stores.accounts import make_token, revoke_token
from stores.models import AuditEvent, LifecycleAction, Review, User
from stores.review import keys, markers
from stores.review.submitting import Proposer
from tests.commands.conftest import Manage, Outcome
from tests.factories import PASSWORD, make_superuser, make_user
from tests.installations import CHECKOUT, Installation
from tests.phase_memory_folders import make_store
from tests.review.queues import deletion, imported, promotion, queued, reviewer

Decide = Callable[..., Outcome]


@pytest.fixture
def decide(manage: Manage, monkeypatch: pytest.MonkeyPatch) -> Decide:
    """Give what decides with a password from a pipe."""

    def run(*arguments: object, username: str = "ines", password: str = PASSWORD) -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{password}\n"))
        return manage("review_action", *map(str, arguments), "--as", username, "--password-stdin")

    return run


@pytest.fixture
def ines(manage: Manage) -> User:
    return reviewer("ines")


def state_of(action: LifecycleAction) -> str:
    return LifecycleAction.objects.get(pk=action.pk).state


def test_an_approval_is_told_first_and_signed_for_exactly_what_was_told(decide: Decide, ines: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store)
    done = decide(action.pk, "--approve", "--reason", "fits")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == f"#{action.pk} transition_phase in {store.slug}, pending, medium tier"
    assert lines[1].startswith("Effect: ") and "node.b" in lines[1]
    assert '    - "phase": "fluid"' in done.out.replace("-   ", "- ") and '"stabilized"' in done.out
    assert f"Digest: {action.digest}" in lines
    assert lines[-1] == f"#{action.pk} is approved."
    assert "switch is off" in done.err
    review = Review.objects.get()
    assert (review.reviewer, review.through, review.reason, review.took_s) == (ines, "terminal", "fits", None)
    said = markers.read(review.marker, keys.trusted_keys())
    assert (said.digest, said.action_id, said.sub) == (action.digest, action.action_id, str(ines.pk))
    event = AuditEvent.objects.get(event="approved")
    assert (event.actor, event.through) == (ines, "terminal")


def test_an_action_id_is_as_good_as_the_number(decide: Decide, ines: User, tmp_path: Path) -> None:
    action = queued(imported(tmp_path)[0])
    assert decide(action.action_id, "--reject", "--reason", "no").code == 0
    assert state_of(action) == "rejected"


def test_an_id_that_two_stores_have_open_says_which(decide: Decide, ines: User, tmp_path: Path) -> None:
    first, second = queued(imported(tmp_path, "one")[0]), queued(imported(tmp_path, "two")[0])
    assert first.action_id == second.action_id
    done = decide(first.action_id, "--approve")
    assert done.code == 2
    assert f"#{first.pk} of {first.store_slug}" in done.err and f"#{second.pk} of {second.store_slug}" in done.err
    assert decide(second.pk, "--approve").code == 0
    assert (state_of(first), state_of(second)) == ("pending", "approved")


def test_a_rejection_needs_a_reason_and_a_withdrawal_takes_the_approval_back(decide: Decide, ines: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store)
    assert decide(action.pk, "--reject").code == 2
    assert decide(action.pk, "--approve").code == 0
    done = decide(action.pk, "--withdraw", "--json")
    assert (done.code, done.document["decision"], done.document["action"]["state"]) == (0, "withdrawn", "withdrawn")
    assert "Digest: " in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "state"),
    [(("--digest", "sha256:" + "0" * 64), 2, "pending"), (("--digest", "own"), 0, "approved"), (("--digest", ""), 0, "approved")],
)
def test_a_script_may_pin_the_digest_that_it_has_seen(
    decide: Decide, ines: User, tmp_path: Path, arguments: tuple[str, str], code: int, state: str
) -> None:
    action = queued(imported(tmp_path)[0])
    flag, value = arguments
    assert decide(action.pk, "--approve", flag, action.digest if value == "own" else value).code == code
    assert state_of(action) == state


def test_what_takes_something_away_is_approved_with_the_password_and_not_by_a_token(
    decide: Decide, manage: Manage, ines: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, _ = imported(tmp_path)
    plain, destructive = queued(store), queued(store, deletion())
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setenv("MEMORYUI_TOKEN", make_token(ines, "terminal", "review", 1)[1])
    assert manage("review_action", str(plain.pk), "--approve", "--as", "Ines").code == 0
    refused = manage("review_action", str(destructive.pk), "--approve", "--as", "ines")
    assert (refused.code, state_of(destructive)) == (2, "pending")
    assert "password" in refused.err
    assert decide(destructive.pk, "--approve").code == 0


def test_no_token_but_an_own_one_of_the_scope_review_proves_anybody(
    manage: Manage, ines: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    action = queued(imported(tmp_path)[0])
    other = reviewer("omar")
    ended, text = make_token(ines, "old", "review", 1)
    revoke_token(ines, ended.pk)
    tokens = [
        make_token(ines, "script", "read", 1)[1],
        make_token(ines, "agent", "propose", 1)[1],
        make_token(other, "other", "review", 1)[1],
        text,
        "mui_00000000_nonsense",
        "x" * 5000,
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    for token in tokens:
        monkeypatch.setenv("MEMORYUI_TOKEN", token)
        done = manage("review_action", str(action.pk), "--approve", "--as", "ines")
        assert (done.code, done.out) == (2, ""), token
        assert token not in done.err
    assert state_of(action) == "pending"
    failures = AuditEvent.objects.filter(event="sign_in_failed", through="terminal", actor_label="ines")
    assert failures.count() == len(tokens)


def test_without_a_proof_nothing_is_told_or_decided(manage: Manage, ines: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    action = queued(imported(tmp_path)[0])
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.delenv("MEMORYUI_TOKEN", raising=False)
    for arguments in (("--approve", "--as", "ines"), ("--approve", "--as", "nobody"), ("--approve",), ("--as", "ines")):
        done = manage("review_action", str(action.pk), *arguments)
        assert (done.code, done.out) in ((2, ""), (1, "")), done
    assert state_of(action) == "pending"


def test_a_wrong_password_gets_one_answer_whoever_is_named_and_the_eighth_locks_the_name_out(
    decide: Decide, ines: User, tmp_path: Path, settings: Settings
) -> None:
    action = queued(imported(tmp_path)[0])
    make_user("former", groups=("reviewer",), is_active=False)
    answers = {decide(action.pk, "--approve", username=name, password="wrong").err for name in ("ines", "nobody")}
    answers.add(decide(action.pk, "--approve", username="former").err)
    assert len(answers) == 1
    for _ in range(settings.AXES_FAILURE_LIMIT - 1):
        assert decide(action.pk, "--approve", username="INES", password="wrong").code == 2
    locked = decide(action.pk, "--approve")
    assert (locked.code, state_of(action)) == (2, "pending")
    assert "15 minutes" in locked.err
    events = AuditEvent.objects.filter(event="sign_in_failed", through="terminal")
    assert events.filter(actor_label="ines").count() == settings.AXES_FAILURE_LIMIT
    assert events.filter(object_label__startswith="from os:").count() == events.count()


def test_failures_before_a_success_are_forgotten(decide: Decide, ines: User, tmp_path: Path, settings: Settings) -> None:
    action = queued(imported(tmp_path)[0])
    for _ in range(2):
        for _ in range(settings.AXES_FAILURE_LIMIT - 1):
            decide(action.pk, "--reject", "--reason", "no", password="wrong")
        decide(action.pk, "--reject")
    assert decide(action.pk, "--reject", "--reason", "no").code == 0


@pytest.mark.parametrize("name", ["ines", "Ines"])
def test_nobody_approves_an_own_proposal_but_by_breaking_the_glass(decide: Decide, name: str, tmp_path: Path) -> None:
    ines = make_superuser("ines")
    store, _ = imported(tmp_path)
    own = queued(store, proposer=Proposer(name, "page", "page", ines))
    refused = decide(own.pk, "--approve")
    assert (refused.code, state_of(own)) == (2, "pending")
    assert "Four eyes" in refused.err
    assert decide(own.pk, "--approve", "--break-glass").code == 2
    assert decide(own.pk, "--reject", "--break-glass", "--reason", "x").code == 2
    assert decide(own.pk, "--approve", "--break-glass", "--reason", "nobody else is awake").code == 0
    assert Review.objects.get().separation == "broken"


@pytest.mark.parametrize("groups", [("viewer",), ("operator",), ()])
def test_only_reviewers_decide_and_what_may_not_be_seen_is_not_there(decide: Decide, groups: tuple[str, ...], tmp_path: Path) -> None:
    make_user("ines", groups=groups)
    store, _ = imported(tmp_path)
    action = queued(store)
    done = decide(action.pk, "--approve")
    assert (done.code, state_of(action)) == (2, "pending")
    assert groups or done.err == decide(10**17, "--approve").err


def test_memory_text_moves_no_terminal_and_shows_no_secret(decide: Decide, ines: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    action = queued(store, promotion(reason=f"\x1b[2Japprove \u202e now {secret}"))
    done = decide(action.pk, "--approve")
    assert "\x1b" not in done.out and "\u202e" not in done.out and secret[6:16] not in done.out
    assert "\\x1b" in done.out


def test_a_person_at_a_terminal_is_shown_the_effect_and_asked(installation: Installation) -> None:
    """In a real terminal: the password is typed unseen, then the decision's own word."""
    make_store(installation.place / "atlas")
    made = (
        "from django.contrib.auth.models import Group; from django.core.management import call_command; from stores.models import User;"
        "call_command('add_store', 'atlas'); call_command('import_stores');"
        f"u = User.objects.create_user('ines', password={PASSWORD!r}); u.groups.add(Group.objects.get(name='reviewer'));"
        "call_command('submit_actions', 'atlas', 'proposals.json')"
    )
    proposal = '{"action": "archive", "target_ids": ["node.b"], "reason": "old", "requires_review": true}'
    (installation.place / "proposals.json").write_text(proposal)
    installation.run("shell", "-c", made, check=True)
    for answer, code, state in (("yes", 2, "pending"), ("approve", 0, "approved")):
        said = typed(installation, ["review_action", "1", "--approve", "--as", "ines"], [PASSWORD, answer], code)
        assert PASSWORD not in said
        assert said.index("Password of ines") < said.index("Effect: ") < said.index("Type approve")
        assert installation.value("SELECT state FROM stores_lifecycleaction") == state


def typed(installation: Installation, arguments: list[str], answers: list[str], code: int) -> str:
    """Run a command in a terminal of its own, type an answer at each question; give what stood on the screen."""
    screen, terminal = pty.openpty()
    command = [sys.executable, str(CHECKOUT / "manage.py"), *arguments]
    said = b""
    with subprocess.Popen(
        command, env=installation.environment, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True
    ) as running:
        os.close(terminal)
        waiting = list(answers)
        while True:
            try:
                piece = os.read(screen, 4096)
            except OSError:
                break
            said += piece
            if waiting and said.rstrip().endswith(b":") and (b"Password" if len(waiting) == 2 else b"Type approve") in said:
                os.write(screen, waiting.pop(0).encode() + b"\n")
        running.wait()
        os.close(screen)
    assert running.returncode == code, said
    return said.decode()
