"""Django's admin, for accounts and groups and nothing else (ruling 22); each change is audited."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from stores import audit
from stores.errors import NotAllowed
from stores.models import User


class AccountsSite(admin.AdminSite):
    """Open to superusers, who come in by the one sign-in page, where attempts are counted."""

    site_title = "memoryui accounts"
    site_header = "memoryui accounts"
    index_title = "Accounts and groups"
    site_url = "/"

    def has_permission(self, request: HttpRequest) -> bool:
        """Tell whether the account administers accounts."""
        return isinstance(request.user, User) and request.user.is_active and request.user.is_superuser

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Lead superusers on, who were signed in elsewhere, and tell others that this is not for them."""
        if not self.has_permission(request):
            raise NotAllowed("Only superusers administer accounts.")
        then = request.GET.get("next", "")
        inside = then.startswith("/") and url_has_allowed_host_and_scheme(then, allowed_hosts=None)
        return redirect(then if inside else reverse("admin:index", current_app=self.name))


class AuditedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # Django cannot be subscripted at run time
    """Adds an audit event beside each entry of the admin's own log."""

    audited_as = "account"

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Note that something was added."""
        self._audit(request, obj, "added", message)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Note which fields were changed."""
        self._audit(request, obj, "changed", message)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Note what was removed."""
        for obj in queryset:
            self._audit(request, obj, "removed", "")
        return super().log_deletions(request, queryset)

    def _audit(self, request: HttpRequest, obj: Any, what: str, message: Any) -> None:
        fields = (
            sorted({name for entry in message for part in entry.values() for name in part.get("fields", ())})
            if isinstance(message, list)
            else []
        )
        detail: dict[str, object] = {"fields": fields} if fields else {}
        if isinstance(obj, User):
            detail |= {
                "groups": sorted(obj.groups.values_list("name", flat=True)) if obj.pk else [],
                "superuser": obj.is_superuser,
                "active": obj.is_active,
            }
        actor = request.user if isinstance(request.user, User) else None
        audit.record(f"{self.audited_as}_{what}", actor=actor, object_label=str(obj), through="page", detail=detail)  # type: ignore[arg-type]


class AccountAdmin(AuditedAdmin, UserAdmin):  # type: ignore[type-arg]  # likewise
    """Accounts: name, password, roles as groups."""

    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Rights", {"fields": ("is_active", "is_superuser", "groups")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    list_display = ("username", "first_name", "last_name", "email", "is_active", "is_superuser")
    list_filter = ("is_active", "is_superuser", "groups")
    readonly_fields = ("last_login", "date_joined")


class RoleAdmin(AuditedAdmin, GroupAdmin):
    """Groups: the three roles, and those that stores are limited to."""

    audited_as = "group"
    fields = ("name",)
    actions = None  # One by one: a group that limits stores stays.


site = AccountsSite(name="admin")
site.register(User, AccountAdmin)
site.register(Group, RoleAdmin)
