"""Routes of policies and of the switch that stops all applying."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from stores.views import policy

urlpatterns: list[URLPattern | URLResolver] = [
    path("review/policy/", policy.default_policy, name="default_policy"),
    path("review/switch/", policy.review_switch, name="review_switch"),
    path("stores/<slug:slug>/policy/", policy.store_policy, name="store_policy"),
    path("stores/<slug:slug>/policy/drop/", policy.store_policy_drop, name="store_policy_drop"),
]
