"""Accounts, personal tokens and saved views."""

from __future__ import annotations

import unicodedata
from typing import ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Lower


class AccountManager(UserManager["User"]):
    """Finds accounts by name without regard to case."""

    def get_by_natural_key(self, username: str | None) -> User:
        """Give the account of this name, `Ines` and `ines` being one."""
        return self.get(username=self.model.normalize_username(username or ""))


class User(AbstractUser):
    """A person who signs in. Names are unique without case: `Alice` beside `alice` would defeat four eyes (ruling 22)."""

    objects: ClassVar[AccountManager] = AccountManager()

    class Meta(AbstractUser.Meta):
        """A name is taken whatever its case."""

        constraints = [models.UniqueConstraint(Lower("username"), name="user_name_unique_without_case")]

    @property
    def label(self) -> str:
        """The name that pages show."""
        return self.get_full_name() or self.username

    @classmethod
    def normalize_username(cls, username: str) -> str:
        """Fold the name's case: SQLite by itself compares only ASCII letters without case."""
        normal = super().normalize_username(username)
        return unicodedata.normalize("NFKC", normal.casefold()) if isinstance(normal, str) else normal

    def clean(self) -> None:
        """Refuse a name that another account has in other case."""
        super().clean()
        if type(self).objects.filter(username=self.username).exclude(pk=self.pk).exists():
            raise ValidationError({"username": "An account of this name exists; upper and lower case are the same here."})


class ApiToken(models.Model):
    """A personal token. Only the sha256 of its secret part is kept; the text is shown once (ruling 22)."""

    SCOPES = [("read", "read"), ("propose", "propose"), ("review", "review")]
    """`propose` is for agents: it takes actions in and decides nothing."""

    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    label = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12, unique=True)
    digest = models.CharField(max_length=64)
    scope = models.CharField(max_length=16, choices=SCOPES, default="read")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        """Newest first."""

        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.label})"


class SavedView(models.Model):
    """A named filter of one list, own or for all."""

    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="saved_views")
    section = models.CharField(max_length=32)
    name = models.CharField(max_length=80)
    query = models.TextField()
    shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """A person has one view of a name in a list."""

        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint(fields=["owner", "section", "name"], name="saved_view_one_of_a_name")]

    def __str__(self) -> str:
        return self.name
