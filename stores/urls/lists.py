"""Routes of the record lists, of search and of saved views."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from stores.lists.specs import FURTHER
from stores.views import decisions, memory_sessions, problem_lists, queue, record_lists, saved_views, search

urlpatterns: list[URLPattern | URLResolver] = [
    path("decisions/", decisions.decision_list, name="decision_list"),
    path("decisions/export.<str:form>", decisions.decision_export, name="decision_export"),
    path("problems/", problem_lists.problem_list, name="problem_list"),
    path("problems/export.<str:form>", problem_lists.problem_export, name="problem_export"),
    path("queue/", queue.queue_list, name="queue_list"),
    path("queue/export.<str:form>", queue.queue_export, name="queue_export"),
    *(path(f"{spec.section}/", record_lists.record_list, {"section": spec.section}, f"{spec.name}_list") for spec in FURTHER),
    *(
        path(f"{spec.section}/export.<str:form>", record_lists.record_export, {"section": spec.section}, f"{spec.name}_export")
        for spec in FURTHER
    ),
    path("sessions/<slug:slug>/", memory_sessions.session_list, name="session_list"),
    path("sessions/<slug:slug>/timeline/", memory_sessions.session_timeline, name="session_timeline"),
    path("search/", search.search, name="search"),
    path("views/save/", saved_views.saved_view_save, name="saved_view_save"),
    path("views/<slug:section>/", saved_views.saved_view_list, name="saved_view_list"),
    path("views/<int:view_id>/drop/", saved_views.saved_view_delete, name="saved_view_delete"),
]
