"""Routes of accounts, audit, admin, theme, status and operation."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from stores import admin
from stores.views import accounts, audit, leads, operations, status

urlpatterns: list[URLPattern | URLResolver] = [
    path("sign-in/", accounts.SignInView.as_view(), name="sign_in"),
    path("sign-out/", accounts.sign_out, name="sign_out"),
    path("account/", accounts.account, name="account"),
    path("account/name/", accounts.account_name, name="account_name"),
    path("account/password/", accounts.account_password, name="account_password"),
    path("account/tokens/", accounts.token_make, name="token_make"),
    path("account/tokens/<int:token_id>/revoke/", accounts.token_revoke, name="token_revoke"),
    path("theme/", accounts.set_theme, name="set_theme"),
    path("account/keys/", accounts.set_keys, name="set_keys"),
    path("status/", status.status_strip, name="status_strip"),
    path("audit/", audit.audit_list, name="audit"),
    path("audit/leads/", leads.audit_leads, name="audit_leads"),
    path("audit/<int:number>/", audit.audit_event, name="audit_event"),
    path("audit/export.<str:form>", audit.audit_export, name="audit_export"),
    path("admin/", admin.site.urls),
    path("healthz", operations.healthz, name="healthz"),
    path("readyz", operations.readyz, name="readyz"),
    path("metrics", operations.metrics, name="metrics"),
]
