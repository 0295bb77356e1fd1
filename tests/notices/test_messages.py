"""Messages: who is told what and when, over a real HTTP server and real files of mail; never a word of memory."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import Message
from email.policy import default
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from django.core import mail
from pytest_django import Settings

from memoryui.email_url import read_email_url
from stores.models import LifecycleAction, Notice, Store
from stores.notices import planning, sending, webhook
from stores.worker import messenger
from tests.factories import make_group, make_user
from tests.review.queues import deletion, imported, promotion, queued

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 4, 10, 9, 30, tzinfo=UTC)
SECRET = "a shared secret"


class Receiver:
    """A server that answers each POST with the next of some statuses, and keeps what came."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.signatures: list[str] = []
        self.paths: list[str] = []
        self.statuses: list[int] = []
        self.slow = threading.Event()
        self.slow.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                receiver.signatures.append(self.headers.get("Memoryui-Signature", ""))
                receiver.paths.append(self.path)
                receiver.slow.wait(5)
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
                self.send_header("Location", f"{receiver.url}/elsewhere")
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:
                """Say nothing."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.slow.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    receiver = Receiver()
    settings.WEBHOOK_URL, settings.WEBHOOK_SECRET = f"{receiver.url}/hooks/x?room=1", SECRET
    yield receiver
    receiver.close()


@pytest.fixture
def store(settings: Settings, tmp_path: Path) -> Store:
    settings.DATA_DIR, settings.STORE_ROOTS = tmp_path.resolve() / "data", (tmp_path.resolve(),)
    settings.BASE_URL = "https://memory.example.org"
    return imported(tmp_path)[0]


def high_risk(store: Store, created_at: datetime = NOW) -> LifecycleAction:
    action = queued(store, deletion(reason="the secret plan of node.b"))
    assert action.tier == "high"
    LifecycleAction.objects.filter(pk=action.pk).update(created_at=created_at)
    return action


def test_nothing_is_told_unless_it_is_configured(store: Store) -> None:
    high_risk(store)
    assert not messenger.is_configured()
    assert (messenger.step(NOW), Notice.objects.count(), len(mail.outbox)) == (0, 0, 0)


def test_a_new_action_with_much_at_stake_is_told_once_signed_and_without_memory(store: Store, receiver: Receiver) -> None:
    action = high_risk(store)
    queued(store, promotion())
    later = NOW + timedelta(minutes=7)
    assert messenger.step(later) == 1
    assert messenger.step(later) == 0
    (body,) = receiver.bodies
    said = f"Much is at stake: request_delete in {store.slug} waits for a review, 7 min old. https://memory.example.org/review/{action.pk}/"
    assert json.loads(body) == {"text": said}
    assert receiver.paths == ["/hooks/x?room=1"]
    at = int(later.timestamp())
    expected = hmac.new(SECRET.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    assert receiver.signatures == [f"t={at},v1={expected}"]
    for words in ("secret plan", "node.b", "Pages by cursor"):
        assert words not in f"{body!r}{Notice.objects.get().body}"


def test_what_is_old_when_messages_are_turned_on_is_not_told(store: Store, receiver: Receiver) -> None:
    high_risk(store, NOW - timedelta(days=2))
    assert messenger.step(NOW) == 0
    assert receiver.bodies == []


def test_a_store_that_is_limited_to_groups_is_not_named_in_a_channel(store: Store, receiver: Receiver) -> None:
    store.groups.set([make_group("platform")])
    high_risk(store)
    assert messenger.step(NOW) == 1
    assert store.slug not in receiver.bodies[0].decode().replace(f"/review/{LifecycleAction.objects.get().pk}/", "")


def test_a_message_is_tried_five_times_ever_later_and_then_no_more(store: Store, receiver: Receiver) -> None:
    high_risk(store)
    receiver.statuses = [500, 429, 404, 503, 500]
    now, waits = NOW, []
    for _ in range(5):
        assert messenger.step(now) == 0
        assert messenger.step(now + timedelta(seconds=30)) == 0
        notice = Notice.objects.get()
        waits.append(notice.due_at - now)
        now = notice.due_at
    assert waits[:4] == [timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2)]
    assert messenger.step(NOW + timedelta(days=80)) == 0
    assert (len(receiver.bodies), notice.tries, notice.error, notice.sent_at) == (5, 5, "answered 500", None)


def test_a_message_that_is_taken_at_the_second_try_is_sent_no_third_time(store: Store, receiver: Receiver) -> None:
    high_risk(store)
    receiver.statuses = [500]
    assert [messenger.step(NOW + timedelta(minutes=minutes)) for minutes in (0, 2, 4, 300)] == [0, 1, 0, 0]
    notice = Notice.objects.get()
    assert (notice.tries, notice.error, notice.sent_at) == (2, "", NOW + timedelta(minutes=2))


def test_no_redirect_is_followed(store: Store, receiver: Receiver) -> None:
    high_risk(store)
    receiver.statuses = [307]
    assert messenger.step(NOW) == 0
    assert (receiver.paths, Notice.objects.get().error) == (["/hooks/x?room=1"], "answered 307")


def test_a_receiver_that_does_not_answer_is_left_in_time(store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "TIMEOUT_S", 0.1)
    high_risk(store)
    receiver.slow.clear()
    assert messenger.step(NOW) == 0
    assert Notice.objects.get().error.startswith("no answer")


def test_a_receiver_that_is_not_there_is_an_error_of_the_message(store: Store, settings: Settings) -> None:
    settings.WEBHOOK_URL = "http://127.0.0.1:9/hook"
    high_risk(store)
    assert messenger.step(NOW) == 0
    assert Notice.objects.get().error.startswith("no answer")


def test_a_message_that_another_worker_has_claimed_is_left_to_it(store: Store, receiver: Receiver) -> None:
    high_risk(store)
    planning.plan(NOW)
    mine = Notice.objects.get()
    Notice.objects.update(tries=1, due_at=NOW + timedelta(minutes=1))
    assert not sending._send(mine, NOW)
    assert receiver.bodies == []


@pytest.fixture
def mails(settings: Settings) -> list[mail.EmailMessage]:
    settings.MAIL, settings.NOTIFY_MAIL_HOUR, settings.MAIL_FROM = read_email_url("memory://"), 7, "memoryui@example.org"
    return mail.outbox


def test_each_reviewer_gets_one_mail_a_day_from_the_hour_on(store: Store, mails: list[mail.EmailMessage]) -> None:
    make_user("ines", groups=("reviewer",), email="ines@example.org")
    make_user("tomasz", groups=("viewer",), email="tomasz@example.org")
    make_user("olga", groups=("reviewer",))
    make_user("gone", groups=("reviewer",), email="gone@example.org", is_active=False)
    high_risk(store, NOW - timedelta(days=3))
    LifecycleAction.objects.filter(pk=queued(store, promotion()).pk).update(created_at=NOW - timedelta(hours=2))
    assert messenger.step(NOW.replace(hour=6, minute=59)) == 0
    assert messenger.step(NOW.replace(hour=7, minute=0)) == 1
    assert messenger.step(NOW.replace(hour=23)) == 0
    assert messenger.step(NOW + timedelta(days=1)) == 1
    first = mails[0]
    assert (first.to, first.from_email) == (["ines@example.org"], "memoryui@example.org")
    assert first.subject == "memoryui: 2 actions wait for a review, oldest 2 d"
    lines = [line.strip() for line in str(first.body).splitlines() if "×" in line]
    assert [line.split(",")[0] for line in lines] == [f"1 × request_delete in {store.slug}", f"1 × transition_phase in {store.slug}"]
    assert "https://memory.example.org/review/" in str(first.body)
    for words in ("secret plan", "node.b", "Pages by cursor"):
        assert words not in str(first.body)


def test_nobody_is_written_to_about_nothing_or_about_stores_that_they_do_not_see(store: Store, mails: list[mail.EmailMessage]) -> None:
    make_user("ines", groups=("reviewer",), email="ines@example.org")
    assert messenger.step(NOW) == 0
    queued(store)
    store.groups.set([make_group("platform")])
    assert messenger.step(NOW) == 0
    assert mails == []
    make_user("root", groups=(), is_superuser=True, email="root@example.org")
    assert messenger.step(NOW) == 1
    assert [one.to for one in mails] == [["root@example.org"]]


def test_an_account_that_was_locked_meanwhile_is_not_written_to(store: Store, mails: list[mail.EmailMessage]) -> None:
    user = make_user("ines", groups=("reviewer",), email="ines@example.org")
    queued(store)
    planning.plan(NOW)
    user.is_active = False
    user.save()
    sending.send_due(NOW)
    assert mails == []
    assert Notice.objects.get().recipient == "ines"


def test_mail_may_go_into_files(store: Store, settings: Settings, tmp_path: Path) -> None:
    settings.MAIL, settings.NOTIFY_MAIL_HOUR = read_email_url(f"file://{tmp_path}/mails"), 0
    make_user("ines", groups=("reviewer",), email="ines@example.org")
    queued(store)
    assert messenger.step(NOW) == 1
    (file,) = (tmp_path / "mails").iterdir()
    read: Message = message_from_bytes(file.read_bytes().rpartition(b"\n---")[0], policy=default)
    assert read["To"] == "ines@example.org"


def test_a_mail_server_that_is_not_there_is_an_error_without_an_address(store: Store, settings: Settings) -> None:
    settings.MAIL, settings.NOTIFY_MAIL_HOUR = read_email_url("smtp://someone:password@127.0.0.1:9"), 0
    make_user("ines", groups=("reviewer",), email="ines@example.org")
    queued(store)
    assert messenger.step(NOW) == 0
    assert Notice.objects.get().error == "ConnectionRefusedError"


def test_messages_go_out_while_the_worker_works(store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    stepped = threading.Event()
    monkeypatch.setattr(messenger, "step", lambda now: stepped.set())
    with messenger.messages_sent():
        assert stepped.wait(5)
    assert not [thread for thread in threading.enumerate() if thread.name == "messenger"]


@pytest.mark.parametrize(
    ("url", "port", "tls", "ssl"),
    [("smtp://mx", 25, False, False), ("smtps://u:p%40ss@mx", 465, False, True), ("smtp+tls://u:p@mx:2587", 2587, True, False)],
)
def test_a_mail_server_is_read_from_its_address(url: str, port: int, tls: bool, ssl: bool) -> None:
    options = read_email_url(url).options
    assert (options["host"], options["port"], options["use_tls"], options["use_ssl"]) == ("mx", port, tls, ssl)
    assert options["password"] in ("", "p", "p@ss")


@pytest.mark.parametrize("url", ["", "http://mx", "smtp://", "file://relative/path", "file:", "mx:25"])
def test_what_is_no_way_of_sending_is_refused_without_telling_it(url: str) -> None:
    with pytest.raises(ValueError) as refused:
        read_email_url(url)
    assert "mx" not in str(refused.value)
