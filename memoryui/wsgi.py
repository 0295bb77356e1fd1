"""WSGI entry for gunicorn and other servers."""

from __future__ import annotations

import os

from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryui.settings")

application = get_wsgi_application()

from django.conf import settings  # noqa: E402  settings can be read only after the line above

if not settings.SECRET_KEY_IS_KEPT:
    raise ImproperlyConfigured("No secret key is kept yet. Run `manage.py migrate` once, or set MEMORYUI_SECRET_KEY, then start again.")
