"""Routes and error handlers of the site."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [path("", include("stores.urls"))]

handler400 = "stores.views.problems.bad_request"
handler403 = "stores.views.problems.forbidden"
handler404 = "stores.views.problems.not_found"
handler500 = "stores.views.problems.failed"
