"""Routes of overview, stores, faults and health."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from stores.views import adding, draining, faults, graph, health, overview, raw, store_settings, stores, tasks, told

urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview.overview, name="overview"),
    path("stores/", stores.store_list, name="store_list"),
    path("stores/add/", adding.store_add, name="store_add"),
    path("stores/add/path/", adding.store_add_path, name="store_add_path"),
    path("stores/add/found/", adding.store_add_found, name="store_add_found"),
    path("stores/add/look/", adding.store_discover, name="store_discover"),
    path("stores/<slug:slug>/", stores.store_detail, name="store_detail"),
    path("stores/<slug:slug>/faults/", faults.store_faults, name="store_faults"),
    path("stores/<slug:slug>/faults/<int:fault_id>/", faults.fault_detail, name="fault_detail"),
    path("stores/<slug:slug>/faults/<int:fault_id>/acknowledge/", faults.fault_acknowledge, name="fault_acknowledge"),
    path("stores/<slug:slug>/faults/<int:fault_id>/take-back/", faults.fault_take_back, name="fault_take_back"),
    path("stores/<slug:slug>/backlog/", stores.store_backlog, name="store_backlog"),
    path("stores/<slug:slug>/drain/", draining.store_drain, name="store_drain"),
    path("stores/<slug:slug>/health/", health.store_health_tab, name="store_health_tab"),
    path("stores/<slug:slug>/health/<int:condition_id>/mute/", health.condition_mute, name="condition_mute"),
    path("stores/<slug:slug>/health/<int:condition_id>/unmute/", health.condition_unmute, name="condition_unmute"),
    path("stores/<slug:slug>/told/", told.store_told, name="store_told"),
    path("stores/<slug:slug>/graph/", graph.store_graph, name="store_graph"),
    path("stores/<slug:slug>/graph/data/", graph.store_graph_data, name="store_graph_data"),
    path("stores/<slug:slug>/entities/<int:pk>/", graph.entity_detail, name="entity_detail"),
    path("stores/<slug:slug>/entities/<int:pk>/data/", graph.entity_data, name="entity_data"),
    path("stores/<slug:slug>/relations/<int:pk>/", graph.relation_detail, name="relation_detail"),
    path("stores/<slug:slug>/changes/", stores.store_changes, name="store_changes"),
    path("stores/<slug:slug>/files/", stores.store_files, name="store_files"),
    path("stores/<slug:slug>/raw/", raw.store_raw, name="store_raw"),
    path("stores/<slug:slug>/raw/read/", raw.store_raw_read, name="store_raw_read"),
    path("stores/<slug:slug>/import/", stores.store_import, name="store_import"),
    path("stores/<slug:slug>/settings/", store_settings.store_settings, name="store_settings"),
    path("stores/<slug:slug>/settings/name/", store_settings.store_rename, name="store_rename"),
    path("stores/<slug:slug>/settings/groups/", store_settings.store_limit, name="store_limit"),
    path("stores/<slug:slug>/settings/folder/", store_settings.store_relocate, name="store_relocate"),
    path("stores/<slug:slug>/settings/reset/", store_settings.store_reset, name="store_reset"),
    path("stores/<slug:slug>/settings/remove/", store_settings.store_remove, name="store_remove"),
    path("health/", health.health, name="health"),
    path("tasks/<int:task_id>/", tasks.task_detail, name="task_detail"),
]
