"""Routes of the pages of paths."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from stores.views import paths

urlpatterns: list[URLPattern | URLResolver] = [
    path("paths/<int:pk>/", paths.path_detail, name="path_detail"),
    path("stores/<slug:slug>/paths/", paths.store_paths, name="store_paths"),
    path("stores/<slug:slug>/paths/level/", paths.store_path_level, name="store_path_level"),
    path("stores/<slug:slug>/paths/lanes/", paths.store_lanes, name="store_lanes"),
    path("stores/<slug:slug>/paths/compare/", paths.path_compare, name="path_compare"),
]
