"""Routes by which people propose."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from stores.views import proposing

urlpatterns: list[URLPattern | URLResolver] = [
    path("records/<slug:record_type>/<int:pk>/propose/<slug:verb>/", proposing.propose_on_record, name="propose_on_record"),
    path("stores/<slug:slug>/plan/", proposing.store_plan, name="store_plan"),
    path("stores/<slug:slug>/propose/path/", proposing.propose_path, name="propose_path"),
    path("stores/<slug:slug>/propose/queue/<slug:verb>/", proposing.propose_queue, name="propose_queue"),
    path("stores/<slug:slug>/faults/propose-safe/", proposing.propose_safe_repairs, name="propose_safe_repairs"),
    path("stores/<slug:slug>/faults/<int:fault_id>/propose/", proposing.propose_repair, name="propose_repair"),
]
