"""Every route of the product, one module an area."""

from __future__ import annotations

from stores.urls import api, details, house, lists, paths, phase_memory, policies, proposing, review, stores

urlpatterns = [
    *house.urlpatterns,
    *stores.urlpatterns,
    *lists.urlpatterns,
    *details.urlpatterns,
    *phase_memory.urlpatterns,
    *paths.urlpatterns,
    *policies.urlpatterns,
    *proposing.urlpatterns,
    *review.urlpatterns,
    *api.urlpatterns,
]
