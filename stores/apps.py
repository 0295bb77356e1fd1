"""App configuration."""

from __future__ import annotations

from django.apps import AppConfig


class StoresConfig(AppConfig):
    """The one app of memoryui."""

    name = "stores"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register system checks and the listeners of sign-ins and accounts."""
        from stores import accounts, checks, sign_ins  # noqa: F401  all need loaded models
