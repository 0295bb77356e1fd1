"""Routes of the JSON API."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from stores.api import api

urlpatterns: list[URLPattern | URLResolver] = [path("api/v1/", api.urls)]
