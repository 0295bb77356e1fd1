"""set_applying, rotate_keys and verify_marker."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.utils import timezone

from stores.models import AuditEvent, Installation, Review, SigningKey, User
from stores.review import keys, markers
from stores.review.approving import approve
from stores.review.installation import is_applying
from tests.commands.conftest import Manage, Outcome
from tests.factories import PASSWORD, make_superuser, make_user
from tests.installations import Installation as OwnInstallation
from tests.review.queues import by_page, imported, queued, reviewer

Run = Callable[..., Outcome]


@pytest.fixture
def by_password(manage: Manage, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Give what runs a command as somebody, with the password from a pipe."""

    def run(command: str, *arguments: str, username: str, password: str = PASSWORD) -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{password}\n"))
        return manage(command, *arguments, "--as", username, "--password-stdin")

    return run


def test_an_operator_turns_the_switch_and_the_audit_says_why(by_password: Run) -> None:
    user = make_user("olga", groups=("operator",))
    assert not is_applying()
    done = by_password("set_applying", "on", "--reason", "all set", "--json", username="olga")
    assert (done.code, done.document) == (0, {"applying": True, "changed": True})
    assert is_applying()
    again = by_password("set_applying", "on", username="olga")
    assert (again.code, again.out) == (0, "Applying is on already.\n")
    event = AuditEvent.objects.get(event="applying_on")
    assert (event.actor, event.through, event.detail["reason"]) == (user, "terminal", "all set")
    assert by_password("set_applying", "off", username="olga").code == 0
    assert not is_applying()


@pytest.mark.parametrize("groups", [("reviewer",), ("viewer",), ()])
def test_nobody_else_turns_the_switch(by_password: Run, groups: tuple[str, ...]) -> None:
    make_user("vera", groups=groups)
    assert by_password("set_applying", "on", username="vera").code == 2
    assert not is_applying()


def test_a_wrong_password_turns_nothing(by_password: Run) -> None:
    make_user("olga", groups=("operator",))
    assert by_password("set_applying", "on", username="olga", password="wrong").code == 2
    assert not Installation.objects.filter(applying=True).exists()


def approved(tmp_path: Path) -> tuple[User, Review]:
    user = reviewer("ines")
    action = queued(imported(tmp_path)[0])
    approve(user, action.pk, action.digest, by_page())
    return user, Review.objects.latest("pk")


def test_a_superuser_makes_a_new_key_and_markers_of_the_old_one_stay_valid(by_password: Run, manage: Manage, tmp_path: Path) -> None:
    _, review = approved(tmp_path)
    old = SigningKey.objects.get()
    root = make_superuser("root")
    done = by_password("rotate_keys", "--json", username="root")
    assert done.code == 0
    kid = done.document["kid"]
    assert kid != old.kid and keys.signing_key()[0] == kid
    old.refresh_from_db()
    assert old.retired_at is not None
    assert set(keys.trusted_keys()) == {old.kid, kid}
    event = AuditEvent.objects.get(event="key_made", actor=root)
    assert (event.object_label, event.through) == (kid, "terminal")
    assert manage("verify_marker", review.marker).code == 0


def test_others_make_no_key(by_password: Run) -> None:
    make_user("olga", groups=("operator", "reviewer"))
    assert by_password("rotate_keys", username="olga").code == 2
    assert not SigningKey.objects.exists()


def test_a_marker_is_read_with_the_keys_of_the_data_folder_or_of_a_file(
    manage: Manage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, review = approved(tmp_path)
    action = review.action
    document = manage("verify_marker", review.marker, "--json").document
    assert document["valid"] is True
    # The fixtures decide at a fixed time in the past: a marker is told to have expired, and is genuine all the same.
    assert document["expired"] is True
    assert {name: document[name] for name in ("store", "action_id", "digest", "reviewer", "review_id", "separation")} == {
        "store": str(action.store_uid),
        "action_id": action.action_id,
        "digest": action.digest,
        "reviewer": str(user.pk),
        "review_id": review.review_id,
        "separation": "four_eyes",
    }
    file = tmp_path / "keys.json"
    file.write_text(json.dumps(keys.jwks()))
    for place in (tmp_path / "data" / "keys" / "trusted").iterdir():
        place.unlink()
    assert manage("verify_marker", review.marker).code == 1
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{review.marker}\n"))
    told = manage("verify_marker", "-", "--keys", file)
    assert (told.code, told.out.splitlines()[0]) == (0, "Valid, but it has expired.")


def test_what_another_key_signed_or_was_changed_is_not_valid(manage: Manage, tmp_path: Path) -> None:
    _, review = approved(tmp_path)
    head, body, signature = review.marker.split(".")
    said = markers.read(review.marker, keys.trusted_keys())
    kid = SigningKey.objects.get().kid
    forged = markers.sign(said, kid, Ed25519PrivateKey.generate())
    for text in (forged, f"{head}.{body[:-2]}AA.{signature}", f"{head}.{body}.", "approved by ines", " ", "é"):
        done = manage("verify_marker", text, "--json")
        assert (done.code, done.document["valid"]) == (1, False), text


@pytest.mark.parametrize("content", ["", "[]", '{"keys": 1}', '{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "="}]}', "[" * 100_000])
def test_a_file_that_holds_no_keys_is_one_line(manage: Manage, tmp_path: Path, content: str) -> None:
    file = tmp_path / "keys.json"
    file.write_text(content)
    done = manage("verify_marker", "x", "--keys", file)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert manage("verify_marker", "x", "--keys", tmp_path / "nothing.json").code == 2


def test_a_marker_is_checked_without_a_database(tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    jwk = keys._public_jwk(key.public_key())
    now = timezone.now()
    said = markers.Marker("i", "7", "memoryui:1", "s", "action:1", "sha256:1", "default.1", now, now + timedelta(days=7))
    bare = OwnInstallation(tmp_path)
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [jwk]}))
    text = markers.sign(said, jwk["kid"], key)
    done = bare.run(
        "verify_marker", text, "--keys", str(tmp_path / "keys.json"), "--json", MEMORYUI_DATABASE_URL="postgresql://nowhere.invalid/x"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["expired"] is False
    assert not list(bare.data.iterdir())
