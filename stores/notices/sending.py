"""Sends the messages that are due, each at most five times, the later the longer it failed."""

from __future__ import annotations

import logging
import smtplib
from datetime import datetime, timedelta
from typing import Any, Final

import django
from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import F
from django.utils.module_loading import import_string

from stores import display
from stores.models import Notice, User
from stores.notices import webhook
from stores.notices.planning import MAIL

TRIES: Final = 5
WAITS: Final = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2), timedelta(days=3650))
"""After each try; after the last one nothing is tried again."""
AT_ONCE: Final = 50

log = logging.getLogger(__name__)


def send_due(now: datetime) -> int:
    """Send what is due and give how many messages were taken. Each is claimed before it is sent, so that no two workers send it."""
    due = Notice.objects.filter(sent_at__isnull=True, due_at__lte=now, tries__lt=TRIES).order_by("due_at", "id")
    return sum(_send(notice, now) for notice in due[:AT_ONCE])


def _send(notice: Notice, now: datetime) -> bool:
    claimed = Notice.objects.filter(pk=notice.pk, tries=notice.tries, sent_at__isnull=True)
    if claimed.update(tries=F("tries") + 1, due_at=now + WAITS[notice.tries]) != 1:
        return False
    try:
        if notice.channel == MAIL:
            _mail(notice)
        else:
            webhook.post(settings.WEBHOOK_URL, _text(notice.body, now), settings.WEBHOOK_SECRET, now)
    except (webhook.NotTaken, OSError, smtplib.SMTPException) as err:
        # What a mail server says may hold the address that it refuses: only the kind of failure is kept.
        said = str(err) if isinstance(err, webhook.NotTaken) else type(err).__name__
        Notice.objects.filter(pk=notice.pk).update(error=said)
        log.warning("A message (%s to %s) was not taken: %s; try %d of %d.", notice.what, notice.recipient, said, notice.tries + 1, TRIES)
        return False
    Notice.objects.filter(pk=notice.pk).update(sent_at=now, error="")
    return True


def _mail(notice: Notice) -> None:
    """Mail a digest to the address that the account has now; nobody is written to who may not sign in any more."""
    user = User.objects.filter(username=notice.recipient, is_active=True).exclude(email="").first()
    if user is None or settings.MAIL is None:
        return
    # From 6.1 on Django wants the name of the mailer whose options these are.
    named = {"alias": "memoryui"} if django.VERSION >= (6, 1) else {}
    backend: Any = import_string(settings.MAIL.backend)(**named, **settings.MAIL.options)
    sender = settings.MAIL_FROM or "memoryui@localhost"
    backend.send_messages([EmailMessage(notice.body["subject"], notice.body["text"], sender, [user.email])])


def _text(body: dict[str, Any], now: datetime) -> str:
    where = f"in {body['store']}" if body["store"] else "in a store that is limited to some groups"
    age = display.age(datetime.fromisoformat(body["created_at"]), now)
    return f"Much is at stake: {body['verb']} {where} waits for a review, {age} old. {body['url']}"
