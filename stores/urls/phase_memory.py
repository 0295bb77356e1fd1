"""Routes of the lists and pages of phase-memory stores; those of paths are in `urls.paths`."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from stores.lists.phase_memory import PHASE_MEMORY
from stores.views import event_versions, phase_board, phase_details, record_lists

urlpatterns: list[URLPattern | URLResolver] = [
    *(path(f"{spec.section}/", record_lists.record_list, {"section": spec.section}, f"{spec.name}_list") for spec in PHASE_MEMORY),
    *(
        path(f"{spec.section}/export.<str:form>", record_lists.record_export, {"section": spec.section}, f"{spec.name}_export")
        for spec in PHASE_MEMORY
    ),
    path("nodes/<int:pk>/", phase_details.node_detail, name="node_detail"),
    path("nodes/<int:pk>/data/", phase_details.node_data, name="node_data"),
    path("edges/<int:pk>/", phase_details.edge_detail, name="edge_detail"),
    path("activations/<int:pk>/", phase_details.activation_detail, name="activation_detail"),
    path("events/<int:pk>/", phase_details.memory_event_detail, name="memory_event_detail"),
    path("store-audit/<int:pk>/", phase_details.audit_record_detail, name="audit_record_detail"),
    path("profiles/<int:pk>/", phase_details.profile_detail, name="profile_detail"),
    path("stores/<slug:slug>/phases/", phase_board.store_phases, name="store_phases"),
    path("event-versions/", event_versions.event_versions, name="event_versions"),
    path("event-versions/add/", event_versions.event_version_add, name="event_version_add"),
    path("event-versions/<int:pk>/drop/", event_versions.event_version_drop, name="event_version_drop"),
]
